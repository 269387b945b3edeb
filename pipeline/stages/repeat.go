package stages

import (
	"context"
	"fmt"

	"retime/frame"
)

// A picture counts as a repeat of another if their guides differ by less
// than repeatMean grey levels on average, and by more than repeatPeak at no more
// than one pixel in repeatShare: coding noise, not motion.
const (
	repeatMean  = 0.5
	repeatPeak  = 12
	repeatShare = 10_000
)

// maxRepeats is how often a picture may be repeated before it counts as a pause
// that was meant: animation on fours.
const maxRepeats = 3

// dropRepeats passes pictures on but for the repeats of the one before, so that
// the frames between are made from pictures that differ. Longer pauses stay, and
// so do repeats at the end.
func (r *run) dropRepeats(from <-chan *Picture) stage[*Picture] {
	return func(_ context.Context, emit func(*Picture) error) error {
		var held []*Picture // a picture, not yet passed on, and its repeats
		pause := false      // there are more of them than held
		defer func() {
			for _, p := range held {
				p.Release()
			}
		}()
		first := func() error {
			p := held[0]
			held = held[1:]
			return emit(p)
		}
		flush := func(repeats bool) error {
			if !repeats && len(held) > 1 {
				held[0].Last = held[len(held)-1].At
				for _, p := range held[1:] {
					p.Release()
					r.repeats++
				}
				held = held[:1]
			}
			for len(held) > 0 {
				if err := first(); err != nil {
					return err
				}
			}
			return nil
		}
		for p := range from {
			if len(held) > 0 && !repeated(held[0].Guide.Picture(), p.Guide.Picture()) {
				if err := flush(pause); err != nil {
					p.Release()
					return err
				}
				pause = false
			}
			held = append(held, p)
			if len(held) > maxRepeats+1 {
				pause = true
				if err := first(); err != nil {
					return err
				}
			}
		}
		return flush(true)
	}
}

// manyRepeats is how many of the first pictures are looked at for repeats. If a third or more are,
// the clip is animation on twos or threes, or was converted from a lower rate.
const manyRepeats = 96

// countRepeats passes pictures on, and warns if many of the first are repeats of the one before,
// between which nothing can be made.
func (r *run) countRepeats(from <-chan *Picture) stage[*Picture] {
	return func(_ context.Context, emit func(*Picture) error) error {
		var last *Picture // nil once enough were looked at
		seen, repeats, row := 0, 0, 0
		judge := func() {
			if last == nil {
				return
			}
			last.Release()
			last = nil
			if repeats >= 8 && 3*repeats >= seen {
				r.params.Hooks.Log.Warn("many frames repeat the one before, so that made frames would judder; Synthesis.Duplicates retime spreads the motion evenly",
					"input", r.params.Input, "repeats", fmt.Sprintf("%d of the first %d", repeats, seen))
			}
		}
		defer judge()
		for p := range from {
			switch {
			case seen == 0:
				last = p.Retain()
			case last != nil:
				if !repeated(last.Guide.Picture(), p.Guide.Picture()) {
					row = 0
				} else if row++; row <= maxRepeats { // a longer pause was meant
					repeats++
				}
				last.Release()
				last = p.Retain()
			}
			if seen++; seen == manyRepeats {
				judge()
			}
			if err := emit(p); err != nil {
				return err
			}
		}
		return nil
	}
}

// repeated reports whether b shows what a shows.
func repeated(a, b frame.Image[uint8]) bool {
	var sum, peaks int
	for y := range a.Height {
		ra, rb := a.Row(y), b.Row(y)
		for x := range ra {
			d := int(ra[x]) - int(rb[x])
			d = max(d, -d)
			sum += d
			if d > repeatPeak {
				peaks++
			}
		}
	}
	n := a.Width * a.Height
	return float64(sum) < repeatMean*float64(n) && peaks*repeatShare <= n
}
