package cuda

import (
	"sync"
	"unsafe"

	"retime/flow"
	"retime/frame"
	"retime/warp"
)

// residents are the pictures and flows in device memory. Each is uploaded once and stays as long as
// intervals need it: a flow belongs to one interval, and is an outer flow of both neighbouring ones.
// Uploads have a stream of their own, and serve the current interval or the next one.
type residents struct {
	device       *Device
	coefficients bool

	loading sync.Mutex // held by uploads
	up      *Stream
	guides  guideMaker
	idle    *Event // happens when the work queued before the last interval began is done

	mu      sync.Mutex  // guards the fields below, and the resident fields in the lists
	images  [2][]*image // guides and masks; flows
	sources []*source
	turn    uint64 // number of the last load
	begun   uint64 // lowest turn that the current interval needs
}

// resident describes the contents of a piece of device memory.
type resident struct {
	of    any          // identifies the contents; nil if there are none
	owner *frame.Frame // held because the contents may come from its memory; may be nil
	turn  uint64       // number of the last load that wanted the contents, or of a future one
	users int          // number of estimates in progress that read or write the contents
	there bool         // whether sent is recorded
	sent  *Event
}

// image is a guide, a flow or a mask without gaps between its rows.
type image struct {
	resident
	bytes Buffer[byte]
}

// rows describes an image in host memory.
type rows struct {
	frame.Image[byte]
	kind  int // index of its list in residents
	place int // index among the pictures or flows of guides
	owner *frame.Frame
	level int // how often a guide is halved
}

// The kinds of images in residents, and the place of a mask in guides.
const (
	pictureKind = iota // guides and masks
	flowKind
	maskPlace = maxPictures
)

// rowsID identifies an image by its memory, which it keeps alive.
type rowsID struct {
	first                 *byte
	width, height, stride int
}

func (r rows) id() rowsID { return rowsID{unsafe.SliceData(r.Pix), r.Width, r.Height, r.Stride} }

// rowsOf returns m as bytes. If owner is not nil, readers of m must hold it.
func rowsOf[T any](m frame.Image[T], kind, place int, owner *frame.Frame) rows {
	n := sizeOf[T]()
	return rows{frame.Image[byte]{
		Width: m.Width * n, Height: m.Height, Stride: m.Stride * n,
		Pix: unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(m.Pix))), cap(m.Pix)*n)[:len(m.Pix)*n],
	}, kind, place, owner, 0}
}

// guideOf returns a guide of owner, halved level times, as bytes.
func guideOf(m frame.Image[uint8], place int, owner *frame.Frame, level int) rows {
	r := rowsOf(m, pictureKind, place, owner)
	r.level = level
	return r
}

// imagesOf lists an interval's guides, flows and mask. It lists the outer guides if
// guides or flows is set, and the outer flows if flows is set.
func imagesOf(in *warp.Interval, guides, flows bool) []rows {
	list := []rows{guideOf(in.GuideA, 0, in.A, in.Level), guideOf(in.GuideB, 1, in.B, in.Level)}
	n := 0
	add := func(f flow.Field) {
		list = append(list, rowsOf(f.Image, flowKind, n, nil))
		n++
	}
	for _, f := range in.Flows {
		add(f.Forward)
		add(f.Backward)
	}
	for i, o := range []*warp.Outer{in.Before, in.After} {
		if o == nil {
			continue
		}
		if guides || flows {
			list = append(list, guideOf(o.Guide, 2+i, o.Frame, in.Level))
		}
		if flows {
			add(o.Flow)
		}
	}
	if in.Static.Width > 0 {
		list = append(list, rowsOf(in.Static, pictureKind, maskPlace, nil))
	}
	return list
}

// open makes r ready for use. coefficients is set if sources have coefficients.
func (r *residents) open(d *Device, coefficients bool) (err error) {
	r.device, r.coefficients, r.turn = d, coefficients, 1
	if r.up, err = d.NewStream(); err != nil {
		return err
	}
	if err = r.up.StageUploads(); err != nil {
		return err
	}
	r.idle, err = d.NewEvent()
	return err
}

// close waits for uploads and frees all memory. r must not be used afterwards.
func (r *residents) close() {
	if r.up != nil {
		_ = r.up.Synchronize()
		_ = r.up.Close()
	}
	if r.idle != nil {
		_ = r.idle.Close()
	}
	for _, list := range r.images {
		for _, m := range list {
			m.close()
			m.bytes.Free()
		}
	}
	for _, s := range r.sources {
		s.close()
		s.free()
	}
	r.guides.table.Free()
}

func (h *resident) close() {
	h.drop()
	if h.sent != nil {
		_ = h.sent.Close()
	}
}

// drop makes h empty.
func (h *resident) drop() {
	if h.owner != nil {
		h.owner.Release()
	}
	h.of, h.owner, h.there = nil, nil, false
}

func (h *resident) head() *resident { return h }

// load uploads the frames and images of an interval that the device does not have. ahead is set if
// this is the next interval, so that the contents for the current one stay.
func (r *residents) load(in *warp.Interval, images []rows, ahead bool) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	r.mu.Lock()
	if ahead || r.begun == r.turn {
		r.turn++
	}
	r.mu.Unlock()
	for _, f := range []*frame.Frame{in.A, in.B} {
		if _, err := r.loadSource(f, 0); err != nil {
			return err
		}
	}
	for _, m := range images {
		if err := r.loadImage(m); err != nil {
			return err
		}
	}
	return nil
}

// loadSource returns f on the device, for this load and the next ahead ones.
func (r *residents) loadSource(f *frame.Frame, ahead uint64) (*source, error) {
	s, there := claim(r, &r.sources, f, f, ahead, func() *source { return new(source) })
	if there {
		return s, nil
	}
	return s, r.fill(r.up, &s.resident, func() error {
		if !s.fits(f) {
			if err := r.settle(); err != nil {
				return err
			}
		}
		if err := s.resize(r.device, f.Format, f.Width, f.Height, r.coefficients); err != nil {
			return err
		}
		s.filtered = false
		return s.planes.bring(r.up, f)
	})
}

func (r *residents) loadImage(m rows) error {
	d, there := claim(r, &r.images[m.kind], any(m.id()), m.owner, 0, func() *image { return new(image) })
	if there {
		return nil
	}
	return r.bring(d, m, 0)
}

// bring queues a copy of m to d, or the kernel that makes m from its frame, which then stays for
// the next ahead loads.
func (r *residents) bring(d *image, m rows, ahead uint64) error {
	return r.fill(r.up, &d.resident, func() error {
		if err := r.resizeImage(d, m); err != nil {
			return err
		}
		if !m.absent() {
			return d.view(m).Upload(r.up, m.Image)
		}
		if m.owner == nil {
			return ErrAbsent
		}
		f, err := r.loadSource(m.owner, ahead)
		if err != nil {
			return err
		}
		return r.guides.make(r.up, d, m, f)
	})
}

// resizeImage makes d large enough for m.
func (r *residents) resizeImage(d *image, m rows) error {
	n := m.Width * m.Height
	if n > d.bytes.room {
		if err := r.settle(); err != nil {
			return err
		}
	}
	return d.bytes.Resize(r.device, n)
}

// view returns d as an image of m's size.
func (d *image) view(m rows) Image[byte] { return Image[byte]{m.Width, m.Height, m.Width, d.bytes, 0} }

// claim returns the element of list that holds id or, to be filled, an element that is no longer
// needed or a new one. The element stays as long as the interval of this load needs it, or the next
// ahead intervals do: until an interval begins that needs only later loads. Everything that the
// current interval needs has the turn of its load or a later one, so claim takes none of it.
func claim[T interface{ head() *resident }](r *residents, list *[]T, id any, owner *frame.Frame, ahead uint64, fresh func() T) (t T, there bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	free := -1
	for i, t := range *list {
		h := t.head()
		if h.of == id {
			h.turn = r.turn + ahead
			return t, true
		}
		if h.users == 0 && (h.of == nil || h.turn < r.begun) {
			free = i
		}
	}
	if free < 0 {
		free = len(*list)
		*list = append(*list, fresh())
	}
	t = (*list)[free]
	h := t.head()
	h.drop()
	if h.of, h.turn = id, r.turn+ahead; owner != nil {
		h.owner = owner.Retain()
	}
	return t, false
}

// fill queues new contents for h on s, after the last use of the old ones.
func (r *residents) fill(s *Stream, h *resident, queue func() error) (err error) {
	defer func() {
		if err != nil {
			_ = s.Synchronize() // part of the work may be queued
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if h.there = err == nil; err != nil {
			h.drop()
		}
	}()
	if h.sent == nil {
		if h.sent, err = r.device.NewEvent(); err != nil {
			return err
		}
	}
	for _, e := range []*Event{r.idle, h.sent} {
		if err := s.WaitFor(e); err != nil {
			return err
		}
	}
	if err := queue(); err != nil {
		return err
	}
	return s.Record(h.sent)
}

// settle waits until memory that is no longer needed may be freed.
func (r *residents) settle() error {
	if err := r.up.Synchronize(); err != nil {
		return err
	}
	return r.idle.Synchronize()
}

// begin returns the frames and images of an interval, and makes later work on s wait for them. Once
// the work queued so far on joined is done, nothing may use earlier intervals.
func (r *residents) begin(s, joined *Stream, in *warp.Interval, images []rows) (a, b *source, list []*image, err error) {
	a, b, list, err = r.find(joined, in, images)
	if list == nil && err == nil {
		if err = r.load(in, images, false); err == nil {
			a, b, list, err = r.find(joined, in, images)
		}
	}
	if err != nil {
		return a, b, list, err
	}
	for _, h := range []*resident{&a.resident, &b.resident} {
		if err := s.WaitFor(h.sent); err != nil {
			return a, b, list, err
		}
	}
	for _, m := range list {
		if err := s.WaitFor(m.sent); err != nil {
			return a, b, list, err
		}
	}
	return a, b, list, nil
}

// find looks up the contents that an interval needs. If the device has all of them, it begins the
// interval; otherwise it returns a nil list.
func (r *residents) find(joined *Stream, in *warp.Interval, images []rows) (a, b *source, list []*image, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, b = lookUp(r.sources, in.A), lookUp(r.sources, in.B)
	if a == nil || b == nil {
		return nil, nil, nil, nil
	}
	begun := min(a.turn, b.turn)
	found := make([]*image, len(images))
	for i, m := range images {
		d := lookUp(r.images[m.kind], any(m.id()))
		if d == nil {
			return nil, nil, nil, nil
		}
		found[i], begun = d, min(begun, d.turn)
	}
	if err := joined.Record(r.idle); err != nil {
		return nil, nil, nil, err
	}
	r.begun = begun
	return a, b, found, nil
}

// lookUp returns the element that holds id, or nil.
func lookUp[T interface {
	comparable
	head() *resident
}](list []T, id any) (none T) {
	for _, t := range list {
		if h := t.head(); h.there && h.of == id {
			return t
		}
	}
	return none
}
