package warp

import (
	"sync"

	"retime/warp/bspline"
)

// Backend is what decides the bits of made frames besides their code: the tables
// and constants that another implementation of the synthesis needs to come to the
// same ones. The tables must not be changed.
type Backend struct {
	// Trust is the photometric weight of a splat by the error along its motion; the
	// last entry is for all beyond.
	Trust []uint16
	// Falloff is a hypothesis's share by how much its cost exceeds the least one; 0
	// beyond.
	Falloff []uint16
	// NeighbourGate and StillGate, of one length, scale the shares of neighbours'
	// motions and of none by the least cost; the last entry is for all beyond.
	NeighbourGate, StillGate []uint16
	// StillBonus scales the share of no motion by its lead over the least cost; the
	// last entry is for all beyond.
	StillBonus []uint32
	// Credit is that of a change of motion by the error along it; 0 beyond.
	Credit []uint16
	// CreditOne is full credit, and DifferenceOne a grey level in the units of errors
	// and costs.
	CreditOne, DifferenceOne int64
	// Projected, Neighbour and Stationary number the kinds of hypotheses.
	Projected, Neighbour, Stationary int32
	// LeastTrust is the weight below which a splatted flow has a hole.
	LeastTrust uint64
	// Overlap is how far off neighbours' motions are read, in pixels of the picture.
	Overlap int
	// CostRadius is that of the square over which costs are means, in pixels of the
	// picture.
	CostRadius int
	// CellBits is log2 of the side of a bend's cells in pixels of the picture.
	CellBits int
	// Precision is that of the B-spline coefficients.
	Precision float64
	// CoefficientMargin is how many coefficients continue a plane beyond its edges.
	CoefficientMargin int
}

// Constants returns the tables and constants of this package.
func Constants() Backend { return backend() }

var backend = sync.OnceValue(func() Backend {
	credit := make([]uint16, len(creditTable))
	for i, c := range creditTable {
		credit[i] = uint16(c)
	}
	return Backend{
		Trust: trustTable, Falloff: falloff, NeighbourGate: neighbourGate, StillGate: stillGate,
		StillBonus: stillBonus, Credit: credit, CreditOne: creditOne, DifferenceOne: differenceOne,
		Projected: int32(projected), Neighbour: int32(neighbour), Stationary: int32(stationary),
		LeastTrust: leastTrust, Overlap: overlap,
		CostRadius: costRadius, CellBits: cellBits,
		Precision: precision, CoefficientMargin: margin,
	}
})

// Taps returns the four weights of a sample of the order's spline for each
// fraction of a position, in 1/256 sample. They apply to the coefficients at -1, 0,
// 1 and 2 from its integer part.
func Taps(order bspline.Order) [positionOne][4]float32 { return *newTaps(order) }
