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
		base, motion := t.wish, false
		for _, g := range line.Regions {
			motion = motion || g.Method == decision.Interpolated
			if v.Gap && (g.Method == decision.Interpolated || g.Method == decision.Blended) || g.Method == decision.Interpolated && !r.params.Mode.UsesFlow() {
				return fault.New(fault.Usage, "Synthesis.Decisions: line %d: a region of frame %d cannot be %s: no motion is estimated there", line.Line, t.Index, g.Method)
			}
		}
		if motion {
			t.wish = decision.Interpolated
		}
		t.Compose = func(dst, made *frame.Frame) {
			frame.Copy(dst, made)
			if motion && base != "" && base != decision.Interpolated {
				var inner [][][2]float64
				for _, g := range line.Regions {
					if g.Method == decision.Interpolated {
						inner = append(inner, g.Outline)
					}
				}
				r.fill(dst, v, t.Phase, base, r.cells(inner, true))
			}
			for _, g := range line.Regions {
				if g.Method != decision.Interpolated {
					r.fill(dst, v, t.Phase, g.Method, r.cells([][][2]float64{g.Outline}, false))
				}
			}
		}
	}
	return nil
}

// fill replaces what cells marks by 0 in dst.
func (r *run) fill(dst *frame.Frame, v *Interval, phase warp.Phase, m decision.Method, cells frame.Image[uint8]) {
	a, b := v.A.Frame, v.B.Frame
	switch m {
	case decision.FromSource:
		b = a
	case decision.Nearest:
		a = v.nearest(phase).Frame
		b = a
	}
	warp.MaskedBlend(r.params.Workers, dst, a, b, phase, cells, r.scale.Level)
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
	side := float64(int(1) << r.scale.Level)
	for y := range h {
		row := m.Row(y)
		for x := range row {
			row[x] = out
			for _, o := range outlines {
				if within(o, (float64(x)+0.5)*side, (float64(y)+0.5)*side) {
					row[x] = in
				}
			}
		}
	}
	return m
}

// within reports whether a point lies in a polygon, by the even-odd rule.
func within(outline [][2]float64, x, y float64) bool {
	odd := false
	last := outline[len(outline)-1]
	for _, c := range outline {
		if (c[1] > y) != (last[1] > y) {
			if cross := float64((last[0]-c[0])*(y-c[1]))/(last[1]-c[1]) + c[0]; x < cross {
				odd = !odd
			}
		}
		last = c
	}
	return odd
}
