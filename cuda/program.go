package cuda

import "retime/warp"

// program is how the frames of a mode are made, and what that takes.
type program struct {
	guided  bool // whether the flows tell the motion
	sampled bool // whether splines sample the neighbours along it
	// interval and lane list the parts that intervals and frames need.
	interval func(w *prepared, p *warp.Params) parts
	lane     func(l *lane, p *warp.Params) parts
	// preparation and frame return the steps of the work on an interval and on a frame.
	preparation func(s *Synthesizer, w *prepared) []step
	frame       func(s *Synthesizer, l *lane, w *prepared, dst *planes, phase warp.Phase) []step
}

// programs are those of the modes that a device makes.
var programs = map[warp.Mode]*program{
	warp.Blend: {
		interval:    func(*prepared, *warp.Params) parts { return nil },
		lane:        func(l *lane, _ *warp.Params) parts { return parts{&l.fader} },
		preparation: (*Synthesizer).prepareNothing,
		frame:       (*Synthesizer).crossFade,
	},
	warp.Splat: {
		guided:      true,
		interval:    func(w *prepared, _ *warp.Params) parts { return parts{&w.guides} },
		lane:        func(l *lane, _ *warp.Params) parts { return parts{&l.colours, &l.fader, &l.inpainter, &l.gaps} },
		preparation: (*Synthesizer).prepareSplat,
		frame:       (*Synthesizer).splat,
	},
	warp.Project: {
		guided: true, sampled: true,
		interval: func(w *prepared, p *warp.Params) parts {
			return accelerated(p, &w.accelerations, &w.guides)
		},
		lane: func(l *lane, p *warp.Params) parts {
			return accelerated(p, &l.bend, &l.inpainter, &l.projection, &l.shares, &l.guesses, &l.calm, &l.renderer, &l.gaps)
		},
		preparation: (*Synthesizer).prepareProject,
		frame:       (*Synthesizer).project,
	},
}

// accelerated returns the parts, and if the motion may accelerate, the one that this takes.
func accelerated(p *warp.Params, with part, list ...part) parts {
	if p.Acceleration {
		list = append(list, with)
	}
	return list
}

// part is a piece of device memory with the kernels that work on it.
type part interface {
	// open loads the kernels and queues the uploads of tables.
	open(s *Stream, p *warp.Params) error
	// resize makes the memory fit. No work may be queued.
	resize(s *Stream, to *layout) error
	free()
}

// unsized is a part that fits any layout.
type unsized struct{}

func (unsized) resize(*Stream, *layout) error { return nil }

// parts are what a program needs for an interval or for frames.
type parts []part

func (list parts) open(s *Stream, p *warp.Params) error {
	return list.each(func(a part) error { return a.open(s, p) })
}

func (list parts) resize(s *Stream, to *layout) error {
	return list.each(func(a part) error { return a.resize(s, to) })
}

func (list parts) free() {
	for _, a := range list {
		a.free()
	}
}

func (list parts) each(do func(part) error) error {
	for _, a := range list {
		if err := do(a); err != nil {
			return err
		}
	}
	return nil
}
