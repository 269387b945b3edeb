package gpu

import (
	"fmt"
	"strings"
	"unsafe"

	"retime/cuda"
	"retime/warp/boxspline/lattice"
)

// Positions says where to evaluate a BoxSpline: at Width by Height by Depth positions. The zero
// value is not valid.
type Positions struct {
	Width, Height, Depth int
	// Listed holds the coordinates of every position. If it is empty, positions are random, below
	// Extent, if Random is set, and otherwise come from a slightly turned picture or volume with
	// samples Extent apart.
	Listed [3]cuda.Buffer[float64]
	Random bool
	Extent [3]float64
}

// The values of PositionMode in boxspline_kernels.cuh.
const (
	positionsListed = iota
	positionsCoherent
	positionsRandom
)

func (p Positions) args() []cuda.Arg {
	mode := positionsCoherent
	switch {
	case p.Listed[0].N > 0:
		mode = positionsListed
	case p.Random:
		mode = positionsRandom
	}
	return []cuda.Arg{
		cuda.Int(mode), p.Listed[0].Arg(), p.Listed[1].Arg(), p.Listed[2].Arg(),
		cuda.Int(p.Width), cuda.Int(p.Height), cuda.Double(p.Extent[0]), cuda.Double(p.Extent[1]), cuda.Double(p.Extent[2]),
	}
}

// BoxSpline holds the coefficients of a box spline on a device: the arrays of its cosets, one after
// the other.
type BoxSpline[T float32 | float64] struct {
	Element string // as in package boxspline
	device  *Device
	dim     int
	cosets  int
	shape   lattice.Point
	origin  int
	arrays  cuda.Buffer[T]
}

// NewBoxSpline returns a spline with arrays of the given shape and undefined coefficients. base is
// the index of an array's first coefficient.
func NewBoxSpline[T float32 | float64](d *Device, element string, dim, cosets int, shape, base lattice.Point) (*BoxSpline[T], error) {
	b := &BoxSpline[T]{Element: element, device: d, dim: dim, cosets: cosets, shape: shape}
	b.origin = -(base[0] + shape[0]*(base[1]+shape[1]*base[2]))
	return b, b.arrays.Resize(d.Device, cosets*b.size())
}

func (b *BoxSpline[T]) size() int { return b.shape[0] * b.shape[1] * b.shape[2] }

// Upload queues a copy of the arrays of all cosets, one after the other.
func (b *BoxSpline[T]) Upload(s *cuda.Stream, arrays []T) error { return b.arrays.Upload(s, arrays) }

// Free releases the device memory.
func (b *BoxSpline[T]) Free() { b.arrays.Free() }

// Evaluate queues dst[i] = the value at the i-th position. variant is "f32" or "f64", to match T,
// or for float32 "branching" or "soft": linear look-ups with interpolation by software.
func (b *BoxSpline[T]) Evaluate(s *cuda.Stream, dst cuda.Buffer[T], variant string, p Positions) error {
	slice := b.shape[0] * b.shape[1]
	if b.dim == 2 {
		slice = 0
	}
	var v T
	first := b.arrays.Arg().Plus(b.origin * int(unsafe.Sizeof(v)))
	args := append(append([]cuda.Arg{dst.Arg()}, p.args()...), first, cuda.Int(b.shape[0]), cuda.Int(slice), cuda.Long(int64(b.size())))
	return launchPositions(b.device, s, b.Element, variant, p, args)
}

func launchPositions(d *Device, s *cuda.Stream, element, variant string, p Positions, args []cuda.Arg) error {
	k, err := d.Kernel("boxspline", "boxspline_"+strings.ReplaceAll(element, "-", "_")+"_"+variant)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", variant, element, err)
	}
	block := cuda.Dim{X: 32, Y: min(p.Height, 4), Z: 1}
	grid := cuda.Cover(p.Width, p.Height, block)
	grid.Z = p.Depth
	return s.Launch(k, grid, block, 0, args...)
}

// BoxTextures holds the coefficients of a box spline in textures, one for each coset.
type BoxTextures struct {
	element  string
	device   *Device
	textures []*texture
	base     lattice.Point
}

// NewBoxTextures copies the arrays of the cosets to textures.
func NewBoxTextures(d *Device, element string, dim int, arrays [][]float32, shape, base lattice.Point) (*BoxTextures, error) {
	b := &BoxTextures{element: element, device: d, base: base}
	for _, a := range arrays {
		l := TextureLayout{Width: shape[0], Height: shape[1]}
		if dim == 3 {
			l.Depth = shape[2]
		}
		t, err := newTexture(d.driver, l, a)
		if err != nil {
			b.Close()
			return nil, err
		}
		b.textures = append(b.textures, t)
	}
	return b, nil
}

// Close frees the textures. No stream may still use them.
func (b *BoxTextures) Close() {
	for _, t := range b.textures {
		_ = t.close()
	}
	b.textures = nil
}

// Evaluate queues dst[i] = the value at the i-th position, by linear look-ups.
func (b *BoxTextures) Evaluate(s *cuda.Stream, dst cuda.Buffer[float32], p Positions) error {
	args := append([]cuda.Arg{dst.Arg()}, p.args()...)
	for i := range 4 {
		var object uint64
		if i < len(b.textures) {
			object = b.textures[i].object
		}
		args = append(args, cuda.Long(int64(object)))
	}
	for _, n := range b.base {
		args = append(args, cuda.Float(0.5-float32(n)))
	}
	return launchPositions(b.device, s, b.element, "linear", p, args)
}
