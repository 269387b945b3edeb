//go:build unix

package cuda_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/frame"
	"retime/warp"
)

// borrowed is a driver that its owner closes. It counts the uploaded images of one size.
type borrowed struct {
	cuda.Driver
	width, height int
	uploads       atomic.Int32
}

func (b *borrowed) Close() error { return nil }

func (b *borrowed) CopyToDevice(stream any, dst uintptr, dstStride int, src unsafe.Pointer, srcStride, width, height int) error {
	if width == b.width && height == b.height {
		b.uploads.Add(1)
	}
	return b.Driver.CopyToDevice(stream, dst, dstStride, src, srcStride, width, height)
}

// onDrivers runs a test on emulators and, if available, on a GPU.
func onDrivers(t *testing.T, test func(t *testing.T, driver cuda.Driver)) {
	closing := func(driver cuda.Driver) func(t *testing.T) {
		return func(t *testing.T) {
			test(t, driver)
			must(t, driver.Close())
		}
	}
	t.Run("emulator", closing(kernels.NewEmulator()))
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("late ", seed), closing(kernels.NewLate(seed)))
	}
	t.Run("gpu", func(t *testing.T) {
		list, err := cuda.Devices()
		if err != nil || len(list) == 0 {
			t.Skip("no GPU: ", err)
		}
		driver, err := cuda.OpenDriver(0)
		must(t, err)
		closing(driver)(t)
	})
}

// decoded is a picture on the device as a decoder leaves it.
type decoded[T frame.Sample] struct {
	luma, chroma, whole, pairs cuda.Image[T]
}

// decode uploads f, with margins that keep rows aligned or unaligned.
func decode[T frame.Sample](t *testing.T, d *cuda.Device, f *frame.Frame, margin int) (p decoded[T]) {
	t.Helper()
	size := int(unsafe.Sizeof(T(0)))
	shift := 8*size - f.Format.Depth
	u, v := frame.Samples[T](f.Planes[1]), frame.Samples[T](f.Planes[2])
	luma, pairs := frame.NewImage[T](f.Width, f.Height), frame.NewImage[T](2*u.Width, u.Height)
	noise := rand.New(rand.NewPCG(uint64(f.Width), uint64(margin)))
	low := func() T { return T(noise.IntN(1 << shift)) } // bits that do not count
	for y := range f.Height {
		for x, s := range frame.Samples[T](f.Planes[0]).Row(y) {
			luma.Row(y)[x] = s<<shift | low()
		}
	}
	for y := range u.Height {
		for x := range u.Width {
			pairs.Row(y)[2*x], pairs.Row(y)[2*x+1] = u.Row(y)[x]<<shift|low(), v.Row(y)[x]<<shift|low()
		}
	}
	must(t, d.Do(func() error {
		must(t, p.whole.Resize(d, luma.Width+2*margin, luma.Height+2*margin))
		must(t, p.pairs.Resize(d, pairs.Width+2*margin, pairs.Height+2*margin))
		p.luma, p.chroma = p.whole.Part(margin, margin, luma.Width, luma.Height), p.pairs.Part(margin, margin, pairs.Width, pairs.Height)
		s, err := d.NewStream()
		must(t, err)
		must(t, p.luma.Upload(s, luma))
		must(t, p.chroma.Upload(s, pairs))
		must(t, s.Synchronize())
		return s.Close()
	}))
	return p
}

// importInto has m fill dst with the samples of f.
func importInto(t *testing.T, d *cuda.Device, m *cuda.Mirror, dst, f *frame.Frame, margin int) error {
	t.Helper()
	if f.Format.Bytes() == 1 {
		return importAs[uint8](t, d, m, dst, f, margin)
	}
	return importAs[uint16](t, d, m, dst, f, margin)
}

func importAs[T frame.Sample](t *testing.T, d *cuda.Device, m *cuda.Mirror, dst, f *frame.Frame, margin int) error {
	t.Helper()
	p := decode[T](t, d, f, margin)
	defer p.whole.Free()
	defer p.pairs.Free()
	return m.Import(dst, frame.Surface{Width: f.Width, Height: f.Height, Bytes: f.Format.Bytes(), Luma: p.luma.Surface(), Chroma: p.chroma.Surface()})
}

// pieces are parts of a Mirror's memory, each for a frame of the same size, which are reused.
type pieces struct {
	m      *cuda.Mirror
	format frame.Format
	w, h   int
	mu     sync.Mutex
	idle   []unsafe.Pointer
	all    int
}

// frame returns a frame whose planes, with gaps of 0xa5 between the rows, are in one piece.
func (p *pieces) frame(t *testing.T) *frame.Frame {
	t.Helper()
	planes, size := make([]frame.Plane, p.format.Planes), 0
	for i := range planes {
		w, h := p.format.PlaneSize(i, p.w, p.h)
		planes[i] = frame.Plane{Width: w, Height: h, Stride: w*p.format.Bytes() + 6}
		size += planes[i].Stride * h
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		p.idle = append(p.idle, p.m.Alloc(size))
		p.all++
	}
	at := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	pix := unsafe.Slice((*byte)(at), size)
	for i := range pix {
		pix[i] = 0xa5
	}
	for i := range planes {
		q := &planes[i]
		q.Pix, pix = pix[:q.Stride*q.Height], pix[q.Stride*q.Height:]
	}
	f := frame.Wrap(p.format, p.w, p.h, planes, func(*frame.Frame) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.idle = append(p.idle, at)
	})
	f.Memory = p.m
	return f
}

func (p *pieces) free() {
	for _, at := range p.idle {
		p.m.Free(at)
	}
}

var decoders = []frame.Format{
	{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1},
	{Name: "yuv420p10", Depth: 10, Planes: 3, ChromaX: 1, ChromaY: 1},
	{Name: "yuv420p16", Depth: 16, Planes: 3, ChromaX: 1, ChromaY: 1},
}

// An imported frame has the samples of the decoder's picture, whatever is in the bits that do not
// count, and the memory after its rows does not change. Exact.
func TestMirrorImport(t *testing.T) {
	onDrivers(t, func(t *testing.T, driver cuda.Driver) {
		d := cuda.NewDevice(&borrowed{Driver: driver})
		m, err := cuda.NewMirror(cuda.NewDevice(&borrowed{Driver: driver}))
		must(t, err)
		rng := rand.New(rand.NewPCG(61, 0))
		for _, format := range decoders {
			for _, s := range [][2]int{{1, 1}, {2, 3}, {7, 5}, {8, 8}, {37, 23}, {258, 18}, {259, 17}} {
				for _, margin := range []int{0, 3, 4} {
					p := &pieces{m: m, format: format, w: s[0], h: s[1]}
					want, got := scene(rng, format, s[0], s[1]), p.frame(t)
					must(t, importInto(t, d, m, got, want, margin))
					if !frame.Equal(want, got) {
						t.Errorf("%s %v, margin %d: the samples differ", format.Name, s, margin)
					}
					for _, q := range got.Planes {
						for y := range q.Height {
							for x := q.Width * format.Bytes(); x < q.Stride; x++ {
								if q.Pix[y*q.Stride+x] != 0xa5 {
									t.Fatalf("%s %v: what lies behind row %d has changed", format.Name, s, y)
								}
							}
						}
					}
					got.Release()
					p.free()
				}
			}
		}
		must(t, m.Close())
		must(t, d.Close())
	})
}

// A frame that does not fit the picture, or is not in the mirror's memory, is an error.
func TestMirrorRefuses(t *testing.T) {
	e := kernels.NewEmulator()
	d := cuda.NewDevice(&borrowed{Driver: e})
	m, err := cuda.NewMirror(cuda.NewDevice(&borrowed{Driver: e}))
	must(t, err)
	f := frame.New(decoders[0], 8, 6)
	if err := importInto(t, d, m, frame.New(decoders[0], 8, 6), f, 0); err == nil {
		t.Error("a frame in other memory is filled")
	}
	for _, p := range []*pieces{
		{m: m, format: decoders[0], w: 8, h: 5}, {m: m, format: decoders[1], w: 8, h: 6}, {m: m, format: formats[3], w: 8, h: 6},
	} {
		dst := p.frame(t)
		if err := importInto(t, d, m, dst, f, 0); err == nil {
			t.Errorf("%dx%d in %s is filled with 8x6 in %s", p.w, p.h, p.format.Name, f.Format.Name)
		}
		dst.Release()
		p.free()
	}
	e.Fail = func(call string) error {
		if call == "split_u8" {
			return errors.New("broken")
		}
		return nil
	}
	p := &pieces{m: m, format: decoders[0], w: 8, h: 6}
	dst := p.frame(t)
	if err := importInto(t, d, m, dst, f, 0); err == nil {
		t.Error("a kernel's failure is no error")
	}
	dst.Release()
	must(t, m.Close())
	p.free() // frames outlive Close
	must(t, d.Close())
	must(t, e.Close())
}

// From imported frames, a synthesizer makes the same frames as the CPU and uploads none of them,
// even if their memory is reused for later frames while the synthesizer's work is late. On a device
// with another context it uploads them. Exact.
func TestSynthesizerTakesImportedFrames(t *testing.T) {
	onDrivers(t, func(t *testing.T, driver cuda.Driver) {
		for _, format := range decoders[:2] {
			const width, height = 74, 50
			own := &borrowed{Driver: driver, width: width * format.Bytes(), height: height}
			d, decoder := cuda.NewDevice(own), cuda.NewDevice(&borrowed{Driver: driver})
			m, err := cuda.NewMirror(cuda.NewDevice(&borrowed{Driver: driver}))
			must(t, err)
			list, _ := clip(rand.New(rand.NewPCG(62, 0)), format, width, height, 1, 12)
			p := &pieces{m: m, format: format, w: width, h: height}
			made := func(f *frame.Frame) *frame.Frame {
				g := p.frame(t)
				must(t, importInto(t, decoder, m, g, f, 0))
				return g
			}
			params := warp.Params{Mode: warp.Project, Order: 3}
			cpu, gpu := backends(t, d, params)
			s := gpu.(*cuda.Synthesizer)
			checks := make(chan func(), len(list))
			a := made(list[0].A)
			for i, in := range list {
				given := in
				given.A, given.B = a, made(in.B)
				given.Before, given.After = nil, nil
				in.Before, in.After = nil, nil
				must(t, cpu.Begin(in))
				want, got := frame.New(format, width, height), frame.New(format, width, height)
				_, err := cpu.Make(want, phases[1])
				must(t, err)
				must(t, s.Load(given))
				must(t, s.Begin(given))
				finish, err := s.Start(got, phases[1])
				must(t, err)
				checks <- func() {
					_, err := finish()
					must(t, err)
					if !frame.Equal(want, got) {
						t.Errorf("%s: frame %d differs", format.Name, i)
					}
				}
				if i >= 3 {
					(<-checks)()
				}
				a.Release()
				a = given.B
			}
			for range 3 {
				(<-checks)()
			}
			a.Release()
			if n := own.uploads.Load(); n > 0 {
				t.Errorf("%s: %d planes of luma were uploaded", format.Name, n)
			}
			if p.all >= len(list) {
				t.Errorf("%s: %d frames lie in %d pieces of memory, none of which was used again", format.Name, len(list)+1, p.all)
			}
			s.Close()
			cpu.Close()
			elsewhere(t, list[0], made)
			p.free()
			must(t, m.Close())
			must(t, decoder.Close())
			must(t, d.Close())
		}
	})
}

// elsewhere makes a frame from imported ones on a device that cannot read their copies.
func elsewhere(t *testing.T, in warp.Interval, made func(*frame.Frame) *frame.Frame) {
	t.Helper()
	d := cuda.NewDevice(kernels.NewEmulator())
	cpu, gpu := backends(t, d, warp.Params{Mode: warp.Project, Order: 3})
	given := in
	given.A, given.B = made(in.A), made(in.B)
	compareAs(t, cpu, gpu, in, given, phases[:1])
	gpu.Close()
	given.A.Release()
	given.B.Release()
	must(t, d.Close())
}
