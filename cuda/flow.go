package cuda

import (
	"cmp"

	"retime/flow"
	"retime/frame"
)

// FlowEstimator estimates flow on a device. It queues its work on a stream of its own,
// and the caller keeps the images valid until that work is done.
type FlowEstimator interface {
	flow.Estimator[Image[byte], Image[flow.Vec]]
	// Stream returns the stream that the estimator queues its work on.
	Stream() *Stream
}

// Guide is a picture to estimate motion on, with the frame that the picture may share
// samples with, or nil if it shares none.
type Guide struct {
	frame.Image[uint8]
	Frame *frame.Frame
}

// estimatedAhead is the number of later intervals during which an estimated flow stays
// on the device. An interval after that uploads the flow again.
const estimatedAhead = 16

// EstimateFlow estimates the flow from a to b on the device and sets the vectors of
// still pixels to zero, as flow.KeepStill does. It uploads a and b unless the device
// has them. The flow stays on the device for the intervals that refer to dst.
// EstimateFlow returns once it has filled dst, too, because detecting cuts, and making
// frames on the processor, need the flow there.
//
// dst must have the size of the pictures; as for Load, the caller must not use its
// memory for other flows. Several goroutines may call EstimateFlow at once, each with
// its own estimator, while others make frames.
func (s *Synthesizer) EstimateFlow(e FlowEstimator, a, b Guide, dst flow.Field) error {
	r := &s.residents
	return s.device.Do(func() error {
		still, err := s.device.Kernel("still", "keep_still")
		if err != nil {
			return err
		}
		field, done, err := r.estimate(e, still, a, b, dst)
		defer done()
		if err == nil {
			err = field.Download(e.Stream(), dst.Image)
		}
		// Even after an error, queued work still reads the pictures.
		return cmp.Or(err, e.Stream().Synchronize())
	})
}

// estimate queues a flow and returns its image on the device. done releases the images
// that estimate holds.
func (r *residents) estimate(e FlowEstimator, still *Kernel, a, b Guide, dst flow.Field) (field Image[flow.Vec], done func(), err error) {
	r.loading.Lock()
	defer r.loading.Unlock()
	var held []*resident
	done = func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, h := range held {
			h.users--
		}
	}
	hold := func(m rows, fill func(*image) error) (*image, error) {
		d, there := claim(r, &r.images[m.kind], any(m.id()), m.owner, estimatedAhead, func() *image { return new(image) })
		r.mu.Lock()
		d.users++
		r.mu.Unlock()
		held = append(held, &d.resident)
		if there {
			return d, nil
		}
		return d, fill(d)
	}
	var pictures [2]Image[byte]
	for i, g := range []Guide{a, b} {
		m := rowsOf(g.Image, pictureKind, i, g.Frame)
		d, err := hold(m, func(d *image) error { return r.uploadImage(d, m) })
		if err != nil {
			return field, done, err
		}
		if err := e.Stream().WaitFor(d.sent); err != nil {
			return field, done, err
		}
		pictures[i] = d.view(m)
	}
	m := rowsOf(dst.Image, flowKind, 0, nil)
	d, err := hold(m, func(d *image) error {
		return r.fill(e.Stream(), &d.resident, func() error {
			if err := r.resizeImage(d, m); err != nil {
				return err
			}
			if err := e.Estimate(pictures[0], pictures[1], d.vectors(dst)); err != nil {
				return err
			}
			return e.Stream().Launch(still, Cover(dst.Width, dst.Height, wideTile), wideBlock, 0,
				d.vectors(dst).Arg(), pictures[0].Arg(), pictures[1].Arg(), Int(dst.Width), Int(dst.Height))
		})
	})
	return d.vectors(dst), done, err
}

// vectors returns d as a field of f's size.
func (d *image) vectors(f flow.Field) Image[flow.Vec] {
	n := f.Width * f.Height
	return Image[flow.Vec]{f.Width, f.Height, f.Width, Buffer[flow.Vec]{n, d.bytes.address, n, d.bytes.device}, 0}
}
