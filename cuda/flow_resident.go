package cuda

import (
	"retime/flow"
	"retime/frame"
	"retime/warp"
)

// ResidentFlow is a pair of flows that only the device has.
type ResidentFlow struct {
	s          *Synthesizer
	absent     warp.FlowPair
	comparison flow.Comparison
	fields     [2]Image[flow.Vec]
	held       []*resident
}

// Pair returns fields that are frame.Absent. The intervals that the synthesizer works on may refer
// to them.
func (f *ResidentFlow) Pair() warp.FlowPair { return f.absent }

// Comparison returns how much of the first guide the flows explain.
func (f *ResidentFlow) Comparison() flow.Comparison { return f.comparison }

// EstimateResident estimates the flows between a and b on the device, sets the vectors of still
// pixels to zero, as flow.KeepStill does, and leaves the flows on the device until Release. It
// uploads a and b unless the device has them, and downloads only the sums of the change. Several
// goroutines may call EstimateResident at once, each with its own estimator, while others make
// frames.
func (s *Synthesizer) EstimateResident(e FlowEstimator, a, b warp.Guide) (*ResidentFlow, error) {
	f := &ResidentFlow{s: s}
	f.absent.Forward.Image = frame.Absent[flow.Vec](a.Width, a.Height)
	f.absent.Backward.Image = frame.Absent[flow.Vec](a.Width, a.Height)
	var sums changeSums
	defer sums.free()
	err := s.estimate(e, a, b, [2]flow.Field{f.absent.Forward, f.absent.Backward}, func(at *estimated) error {
		return sums.measure(e.Stream(), at)
	}, func(at *estimated) {
		f.fields = at.fields
		s.residents.letGo(at.read)
		f.held = at.written
	})
	if err != nil {
		f.Release()
		return nil, err
	}
	f.comparison = sums.change(a.Width, a.Height)
	return f, nil
}

// Has reports whether the device has flows that EstimateResident left there.
func (s *Synthesizer) Has(p warp.FlowPair) bool {
	r := &s.residents
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range []flow.Field{p.Forward, p.Backward} {
		d := lookUp(r.images[flowKind], any(rowsOf(f.Image, flowKind, 0, nil).id()))
		if d == nil || d.users == 0 {
			return false
		}
	}
	return true
}

// Download copies the flows to dst, whose fields must have the guides' size.
func (f *ResidentFlow) Download(dst warp.FlowPair) error {
	d := f.s.device
	return d.Do(func() error {
		s, err := d.NewStream()
		if err != nil {
			return err
		}
		for i, m := range []flow.Field{dst.Forward, dst.Backward} {
			if err == nil {
				err = f.fields[i].Download(s, m.Image)
			}
		}
		if e := s.Synchronize(); err == nil {
			err = e
		}
		if e := s.Close(); err == nil {
			err = e
		}
		return err
	})
}

// Release lets the device reuse the memory of the flows, once no interval that has begun needs
// them. Later intervals must not refer to the flows. Further calls have no effect.
func (f *ResidentFlow) Release() {
	f.s.residents.letGo(f.held)
	f.held = nil
}

// changeSums measures the change between two guides.
type changeSums struct {
	device Buffer[uint64]
	host   []uint64 // memory of its own, which cgo requires
}

// changeCount is the number of sums in change.cu, and changeStep the step between its pixels.
const (
	changeCount = 12
	changeStep  = 3
)

// measure queues the sums and their download.
func (c *changeSums) measure(s *Stream, at *estimated) error {
	k, err := s.device.Kernel("change", "measure_change")
	if err != nil {
		return err
	}
	if err := c.device.Resize(s.device, changeCount); err != nil {
		return err
	}
	if err := c.device.Clear(s); err != nil {
		return err
	}
	a, b := at.guides[0], at.guides[1]
	const threads, each = 256, 4
	n := ceilDiv(a.Width, changeStep) * ceilDiv(a.Height, changeStep)
	if err := s.Launch(k, Dim{ceilDiv(n, threads*each), 1, 1}, Dim{threads, 1, 1}, 0,
		c.device.Arg(), a.Arg(), b.Arg(), at.fields[0].Arg(), at.fields[1].Arg(), Int(a.Width), Int(a.Height)); err != nil {
		return err
	}
	if c.host == nil {
		c.host = make([]uint64, changeCount)
	}
	return c.device.Download(s, c.host)
}

func (c *changeSums) free() { c.device.Free() }

// change returns the sums for guides of width by height.
func (c *changeSums) change(width, height int) flow.Comparison {
	var v [changeCount]int64
	for i, bits := range c.host {
		v[i] = int64(bits)
	}
	n := int64(ceilDiv(width, changeStep) * ceilDiv(height, changeStep))
	return flow.Comparison{
		Still: flow.Sums{N: n, A: v[0], B: v[1], AA: v[2], BB: v[3], AB: v[4]},
		Along: flow.Sums{N: n - v[8], A: v[0] - v[9], B: v[5], AA: v[2] - v[10], BB: v[6], AB: v[7]},
		Lost:  v[11],
	}
}
