package stages

import (
	"context"
	"sync"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/pipeline/motion"
	"retime/warp"
)

// Up to mostShown pictures show a drawing, on threes. It counts if the drawing before or after it stays for some
// pictures, too: so much depends on drawingsBefore pictures before and drawingsAfter after each.
const (
	mostShown      = 3
	drawingsBefore = 2 * mostShown // the last one shows whether the first of the others begins a drawing
	drawingsAfter  = 2*mostShown - 1
)

// drawings remakes what repeats in parts of pictures, such as a character on twos over a pan on ones.
type drawings struct {
	*run
	estimator *motion.Estimator
	maker     *warp.Synthesizer
	cuts      cuts
	window    []*firstPicture
}

// firstPicture is a picture with the drawings that it is the first to show.
type firstPicture struct {
	*Picture
	likely [mostShown - 1]*drawing // shown by two pictures, by three...; nil if that is not likely
	moves  []*move                 // of those that are held in a part of the picture
}

// drawing is what some pictures may show before it moves on to the next drawing.
type drawing struct {
	*Interval // from the first of them to the one with the next drawing
	pictures  warp.Hold
	regions   func() (frame.Image[uint8], error) // as warp.Hold finds them; empty for none
}

// move is the way of a drawing to the next one.
type move struct {
	*drawing
	regions   frame.Image[uint8] // where it is held
	elsewhere frame.Image[uint8] // regions, inverted
	in        warp.Interval
	prepared  *warp.Prepared
}

// moved is a frame in which a drawing is on its way.
type moved struct {
	*move
	frame *frame.Frame
	told  remade
}

func (p *firstPicture) release() {
	for _, m := range p.moves {
		m.prepared.Close()
	}
	for _, d := range p.likely {
		if d != nil {
			d.Release()
		}
	}
	p.Release()
}

// retimesDrawings reports whether repeats in parts of pictures are retimed. Mattes and files of flow tell of the
// pictures as they are.
func (r *run) retimesDrawings() bool {
	_, files := r.params.Flow.Method.Files()
	return r.params.Animation && r.params.DropRepeats && r.params.Mode.UsesFlow() && !files && r.params.Masks.Mattes == nil
}

// moveDrawings passes pictures on. Where a drawing is held in parts of a picture, the picture is made again: the
// drawing is on its way to the next one, as if it had been drawn for each picture.
func (r *run) moveDrawings(from <-chan *Picture) stage[*Picture] {
	return func(ctx context.Context, emit func(*Picture) error) (err error) {
		s := &drawings{run: r, cuts: newCuts(&r.params)}
		if s.estimator, err = r.params.Flow.Estimator(ctx); err != nil {
			return err
		}
		defer s.estimator.Close()
		if s.maker, err = warp.NewSynthesizer(r.params.Params); err != nil {
			return err
		}
		defer s.maker.Close()
		defer func() {
			for _, p := range s.window {
				p.release()
			}
		}()
		next := 0 // in the window, to be passed on
		pass := func() error {
			p, err := s.remake(next)
			if err != nil {
				return err
			}
			if next++; next > drawingsBefore {
				s.window[0].release()
				s.window = s.window[1:]
				next--
			}
			return emit(p)
		}
		for p := range from {
			s.push(p)
			if len(s.window)-next > drawingsAfter {
				if err := pass(); err != nil {
					return err
				}
			}
		}
		for next < len(s.window) {
			if err := pass(); err != nil {
				return err
			}
		}
		return nil
	}
}

// push adds a picture to the window, and looks for the drawings that pictures before it may show.
func (s *drawings) push(p *Picture) {
	s.window = append(s.window, &firstPicture{Picture: p})
	last := len(s.window) - 1
	for n := 2; n <= min(mostShown, last); n++ {
		s.window[last-n].likely[n-2] = s.look(last-n, n)
	}
}

// look returns what n pictures from first on may show unmoved, nil if that is not likely.
func (s *drawings) look(first, n int) *drawing {
	d := &drawing{Interval: NewInterval(s.window[first].Picture, s.window[first+n].Picture, nil)}
	d.pictures = warp.Hold{Next: d.B.Guide.Picture(), Level: s.scale.Level}
	if first > 0 {
		d.pictures.Before = s.window[first-1].Guide.Picture()
	}
	gaps := false
	for i, p := range s.window[first : first+n] {
		step := Interval{A: p.Picture, B: s.window[first+i+1].Picture}
		gaps = gaps || s.plan.Gap != nil && step.length().Cmp(s.plan.Gap) > 0
		d.pictures.Shown = append(d.pictures.Shown, p.Guide.Picture())
		d.pictures.At = append(d.pictures.At, d.phase(p.At))
	}
	if gaps || !d.pictures.Likely(s.params.Workers) {
		d.Release()
		return nil
	}
	d.regions = sync.OnceValues(func() (frame.Image[uint8], error) { return s.regions(d) })
	return d
}

// regions estimates a drawing's flow, and returns where the pictures show it unmoved.
func (s *drawings) regions(d *drawing) (m frame.Image[uint8], err error) {
	defer s.times.flow.start()()
	if err := estimateInterval(s.estimator, d.Interval, &s.params); err != nil || s.cuts.within(d.Interval, s.pass.Backward) {
		return m, err
	}
	flows, err := d.found.flows[0].Fields()
	if err != nil {
		return m, err
	}
	return d.pictures.Regions(s.params.Workers, flows), nil
}

// cadence returns where n pictures from first on show a drawing, and some the one before or after it, too; an empty
// image if there is no such place.
func (s *drawings) cadence(d *drawing, first, n int) (m frame.Image[uint8], err error) {
	var others []frame.Image[uint8]
	for held := 2; held <= mostShown; held++ {
		for _, at := range []int{first - held, first + n} {
			if at < 0 || at >= len(s.window) || s.window[at].likely[held-2] == nil {
				continue
			}
			o, err := s.window[at].likely[held-2].regions()
			if err != nil {
				return m, err
			}
			others = append(others, o)
		}
	}
	if len(others) == 0 {
		return m, nil
	}
	if m, err = d.regions(); err != nil || m.Width == 0 {
		return m, err
	}
	return warp.Touching(m, others...), nil
}

// find finds the moves of the drawings that picture first of the window is the first to show.
func (s *drawings) find(first int) error {
	p := s.window[first]
	for i, d := range p.likely {
		if d == nil {
			continue
		}
		regions, err := s.cadence(d, first, i+2)
		if err != nil {
			return err
		}
		if regions.Width == 0 {
			continue
		}
		m := &move{drawing: d, regions: regions, elsewhere: warp.Inverted(regions)}
		if m.in, err = s.between(d.Interval).Host(); err != nil {
			return err
		}
		stop := s.times.synthesis.start()
		m.prepared, err = s.maker.Prepare(m.in)
		stop()
		if err != nil {
			return err
		}
		p.moves = append(p.moves, m)
	}
	return nil
}

// remake returns picture i of the window, made again if a drawing is held in a part of it.
func (s *drawings) remake(i int) (*Picture, error) {
	p := s.window[i].Picture
	if i > 0 {
		if err := s.find(i - 1); err != nil {
			return nil, err
		}
	}
	var parts []moved
	defer func() {
		for _, part := range parts {
			part.frame.Release()
		}
	}()
	for first := max(i-mostShown+1, 0); first < i; first++ {
		for _, m := range s.window[first].moves {
			if len(m.pictures.Shown) <= i-first {
				continue
			}
			part, err := s.make(m, p)
			if err != nil {
				return nil, err
			}
			if len(m.pictures.Shown) == i-first+1 {
				m.prepared.Close()
			}
			if s.params.Fallback.method(part.told.confidence()) != decision.Interpolated {
				part.frame.Release()
				continue
			}
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return p.Retain(), nil
	}
	f, err := s.sink.NewFrame(p.Frame)
	if err != nil {
		return nil, err
	}
	frame.Copy(f, p.Frame)
	f.PTS, f.Duration = p.Frame.PTS, p.Frame.Duration
	f.ShowLightAs(p.Frame)
	told := parts[0].told
	for k, part := range parts {
		warp.MaskedCopy(s.params.Workers, f, part.frame, part.elsewhere, s.scale.Level)
		if k > 0 {
			told = told.lower(part.told)
		}
	}
	again := *p
	again.Frame, again.Guide, again.Moved, again.Remade = f, s.guide(f), 0, &told
	return &again, nil
}

// make makes the frame in which a drawing is on its way at the time of p.
func (s *drawings) make(m *move, p *Picture) (part moved, err error) {
	defer s.times.synthesis.start()()
	f, err := s.sink.NewFrame(p.Frame)
	if err != nil {
		return part, err
	}
	phase := m.phase(p.At)
	told := remade{between: [2]int64{m.A.Number, m.B.Number}, phase: phase, change: m.found.change}
	if told.made, err = m.prepared.Make(f, phase); err != nil {
		f.Release()
		return part, err
	}
	if s.params.Hooks.Rate {
		_, errors := s.assessor.assess(m.in, phase, f, true)
		told.worst = worst(within(errors, m.regions), f, s.scale.Level)
	}
	return moved{m, f, told}, nil
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
