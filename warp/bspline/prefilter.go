package bspline

import (
	"fmt"
	"math"
	"sync"

	"retime/frame"
)

// Region is the length of the subregions of columns and rows. The prefilter initialises
// each one separately (Briand and Davy, algorithm 7), so that several workers can share
// a column. Subregion k holds the samples [k*Region, (k+1)*Region). Region is part of
// the definition of the result, for every backend.
const Region = 256

// Prefilter turns samples of type T into B-spline coefficients, computing in T. Several goroutines may use a Prefilter at once.
type Prefilter[T Float] struct {
	order    Order
	boundary Boundary
	poles    []PoleFilter[T]
	margin   int

	mu      sync.Mutex
	scratch []*tile[T]
}

// PoleFilter holds the parameters of the filters for one pole.
type PoleFilter[T Float] struct {
	Z T // the pole
	// N is the truncation index, at most Region.
	N int
	// Border is the factor of table 3 for the anticausal initialisation at the
	// end of a signal.
	Border T
}

// finest is the finest precision that makes a difference.
const finest = 1e-20

// NewPrefilter returns the prefilter of a B-spline of the given order, at most MaxOrder, under the
// given boundary, or an error if an argument is out of range. The coefficients define an image
// within precision of the exact spline, relative to the largest absolute sample, as far as T can
// hold it. precision must be positive; values below 1e-20, far below the rounding of float64, count
// as 1e-20. Orders 0 and 1 and CatmullRom need no filtering.
func NewPrefilter[T Float](order Order, boundary Boundary, precision float64) (*Prefilter[T], error) {
	if err := order.Check(); err != nil {
		return nil, err
	}
	if err := boundary.Check(); err != nil {
		return nil, err
	}
	if !(precision > 0) || math.IsInf(precision, 1) {
		return nil, fmt.Errorf("bspline: precision %v: want a positive number, such as 1e-6", precision)
	}
	p := &Prefilter[T]{order: order, boundary: boundary}
	poles := Poles(order)
	for i, n := range truncation(poles, max(precision, finest)) {
		z := poles[i]
		border := z / (z - 1)
		if boundary == WholeSymmetric {
			border = z / (float64(z*z) - 1)
		}
		p.poles = append(p.poles, PoleFilter[T]{T(z), n, T(border)})
	}
	if boundary == Constant && len(poles) > 0 {
		p.margin = p.poles[0].N + int(order)/2
	}
	return p, nil
}

// Boundary returns the boundary of the prefilter.
func (p *Prefilter[T]) Boundary() Boundary { return p.boundary }

// Margin returns the number of samples by which the caller must extend an image on each
// of its four sides before Apply. It is 0 for the boundaries that pass through the
// filters (the "exact domain" of Briand and Davy, section 2.2) and positive for
// Constant, which does not and needs an extended domain; see [Extend].
func (p *Prefilter[T]) Margin() int { return p.margin }

// Filters returns the filters of each pole in the order in which Apply runs them. Other
// implementations of Apply need them.
func (p *Prefilter[T]) Filters() []PoleFilter[T] {
	return append([]PoleFilter[T](nil), p.poles...)
}

// Apply replaces the samples of img by un-normalised B-spline coefficients, columns
// first, then rows; [Gain] and [Normalization] tell how to scale them. For Constant,
// img must include Margin samples on each side. Samples that are not finite spread over
// their row and column; Apply does not check for them. It leaves an empty image alone.
// It returns an error if img's shape does not match its samples.
func (p *Prefilter[T]) Apply(workers frame.Workers, img frame.Image[T]) error {
	if err := p.check(img); err != nil {
		return err
	}
	p.columns(workers, img)
	p.rows(workers, img)
	return nil
}

func (p *Prefilter[T]) check(img frame.Image[T]) error {
	if err := checkImage(img); err != nil {
		return err
	}
	if m := p.margin; m > 0 && (img.Width <= 2*m || img.Height <= 2*m) {
		return fmt.Errorf("bspline: image of %dx%d has no room for the constant boundary's margin of %d samples on each side: extend it first",
			img.Width, img.Height, m)
	}
	return nil
}

// checkImage returns an error if img's shape does not match its samples.
func checkImage[T any](img frame.Image[T]) error {
	switch {
	case img.Width < 0 || img.Height < 0:
		return fmt.Errorf("bspline: image of %dx%d: negative size", img.Width, img.Height)
	case img.Width == 0 || img.Height == 0:
		return nil
	case img.Stride < img.Width:
		return fmt.Errorf("bspline: image of %dx%d: stride %d is less than the width", img.Width, img.Height, img.Stride)
	case len(img.Pix) < img.Width || (len(img.Pix)-img.Width)/img.Stride < img.Height-1:
		return fmt.Errorf("bspline: image of %dx%d with stride %d: only %d samples", img.Width, img.Height, img.Stride, len(img.Pix))
	}
	return nil
}

// columns filters along y.
func (p *Prefilter[T]) columns(workers frame.Workers, img frame.Image[T]) {
	p.tiles(workers, img.Width, img.Height,
		func(t *tile[T], x, n, y0, y1 int) { t.gatherColumns(img, x, n, y0, y1) },
		func(t *tile[T], x, n, y0, y1 int) { t.scatterColumns(img, x, n, y0, y1) })
}

// rows filters along x, by transposing the rows into columns of tiles.
func (p *Prefilter[T]) rows(workers frame.Workers, img frame.Image[T]) {
	p.tiles(workers, img.Height, img.Width,
		func(t *tile[T], y, n, x0, x1 int) { t.gatherRows(img, y, n, x0, x1) },
		func(t *tile[T], y, n, x0, x1 int) { t.scatterRows(img, y, n, x0, x1) })
}

// move copies samples [i0, i1) of the n lines from line on between an image and a tile.
type move[T Float] func(t *tile[T], line, n, i0, i1 int)

// tiles filters lines of the given length, lanes of them at a time. Each worker takes a
// tile or, if a line has more subregions than there are tiles, the workers share every
// tile.
func (p *Prefilter[T]) tiles(workers frame.Workers, lines, length int, gather, scatter move[T]) {
	if len(p.poles) == 0 || lines == 0 || length == 0 {
		return
	}
	count := (lines + lanes - 1) / lanes
	regions := (length + Region - 1) / Region
	if count >= workers.Count() || count >= regions {
		each(workers, count, func(i int) {
			t := p.tile(length)
			defer p.release(t)
			line := i * lanes
			n := min(lanes, lines-line)
			gather(t, line, n, 0, length)
			p.filter(t)
			scatter(t, line, n, 0, length)
		})
		return
	}
	t := p.tile(length)
	defer p.release(t)
	for line := 0; line < lines; line += lanes {
		n := min(lanes, lines-line)
		each(workers, regions, func(r int) { gather(t, line, n, r*Region, t.end(r)) })
		p.filterShared(workers, t)
		each(workers, regions, func(r int) { scatter(t, line, n, r*Region, t.end(r)) })
	}
}

// filter runs the exponential filters of every pole over a tile. It computes all
// initialisations of a pass before the pass overwrites the samples that they read.
func (p *Prefilter[T]) filter(t *tile[T]) {
	for _, q := range p.poles {
		t.initEveryCausal(q, p.boundary)
		t.everyCausal(q)
		t.initEveryAnticausal(q, p.boundary)
		t.everyAnticausal(q)
	}
}

// filterShared does the work of filter with several workers.
func (p *Prefilter[T]) filterShared(workers frame.Workers, t *tile[T]) {
	for _, q := range p.poles {
		each(workers, len(t.carry), func(r int) { t.initCausal(q, p.boundary, r) })
		each(workers, len(t.carry), func(r int) { t.causal(q, r) })
		each(workers, len(t.carry), func(r int) { t.initAnticausal(q, p.boundary, r) })
		each(workers, len(t.carry), func(r int) { t.anticausal(q, r) })
	}
}

// tile returns a tile of the given length, and reuses one if it can.
func (p *Prefilter[T]) tile(length int) *tile[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	var t *tile[T]
	if n := len(p.scratch); n > 0 {
		t, p.scratch = p.scratch[n-1], p.scratch[:n-1]
	} else {
		t = &tile[T]{}
	}
	t.resize(length)
	return t
}

func (p *Prefilter[T]) release(t *tile[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scratch = append(p.scratch, t)
}

// each calls f with 0 to n-1, from several goroutines at once.
func each(workers frame.Workers, n int, f func(i int)) {
	// frame.Workers hands out at least grain rows at a time. If it cuts an item in two,
	// the item belongs to the band with its first row.
	const grain = 8
	workers.Rows(n*grain, func(y0, y1 int) {
		for i := (y0 + grain - 1) / grain; i*grain < y1; i++ {
			f(i)
		}
	})
}
