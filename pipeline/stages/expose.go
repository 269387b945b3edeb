package stages

import (
	"context"

	"retime/frame"
	"retime/pipeline/decision"
)

// expose passes on frames that are the means of their subframes.
func (r *run) expose(from <-chan *Target) stage[*Target] {
	each := int(r.pass.Layout.Subframes())
	return func(_ context.Context, emit func(*Target) error) error {
		var subframes []*Target
		defer func() {
			for _, t := range subframes { // of a frame after the end
				t.Release()
			}
		}()
		for t := range from {
			if subframes = append(subframes, t); len(subframes) < each {
				continue
			}
			out, err := r.exposure(subframes)
			if err != nil {
				return err
			}
			for _, t := range subframes {
				if t != out {
					t.Release()
				}
			}
			subframes = subframes[:0]
			if err := emit(out); err != nil {
				return err
			}
		}
		return nil
	}
}

// exposure returns the middle one of the subframes, showing the mean of those that belong
// to its scene.
func (r *run) exposure(subframes []*Target) (*Target, error) {
	for _, t := range subframes {
		if err := t.complete(); err != nil {
			return nil, err
		}
	}
	out := subframes[len(subframes)/2]
	record := out.record
	record.Frame /= int64(len(subframes))
	var frames []*frame.Frame
	still := true
	for _, t := range subframes {
		v, err := r.vectors(t)
		if err != nil {
			return nil, err
		}
		out.exposed = append(out.exposed, v...)
		if t.scene != out.scene {
			continue
		}
		frames = append(frames, t.frame)
		still = still && (t.frame == out.frame || frame.Equal(t.frame, out.frame))
		record.Confidence = min(record.Confidence, t.record.Confidence)
	}
	out.record, out.wait, out.finish = record, there, asItIs
	if still {
		return out, nil
	}
	out.record.Method = decision.Exposed
	f, err := r.sink.NewFrame(out.frame)
	if err != nil {
		return nil, err
	}
	light := r.video.Light
	if r.params.Light == CodedLight {
		light = frame.Light{}
	}
	if f.Format.Bytes() == 1 {
		average[uint8](f, frames, evenly(len(frames)), light, r.params.Workers)
	} else {
		average[uint16](f, frames, evenly(len(frames)), light, r.params.Workers)
	}
	out.frame.Release()
	out.frame = f
	return out, nil
}

// mean makes plane i of dst the mean of the frames', rounded to nearest.
func mean[T frame.Sample](dst *frame.Frame, frames []*frame.Frame, m mix, i int) {
	to := frame.Samples[T](dst.Planes[i])
	sums := make([]uint32, to.Width)
	n := uint32(m.total)
	for y := range to.Height {
		clear(sums)
		for k, f := range frames {
			w := uint32(m.weights[k])
			for x, v := range frame.Samples[T](f.Planes[i]).Row(y) {
				sums[x] += w * uint32(v)
			}
		}
		row := to.Row(y)
		for x, v := range sums {
			row[x] = T((v + n/2) / n)
		}
	}
}
