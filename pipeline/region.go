package pipeline

import (
	"math"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/warp"
)

// Region is a part of a frame that is made in a way of its own.
type Region struct {
	// Method is FromSource, for the earlier source frame, Nearest, Blended, for a
	// cross-fade of all of the region, or Interpolated.
	Method Method `json:"method"`
	// Outline has the corners of a polygon, x and y in pixels from the picture's upper left
	// corner. Its edges come out soft.
	Outline [][2]float64 `json:"outline"`
}

// These bound what a decision says of regions.
const (
	maxRegions = 64
	maxCorners = 1024
)

// Check refuses a decision that makes no sense, whatever the clip.
func (d *Decision) Check() error {
	switch d.Method {
	case "", FromSource, Interpolated, Blended, Nearest:
	default:
		return fault.New(fault.BadData, "no method %q; choose from %s, %s, %s, %s", d.Method, Interpolated, Blended, Nearest, FromSource)
	}
	if d.Frame < 0 {
		return fault.New(fault.BadData, "want the number of a frame, 0 or more, as \"frame\"")
	}
	if len(d.Regions) > maxRegions {
		return fault.New(fault.BadData, "frame %d has %d regions; want at most %d", d.Frame, len(d.Regions), maxRegions)
	}
	for _, r := range d.Regions {
		switch r.Method {
		case FromSource, Interpolated, Blended, Nearest:
		default:
			return fault.New(fault.BadData, "no method %q of a region; choose from %s, %s, %s, %s", r.Method, Interpolated, Blended, Nearest, FromSource)
		}
		if n := len(r.Outline); n < 3 || n > maxCorners {
			return fault.New(fault.BadData, "a region of frame %d has %d corners; want 3 to %d", d.Frame, n, maxCorners)
		}
		for _, c := range r.Outline {
			if !(math.Abs(c[0]) <= 1<<16 && math.Abs(c[1]) <= 1<<16) {
				return fault.New(fault.BadData, "a region of frame %d has a corner at %g, %g; want pixels", d.Frame, c[0], c[1])
			}
		}
	}
	return nil
}

// composeRegions has the targets of v made in parts if decisions say so. Their wishes are settled.
func (r *run) composeRegions(v *Interval) error {
	for _, t := range v.Targets {
		line := r.wishes.of[t.Index]
		if len(line.Regions) == 0 || t.Phase == 0 || v.B == nil {
			continue
		}
		base, motion := t.wish, false
		for _, g := range line.Regions {
			motion = motion || g.Method == Interpolated
			if v.Gap && (g.Method == Interpolated || g.Method == Blended) || g.Method == Interpolated && !r.options.Synthesis.Mode.UsesFlow() {
				return fault.New(fault.Usage, "Synthesis.Decisions: line %d: a region of frame %d cannot be %s: no motion is estimated there", line.Line, t.Index, g.Method)
			}
		}
		if motion {
			t.wish = Interpolated
		}
		t.Compose = func(dst, made *frame.Frame) {
			frame.Copy(dst, made)
			if motion && base != "" && base != Interpolated {
				var inner [][][2]float64
				for _, g := range line.Regions {
					if g.Method == Interpolated {
						inner = append(inner, g.Outline)
					}
				}
				r.fill(dst, v, t.Phase, base, r.cells(inner, true))
			}
			for _, g := range line.Regions {
				if g.Method != Interpolated {
					r.fill(dst, v, t.Phase, g.Method, r.cells([][][2]float64{g.Outline}, false))
				}
			}
		}
	}
	return nil
}

// fill replaces what cells marks by 0 in dst.
func (r *run) fill(dst *frame.Frame, v *Interval, phase warp.Phase, m Method, cells frame.Image[uint8]) {
	a, b := v.A.Frame, v.B.Frame
	switch m {
	case FromSource:
		b = a
	case Nearest:
		a = v.nearest(phase).Frame
		b = a
	}
	warp.MaskedBlend(r.options.workers(), dst, a, b, phase, cells, r.level)
}

// cells marks the cells of the guides' grid whose centres lie in one of some polygons by 0, and
// the others by 255; the other way round if outside is set.
func (r *run) cells(outlines [][][2]float64, outside bool) frame.Image[uint8] {
	w, h := r.video.Width, r.video.Height
	for range r.level {
		w, h = (w+1)/2, (h+1)/2
	}
	m := frame.NewImage[uint8](w, h)
	in, out := uint8(0), uint8(255)
	if outside {
		in, out = out, in
	}
	side := float64(int(1) << r.level)
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

// within says whether a point lies in a polygon, by the even-odd rule.
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
