package warp

import (
	"fmt"
	"slices"

	"retime/flow"
	"retime/frame"
)

// Guess is a hypothesis about the motion through every pixel of the guides' grid.
type Guess struct {
	Name   string
	Motion flow.Field          // from A to B
	Cost   frame.Image[uint16] // how far A and B disagree along it, in 1/16 grey level
	Share  frame.Image[uint16] // weight relative to the other guesses
}

// Inspection shows how a frame was made.
type Inspection struct {
	Guesses []Guess
	// Unseen is 255 at the samples of the first plane that neither neighbour shows,
	// which were inpainted.
	Unseen frame.Image[uint8]
	// Overlay is the certainty, from 0 to 255, that a pixel of the guides' grid belongs
	// to an overlay, which lies still over the picture. It is empty if there is none.
	Overlay frame.Image[uint8]
}

// Inspect makes a frame as Make does, in mode Project, and shows how it was made.
func (p *Prepared) Inspect(dst *frame.Frame, phase Phase) (Made, Inspection, error) {
	var made Made
	var inside Inspection
	err := p.with(func(m *maker) (err error) {
		if made, err = m.make(dst, p.open, phase); err == nil {
			inside = m.inspect().clone()
		}
		return err
	})
	return made, inside, err
}

// inspect returns how the last frame was made, in the maker's memory.
func (m *maker) inspect() Inspection {
	p := m.of
	var names []string
	for i := range m.estimates {
		which := ""
		if len(m.estimates) > 1 {
			which = fmt.Sprintf(", estimate %d", i+1)
		}
		names = append(names, "flow from the first frame"+which, "flow from the second frame"+which)
	}
	if p.in.Static.Height > 0 {
		names = append(names, "no motion")
	}
	names = append(names,
		"surroundings, up left", "surroundings, up right", "surroundings, down left", "surroundings, down right",
		"surroundings, left", "surroundings, right", "surroundings, up", "surroundings, down",
		"first frame only", "second frame only")
	if p.in.Static.Height > 0 {
		m.still.measure(m.params.Workers, &m.words[0], &p.in, 0, flow.Field{})
	}
	in := Inspection{Unseen: m.mask[0], Overlay: p.in.Static}
	for i, h := range m.hypotheses() {
		in.Guesses = append(in.Guesses, Guess{names[i], h.motion, h.cost, h.weight})
	}
	return in
}

// clone returns a copy in memory of its own.
func (in Inspection) clone() Inspection {
	in.Unseen, in.Overlay = in.Unseen.Clone(), in.Overlay.Clone()
	in.Guesses = slices.Clone(in.Guesses)
	for i := range in.Guesses {
		g := &in.Guesses[i]
		g.Motion.Image, g.Cost, g.Share = g.Motion.Clone(), g.Cost.Clone(), g.Share.Clone()
	}
	return in
}

// Seen is the set of neighbours that show a pixel's content.
type Seen uint8

// The sets of the two neighbours.
const (
	SeenInNeither Seen = iota
	SeenInFirst
	SeenInSecond
	SeenInBoth
)

// Visible returns the neighbours that show the content of pixel (x, y) of the guides'
// grid at the phase, along the guess's motion.
func (g *Guess) Visible(x, y int, phase Phase) Seen {
	v := g.Motion.Row(y)[x]
	ax, ay := int32(x)<<positionBits-toward(v.X, phase), int32(y)<<positionBits-toward(v.Y, phase)
	seen := SeenInNeither
	if inside(g.Cost, ax, ay) {
		seen |= SeenInFirst
	}
	if inside(g.Cost, ax+v.X, ay+v.Y) {
		seen |= SeenInSecond
	}
	return seen
}
