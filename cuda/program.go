package cuda

import "retime/warp"

// program is how the frames of a mode are made, and what that takes.
type program struct {
	guided  bool // whether the flows tell the motion
	sampled bool // whether splines sample the neighbours along it
	// interval and lane list the parts that intervals and frames need.
	interval func(w *prepared, p *warp.Params) []part
	lane     func(l *lane, p *warp.Params) []part
	// preparation and frame return the steps of the work on an interval and on a frame.
	preparation func(s *Synthesizer, w *prepared) []step
	frame       func(s *Synthesizer, l *lane, w *prepared, dst *planes, phase warp.Phase) []step
}

// programs are those of the modes that a device makes.
var programs = map[warp.Mode]*program{
	warp.Blend: {
		interval:    func(*prepared, *warp.Params) []part { return nil },
		lane:        func(l *lane, _ *warp.Params) []part { return []part{&l.fader} },
		preparation: (*Synthesizer).prepareNothing,
		frame:       (*Synthesizer).crossFade,
	},
	warp.Splat: {
		guided:      true,
		interval:    func(w *prepared, _ *warp.Params) []part { return []part{&w.guides} },
		lane:        func(l *lane, _ *warp.Params) []part { return []part{&l.colours, &l.fader, &l.inpainter, &l.gaps} },
		preparation: (*Synthesizer).prepareSplat,
		frame:       (*Synthesizer).splat,
	},
	warp.Project: {
		guided: true, sampled: true,
		interval: func(w *prepared, p *warp.Params) []part {
			return accelerated(p, &w.accelerations, &w.guides)
		},
		lane: func(l *lane, p *warp.Params) []part {
			return accelerated(p, &l.bend, &l.inpainter, &l.projection, &l.shares, &l.guesses, &l.calm, &l.renderer, &l.gaps)
		},
		preparation: (*Synthesizer).prepareProject,
		frame:       (*Synthesizer).project,
	},
}

// accelerated returns the parts, and if the motion may accelerate, the one that this takes.
func accelerated(p *warp.Params, with part, parts ...part) []part {
	if p.Acceleration {
		parts = append(parts, with)
	}
	return parts
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

func openParts(parts []part, s *Stream, p *warp.Params) error {
	for _, a := range parts {
		if err := a.open(s, p); err != nil {
			return err
		}
	}
	return nil
}

func resizeParts(parts []part, s *Stream, to *layout) error {
	for _, a := range parts {
		if err := a.resize(s, to); err != nil {
			return err
		}
	}
	return nil
}

func freeParts(parts []part) {
	for _, a := range parts {
		a.free()
	}
}
