package cuda

import (
	"cmp"

	"retime/flow"
	"retime/warp"
)

// FlowEstimator estimates the flow between two pictures on a device, in both directions at once. It
// queues its work on a stream of its own, and the caller keeps the images valid until that work is
// done. Only one goroutine at a time may use an estimator.
type FlowEstimator interface {
	// Estimate queues the estimates of the flow from a to b, into forward, and of the flow from b
	// to a, into backward. The vectors are canonical, as flow.Field describes. The pictures and the
	// fields have the same size or, if halved is set, the fields have half of it, rounded up, and
	// the estimator halves the flow as flow.Halve does.
	Estimate(a, b Image[byte], forward, backward Image[flow.Vec], halved bool) error
	// Stream returns the stream that the estimator queues its work on.
	Stream() *Stream
	Close() error
}

// estimatedAhead is the number of later intervals for which an estimated flow stays on the device.
// Intervals after those upload the flow again.
const estimatedAhead = 16

// estimate estimates the flows between a and b, queues what use does with them, waits for all of
// it, and calls done, even after an error.
func (s *Synthesizer) estimate(e FlowEstimator, a, b warp.Guide, dst [2]flow.Field, use func(*estimated) error, done func(*estimated)) error {
	return s.device.Do(func() error {
		still, err := s.device.Kernel("still", "keep_still")
		if err != nil {
			return err
		}
		var at estimated
		defer func() { done(&at) }()
		err = s.residents.estimate(&at, e, still, a, b, dst)
		if err == nil {
			err = use(&at)
		}
		// Even after an error, queued work still reads the pictures.
		return cmp.Or(err, e.Stream().Synchronize())
	})
}

// searchedAhead is the number of later intervals for which a picture finer than a guide stays on
// the device: the next estimate needs one of the two.
const searchedAhead = 2

// estimated is what an estimate reads and writes on the device.
type estimated struct {
	guides, searched [2]Image[byte] // the flow is estimated on searched
	fields           [2]Image[flow.Vec]
	read, written    []*resident // pictures; fields
}

// letGo ends the use of residents.
func (r *residents) letGo(held []*resident) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range held {
		h.users--
	}
}

// estimate queues the flows between a and b and sets at. The caller lets go of what at holds, even
// after an error.
func (r *residents) estimate(at *estimated, e FlowEstimator, still *Kernel, a, b warp.Guide, dst [2]flow.Field) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	finer := a.Finer.Width > 0
	for i, g := range []warp.Guide{a, b} {
		var err error
		if at.guides[i], err = r.picture(at, e.Stream(), guideOf(g.Image, i, g.Frame, g.Level), estimatedAhead); err != nil {
			return err
		}
		at.searched[i] = at.guides[i]
		if finer {
			if at.searched[i], err = r.picture(at, e.Stream(), guideOf(g.Finer, i, g.Frame, g.Level-1), searchedAhead); err != nil {
				return err
			}
		}
	}
	var images [2]*image
	known := true
	for i, f := range dst {
		var there bool
		images[i], there = r.hold(rowsOf(f.Image, flowKind, 0, nil), estimatedAhead, &at.written)
		known = known && there
	}
	if !known {
		if err := r.fillBoth(e.Stream(), images, func() error {
			for i, f := range dst {
				if err := r.resizeImage(images[i], rowsOf(f.Image, flowKind, 0, nil)); err != nil {
					return err
				}
				at.fields[i] = images[i].vectors(f)
			}
			if err := e.Estimate(at.searched[0], at.searched[1], at.fields[0], at.fields[1], finer); err != nil {
				return err
			}
			w, h := at.guides[0].Width, at.guides[0].Height
			return e.Stream().Launch(still, Cover(w, h, wideTile), wideBlock, 0,
				at.fields[0].Arg(), at.fields[1].Arg(), at.guides[0].Arg(), at.guides[1].Arg(), Int(w), Int(h))
		}); err != nil {
			return err
		}
	}
	for i, f := range dst {
		if err := e.Stream().WaitFor(images[i].sent); err != nil {
			return err
		}
		at.fields[i] = images[i].vectors(f)
	}
	return nil
}

// hold claims the image of m for the next ahead loads, and keeps it in use until letGo.
func (r *residents) hold(m rows, ahead uint64, held *[]*resident) (d *image, there bool) {
	d, there = claim(r, &r.images[m.kind], any(m.id()), m.owner, ahead, func() *image { return new(image) })
	r.mu.Lock()
	d.users++
	r.mu.Unlock()
	*held = append(*held, &d.resident)
	return d, there
}

// picture holds m for an estimate, brings it to the device if it is not there yet, and makes s wait
// for it.
func (r *residents) picture(at *estimated, s *Stream, m rows, ahead uint64) (v Image[byte], err error) {
	d, there := r.hold(m, ahead, &at.read)
	if !there {
		if err := r.bring(d, m, ahead); err != nil {
			return v, err
		}
	}
	return d.view(m), s.WaitFor(d.sent)
}

// fillBoth queues new contents for two images on s, after the last use of the old ones.
func (r *residents) fillBoth(s *Stream, images [2]*image, queue func() error) error {
	return r.fill(s, &images[0].resident, func() error {
		return r.fill(s, &images[1].resident, queue)
	})
}

// vectors returns d as a field of f's size.
func (d *image) vectors(f flow.Field) Image[flow.Vec] {
	n := f.Width * f.Height
	return Image[flow.Vec]{f.Width, f.Height, f.Width, Buffer[flow.Vec]{n, d.bytes.address, n, d.bytes.device}, 0}
}
