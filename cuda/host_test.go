//go:build unix

package cuda_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/frame"
	"retime/warp"
)

// inHostMemory returns a frame whose planes are in m, with gaps of 0xa5 between the rows.
func inHostMemory(t *testing.T, m frame.Memory, format frame.Format, width, height int) *frame.Frame {
	t.Helper()
	planes := make([]frame.Plane, format.Planes)
	for i := range planes {
		w, h := format.PlaneSize(i, width, height)
		stride := w*format.Bytes() + 6
		p := m.Alloc(stride * h)
		if p == nil || uintptr(p)%64 != 0 {
			t.Fatalf("%d bytes at %p", stride*h, p)
		}
		planes[i] = frame.Plane{Width: w, Height: h, Stride: stride, Pix: unsafe.Slice((*byte)(p), stride*h)}
		for j := range planes[i].Pix {
			planes[i].Pix[j] = 0xa5
		}
	}
	f := frame.Wrap(format, width, height, planes, func(f *frame.Frame) {
		for _, p := range f.Planes {
			m.Free(unsafe.Pointer(unsafe.SliceData(p.Pix)))
		}
	})
	f.Memory = m
	return f
}

// Frames in page-locked memory get the same samples as others, and nothing else changes, whichever
// kind of frame a slot served before. Exact.
func TestSynthesizerHostMemory(t *testing.T) {
	const seed = 41
	t.Logf("seed %d", seed)
	inAnyOrder(t, func(t *testing.T, d *cuda.Device) {
		for _, mode := range []warp.Mode{warp.Project, warp.Splat, warp.Blend} {
			for _, format := range formats {
				subtest(t, d, fmt.Sprintf("%s/%s", mode, format.Name), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(seed, 0))
					cpu, gpu := backends(t, d, warp.Params{Mode: mode, Order: 1})
					defer gpu.Close()
					in := interval(rng, format, 35, 23, 0, motions[1], false)
					must(t, cpu.Begin(in))
					must(t, gpu.Begin(in))
					want := frame.New(format, 35, 23)
					_, err := cpu.Make(want, phases[1])
					must(t, err)
					s := gpu.(*cuda.Synthesizer)
					for i := range 4 {
						got := frame.New(format, 35, 23)
						if i%2 > 0 {
							got = inHostMemory(t, d.HostMemory(), format, 35, 23)
						}
						finish, err := s.Start(got, phases[1])
						must(t, err)
						_, err = finish()
						must(t, err)
						if !frame.Equal(want, got) {
							t.Errorf("frame %d differs", i)
						}
						if i%2 > 0 {
							for _, p := range got.Planes {
								for y := range p.Height {
									for x := p.Width * format.Bytes(); x < p.Stride; x++ {
										if p.Pix[y*p.Stride+x] != 0xa5 {
											t.Fatalf("what lies behind row %d has changed", y)
										}
									}
								}
							}
						}
						got.Release()
					}
				})
			}
		}
	})
}

// closing counts how often its driver is closed, and how many pieces of host memory are in use.
type closing struct {
	cuda.Driver
	closed, freed int
}

func (c *closing) Close() error { c.closed++; return c.Driver.Close() }
func (c *closing) FreeHost(p unsafe.Pointer) error {
	c.freed++
	return c.Driver.FreeHost(p)
}

// Host memory in use outlives the device's Close, and so does the context.
func TestHostMemoryOutlivesClose(t *testing.T) {
	c := &closing{Driver: kernels.NewEmulator()}
	d := cuda.NewDevice(c)
	m := d.HostMemory()
	a, b := m.Alloc(100), m.Alloc(200)
	must(t, d.Close())
	*(*byte)(a), *(*byte)(b) = 1, 2
	m.Free(a)
	if c.closed != 0 {
		t.Fatal("closed while memory is in use")
	}
	m.Free(b)
	if c.closed != 1 || c.freed != 2 {
		t.Errorf("closed %d times, %d pieces freed; want 1 and 2", c.closed, c.freed)
	}
	c = &closing{Driver: kernels.NewEmulator()}
	d = cuda.NewDevice(c)
	d.HostMemory().Free(d.HostMemory().Alloc(8))
	must(t, d.Close())
	if c.closed != 1 {
		t.Errorf("closed %d times, want once", c.closed)
	}
}

// If no host memory is left, Alloc returns nil, and the device's Close does not wait for the
// missing piece.
func TestHostMemoryRunsOut(t *testing.T) {
	e := kernels.NewEmulator()
	e.HostMemory = 1000
	c := &closing{Driver: e}
	d := cuda.NewDevice(c)
	m := d.HostMemory()
	a := m.Alloc(600)
	if b := m.Alloc(600); a == nil || b != nil {
		t.Fatalf("of 1000 bytes 600 are at %p and 600 at %p", a, b)
	}
	m.Free(a)
	must(t, d.Close())
	if c.closed != 1 || c.freed != 1 {
		t.Errorf("closed %d times, %d pieces freed; want 1 and 1", c.closed, c.freed)
	}
}

// If the host has too little memory for a frame, the error says so, and the synthesizer makes the
// next frame once there is memory again. Too little memory to stage uploads is no error. Exact.
func TestSynthesizerOutOfHostMemory(t *testing.T) {
	for _, mode := range []warp.Mode{warp.Project, warp.Splat, warp.Blend} {
		e := kernels.NewEmulator()
		run(t, cuda.NewDevice(e), func(t *testing.T, d *cuda.Device) {
			e.HostMemory = 0
			cpu, gpu := backends(t, d, warp.Params{Mode: mode, Order: 1})
			defer gpu.Close()
			in := interval(rand.New(rand.NewPCG(43, 0)), formats[1], 35, 23, 0, motions[1], false)
			must(t, gpu.Begin(in))
			for _, memory := range []int64{0, 64, 35 * 23} {
				e.HostMemory = memory
				_, err := gpu.Make(frame.New(in.A.Format, 35, 23), phases[1])
				if !errors.Is(err, cuda.ErrOutOfMemory) || !strings.Contains(err.Error(), "of page-locked memory") {
					t.Errorf("%s, %d bytes: error %v", mode, memory, err)
				}
			}
			e.HostMemory = 8 << 10
			compare(t, cpu, gpu, in, phases[1:3])
		})
	}
}
