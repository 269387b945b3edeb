package pipeline

import (
	"context"
	"math/big"

	"retime/frame"
	"retime/warp"
)

// Duplicates says what becomes of repeated frames.
type Duplicates string

// What becomes of them.
const (
	KeepDuplicates   Duplicates = "keep"   // they are shown when they are
	RetimeDuplicates Duplicates = "retime" // motion runs through them
)

// A picture counts as a repeat of another where their guides differ by less
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
func (c *conversion) dropRepeats(ctx context.Context, from <-chan picture, to chan<- picture) (err error) {
	defer close(to)
	var held []picture // a picture, not yet passed on, and its repeats
	pause := false     // there are more of them than held
	defer func() {
		for _, p := range held {
			p.Release()
		}
	}()
	flush := func(repeats bool) error {
		if !repeats && len(held) > 1 {
			held[0].shown = held[len(held)-1].at
			for _, r := range held[1:] {
				r.Release()
				c.repeats++
			}
			held = held[:1]
		}
		for len(held) > 0 {
			p := held[0]
			held = held[1:]
			if err := send(ctx, to, p); err != nil {
				p.Release()
				return err
			}
		}
		return nil
	}
	for p := range from {
		if len(held) > 0 && !repeated(held[0].guide(), p.guide()) {
			if err := flush(pause); err != nil {
				p.Release()
				return err
			}
			pause = false
		}
		held = append(held, p)
		if len(held) > maxRepeats+1 {
			pause = true
			first := held[0]
			held = held[1:]
			if err := send(ctx, to, first); err != nil {
				first.Release()
				return err
			}
		}
	}
	return flush(true)
}

// repeated says whether b shows what a shows.
func repeated(a, b frame.Image[uint8]) bool {
	var sum, peaks int
	for y := range a.Height {
		ra, rb := a.Row(y), b.Row(y)
		for x := range ra {
			d := abs(int(ra[x]) - int(rb[x]))
			sum += d
			if d > repeatPeak {
				peaks++
			}
		}
	}
	n := a.Width * a.Height
	return float64(sum) < repeatMean*float64(n) && peaks*repeatShare <= n
}

// turn is the phase at which the first picture gives way to the second where
// nothing is made between them: half-way between when it was last shown and the
// second.
func (v *interval) turn() warp.Phase {
	last := v.a.at
	if v.a.shown != nil {
		last = v.a.shown
	}
	t := new(big.Rat).Add(last, v.b.at)
	t.Quo(t, big.NewRat(2, 1))
	return quantise(t.Quo(t.Sub(t, v.a.at), v.length()))
}
