package stages

import (
	"retime/frame"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/warp"
)

// composeRegions has the targets of v made in parts if decisions say so. Their wishes are settled.
func (r *run) composeRegions(v *Interval) error {
	for _, t := range v.Targets {
		line := r.wishes.of[r.frame(t.Index)]
		if len(line.Regions) == 0 || !r.owns(t.Index) || t.Phase == 0 || v.B == nil {
			continue
		}
		var moving [][][2]float64 // what is to go along the motion
		for i := range line.Regions {
			g := &line.Regions[i]
			flows := g.Method == decision.Interpolated || g.Method == decision.Drawn
			if v.Gap && (flows || g.Method == decision.Blended) || flows && !r.params.Mode.UsesFlow() {
				return fault.New(fault.Usage, "Synthesis.Decisions: line %d: a region of frame %d cannot be %s: no motion is estimated there", line.Line, t.Index, g.Method)
			}
			switch g.Method {
			case decision.Interpolated:
				moving = append(moving, g.Outline)
			case decision.Drawn:
				m := g.Motion()
				t.decided = append(t.decided, m.Way(r.video.Height)...)
			default:
				t.decided = append(t.decided, g.Outline)
			}
		}
		around := t.wish
		apart := len(moving) > 0 && around != "" && around != decision.Interpolated
		if len(moving) > 0 {
			t.wish = decision.Interpolated
		}
		t.Compose = func(dst, made *frame.Frame) error {
			frame.Copy(dst, made)
			if apart {
				if err := r.fill(dst, v, t.Phase, around, r.cells(moving, true)); err != nil {
					return err
				}
			}
			return r.fillRegions(dst, v, t.Phase, line.Regions)
		}
	}
	return nil
}

// fillRegions shows regions of dst as is decided, but for those that go along the motion. Drawn ones that follow each
// other count as one.
func (r *run) fillRegions(dst *frame.Frame, v *Interval, phase warp.Phase, regions []decision.Region) error {
	var drawn []warp.Drawn
	for i := range regions {
		var err error
		switch g := &regions[i]; g.Method {
		case decision.Interpolated:
		case decision.Drawn:
			drawn = append(drawn, g.Motion())
			if i+1 == len(regions) || regions[i+1].Method != decision.Drawn {
				err = r.follow(dst, v, phase, drawn)
				drawn = nil
			}
		default:
			err = r.fill(dst, v, phase, g.Method, r.cells([][][2]float64{g.Outline}, false))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// undecided leaves no error in t's frame where somebody has decided how it is made.
func (r *run) undecided(t *Target, errors frame.Image[uint32]) {
	if len(t.decided) == 0 {
		return
	}
	within(errors, r.cells(t.decided, false))
}

// follow shows in dst what moves as somebody has drawn.
func (r *run) follow(dst *frame.Frame, v *Interval, phase warp.Phase, list []warp.Drawn) error {
	flows, err := v.found.flows[0].Fields()
	if err != nil {
		return err
	}
	return warp.FollowDrawn(r.params.Workers, dst, v.A.Frame, v.B.Frame, flows.Forward, r.scale.Level, phase, list)
}

// fill replaces what cells marks by 0 in dst.
func (r *run) fill(dst *frame.Frame, v *Interval, phase warp.Phase, m decision.Method, cells frame.Image[uint8]) error {
	switch m {
	case decision.FromSource:
		warp.MaskedCopy(r.params.Workers, dst, v.A.Frame, cells, r.scale.Level)
	case decision.Nearest:
		r.fillNearest(dst, v, phase, cells)
	default:
		return r.maskedBlend(dst, v, phase, cells)
	}
	return nil
}

// fillNearest shows the nearer picture in dst where cells are low.
func (r *run) fillNearest(dst *frame.Frame, v *Interval, phase warp.Phase, cells frame.Image[uint8]) {
	warp.MaskedCopy(r.params.Workers, dst, v.nearest(phase).Frame, cells, r.scale.Level)
}

// cells marks the cells of the guides' grid whose centres lie in one of some polygons by 0, and
// the others by 255; the other way round if outside is set.
func (r *run) cells(outlines [][][2]float64, outside bool) frame.Image[uint8] {
	w, h := r.video.Width, r.video.Height
	for range r.scale.Level {
		w, h = (w+1)/2, (h+1)/2
	}
	m := frame.NewImage[uint8](w, h)
	in, out := uint8(0), uint8(255)
	if outside {
		in, out = out, in
	}
	for i := range m.Pix {
		m.Pix[i] = out
	}
	side := float64(int(1) << r.scale.Level)
	for _, o := range outlines {
		corners := make([][2]float64, len(o))
		for i, c := range o {
			corners[i] = [2]float64{c[0] / side, c[1] / side}
		}
		frame.FillPolygon(m, corners, in)
	}
	return m
}
