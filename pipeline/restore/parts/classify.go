package parts

import (
	"image"
	"math"
	"slices"
)

// isLine reports whether a box is that of a line, or of a few.
func isLine(box image.Rectangle) bool {
	return box.Dy() <= 6 && box.Dx() >= 3*box.Dy() && box.Dx() >= 12
}

// A speck is at most as long as a speckLong-th of the picture's width, unless it is a scratch, which is at most scratchWide pixels wide, one
// more for each 320 of the picture's width, and marked to this share of its box. What surrounds it lies outside by at most loose
// of what it does.
const (
	speckLong    = 32
	scratchWide  = 2
	scratchShare = 0.6
	loose        = 0.15
)

// classify returns the candidate that a component is, of no kind if it is none.
func classify(p *component, width int) (k candidate) {
	w, h := p.box.Dx(), p.box.Dy()
	fill := float64(p.pixels) / float64(w*h)
	k = candidate{kind: Dirt, box: p.box, weight: p.weight, sort: speckSort}
	switch {
	case isLine(p.box):
		return candidate{}
	case p.off > loose || max(w, h) > width/speckLong && (w > scratchWide+width/320 || fill < scratchShare):
		return candidate{}
	}
	k.measures = []float64{math.Log(float64(p.pixels)), math.Log(float64(p.weight) / float64(p.pixels)), p.off, p.unlike, 1, fill}
	return k
}

// streakShare is how much of the picture's width a streak crosses, at least.
const streakShare = 0.35

// across reports whether the lines at the height of box make a streak.
func across(list []candidate, box image.Rectangle, width int) bool {
	sum := 0
	for i := range list {
		if o := list[i].box; list[i].sort == lineSort && o.Min.Y < box.Max.Y+2 && o.Max.Y > box.Min.Y-2 {
			sum += o.Dx()
		}
	}
	return float64(sum) >= streakShare*float64(width)
}

// together is how many pixels apart areas of one kind are joined, and beside how near one of a sort that comes before another must be to
// stand for it.
const (
	together = 12
	beside   = 4
)

// all returns the pieces of an area.
func (c *candidate) all() []image.Rectangle {
	if len(c.pieces) > 0 {
		return slices.Clone(c.pieces)
	}
	return []image.Rectangle{c.box}
}

// join joins pieces if one box, with what is repaired beside it, costs no more pixels than two.
func join(list []image.Rectangle) []image.Rectangle {
	cost := func(r image.Rectangle) int { return (r.Dx() + 2*beside) * (r.Dy() + 2*beside) }
	for i := 0; i < len(list); i++ {
		for j := i + 1; j < len(list); j++ {
			if both := list[i].Union(list[j]); cost(both) <= cost(list[i])+cost(list[j]) {
				list[i], list = both, slices.Delete(list, j, j+1)
				i, j = 0, 0 // it may join one that it has passed
			}
		}
	}
	return list
}

// merge joins the areas of a kind that lie close together. Only a streak has no pieces, because it goes on between them. Where areas of
// two sorts overlap, merge keeps shifted rows before lines, lines before blocks, and blocks before specks.
func merge(areas []candidate) []candidate {
	for i := range areas {
		areas[i].box = areas[i].extent
	}
	all := slices.Clone(areas)
	areas = slices.DeleteFunc(areas, func(c candidate) bool {
		return slices.ContainsFunc(all, func(o candidate) bool { return o.sort < c.sort && o.box.Inset(-beside).Overlaps(c.box) })
	})
	for i := 0; i < len(areas); i++ {
		for j := i + 1; j < len(areas); {
			a, b := &areas[i], &areas[j]
			same := a.kind == b.kind && a.box.Inset(-together).Overlaps(b.box)
			if a.kind == Streak && b.kind == Streak {
				same = a.box.Min.Y < b.box.Max.Y+2 && a.box.Max.Y > b.box.Min.Y-2
			}
			if !same {
				j++
				continue
			}
			if pieces := join(append(a.all(), b.all()...)); a.kind != Streak {
				a.pieces = pieces
			}
			a.box, a.score = a.box.Union(b.box), max(a.score, b.score)
			areas = append(areas[:j], areas[j+1:]...)
			j = i + 1
		}
	}
	return areas
}
