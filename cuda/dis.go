package cuda

import (
	"cmp"
	"fmt"
	"slices"

	"retime/flow"
	"retime/flow/dis"
)

// DIS estimates flow by dense inverse search, with the same vectors as package flow/dis. Only one
// goroutine at a time may use a DIS; several may run at once on a device. A DIS keeps its memory
// between calls, about 10 bytes for each pixel at stride 4.
type DIS struct {
	options dis.Options
	stream  *Stream
	kernels disKernels
	memory  Buffer[byte]
	plan    disPlan
	lanes   int // threads that share a patch; 0 to choose by the number of patches
}

type disKernels struct {
	base, halve, reach *Kernel
	densify, halved    *Kernel
	first, propagate   [len(disLanes)]*Kernel
}

// disLanes lists the numbers of threads that can share a patch.
var disLanes = [...]int{2, 4, 32}

// searchThreads and reachThreads are the numbers of threads in the blocks of search.cu.
const (
	searchThreads = 128
	reachThreads  = 192
)

// NewDIS returns an estimator on d with a stream of its own, or an error if the options are out of
// range or the device fails. The caller must close the estimator before d.
func NewDIS(d *Device, o dis.Options) (*DIS, error) {
	if _, _, err := o.Shapes(1, 1); err != nil {
		return nil, fmt.Errorf("dense inverse search: %w", err)
	}
	e := &DIS{options: o}
	err := d.Do(func() (err error) {
		if e.kernels, err = newDISKernels(d); err != nil {
			return err
		}
		e.stream, err = d.NewStream()
		return err
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

func newDISKernels(d *Device) (k disKernels, err error) {
	if err = d.Kernels("pyramid", map[string]**Kernel{"pyramid_base": &k.base, "pyramid_halve": &k.halve}); err != nil {
		return k, err
	}
	if err = d.Kernels("densify", map[string]**Kernel{"densify": &k.densify, "densify_halved": &k.halved}); err != nil {
		return k, err
	}
	search := map[string]**Kernel{"reach": &k.reach}
	for i, n := range disLanes {
		search[fmt.Sprint("first_", n)] = &k.first[i]
		search[fmt.Sprint("propagate_", n)] = &k.propagate[i]
	}
	return k, d.Kernels("search", search)
}

// Stream returns the stream that Estimate queues its work on.
func (e *DIS) Stream() *Stream { return e.stream }

// Close waits for the queued work and frees e's memory.
func (e *DIS) Close() error {
	return e.stream.device.Do(func() error {
		err := e.clear()
		e.memory.Free()
		return cmp.Or(err, e.stream.Close())
	})
}

// clear waits for the queued work and forgets the plan.
func (e *DIS) clear() error {
	err := e.stream.Synchronize()
	if e.plan.graph != nil { // nil before the first plan
		err = cmp.Or(err, e.plan.graph.Close())
	}
	e.plan = disPlan{}
	return err
}

// Estimate queues the estimates of the flow from a to b, into forward, and of the flow from b to a,
// into backward. The pictures have the same size, from 1x1 up to 32767 pixels in a side. The fields
// have that size as well or, if halved is set, half of it, rounded up: the flow is then halved as
// flow.Halve does. The first Estimate after a change of size waits for the queued work.
func (e *DIS) Estimate(a, b Image[byte], forward, backward Image[flow.Vec], halved bool) error {
	w, h := a.Width, a.Height
	if halved {
		w, h = (w+1)/2, (h+1)/2
	}
	if b.Width != a.Width || b.Height != a.Height || forward.Width != w || forward.Height != h || backward.Width != w || backward.Height != h {
		return fmt.Errorf("flow between pictures of %dx%d and %dx%d into fields of %dx%d and %dx%d: the sizes differ; want fields of %dx%d",
			a.Width, a.Height, b.Width, b.Height, forward.Width, forward.Height, backward.Width, backward.Height, w, h)
	}
	if a.Width != e.plan.width || a.Height != e.plan.height {
		if err := e.prepare(a.Width, a.Height); err != nil {
			return fmt.Errorf("flow between pictures of %dx%d: %w", a.Width, a.Height, err)
		}
	}
	if err := e.stream.launch(e.base(a, b)); err != nil {
		return err
	}
	if err := e.stream.Run(e.plan.graph); err != nil {
		return err
	}
	last := e.densify(&e.plan.levels[0], forward, backward, int(flow.Limit(a.Width, a.Height)))
	if halved {
		last.kernel = e.kernels.halved
		last.args = append(last.args, Int(a.Width), Int(a.Height))
	}
	return e.stream.launch(last)
}

// disPlan is how a DIS works on pictures of the same size.
type disPlan struct {
	width, height int
	levels        []disLevel // finest first
	distance      int        // in bytes, between the pyramids of the pictures
	// patches holds the vectors and states of both directions: a round reads one of its elements
	// and writes the other.
	patches [2]disPatches
	dense   Buffer[flow.Vec] // of the coarser level
	least   Buffer[uint64]   // result of reach
	graph   *Graph           // all but the first and the last launch
}

type disLevel struct {
	dis.Shape
	at    Arg // sample (0, 0) of the first picture
	lanes int // index in disLanes
}

type disPatches struct {
	vectors Buffer[flow.Vec]
	states  Buffer[uint32]
}

func (l *disLevel) patches() int { return l.Columns * l.Rows }

// prepare makes the plan for pictures of width by height.
func (e *DIS) prepare(width, height int) error {
	if err := e.clear(); err != nil {
		return err
	}
	shapes, size, err := e.options.Shapes(width, height)
	if err != nil {
		return err
	}
	p := disPlan{width: width, height: height, distance: (size + arenaAlign - 1) &^ (arenaAlign - 1)}
	finest, most := shapes[0].Columns*shapes[0].Rows, 0
	for _, s := range shapes {
		if s.Reach {
			most = max(most, s.Columns*s.Rows)
		}
	}
	pixels := 0
	if len(shapes) > 1 {
		pixels = shapes[1].Width * shapes[1].Height
	}
	d := e.stream.device
	var pyramids Buffer[byte]
	// The first pass counts the bytes; the second places the buffers.
	for range 2 {
		m := pieces{memory: e.memory}
		pyramids = piece[byte](&m, 2*p.distance)
		for i := range p.patches {
			p.patches[i] = disPatches{piece[flow.Vec](&m, 2*finest), piece[uint32](&m, 2*finest)}
		}
		p.dense, p.least = piece[flow.Vec](&m, 2*pixels), piece[uint64](&m, 2*most)
		if err := e.memory.Resize(d, m.used); err != nil {
			return err
		}
	}
	for _, s := range shapes {
		p.levels = append(p.levels, disLevel{s, pyramids.part(s.Origin, 0).Arg(), e.lanesFor(2 * s.Columns * s.Rows)})
	}
	e.plan = p
	if e.plan.graph, err = d.newGraph(e.launches()); err != nil {
		e.plan = disPlan{}
	}
	return err
}

// pieces divides memory into buffers.
type pieces struct {
	memory Buffer[byte]
	used   int
}

// piece returns the next n values.
func piece[T any](m *pieces, n int) Buffer[T] {
	b := Buffer[T]{n, m.memory.address + uintptr(m.used), n, m.memory.device}
	m.used += (n*sizeOf[T]() + arenaAlign - 1) &^ (arenaAlign - 1)
	return b
}

// lanesFor returns the index in disLanes of the number of threads that share a patch. Fewer threads
// per patch do less work in total, but then there must be enough patches to fill the device.
func (e *DIS) lanesFor(patches int) int {
	if i := slices.Index(disLanes[:], e.lanes); i >= 0 {
		return i
	}
	switch per := patches / e.stream.device.Info().Multiprocessors; {
	case per >= 1024:
		return 0
	case per >= 4:
		return 1
	}
	return 2
}

// launches lists the plan's kernels, from the second level of the pyramids to the search of the
// finest level.
func (e *DIS) launches() (list []launch) {
	p, o, k := &e.plan, &e.options, &e.kernels
	for i := 1; i < len(p.levels); i++ {
		l, finer := &p.levels[i], &p.levels[i-1]
		list = append(list, launch{k.halve, l.bordered(), wideBlock, []Arg{
			l.at, finer.at, Long(int64(p.distance)), Int(l.Width), Int(l.Height), Int(l.Pitch), Int(finer.Pitch)}})
	}
	mean := Int(0)
	if o.MeanNormalization {
		mean = Int(-1)
	}
	for i := len(p.levels) - 1; i >= 0; i-- {
		l := &p.levels[i]
		level := []Arg{l.at, Long(int64(p.distance)), Int(l.Width), Int(l.Height), Int(l.Pitch), Int(l.Columns)}
		var least, coarse Arg
		if l.Reach {
			least = p.least.Arg()
			args := append([]Arg{least}, level...)
			list = append(list, launch{k.reach, Dim{l.patches(), 1, 2}, Dim{reachThreads, 1, 1},
				append(args, Int(o.Stride), Int(o.Reach), mean)})
		}
		if i < len(p.levels)-1 {
			coarse = p.dense.Arg()
		}
		level = append(level, Int(l.patches()), Int(o.Stride))
		grid, block := Dim{ceilDiv(l.patches()*disLanes[l.lanes], searchThreads), 1, 2}, Dim{searchThreads, 1, 1}
		now := p.patches[0].args()
		args := append(now, level...)
		list = append(list, launch{k.first[l.lanes], grid, block,
			append(args, coarse, Int(o.Candidates), Int(o.CandidateDistance), least, Int(o.Reach), Int(o.Iterations), mean)})
		for r := range o.Rounds {
			args := append(p.patches[(r+1)%2].args(), p.patches[r%2].args()...)
			args = append(args, level...)
			list = append(list, launch{k.propagate[l.lanes], grid, block,
				append(args, Int(o.Neighbours), Int(o.Iterations), mean)})
		}
		if i > 0 {
			n := l.Width * l.Height
			field := func(first int) Image[flow.Vec] {
				return Image[flow.Vec]{Width: l.Width, Height: l.Height, Stride: l.Width, buffer: p.dense.part(first, n)}
			}
			list = append(list, e.densify(l, field(0), field(n), 0))
		}
	}
	return list
}

func (p *disPatches) args() []Arg { return []Arg{p.vectors.Arg(), p.states.Arg()} }

// bordered returns the grid of blocks in which each thread makes four samples, for both pictures
// and their borders.
func (l *disLevel) bordered() Dim {
	const border = 16
	return over(l.Pitch/4, l.Height+2*border, 2, wideBlock)
}

// base returns the launch that makes the finest level.
func (e *DIS) base(a, b Image[byte]) launch {
	l := &e.plan.levels[0]
	return launch{e.kernels.base, l.bordered(), wideBlock, []Arg{
		l.at, Long(int64(e.plan.distance)), Int(l.Width), Int(l.Height), Int(l.Pitch),
		a.Arg(), Int(a.Stride), b.Arg(), Int(b.Stride), Int(a.Width), Int(a.Height)}}
}

// densify returns the launch that makes fields from the vectors of level l's patches.
func (e *DIS) densify(l *disLevel, forward, backward Image[flow.Vec], limit int) launch {
	return launch{e.kernels.densify, over(forward.Width, forward.Height, 2, wideBlock), wideBlock, []Arg{
		forward.Arg(), Int(forward.Stride), backward.Arg(), Int(backward.Stride), Int(forward.Width), Int(forward.Height), Int(limit),
		e.plan.patches[e.options.Rounds%2].vectors.Arg(), l.at, Long(int64(e.plan.distance)),
		Int(l.Width), Int(l.Height), Int(l.Pitch), Int(l.Columns), Int(l.Rows), Int(e.options.Stride)}}
}
