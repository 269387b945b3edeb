package warp

import (
	"sync"

	"retime/warp/bspline"
)

// Tables holds the tables and constants that determine, together with the code, the
// bits of made frames. Another implementation of the synthesis needs them to make the
// same bits. The tables are read-only.
type Tables struct {
	// Trust is the photometric weight of a splat, indexed by the error along its
	// motion; the last entry holds for all larger errors.
	Trust []uint16
	// NeighbourGate and OnlyGate, of one length, are the energies of the neighbours'
	// motions and of what one neighbour shows, indexed by the least cost; the last entries
	// hold for all larger costs.
	NeighbourGate, OnlyGate []int16
	// Penalty is the largest penalty for a change of motion, indexed by the difference
	// in brightness.
	Penalty []uint16
	// Likelihood is the share of a hypothesis, indexed by the excess of its energy over
	// the least energy; beyond the table the share is 0.
	Likelihood []uint16
	// Credit is the credit of a change of motion, indexed by the error along the
	// motion; beyond the table it is 0.
	Credit []uint16
	// CreditOne is full credit, and DifferenceOne is one grey level in the units of
	// errors and costs.
	CreditOne, DifferenceOne int64
	Kinds
	// LeastTrust is the weight below which a splatted flow has a hole.
	LeastTrust uint64
	// Around lists the places, in pixels of the picture, at which a pixel reads the
	// motions of its neighbours.
	Around [][2]int
	Sizes
	// Precision is the precision of the B-spline coefficients.
	Precision float64
	// CoefficientMargin is the number of coefficients that continue a plane beyond each
	// edge.
	CoefficientMargin int
}

// Kinds are the numbers of the kinds of hypotheses.
type Kinds struct{ Projected, Neighbour, OnlyFirst, OnlySecond int32 }

// Sizes are those of the areas that steps of the synthesis share results in.
type Sizes struct {
	// CostRadius is the radius, in pixels of the picture, of the squares over which
	// costs are averaged.
	CostRadius int
	// CellBits is log2 of the side of a bend's cells, in pixels of the picture.
	CellBits int
	// ChoiceBits is log2 of the side, in pixels of the guides, of the cells on which the
	// hypotheses' choice is made coherent.
	ChoiceBits int
	// CalmBits is log2 of the side, in pixels of the picture, of the cells on which a made
	// frame's blur is found.
	CalmBits int
}

// Constants returns the tables and constants of this package.
func Constants() Tables { return constants() }

var constants = sync.OnceValue(func() Tables {
	credit := make([]uint16, len(creditTable))
	for i, c := range creditTable {
		credit[i] = uint16(c)
	}
	return Tables{
		Trust: trustTable, NeighbourGate: neighbourGate, OnlyGate: onlyGate,
		Penalty: penalties[:], Likelihood: likelihood, Credit: credit, CreditOne: creditOne, DifferenceOne: differenceOne,
		Kinds:      Kinds{int32(projected), int32(neighbour), int32(onlyFirst), int32(onlySecond)},
		LeastTrust: leastTrust, Around: around[:],
		Sizes:     Sizes{costRadius, cellBits, choiceBits, calmBits},
		Precision: precision, CoefficientMargin: margin,
	}
})

// Taps returns the four weights of a sample of the order's spline for each fraction of
// a position, in 1/256 sample. They apply to the coefficients at -1, 0, 1 and 2 from
// the integer part of the position.
func Taps(order bspline.Order) [positionOne][4]float32 { return *newTaps(order) }

// LightTable tells the light of samples that are 16-bit signals of PQ, and the signals of light.
type LightTable struct {
	Of []float32 // the light of each signal, as a share of frame.PQPeak; it rises with the signal
	// Below is, by the upper bits of a light (a float32 without its lightShift lower bits), from First on: the last signal with no more
	// light than the least that has these bits.
	Below []uint16
	First int // those of Of[1]
}

// Light returns the table by which frames of floating-point light are sampled.
func Light() *LightTable { return lights() }
