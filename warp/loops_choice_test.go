//go:build linux

package warp

import (
	"fmt"
	"slices"
	"testing"

	"retime/flow"
	"retime/frame"
)

func TestLoopsWeigh(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		for n := 1; n <= maxHypotheses; n += 3 {
			h := r.hypotheses(n, width, height)
			sum := portable.weigh(h, 0, width*height)
			var want [][]int16
			for _, h := range h {
				want = append(want, slices.Clone(h.energy.Pix))
			}
			levels(t, func(name string, l loopTable) {
				for _, h := range h {
					clear(h.energy.Pix)
				}
				half := width * height / 2
				if got := l.weigh(h, 0, half) + l.weigh(h, half, width*height); got != sum {
					t.Fatalf("%s: sum %d, want %d", name, got, sum)
				}
				for i, h := range h {
					same(t, fmt.Sprint(name, " hypothesis ", i), h.energy.Pix, want[i], width)
				}
			})
		}
	})
}

func TestLoopsChoice(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		columns, rows := (width+choiceSize-1)/choiceSize, (height+choiceSize-1)/choiceSize
		for n := 1; n <= maxHypotheses; n += 4 {
			h := r.hypotheses(n, width, height)
			for _, h := range h { // sums of sixteen must fit
				for i := range h.motion.Pix {
					v := &h.motion.Pix[i]
					v.X, v.Y = v.X>>5, v.Y>>5
				}
			}
			energies := [2]frame.Image[int16]{}
			motions := [2]frame.Image[flow.Vec]{}
			for i := range energies {
				energies[i] = randomImage(r, columns*n, rows, func() int16 { return 0 })
				motions[i] = randomImage(r, columns*n, rows, func() flow.Vec { return flow.Vec{} })
			}
			sums := randomImage(r, columns*n, rows, func() int16 { return int16(r.below(4*mostPenalty + 1)) })
			portable.cellMeans(h, energies[0].Pix, motions[0].Pix, 0, rows)
			portable.share(h, sums.Pix, columns, rows, 0, height)
			var want [][]uint16
			for _, h := range h {
				want = append(want, slices.Clone(h.weight.Pix))
			}
			levels(t, func(name string, l loopTable) {
				l.cellMeans(h, energies[1].Pix, motions[1].Pix, 0, rows)
				same(t, name+" energies", energies[1].Pix, energies[0].Pix, columns*n)
				same(t, name+" motions", motions[1].Pix, motions[0].Pix, columns*n)
				for _, h := range h {
					clear(h.weight.Pix)
				}
				l.share(h, sums.Pix, columns, rows, 0, height/2)
				l.share(h, sums.Pix, columns, rows, height/2, height)
				for i, h := range h {
					same(t, fmt.Sprint(name, " weights ", i), h.weight.Pix, want[i], width)
				}
			})
		}
	})
}

func TestLoopsFollow(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		for n := 1; n <= maxHypotheses; n += 4 {
			zero := func() int16 { return 0 }
			c := &chooser{
				labels:   n,
				energies: randomImage(r, width*n, height, func() int16 { return int16(r.below(mostEnergy-leastOnly+1) + leastOnly) }).Pix,
				motions:  randomImage(r, width*n, height, r.vector).Pix,
				guide:    randomImage(r, width, height, func() uint8 { return uint8(r.below(256)) }),
			}
			want, got := randomImage(r, width*n, height, zero).Pix, randomImage(r, width*n, height, zero).Pix
			run := func(l loopTable, sums []int16) {
				c.sums = sums
				clear(sums)
				l.follow(c, 0, width, height, 1, width)
				l.follow(c, width-1, width, height, -1, width)
				l.follow(c, 0, 1, width/2, width, height)
				l.follow(c, height*width-1, -1, width, -width, height)
			}
			run(portable, want)
			levels(t, func(name string, l loopTable) {
				run(l, got)
				same(t, name, got, want, width*n)
			})
		}
	})
}

func TestLoopsSmooth(t *testing.T) {
	eachSize(t, func(t *testing.T, r *trial, width, height int) {
		src := r.words(width, height, 1<<16)
		want, got := r.words(width, height, 2), r.words(width, height, 2)
		levels(t, func(name string, l loopTable) {
			portable.smoothAcross(want, src, 0, height)
			l.smoothAcross(got, src, 0, height)
			same(t, name+" across", got.Pix, want.Pix, width)
			portable.smoothDown(want, src, 0, height)
			l.smoothDown(got, src, 0, height)
			same(t, name+" down", got.Pix, want.Pix, width)
		})
	})
}
