package aov

import (
	"retime/flow"
	"retime/frame"
	"retime/pipeline/stages"
	"retime/warp"
)

// motion tells, for each pixel of a made frame, how what is seen there moves from the one picture to the
// other, and which of them show it.
type motion struct {
	workers frame.Workers
	phase   int64              // from 0 at the first picture to warp.PhaseOne at the second, or beyond
	field   flow.Field         // from the first picture to the second, in 1/256 pixel; empty for none
	seen    frame.Image[uint8] // on the guides' grid: first, second or both
	level   int                // how often the guides were halved
	only    uint8              // the picture that there is, if the other one is not

	sides [2]side
}

// What shows a pixel.
const (
	first  uint8 = 1
	second uint8 = 2
	both         = first | second
)

// side is what the flow from one of the pictures says.
type side struct {
	disagreement, weight frame.Image[uint16]
	holes                frame.Image[uint8]
	landed               flow.Field // at the frame's time
}

// leastWeight is the weight of splatted vectors below which there is a hole, and mostTrust what a vector
// weighs that the other flow confirms.
const (
	leastWeight = 4 * warp.SplatOne
	mostTrust   = 64
)

// astray is how far, in 1/256 pixel of the guides, a vector of a picture may be from the motion of what is
// seen where it lands.
const astray = 3 * flow.One / 2

// find finds the motion of a frame between two pictures, of width by height pixels, or beyond one of them: then
// each pixel moves on as the picture there does at that pixel. Without vectors, all stands still.
func (m *motion) find(v stages.Vectors, width, height int, f stages.Origin) error {
	m.phase, m.field, m.only = int64(f.Phase), flow.Field{}, 0
	near := 0
	switch {
	case f.Beyond > 0 && f.Phase > 0:
		near, m.only = 1, second
		m.phase += int64(f.Beyond)
	case f.Beyond > 0:
		m.only = first
		m.phase -= int64(f.Beyond)
	}
	if v.Width != width || v.Height != height {
		return nil
	}
	flows := [2]flow.Field{v.Forward, v.Backward}
	grid := flow.NewField(v.Forward.Width, v.Forward.Height)
	m.seen.Resize(grid.Width, grid.Height)
	if f.Beyond > 0 {
		for y := range grid.Height {
			for x, v := range flows[near].Row(y) {
				if near > 0 {
					v = flow.Vec{X: -v.X, Y: -v.Y}
				}
				grid.Row(y)[x] = v
			}
		}
	} else if err := m.between(flows, grid, f.Phase); err != nil {
		return err
	}
	m.field, m.level = flow.Enlarge(grid, width, height)
	return nil
}

// between sets the motion at a phase on the guides' grid, and what is seen.
func (m *motion) between(flows [2]flow.Field, grid flow.Field, phase warp.Phase) error {
	for i := range m.sides {
		s, p := &m.sides[i], phase
		if i == 1 {
			p = warp.PhaseOne - phase
		}
		if err := s.land(flows[i], flows[1-i], p, m.workers); err != nil {
			return err
		}
	}
	m.workers.Rows(grid.Height, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			for x := range grid.Width {
				grid.Row(y)[x], m.seen.Row(y)[x] = m.choose(flows, x, y)
			}
		}
	})
	return nil
}

// land moves a flow along itself to the frame's time. Where several vectors land, those count most that the
// flow back confirms.
func (s *side) land(f, back flow.Field, phase warp.Phase, workers frame.Workers) error {
	if err := flow.Consistency(&s.disagreement, f, back, workers); err != nil {
		return err
	}
	s.weight.Resize(f.Width, f.Height)
	for y := range f.Height {
		to := s.weight.Row(y)
		for x, d := range s.disagreement.Row(y) {
			to[x] = uint16(1 + mostTrust*flow.One/(flow.One+int(d)))
		}
	}
	s.landed.Resize(f.Width, f.Height)
	s.holes.Resize(f.Width, f.Height)
	splatter := warp.Splatter{Workers: workers}
	splatter.Flow(s.landed, s.holes, f, warp.Motion{Flow: f, Phase: phase, Weight: s.weight}, leastWeight)
	filler := warp.FlowFiller{Workers: workers}
	filler.Nearest(s.landed, s.holes)
	return nil
}

// choose returns the motion of what is seen at a pixel of the guides' grid, from the first picture to the
// second, and which of them show it.
func (m *motion) choose(flows [2]flow.Field, x, y int) (best flow.Vec, seen uint8) {
	least := 1 << 30
	for i := range m.sides {
		s := &m.sides[i]
		v := s.landed.Row(y)[x]
		if i == 1 {
			v = flow.Vec{X: -v.X, Y: -v.Y}
		}
		var off [2]int
		off[0] = distance(flows[0], x, y, v, -m.phase, 1)
		off[1] = distance(flows[1], x, y, v, warp.PhaseOne-m.phase, -1)
		cost := min(off[0], 2*astray) + min(off[1], 2*astray)
		if s.holes.Row(y)[x] != 0 {
			cost += 4 * astray
		}
		if cost >= least {
			continue
		}
		least, best, seen = cost, v, 0
		if off[0] <= astray {
			seen |= first
		}
		if off[1] <= astray {
			seen |= second
		}
	}
	if seen == 0 {
		seen = both
	}
	return best, seen
}

// distance returns how far the vector of f, where part of v leads from a pixel, is from sign times v; large
// outside f.
func distance(f flow.Field, x, y int, v flow.Vec, part, sign int64) int {
	step := func(d int32) int { return int((int64(d)*part/warp.PhaseOne + flow.One/2) >> 8) }
	x, y = x+step(v.X), y+step(v.Y)
	if x < 0 || y < 0 || x >= f.Width || y >= f.Height {
		return 1 << 20
	}
	there := f.Row(y)[x]
	dx, dy := int64(there.X)-sign*int64(v.X), int64(there.Y)-sign*int64(v.Y)
	return int(min(max(dx, -dx)+max(dy, -dy), 1<<20))
}

// at returns the motion at a pixel of the made frame, in 1/256 pixel, and which pictures show it. Beyond
// the frame it is that of the nearest pixel.
func (m *motion) at(x, y int) (flow.Vec, uint8) {
	v, seen := flow.Vec{}, both
	if m.field.Width > 0 {
		x, y = min(max(x, 0), m.field.Width-1), min(max(y, 0), m.field.Height-1)
		v, seen = m.field.Row(y)[x], m.seen.Row(y >> m.level)[x>>m.level]
	}
	if m.only != 0 {
		seen = m.only
	}
	return v, seen
}
