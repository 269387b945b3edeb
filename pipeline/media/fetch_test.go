//go:build unix

package media

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/frame"
	"retime/pipeline/media/av"
	"retime/pipeline/media/pixel"
)

// decodedPicture returns a picture of random bytes in a semi-planar format, as a decoder
// leaves it on a device whose memory the CPU emulates.
func decodedPicture(t *testing.T, width, height int, format astiav.PixelFormat, seed uint64) *astiav.Frame {
	t.Helper()
	f := astiav.AllocFrame()
	f.SetWidth(width)
	f.SetHeight(height)
	f.SetPixelFormat(format)
	if err := f.AllocBuffer(0); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for plane, rows := range []int{height, (height + 1) / 2} {
		pix := unsafe.Slice((*byte)(av.PlaneData(f, plane)), rows*av.PlaneStride(f, plane))
		for i := range pix {
			pix[i] = byte(random.Uint32())
		}
	}
	f.SetPts(int64(seed))
	return f
}

// planarFrame returns a picture as a frame.
func planarFrame(t *testing.T, p *astiav.Frame) *frame.Frame {
	t.Helper()
	format, ok := pixel.PlanarFormat(p.PixelFormat())
	if !ok {
		t.Fatalf("%s is not planar", p.PixelFormat())
	}
	planes, ok := pixel.Planes(p, format)
	if !ok {
		t.Fatal("the picture has no planes")
	}
	return frame.Wrap(format, p.Width(), p.Height(), planes, nil)
}

// A picture that stays on the device has the samples and the properties of one that is
// copied to main memory. Exact.
func TestImportsAreDownloads(t *testing.T) {
	for format, twin := range separated {
		t.Run(format.Name(), func(t *testing.T) {
			e := kernels.NewEmulator()
			m, err := cuda.NewMirror(cuda.NewDevice(e))
			if err != nil {
				t.Fatal(err)
			}
			i := &imports{surfaces: m, pool: pixel.Pool{Memory: m}, log: slog.New(slog.DiscardHandler)}
			if p, lossless, _ := pixel.PlanarTwin(format); p != twin || !lossless {
				t.Errorf("the twin is %s, want %s", twin, p)
			}
			for seed, s := range [][2]int{{64, 48}, {64, 48}, {639, 271}, {33, 18}, {2, 1}} {
				f := decodedPicture(t, s[0], s[1], format, uint64(seed))
				got, err := i.take(f, twin)
				if err != nil {
					t.Fatal(err)
				}
				want, err := pixel.Separate(f, twin, pixel.Colour{})
				if err != nil {
					t.Fatal(err)
				}
				if !frame.Equal(planarFrame(t, got.Frame), planarFrame(t, want)) {
					t.Errorf("%v: the samples differ", s)
				}
				if got.memory != frame.Memory(m) || got.Pts() != want.Pts() || got.PixelFormat() != want.PixelFormat() {
					t.Errorf("%v: time %d, %s, want %d, %s, and the device's memory", s, got.Pts(), got.PixelFormat(), want.Pts(), want.PixelFormat())
				}
				got.Free()
				want.Free()
			}
			i.close()
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Where the device has no memory left, or fails, a picture is not taken from it, and nothing
// is left there.
func TestImportsFail(t *testing.T) {
	broken := errors.New("broken")
	for call, set := range map[string]func(e *kernels.Emulator){
		"memory":       func(e *kernels.Emulator) { e.Memory = 100 },
		"page-locked":  func(e *kernels.Emulator) { e.HostMemory = 100 },
		"split_u8":     func(e *kernels.Emulator) { e.Fail = failing("split_u8", broken) },
		"CopyToHost":   func(e *kernels.Emulator) { e.Fail = failing("CopyToHost", broken) },
		"Synchronize":  func(e *kernels.Emulator) { e.Fail = failing("Synchronize", broken) },
		"AllocHost":    func(e *kernels.Emulator) { e.Fail = failing("AllocHost", broken) },
		"device alloc": func(e *kernels.Emulator) { e.Fail = failing("Alloc", broken) },
	} {
		e := kernels.NewEmulator()
		m, err := cuda.NewMirror(cuda.NewDevice(e))
		if err != nil {
			t.Fatal(err)
		}
		i := &imports{surfaces: m, pool: pixel.Pool{Memory: m}, log: slog.New(slog.DiscardHandler)}
		set(e)
		f := decodedPicture(t, 64, 48, astiav.PixelFormatNv12, 1)
		if _, err := i.take(f, astiav.PixelFormatYuv420P); err == nil {
			t.Errorf("%s: no error", call)
		}
		f.Free()
		i.close()
		if err := e.Close(); err != nil {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// failing returns the error for one call of a driver.
func failing(call string, err error) func(string) error {
	return func(c string) error {
		if c == call {
			return err
		}
		return nil
	}
}

// A frame lies in the device's memory unless it is a converted copy of the picture.
func TestMemoryOfFrames(t *testing.T) {
	e := kernels.NewEmulator()
	m, err := cuda.NewMirror(cuda.NewDevice(e))
	if err != nil {
		t.Fatal(err)
	}
	i := &imports{surfaces: m, pool: pixel.Pool{Memory: m}, log: slog.New(slog.DiscardHandler)}
	var planar *pixel.Planar
	for n, width := range []int{64, 96} {
		f := decodedPicture(t, width, 48, astiav.PixelFormatNv12, 1)
		p, err := i.take(f, astiav.PixelFormatYuv420P)
		f.Free()
		if err != nil {
			t.Fatal(err)
		}
		if planar == nil {
			planar, _, _ = pixel.NewPlanar(p.Frame, pixel.Colour{})
		}
		got, err := planar.Frame(p.Frame, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if lies := n == 0; (p.memoryOf(got) == frame.Memory(m)) != lies || got.Width != 64 {
			t.Errorf("a picture %d wide in a frame %d wide: in the device's memory is %v", width, got.Width, !lies)
		}
		got.Release()
	}
	planar.Close()
	i.close()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
