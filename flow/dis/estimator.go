package dis

import (
	"errors"
	"fmt"

	"retime/flow"
	"retime/frame"
)

// Estimator estimates the flow between two pictures in both directions. Only one
// goroutine at a time may use an Estimator; several may run at once. An Estimator keeps
// its memory between calls, about 40 bytes for each pixel at stride 4.
type Estimator struct {
	options Options
	workers frame.Workers
	kernels kernels
	closed  bool

	pictures [2]frame.Image[uint8]
	levels   []level // finest first
	// The following have an element for each direction. A pyramid belongs to the direction that
	// leads away from its picture.
	pyramids [2][]uint8
	patches  [2]turns[best]
	dense    [2]turns[vector]
	fields   [2]*flow.Field // the second is nil if it is not asked for
	halved   bool           // whether the fields are to be halved

	searches [2]search // on the current level
	current
	bands func(y0, y1 int)
}

// current is the step that is being done.
type current struct {
	level int
	do    func(e *Estimator, direction, row int)
	rows  int
}

// turns is a pair of buffers that alternate: a step writes to one and reads what an earlier step
// wrote to the other.
type turns[T any] struct{ now, before []T }

func (t *turns[T]) turn() { t.now, t.before = t.before, t.now }

func (t *turns[T]) resize(n int) { t.now, t.before = frame.Resize(t.now, n), frame.Resize(t.before, n) }

// New returns an estimator that divides its work among workers, or an error if options
// are out of range. The caller should close the estimator.
func New(options Options, workers frame.Workers) (*Estimator, error) {
	if err := options.check(); err != nil {
		return nil, fmt.Errorf("flow: dense inverse search: %w", err)
	}
	e := &Estimator{options: options, workers: workers, kernels: fastest}
	e.bands = func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			e.do(e, y/e.rows, y%e.rows)
		}
	}
	return e, nil
}

// Close frees e's memory. Further calls have no effect.
func (e *Estimator) Close() error {
	*e = Estimator{closed: true}
	return nil
}

// Estimate sets forward to the flow from a to b and backward to the flow from b to a. The pictures
// are 8-bit luma of one size, from 1x1 up to 32767 pixels in a side. Vectors are canonical. If
// halved is set, Estimate halves the fields as flow.Halve does. It reuses the fields' memory; after
// an error their contents are undefined. Without Options.Rounds the directions know nothing of each
// other, and backward may be nil, which halves the work.
func (e *Estimator) Estimate(a, b frame.Image[uint8], forward, backward *flow.Field, halved bool) error {
	if e.closed {
		return errors.New("flow: dense inverse search: the estimator is closed")
	}
	if err := flow.CheckPictures(a, b, maxSide); err != nil {
		return fmt.Errorf("flow: dense inverse search: %w", err)
	}
	width, height := a.Width, a.Height
	if halved {
		width, height = (width+1)/2, (height+1)/2
	}
	forward.Resize(width, height)
	if backward != nil {
		backward.Resize(width, height)
	} else if e.options.Rounds > 0 {
		return errors.New("flow: dense inverse search: rounds need both directions")
	}
	e.pictures = [2]frame.Image[uint8]{a, b}
	e.fields, e.halved = [2]*flow.Field{forward, backward}, halved
	e.build()
	for e.level = len(e.levels) - 1; e.level >= 0; e.level-- {
		e.estimateLevel()
	}
	// Do not keep the caller's memory.
	e.pictures, e.fields = [2]frame.Image[uint8]{}, [2]*flow.Field{}
	return nil
}

// each runs a step: it calls do for rows 0 to rows-1 of each of so many directions, several at once,
// and returns after the last call.
func (e *Estimator) each(directions, rows int, do func(e *Estimator, direction, row int)) {
	e.do, e.rows = do, rows
	e.workers.Rows(directions*rows, e.bands)
}

// asked returns how many directions are asked for.
func (e *Estimator) asked() int {
	if e.fields[1] == nil {
		return 1
	}
	return 2
}

// build sizes the memory and makes the pyramids.
func (e *Estimator) build() {
	var size int
	e.levels, size = levels(e.levels[:0], e.pictures[0].Width, e.pictures[0].Height, e.options.Stride)
	finest := &e.levels[0]
	for d := range 2 {
		e.pyramids[d] = frame.Resize(e.pyramids[d], size)
		e.patches[d].resize(finest.columns * finest.rows)
		e.dense[d].resize(finest.width * finest.height)
	}
	for e.level = range e.levels {
		l := &e.levels[e.level]
		if e.level == 0 {
			e.each(2, l.height, (*Estimator).fill)
		} else {
			e.each(2, l.height, (*Estimator).halve)
		}
		for d := range 2 {
			l.enclose(e.pyramids[d])
		}
	}
}

func (e *Estimator) fill(direction, y int) {
	e.levels[0].fill(e.pyramids[direction], e.pictures[direction], y)
}

func (e *Estimator) halve(direction, y int) {
	e.levels[e.level].halve(e.pyramids[direction], &e.levels[e.level-1], y)
}

// estimateLevel sets the dense flow of both directions at the current level.
func (e *Estimator) estimateLevel() {
	l := &e.levels[e.level]
	for d := range 2 {
		e.searches[d] = search{&e.options, l, e.pyramids[d], e.pyramids[1-d]}
	}
	e.each(e.asked(), l.rows, (*Estimator).first)
	for range e.options.Rounds {
		for d := range 2 {
			e.patches[d].turn()
		}
		e.each(e.asked(), l.rows, (*Estimator).propagate)
	}
	for d := range 2 {
		e.dense[d].turn()
	}
	e.each(e.asked(), (l.height+cellSize-1)/cellSize, (*Estimator).densify)
}

func (e *Estimator) first(direction, row int) {
	below := len(e.levels) - 1 - e.level // number of coarser levels
	var coarser *level
	var coarse []vector
	if below > 0 {
		coarser = &e.levels[e.level+1]
		coarse = e.dense[direction].now[:coarser.width*coarser.height]
	}
	reach := e.options.Reach > 0 && below < reachLevels
	e.kernels.first(&e.searches[direction], e.row(direction, row), row, coarser, coarse, reach)
}

func (e *Estimator) propagate(direction, row int) {
	n := e.levels[e.level].columns * e.levels[e.level].rows
	own, other := e.patches[direction].before[:n], e.patches[1-direction].before[:n]
	e.kernels.propagate(&e.searches[direction], e.row(direction, row), row, own, other)
}

// row returns where a step puts the vectors of a row of patches.
func (e *Estimator) row(direction, row int) []best {
	n := e.levels[e.level].columns
	return e.patches[direction].now[row*n:][:n]
}

// densify sets cellSize rows of the dense flow, and of the result on level 0.
func (e *Estimator) densify(direction, row int) {
	l := &e.levels[e.level]
	dst := e.dense[direction].now[:l.width*l.height][row*cellSize*l.width:]
	e.kernels.densify(&e.searches[direction], dst, row, e.patches[direction].now[:l.columns*l.rows])
	if e.level > 0 {
		return
	}
	f, p := e.fields[direction], &e.pictures[direction]
	limit := flow.Limit(p.Width, p.Height)
	// A picture may be smaller than its level.
	last := min((row+1)*cellSize, p.Height) - 1
	for y := row * cellSize; y <= last; y++ {
		if !e.halved {
			e.kernels.settle(f.Row(y), dst[:p.Width], limit)
		} else if y%2 == 0 {
			e.kernels.settleHalved(f.Row(y/2), dst[:p.Width], dst[min(1, last-y)*l.width:][:p.Width], limit)
		}
		dst = dst[l.width:]
	}
}
