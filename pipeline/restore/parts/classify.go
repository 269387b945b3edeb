package parts

import (
	"image"
	"slices"
)

// proof says what an area must show to be damage; see component.
type proof struct {
	off, unlike, share, step float64
}

var (
	usualProof  = map[Kind]proof{Dropout: {0.08, 0.22, 0.8, 20}, Streak: {0.2, 0.22, 0, 18}, Block: {0.08, 0.15, 0.6, 22}, Dirt: {0.05, 0.15, 0.85, 24}}
	sureProof   = map[Kind]proof{Dropout: strictProof[Dropout], Streak: strictProof[Streak], Block: usualProof[Block], Dirt: strictProof[Dirt]}
	strictProof = map[Kind]proof{Dropout: {0.03, 0.12, 0.9, 25}, Streak: {0.1, 0.15, 0, 22}, Block: {0.03, 0.1, 0.8, 30}, Dirt: {0.02, 0.1, 0.9, 30}}
)

// holds reports whether p shows what q asks for.
func (q proof) holds(p *component) bool {
	return p.off <= q.off && p.unlike <= q.unlike && p.share >= q.share && float64(p.weight) >= q.step*float64(p.pixels)
}

// isLine reports whether a box is that of a line, or of a few.
func isLine(box image.Rectangle) bool {
	return box.Dy() <= 6 && box.Dx() >= 3*box.Dy() && box.Dx() >= 12
}

// A block's box is marked to this share, and so is each of its sides.
const (
	filled   = 0.25
	squarely = 0.45
)

// classify names areas by their shapes, keeps those for which there is proof, and joins the pieces of a streak.
func classify(list []component, width int, of map[Kind]proof) (areas []candidate) {
	for i := range list {
		p := &list[i]
		w, h := p.box.Dx(), p.box.Dy()
		c := candidate{kind: Dirt, box: p.box, weight: p.weight}
		fill := float64(p.pixels) / float64(w*h)
		switch {
		case isLine(p.box):
			c.kind = Dropout
			if across(list, p.box, width) {
				c.kind = Streak
			}
		case min(w, h) >= 11 && (fill >= 0.85 || max(w, h) > 24 || fill < 0.5):
			c.kind = Block
		}
		if of[c.kind].holds(p) && (c.kind != Block || fill >= filled && p.straight >= squarely) {
			areas = append(areas, c)
		}
	}
	return merge(areas)
}

// streakShare is how much of the picture's width a streak crosses, at least.
const streakShare = 0.35

// across reports whether the pieces at the height of box make a streak.
func across(list []component, box image.Rectangle, width int) bool {
	sum := 0
	for i := range list {
		if o := list[i].box; o.Dy() <= 8 && o.Min.Y < box.Max.Y+2 && o.Max.Y > box.Min.Y-2 {
			sum += o.Dx()
		}
	}
	return float64(sum) >= streakShare*float64(width)
}

// together is how many pixels apart areas of one kind are joined.
const together = 12

// all returns the pieces of an area.
func (c *candidate) all() []image.Rectangle {
	if len(c.pieces) > 0 {
		return slices.Clone(c.pieces)
	}
	return []image.Rectangle{c.box}
}

// beside is how many pixels around a piece are repaired with it, or as good as that.
const beside = 4

// join joins pieces if one box costs no more pixels than two.
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

// merge joins the areas of a kind that lie close together, of which a streak has no pieces: between these it is faint.
func merge(areas []candidate) []candidate {
	for i := 0; i < len(areas); i++ {
		for j := i + 1; j < len(areas); {
			a, b := &areas[i], &areas[j]
			gap := together
			same := a.kind == b.kind && a.box.Inset(-gap).Overlaps(b.box)
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
			a.box, a.weight = a.box.Union(b.box), a.weight+b.weight
			areas = append(areas[:j], areas[j+1:]...)
			j = i + 1
		}
	}
	return areas
}
