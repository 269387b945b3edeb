//go:build unix

package cuda_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/frame"
	"retime/warp"
)

// Whichever call to the device fails, loading or making a frame returns its error, and the next
// frame is correct.
func TestSynthesizerAfterFault(t *testing.T) {
	broken := errors.New("broken")
	for _, mode := range []warp.Mode{warp.Project, warp.Splat, warp.Blend} {
		t.Run(string(mode), func(t *testing.T) {
			names := map[string]bool{}
			// attempt makes call number fail, counted from 0; -1 for none.
			attempt := func(e *kernels.Emulator, d *cuda.Device, number int) (calls int) {
				cpu, gpu := backends(t, d, warp.Params{Mode: mode, Order: 1, Acceleration: true, Overlays: true})
				defer gpu.Close()
				rng := rand.New(rand.NewPCG(9, 9))
				in := interval(rng, formats[1], 23, 19, 1, motions[4], true)
				name := ""
				e.Fail = func(call string) error {
					names[call] = true
					if calls++; calls-1 != number {
						return nil
					}
					name = call
					return broken
				}
				err := gpu.(*cuda.Synthesizer).Load(in)
				must(t, gpu.Begin(in))
				if err == nil {
					_, err = gpu.Make(frame.New(in.A.Format, in.A.Width, in.A.Height), 30000)
				}
				e.Fail = nil
				if (name != "") != (err != nil) || name != "" && !errors.Is(err, broken) {
					t.Fatalf("call %d, %q: error %v", number, name, err)
				}
				compare(t, cpu, gpu, in, phases[1:2])
				compare(t, cpu, gpu, interval(rng, formats[1], 23, 19, 1, motions[5], false), phases[1:2])
				if t.Failed() {
					t.Fatalf("after call %d, %q", number, name)
				}
				return calls
			}
			l := kernels.NewLate(1)
			calls := 0
			run(t, cuda.NewDevice(l), func(t *testing.T, d *cuda.Device) {
				calls = attempt(l.Emulator, d, -1)
				calls = attempt(l.Emulator, d, -1) // makes no call for memory that the device already has
				for number := range calls {
					attempt(l.Emulator, d, number)
				}
			})
			for _, name := range []string{"AllocHost", "CopyToDevice", "CopyToHost", "SynchronizeEvent"} {
				if !names[name] {
					t.Errorf("%s is not among the calls", name)
				}
			}
			t.Logf("%d calls, each failed once, of %d names", calls, len(names))
		})
	}
}

// NewSynthesizer leaves nothing behind if it fails.
func TestNewSynthesizerFails(t *testing.T) {
	broken := errors.New("broken")
	for _, mode := range []warp.Mode{warp.Project, warp.Splat, warp.Blend} {
		for number, calls := 0, 1; number < calls; number++ {
			e := kernels.NewEmulator()
			calls = 0
			e.Fail = func(string) error {
				if calls++; calls-1 == number {
					return broken
				}
				return nil
			}
			run(t, cuda.NewDevice(e), func(t *testing.T, d *cuda.Device) {
				s, err := cuda.NewSynthesizer(d, warp.Params{Mode: mode, Order: 3, Acceleration: true})
				e.Fail = nil
				if err == nil {
					s.Close()
				}
				if failed := calls > number; failed != (err != nil) || failed && !errors.Is(err, broken) {
					t.Errorf("%s, call %d: error %v", mode, number, err)
				}
			})
		}
	}
}

// Too little memory is an error that says so and leaves nothing behind.
func TestSynthesizerOutOfMemory(t *testing.T) {
	for memory := int64(1 << 10); ; memory *= 4 {
		e := kernels.NewEmulator()
		e.Memory = memory
		var err error
		run(t, cuda.NewDevice(e), func(t *testing.T, d *cuda.Device) {
			in := interval(rand.New(rand.NewPCG(1, 9)), formats[1], 64, 48, 0, motions[1], true)
			var s *cuda.Synthesizer
			if s, err = cuda.NewSynthesizer(d, warp.Params{Mode: warp.Project, Order: 3, Acceleration: true}); err != nil {
				return
			}
			defer s.Close()
			must(t, s.Begin(in))
			_, err = s.Make(frame.New(in.A.Format, in.A.Width, in.A.Height), 30000)
		})
		if err == nil {
			return
		}
		if !errors.Is(err, cuda.ErrOutOfMemory) {
			t.Fatalf("%d bytes: %v", memory, err)
		}
	}
}

// With less memory than it would take, a synthesizer makes the same frames in fewer lanes, and takes
// no more than it may.
func TestSynthesizerWithinMemory(t *testing.T) {
	attempt := func(limit int64) (taken int64, err error) {
		run(t, cuda.NewDevice(kernels.NewEmulator()), func(t *testing.T, d *cuda.Device) {
			d.LimitMemory(limit)
			p := warp.Params{Mode: warp.Project, Order: 3, Acceleration: true}
			cpu, gpu := backends(t, d, p)
			defer gpu.Close()
			rng := rand.New(rand.NewPCG(1, 9))
			for i := range 3 {
				in := interval(rng, formats[1], 64, 48, 0, motions[1+i], true)
				dst := frame.New(in.A.Format, in.A.Width, in.A.Height)
				must(t, gpu.Begin(in))
				for _, phase := range []warp.Phase{20000, 30000} {
					if _, err = gpu.Make(dst, phase); err != nil {
						return
					}
				}
				compare(t, cpu, gpu, in, phases[1:2])
			}
			taken, _ = d.MemoryHeld()
		})
		return taken, err
	}
	const whole = 63 << 20 // less than what an arena takes at once, so that it takes what is wanted
	most, err := attempt(whole)
	must(t, err)
	least, enough := int64(0), most
	for enough-least > most/32 {
		limit := (least + enough) / 2
		switch taken, err := attempt(limit); {
		case err == nil && taken > limit:
			t.Fatalf("%d bytes taken of %d", taken, limit)
		case err == nil:
			enough = limit
		case errors.Is(err, cuda.ErrOutOfMemory):
			least = limit
		default:
			t.Fatalf("%d bytes: %v", limit, err)
		}
	}
	if enough > most*6/10 {
		t.Errorf("%d bytes are needed, and %d taken where there are more", enough, most)
	}
}
