package stages

import (
	"context"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/pipeline/motion"
	"retime/warp"
)

// A drawing is held over up to mostHeld pictures, on threes. It counts if the drawing before or after it
// is held, too: so much depends on holdsBefore pictures before and holdsAfter after each.
const (
	mostHeld    = 3
	holdsBefore = 2*mostHeld - 1 + 1 // the last one shows whether the first of those begins a drawing
	holdsAfter  = 2*mostHeld - 1
)

// holds remakes what repeats in parts of pictures, such as a character on twos over a pan on ones.
type holds struct {
	*run
	estimator *motion.Estimator
	maker     *warp.Synthesizer
	cuts      cuts
	window    []*heldPicture
}

// heldPicture is a picture with the drawings that it may be the first to show.
type heldPicture struct {
	*Picture
	drawings [mostHeld + 1]*drawing // by how many pictures show them; nil if they have not been looked for
}

// drawing is what some pictures may show before it moves on to the next drawing.
type drawing struct {
	*Interval // from the first of them to the one with the next drawing
	pictures  warp.Hold
	likely    bool
	regions   frame.Image[uint8]  // as warp.Hold finds them; empty for none
	cadence   *frame.Image[uint8] // those of them that the drawing before or after is held in, too; nil if not known
}

func (h *heldPicture) release() {
	for _, d := range h.drawings {
		if d != nil {
			d.Release()
		}
	}
	h.Release()
}

// retimesHolds reports whether repeats in parts of pictures are retimed. Mattes and files of flow tell of the
// pictures as they are.
func (r *run) retimesHolds() bool {
	_, files := r.params.Flow.Method.Files()
	return r.params.Animation && r.params.DropRepeats && r.params.Mode.UsesFlow() && !files && r.params.Masks.Mattes == nil
}

// moveHolds passes pictures on. Where a drawing is held in parts of a picture, the picture is made again: the
// drawing is on its way to the next one, as if it had been drawn for each picture.
func (r *run) moveHolds(from <-chan *Picture) stage[*Picture] {
	return func(ctx context.Context, emit func(*Picture) error) (err error) {
		h := &holds{run: r, cuts: newCuts(&r.params)}
		if h.estimator, err = r.params.Flow.Estimator(ctx); err != nil {
			return err
		}
		defer h.estimator.Close()
		if h.maker, err = warp.NewSynthesizer(r.params.Params); err != nil {
			return err
		}
		defer h.maker.Close()
		defer func() {
			for _, p := range h.window {
				p.release()
			}
		}()
		next := 0 // in the window, to be passed on
		pass := func() error {
			p, err := h.moved(next)
			if err != nil {
				return err
			}
			if next++; next > holdsBefore {
				h.window[0].release()
				h.window = h.window[1:]
				next--
			}
			return emit(p)
		}
		for p := range from {
			h.window = append(h.window, &heldPicture{Picture: p})
			if len(h.window)-next > holdsAfter {
				if err := pass(); err != nil {
					return err
				}
			}
		}
		for next < len(h.window) {
			if err := pass(); err != nil {
				return err
			}
		}
		return nil
	}
}

// moved returns picture i of the window, made again if a drawing is held in a part of it.
func (h *holds) moved(i int) (*Picture, error) {
	p := h.window[i].Picture
	again := *p
	again.Frame, again.Remade = nil, nil
	for first := max(i-mostHeld+1, 0); first < i; first++ {
		for n := i - first + 1; n <= mostHeld; n++ {
			if err := h.move(&again, first, n, i); err != nil {
				if again.Frame != nil {
					again.Release()
				}
				return nil, err
			}
		}
	}
	if again.Frame == nil {
		return p.Retain(), nil
	}
	again.Guide, again.Moved = h.guide(again.Frame), 0
	return &again, nil
}

// move has again, which is to replace picture i and may have no frame yet, show the drawing that n pictures from
// first on show as on its way to the next one, if they do.
func (h *holds) move(again *Picture, first, n, i int) error {
	regions, err := h.cadence(first, n)
	if err != nil || regions.Width == 0 {
		return err
	}
	d, p := h.window[first].drawings[n], h.window[i]
	seen := h.between(d.Interval)
	if h.params.Mode == warp.Project {
		seen.static = h.still
	}
	in, err := seen.Host()
	if err != nil {
		return err
	}
	f, err := h.sink.NewFrame(p.Frame)
	if err != nil {
		return err
	}
	defer f.Release()
	phase := d.phase(p.At)
	made, err := h.make(f, in, phase)
	if err != nil {
		return err
	}
	m := &remade{between: [2]int64{d.A.Number, d.B.Number}, phase: phase, made: made, change: d.found.change}
	if h.params.Fallback.method(m.confidence()) != decision.Interpolated {
		return nil
	}
	if h.params.Hooks.Rate {
		_, errors := h.assessor.assess(in, phase, f, true)
		m.worst = worst(within(errors, regions), f, h.scale.Level)
	}
	again.Remade = again.Remade.lower(m)
	if again.Frame == nil {
		if again.Frame, err = h.sink.NewFrame(p.Frame); err != nil {
			return err
		}
		frame.Copy(again.Frame, p.Frame)
		to, like := again.Frame, p.Frame
		to.Transfer, to.FullRange, to.PTS, to.Duration = like.Transfer, like.FullRange, like.PTS, like.Duration
	}
	warp.MaskedBlend(h.params.Workers, again.Frame, f, f, 0, warp.Inverted(regions), h.scale.Level)
	return nil
}

// within leaves no error where regions are 0.
func within(errors frame.Image[uint32], regions frame.Image[uint8]) frame.Image[uint32] {
	for y := range errors.Height {
		row := errors.Row(y)
		for x, v := range regions.Row(y) {
			if v == 0 {
				row[x] = 0
			}
		}
	}
	return errors
}

// make fills f with the frame of an interval at a phase.
func (h *holds) make(f *frame.Frame, in warp.Interval, phase warp.Phase) (made warp.Made, err error) {
	defer h.times.synthesis.start()()
	prepared, err := h.maker.Prepare(in)
	if err != nil {
		return made, err
	}
	defer prepared.Close()
	return prepared.Make(f, phase)
}

// cadence returns where a drawing is held over n pictures from first on, and the one before or after it over
// some, too; an empty image if there is no such place.
func (h *holds) cadence(first, n int) (regions frame.Image[uint8], err error) {
	d := h.drawing(first, n)
	if d.cadence != nil {
		return *d.cadence, nil
	}
	var others []frame.Image[uint8]
	for held := 2; held <= mostHeld; held++ {
		for _, at := range []int{first - held, first + n} {
			o := h.drawing(at, held)
			if !d.likely || !o.likely {
				continue
			}
			if err := h.find(d); err != nil {
				return regions, err
			}
			if err := h.find(o); err != nil {
				return regions, err
			}
			others = append(others, o.regions)
		}
	}
	if len(others) > 0 && d.regions.Width > 0 {
		regions = warp.Touching(d.regions, others...)
	}
	d.cadence = &regions
	return regions, nil
}

// drawing returns what n pictures from first on may show unmoved.
func (h *holds) drawing(first, n int) *drawing {
	if first < 0 || first+n >= len(h.window) {
		return new(drawing)
	}
	to := &h.window[first].drawings[n]
	if *to != nil {
		return *to
	}
	d := &drawing{Interval: NewInterval(h.window[first].Picture, h.window[first+n].Picture, nil)}
	*to = d
	d.pictures = warp.Hold{Next: d.B.Guide.Picture(), Level: h.scale.Level}
	if first > 0 {
		d.pictures.Before = h.window[first-1].Guide.Picture()
	}
	for i, p := range h.window[first : first+n] {
		step := Interval{A: p.Picture, B: h.window[first+i+1].Picture}
		if gap := h.plan.Gap; gap != nil && step.length().Cmp(gap) > 0 {
			return d
		}
		d.pictures.Shown = append(d.pictures.Shown, p.Guide.Picture())
		d.pictures.At = append(d.pictures.At, d.phase(p.At))
	}
	d.likely = d.pictures.Likely(h.params.Workers)
	return d
}

// find sets the regions of a drawing that is likely.
func (h *holds) find(d *drawing) error {
	if len(d.found.flows) > 0 {
		return nil
	}
	defer h.times.flow.start()()
	if err := estimateInterval(h.estimator, d.Interval, &h.params); err != nil {
		return err
	}
	if h.cuts.within(d.Interval, h.pass.Backward) {
		return nil
	}
	flows, err := d.found.flows[0].Fields()
	if err == nil {
		d.regions = d.pictures.Regions(h.params.Workers, flows)
	}
	return err
}
