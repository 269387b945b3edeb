package pipeline

import (
	"context"
	"math/big"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// Repairs say which frames of the input are made anew, from the nearest frames
// on either side that are not. At the clip's ends motion is continued from the two
// nearest. Where a scene begins between the two, the nearer one is shown.
type Repairs struct {
	// Frames are the frames to replace, by their timestamps in the stream's time
	// base. The mask weighs what is replaced from 0 to 255 and is of the picture's
	// size; an empty one stands for the whole picture.
	Frames map[int64]frame.Image[uint8]
	// Insert is how many frames are put in between the one of that timestamp and
	// the next, evenly spread.
	Insert map[int64]int
	// Numbers are those of the output's frames, where it is an image sequence; nil to
	// count from 1.
	Numbers []int
	// Stamps are the timestamps of all frames of the input, rising. Where they are
	// given, packets that nothing of this changes are copied, and only those around
	// that cannot do without are encoded again. Input or output that does not allow
	// for that is a fault.Usage error. Nil to encode all frames.
	Stamps []int64
}

// settleRepairs checks what goes with repairs.
func (o *Options) settleRepairs() error {
	switch {
	case o.Repairs == nil:
		return nil
	case o.Timing.Rate.Value != nil || o.Timing.Slow != nil || o.Timing.Fit != nil || o.Timing.From != nil || o.Timing.To != nil || o.Timing.Curve != nil || o.Timing.Shutter != nil,
		o.Synthesis.Duplicates == RetimeDuplicates, o.Input.Deinterlace != RefuseFields && o.Input.Deinterlace != IgnoreFields:
		return fault.New(fault.Usage, "repairs leave the time as it is; convert before or after")
	}
	o.Timing.KeepTimestamps = true
	return nil
}

// lost is a frame that is made anew.
type lost struct {
	at, from *big.Rat           // when it is shown: for motion, and exactly as the source has it
	frame    *frame.Frame       // what is kept of it where mask is below 255; nil for nothing
	mask     frame.Image[uint8] // as in Repairs
}

func (l *lost) retain() {
	if l.frame != nil {
		l.frame.Retain()
	}
}

func (l *lost) release() {
	if l.frame != nil {
		l.frame.Release()
	}
}

// leaveOut passes on the pictures that stay, with what was lost behind each.
func (c *conversion) leaveOut(ctx context.Context, from <-chan picture, to chan<- picture) (err error) {
	defer close(to)
	var held, last picture // the last one that stays, and the last one at all; of that only its time counts
	defer func() {
		if held.Frame != nil {
			held.Release()
		}
	}()
	var early []lost // before the first that stays
	defer func() {
		for _, l := range early {
			l.release()
		}
	}()
	lose := func(l lost) {
		if held.Frame == nil {
			early = append(early, l)
		} else {
			held.lost = append(held.lost, l)
		}
	}
	pass := func(p picture) error {
		err := send(ctx, to, p)
		if err != nil {
			p.Release()
		}
		return err
	}
	began := false
	var lastStamp int64
	for p := range from {
		stamp := p.PTS
		if began {
			for _, l := range c.inserted(lastStamp, stamp, last.at, p.at) {
				lose(l)
			}
		}
		began, last, lastStamp = true, picture{at: p.at}, stamp
		if mask, bad := c.o.Repairs.Frames[stamp]; bad {
			l := lost{at: p.at, from: c.plan.clock.exact(stamp), mask: mask}
			if mask.Width > 0 {
				l.frame = p.Frame
			} else {
				p.Release()
			}
			lose(l)
			continue
		}
		before := held
		held = p
		if before.Frame == nil && len(early) > 0 {
			before = p
			before.Frame.Retain()
			before.at, before.lost, before.stands = early[0].at, early, true
			early = nil
		}
		if before.Frame != nil {
			if err := pass(before); err != nil {
				return err
			}
		}
	}
	if held.Frame == nil {
		return ctx.Err()
	}
	final := held
	held = picture{}
	return pass(final)
}

// inserted are the frames that are put in between two neighbours.
func (c *conversion) inserted(before, after int64, a, b *big.Rat) []lost {
	n := c.o.Repairs.Insert[before]
	from, to := c.plan.clock.exact(before), c.plan.clock.exact(after)
	var between []lost
	for j := 1; j <= n; j++ {
		share := big.NewRat(int64(j), int64(n)+1)
		between = append(between, lost{at: mix(a, b, share), from: mix(from, to, share)})
	}
	return between
}

// mix is the time that lies at a share of the way from a to b.
func mix(a, b, share *big.Rat) *big.Rat {
	v := new(big.Rat).Sub(b, a)
	return v.Add(v.Mul(v, share), a)
}

// repairs are the slots of picture a and of what was lost behind it, up to an end
// on the grid and exactly.
func (c *conversion) repairs(placed int64, a picture, end, exact *big.Rat) []slot {
	shown := make([]lost, 0, 1+len(a.lost))
	if !a.stands {
		shown = append(shown, lost{at: a.at, from: c.plan.clock.exact(a.PTS)})
	}
	shown = append(shown, a.lost...)
	length := new(big.Rat).Sub(end, a.at)
	slots := make([]slot, len(shown))
	for i := range shown {
		l := &shown[i]
		s := slot{index: placed + int64(i), from: l.from, to: exact, lost: l}
		if i == 0 && !a.stands {
			s.lost = nil
		}
		if i+1 < len(shown) {
			s.to = shown[i+1].from
		}
		if d := new(big.Rat).Sub(l.at, a.at); d.Sign() > 0 {
			s.phase = quantise(d.Quo(d, length))
		}
		if s.lost != nil && a.far.Frame != nil {
			near := a.at
			if a.stands {
				near = end
			}
			s.beyond = a.far.beyond(near, l.at)
		}
		slots[i] = s
	}
	return slots
}

// patch keeps what is whole of a lost picture and takes the rest from out, which
// it takes over.
func (c *conversion) patch(out output, l *lost) (output, error) {
	f, err := c.sink.NewFrame(out.Frame)
	if err != nil {
		out.discard()
		return output{}, err
	}
	l.retain()
	patched := out
	patched.Frame = f
	patched.finish = func() (result, error) {
		record, err := out.finish()
		if err == nil {
			defer c.times.synthesis.start()()
			if f.Format.Bytes() == 2 {
				compose[uint16](c.o.workers(), f, l.frame, out.Frame, l.mask)
			} else {
				compose[uint8](c.o.workers(), f, l.frame, out.Frame, l.mask)
			}
		}
		out.Release()
		l.release()
		return record, err
	}
	return patched, nil
}

// compose fills dst with a where mask is 0, with b where it is 255, and between
// them in proportion, rounded to nearest. Chroma takes the mean of the weights of
// the pixels that it covers.
func compose[T frame.Sample](workers frame.Workers, dst, a, b *frame.Frame, mask frame.Image[uint8]) {
	for i := range dst.Planes {
		sx, sy := dst.Format.Subsampling(i)
		d, p, q := frame.Samples[T](dst.Planes[i]), frame.Samples[T](a.Planes[i]), frame.Samples[T](b.Planes[i])
		workers.Rows(d.Height, func(y0, y1 int) {
			for y := y0; y < y1; y++ {
				rd, rp, rq := d.Row(y), p.Row(y), q.Row(y)
				for x := range rd {
					w := weightAt(mask, x, y, sx, sy)
					rd[x] = T((uint32(rp[x])*(255-w) + uint32(rq[x])*w + 127) / 255)
				}
			}
		})
	}
}

// weightAt is the mean of mask over the pixels that the sample at x, y of a plane
// of that subsampling covers, rounded to nearest.
func weightAt(mask frame.Image[uint8], x, y, sx, sy int) uint32 {
	if sx|sy == 0 {
		return uint32(mask.Row(y)[x])
	}
	var sum, n uint32
	for v := y << sy; v < min((y+1)<<sy, mask.Height); v++ {
		for _, w := range mask.Row(v)[x<<sx : min((x+1)<<sx, mask.Width)] {
			sum, n = sum+uint32(w), n+1
		}
	}
	return (sum + n/2) / n
}

// check refuses masks of another size than the picture's.
func (r *Repairs) check(v media.Video) error {
	for _, m := range r.Frames {
		if m.Width != 0 && (m.Width != v.Width || m.Height != v.Height) {
			return fault.New(fault.Usage, "a mask is %dx%d, the video %dx%d; make them one size", m.Width, m.Height, v.Width, v.Height)
		}
	}
	return nil
}
