//go:build linux

package warp

import (
	"math"
	"slices"
	"testing"

	"retime/flow"
)

// A step of the mean shift with floats of 64 bits gives the same motions and shares, up to rounding.
func TestShift(t *testing.T) {
	r := newTrial(t, 7, false)
	for range 2000 {
		level := r.IntN(MaxLevel + 1)
		list := make([]guess, 1+r.IntN(maxHypotheses))
		for i := range list {
			far := int32(shiftRadius) >> level
			list[i] = guess{
				x: r.Int32N(4*far) - 2*far, y: r.Int32N(far), share: 1 + r.Uint32N(weightOne),
				seen: []Seen{SeenInBoth, SeenInBoth, SeenInFirst, SeenInSecond}[r.IntN(4)],
			}
		}
		want := shifted(list, level)
		got := shift(slices.Clone(list), level)
		if len(got) != len(want) {
			continue // motions as far apart as two that count as one may be
		}
		for i, g := range got {
			w := want[i]
			if d := max(math.Abs(float64(g.x-w.x)), math.Abs(float64(g.y-w.y)), math.Abs(float64(g.share)-float64(w.share))); d > 1 || g.seen != w.seen {
				t.Fatalf("level %d: %v becomes %v, want %v", level, list, got, want)
			}
		}
	}
}

// shifted does what shift does, with floats of 64 bits.
func shifted(list []guess, level int) (out []guess) {
	if len(list) < 2 {
		return list
	}
	radius := float64(int32(shiftRadius) >> level)
	densities, moved := make([]float64, len(list)), make([]flow.Vec, len(list))
	for i, g := range list {
		var x, y, sum float64
		for _, o := range list {
			dx, dy := float64(o.x-g.x), float64(o.y-g.y)
			near := max(radius*radius-dx*dx-dy*dy, 0)
			share := float64(o.share)
			densities[i] += near * near * share
			if o.seen == g.seen {
				w := near * near * share * share
				sum, x, y = sum+w, x+w*dx, y+w*dy
			}
		}
		moved[i] = flow.Vec{X: g.x + int32(math.Round(x/sum)), Y: g.y + int32(math.Round(y/sum))}
	}
	most := slices.Max(densities)
next:
	for i, g := range list {
		g.x, g.y, g.share = moved[i].X, moved[i].Y, uint32(math.Round(float64(g.share)*(1+densities[i]/most)/2))
		for k := range out {
			if o := &out[k]; o.seen == g.seen && max(o.x-g.x, g.x-o.x, o.y-g.y, g.y-o.y) <= sameMotion {
				o.share += g.share
				continue next
			}
		}
		out = append(out, g)
	}
	return out
}

// Rivals a few pixels apart become one motion between them; motions far apart stay.
func TestShiftJoinsRivals(t *testing.T) {
	list := []guess{
		{x: 0, share: 1000, seen: SeenInBoth}, {x: 600, share: 1000, seen: SeenInBoth}, {x: 9000, share: 1000, seen: SeenInBoth},
	}
	got := shift(list, 0)
	want := []guess{{x: 288, share: 2000, seen: SeenInBoth}, {x: 9000, share: 760, seen: SeenInBoth}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
