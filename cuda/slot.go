package cuda

import (
	"sync"

	"retime/frame"
)

// slot holds a frame in progress.
type slot struct {
	planes   planes
	made     *Event       // happens when the device has the planes and counters
	done     *Event       // happens when the host has them as well
	host     Pinned[byte] // receives the planes unless the frame takes them directly
	counters Pinned[uint64]
}

// slots are the slots of a synthesizer.
type slots struct {
	mu   sync.Mutex
	idle []*slot
	all  []*slot
}

func (s *slots) free() {
	for _, t := range s.all {
		t.free()
	}
}

// take returns a slot that fits the layout. direct is set if the frame is filled directly and not
// through the slot's memory.
func (s *Synthesizer) take(direct bool) (*slot, error) {
	s.slots.mu.Lock()
	var t *slot
	if n := len(s.slots.idle); n > 0 {
		t, s.slots.idle = s.slots.idle[n-1], s.slots.idle[:n-1]
	}
	s.slots.mu.Unlock()
	if t == nil {
		t = new(slot)
		s.slots.all = append(s.slots.all, t)
	}
	return t, t.fit(s.device, &s.layout, direct)
}

func (s *Synthesizer) give(t *slot) {
	s.slots.mu.Lock()
	s.slots.idle = append(s.slots.idle, t)
	s.slots.mu.Unlock()
}

func (t *slot) fit(d *Device, l *layout, direct bool) (err error) {
	if t.made == nil {
		if t.made, err = d.NewEvent(); err != nil {
			return err
		}
	}
	if t.done == nil {
		if t.done, err = d.NewEvent(); err != nil {
			return err
		}
	}
	if err := t.planes.resize(d, l.format, l.width, l.height); err != nil {
		return err
	}
	if !direct {
		n := 0
		for _, m := range t.planes.images[:l.format.Planes] {
			n += m.Width * m.Height
		}
		if err := t.host.Resize(d, n); err != nil {
			return err
		}
	}
	return t.counters.Resize(d, counters)
}

// rows returns the planes in the slot's host memory, without gaps.
func (t *slot) rows() []frame.Image[byte] {
	list := make([]frame.Image[byte], 0, 4)
	pix := t.host.Values
	for _, m := range t.planes.images[:t.planes.format.Planes] {
		list = append(list, frame.Image[byte]{Width: m.Width, Height: m.Height, Stride: m.Width, Pix: pix[:m.Width*m.Height]})
		pix = pix[m.Width*m.Height:]
	}
	return list
}

// send queues copies of the planes to the host: to dst if it is filled directly,
// otherwise to the slot's memory.
func (t *slot) send(s *Stream, dst *frame.Frame) error {
	if direct(dst) {
		return t.planes.download(s, dst)
	}
	for i, m := range t.rows() {
		if err := t.planes.images[i].Download(s, m); err != nil {
			return err
		}
	}
	return nil
}

// fetch copies the planes from the slot's memory to dst, unless dst was filled
// directly.
func (t *slot) fetch(dst *frame.Frame, workers frame.Workers) {
	if direct(dst) {
		return
	}
	workers.N = min(workers.Count(), copiers)
	for i, m := range t.rows() {
		p := &dst.Planes[i]
		workers.Rows(m.Height, func(y0, y1 int) {
			for y := y0; y < y1; y++ {
				copy(p.Pix[y*p.Stride:][:m.Width], m.Row(y))
			}
		})
	}
}

func (t *slot) free() {
	t.planes.free()
	_ = t.host.Free()
	_ = t.counters.Free()
	for _, e := range []*Event{t.made, t.done} {
		if e != nil {
			_ = e.Close()
		}
	}
}
