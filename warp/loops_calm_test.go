//go:build linux

package warp

import (
	"fmt"
	"slices"
	"testing"

	"retime/frame"
)

// Exact: the portable loops define the others.
func TestLoopsSoften(t *testing.T) {
	for i, size := range loopSizes {
		for shape := range 2 * 3 * 3 * (MaxLevel + 2) {
			sx, sy, end, level := shape%3, shape/3%3, shape/9%2 == 0, shape/18-1 // level -1: nothing lies still
			t.Run(fmt.Sprint(size, sx, sy, end, level), func(t *testing.T) {
				r := newTrial(t, uint64(i), end)
				c := newSoftening(r, size[0], size[1], level)
				w, h := (size[0]+1<<sx-1)>>sx, (size[1]+1<<sy-1)>>sy
				checkSoften(t, r, c, w, h, sx, sy, 255, func(l loopTable) softenLoop[uint8] { return l.soften8 })
				checkSoften(t, r, c, w, h, sx, sy, 1<<16-1, func(l loopTable) softenLoop[uint16] { return l.soften16 })
			})
		}
	}
}

// newSoftening returns the strengths for a picture, of which some parts lie still unless the
// level is -1.
func newSoftening(r *trial, width, height, level int) *calm {
	c := &calm{level: max(level, 0)}
	if level >= 0 {
		lies := uint8(0)
		certainties := []uint8{0, 1, calmStill - 1, calmStill}
		c.still = guarded(r, (width+1<<level-1)>>level, (height+1<<level-1)>>level, (width+1<<level-1)>>level+r.IntN(3), func() uint8 {
			if r.IntN(20) == 0 {
				lies = certainties[r.IntN(len(certainties))]
			}
			return lies
		})
	}
	columns, lines := calmCells(width, height, 0)
	some := false
	c.strengths = randomImage(r, columns, lines, func() uint16 {
		if r.IntN(8) == 0 {
			some = !some
		}
		if !some {
			return 0
		}
		return uint16(r.below(calmOne + 1))
	})
	c.findSpans()
	return c
}

type softenLoop[T frame.Sample] = func(c *calm, src frame.Image[T], spans []calmSpan, sx, sy, y0, y1 int)

func checkSoften[T frame.Sample](t *testing.T, r *trial, c *calm, width, height, sx, sy, limit int, of func(l loopTable) softenLoop[T]) {
	t.Helper()
	src := guarded(r, width, height, width+r.IntN(4), func() T { return T(r.below(limit + 1)) })
	run := func(l loopTable) []uint16 {
		c.blurred = r.words(width, height, 1)
		c.eachLine(frame.Workers{N: 1}, height, sy, func(spans []calmSpan, y0, y1 int) { of(l)(c, src, spans, sx, sy, y0, y1) })
		return slices.Clone(c.blurred.Pix)
	}
	want := run(portable)
	levels(t, func(name string, l loopTable) { same(t, name, run(l), want, width) })
}
