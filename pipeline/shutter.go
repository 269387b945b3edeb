package pipeline

import (
	"context"
	"math/big"

	"retime/frame"
)

// Shutter, the angle over 360 degrees, is the share of an output frame's time for
// which its shutter is open. The frame is then the mean of subFrames moments evenly
// spread over that time, whose middle is the frame's.

// maxAngle is a shutter that never closes.
const maxAngle = 360

// subFrames is how many moments a frame is the mean of, for a shutter that is open
// for some seconds of a source of that rate: four a source frame, so that what
// moves by 4 pixels between two leaves no gaps.
func subFrames(open, rate *big.Rat) int64 {
	n := new(big.Rat).Mul(open, rate)
	return min(max(ceil(n.Mul(n, big.NewRat(4, 1))), 8), 64)
}

// expose passes on the means of the moments that frames consist of.
func (c *conversion) expose(ctx context.Context, from <-chan output, to chan<- output) error {
	defer close(to)
	var moments []output
	defer func() {
		for _, m := range moments { // of a frame behind the end
			m.discard()
		}
	}()
	for m := range from {
		if moments = append(moments, m); int64(len(moments)) < c.line.moments() {
			continue
		}
		out, err := c.exposure(moments)
		moments = nil
		if err != nil {
			return err
		}
		if err := send(ctx, to, out); err != nil {
			out.discard()
			return err
		}
	}
	return ctx.Err()
}

// exposure returns the mean of moments, which it takes over: of those that belong
// to the scene of the middle one.
func (c *conversion) exposure(moments []output) (output, error) {
	var records []Record
	var err error
	for _, m := range moments {
		r, e := m.finish()
		if records = append(records, r.Record); e != nil {
			err = e
		}
	}
	defer func() {
		for _, m := range moments {
			m.Release()
		}
	}()
	if err != nil {
		return output{}, err
	}
	middle := len(moments) / 2
	record := records[middle]
	record.Frame = record.Frame / c.line.moments()
	var frames []*frame.Frame
	still := true
	for i, m := range moments {
		if m.scene != moments[middle].scene {
			continue
		}
		frames = append(frames, m.Frame)
		still = still && (m.Frame == moments[middle].Frame || frame.Equal(m.Frame, moments[middle].Frame))
		record.Confidence = min(record.Confidence, records[i].Confidence)
	}
	if still {
		return ready(moments[middle].Retain(), record), nil
	}
	record.Method = Exposed
	out, err := c.sink.NewFrame(moments[middle].Frame)
	if err != nil {
		return output{}, err
	}
	for i := range out.Planes {
		if out.Format.Bytes() == 1 {
			mean[uint8](out, frames, i)
		} else {
			mean[uint16](out, frames, i)
		}
	}
	return ready(out, record), nil
}

// mean makes plane i of dst the mean of the frames', rounded to nearest.
func mean[T frame.Sample](dst *frame.Frame, frames []*frame.Frame, i int) {
	to := frame.Samples[T](dst.Planes[i])
	sums := make([]uint32, to.Width)
	n := uint32(len(frames))
	for y := range to.Height {
		clear(sums)
		for _, f := range frames {
			for x, v := range frame.Samples[T](f.Planes[i]).Row(y) {
				sums[x] += uint32(v)
			}
		}
		row := to.Row(y)
		for x, v := range sums {
			row[x] = T((v + n/2) / n)
		}
	}
}
