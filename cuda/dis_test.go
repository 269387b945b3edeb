//go:build unix

package cuda_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/flow"
	"retime/flow/dis"
	"retime/frame"
)

// moving is a pair of pictures with motion between them; draw returns sample (x, y) of the first or
// the second one.
type moving struct {
	name string
	draw func(rng *rand.Rand, x, y int, second bool) uint8
}

// waves is a smooth pattern.
func waves(x, y float64) uint8 {
	v := 128 + 50*math.Sin(x/3.1+0.4*math.Sin(y/7)) + 40*math.Sin(y/4.3+x/11) + 30*math.Sin((x-y)/17)
	return uint8(min(max(v, 0), 255))
}

func shifted(name string, dx, dy float64) moving {
	return moving{name, func(_ *rand.Rand, x, y int, second bool) uint8 {
		if second {
			return waves(float64(x)-dx, float64(y)-dy)
		}
		return waves(float64(x), float64(y))
	}}
}

var movements = []moving{
	{"noise", func(rng *rand.Rand, _, _ int, _ bool) uint8 { return uint8(rng.UintN(256)) }},
	{"extremes", func(rng *rand.Rand, _, _ int, _ bool) uint8 { return uint8(255 * rng.UintN(2)) }},
	{"flat", func(_ *rand.Rand, _, _ int, _ bool) uint8 { return 77 }},
	{"opposites", func(_ *rand.Rand, x, y int, second bool) uint8 {
		if (x/8+y/8)%2 == 0 != second {
			return 255
		}
		return 0
	}},
	{"stripes", func(rng *rand.Rand, x, _ int, second bool) uint8 {
		if second {
			x += 2
		}
		return uint8(255*(x/3%2)) ^ uint8(rng.UintN(4))
	}},
	shifted("shift", 2.3, -1.6),
	shifted("far", 37, 29),
	{"parts", func(rng *rand.Rand, x, y int, second bool) uint8 {
		switch {
		case x > 40: // still
			return waves(float64(x), float64(y))
		case second && y > 20:
			x -= 9
		case second:
			x += 5
		}
		return waves(float64(x), float64(y)) ^ uint8(rng.UintN(8))
	}},
}

// pair draws both pictures, in rows of stride samples.
func (m moving) pair(seed uint64, width, height, stride int) (a, b frame.Image[uint8]) {
	rng := rand.New(rand.NewPCG(seed, 0))
	var list [2]frame.Image[uint8]
	for i := range list {
		list[i] = frame.Image[uint8]{Width: width, Height: height, Stride: stride, Pix: make([]uint8, stride*height)}
		for y := range height {
			for x := range stride {
				list[i].Pix[y*stride+x] = m.draw(rng, x, y, i == 1)
			}
		}
	}
	return list[0], list[1]
}

// estimate is an estimator with pictures and fields in device memory.
type estimate struct {
	*cuda.DIS
	pictures [2]cuda.Image[byte]
	fields   [2]cuda.Image[flow.Vec]
}

func newEstimate(t testing.TB, d *cuda.Device, o dis.Options) *estimate {
	t.Helper()
	e, err := cuda.NewDIS(d, o)
	if err != nil {
		t.Fatal(err)
	}
	return &estimate{DIS: e}
}

func (e *estimate) close(t testing.TB) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	for i := range 2 {
		e.pictures[i].Free()
		e.fields[i].Free()
	}
}

// upload brings the pictures to the device.
func (e *estimate) upload(t testing.TB, pictures ...frame.Image[uint8]) {
	t.Helper()
	s := e.Stream()
	for i, m := range pictures {
		for _, err := range []error{
			e.pictures[i].Resize(s.Device(), m.Width, m.Height), e.pictures[i].Upload(s, m), e.fields[i].Resize(s.Device(), m.Width, m.Height),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// flows returns the flows between two pictures, estimated on the device, whole or halved.
func (e *estimate) flows(t testing.TB, a, b frame.Image[uint8], halved bool) (forward, backward flow.Field) {
	t.Helper()
	e.upload(t, a, b)
	w, h := a.Width, a.Height
	if halved {
		w, h = (w+1)/2, (h+1)/2
	}
	for i := range e.fields {
		if err := e.fields[i].Resize(e.Stream().Device(), w, h); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Estimate(e.pictures[0], e.pictures[1], e.fields[0], e.fields[1], halved); err != nil {
		t.Fatal(err)
	}
	list := [2]flow.Field{flow.NewField(w, h), flow.NewField(w, h)}
	for i, f := range list {
		if err := e.fields[i].Download(e.Stream(), f.Image); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Stream().Synchronize(); err != nil {
		t.Fatal(err)
	}
	return list[0], list[1]
}

// compareFlows compares the flows of the device, whole or halved, with the processor's. Exact.
func compareFlows(t *testing.T, e *estimate, o dis.Options, a, b frame.Image[uint8], halved bool) {
	t.Helper()
	cpu, err := dis.New(o, frame.Workers{})
	must(t, err)
	defer cpu.Close()
	var want [2]flow.Field
	must(t, cpu.Estimate(a, b, &want[0], &want[1], false))
	if halved {
		want[0], want[1] = flow.Halve(want[0]), flow.Halve(want[1])
	}
	forward, backward := e.flows(t, a, b, halved)
	for i, got := range []flow.Field{forward, backward} {
		differ, first := 0, -1
		for j, v := range got.Pix {
			if v != want[i].Pix[j] {
				if first < 0 {
					first = j
				}
				differ++
			}
		}
		if differ > 0 {
			t.Errorf("%dx%d, %+v, halved %t, direction %d: %d vectors differ, the first at (%d, %d): %v, want %v", a.Width, a.Height, o, halved, i,
				differ, first%got.Width, first/got.Width, got.Pix[first], want[i].Pix[first])
		}
	}
}

// searches returns the options whose flows the tests compare.
func searches() []dis.Options {
	change := func(f func(o *dis.Options)) dis.Options {
		o := dis.Default()
		f(&o)
		return o
	}
	return []dis.Options{
		dis.Default(), dis.Quick(),
		change(func(o *dis.Options) { o.MeanNormalization = false }),
		change(func(o *dis.Options) { o.Rounds = 0 }),
		change(func(o *dis.Options) { o.Reach, o.Rounds = 0, 1 }),
		change(func(o *dis.Options) { o.Iterations, o.Rounds = 0, 2 }),
		change(func(o *dis.Options) { o.Iterations, o.Rounds = 1, 6 }),
		change(func(o *dis.Options) { o.Reach, o.CandidateDistance, o.Iterations = 9, 64, 12 }),
	}
}

func TestDIS(t *testing.T) {
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		for i, o := range searches() {
			subtest(t, d, fmt.Sprintf("%+v", o), func(t *testing.T) {
				e := newEstimate(t, d, o)
				defer e.close(t)
				e.SetLanes([]int{0, 32}[i%2])
				for j, m := range movements {
					width, height := 46, 19
					if (i+j)%len(movements) == 0 {
						width, height = 91, 33
					}
					a, b := m.pair(uint64(i), width, height, width+j)
					compareFlows(t, e, o, a, b, false)
				}
			})
		}
	})
}

// Any number of threads per patch gives the same flow.
func TestDISLanes(t *testing.T) {
	a, b := movements[7].pair(1, 70, 41, 70)
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		for _, n := range []int{2, 4, 32} {
			e := newEstimate(t, d, dis.Default())
			e.SetLanes(n)
			compareFlows(t, e, dis.Default(), a, b, false)
			e.close(t)
		}
	})
}

func TestDISStrides(t *testing.T) {
	a, b := movements[7].pair(1, 31, 26, 33)
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		for stride := 1; stride <= 8; stride++ {
			o := dis.Default()
			o.Stride, o.Rounds = stride, 2
			e := newEstimate(t, d, o)
			compareFlows(t, e, o, a, b, false)
			e.close(t)
		}
	})
}

// One estimator meets all sizes, so that remains of a larger picture would show.
func TestDISSizes(t *testing.T) {
	small := [][2]int{
		{1, 1}, {150, 9}, {2, 1}, {1, 3}, {7, 7}, {8, 8}, {9, 8}, {8, 9}, {12, 12}, {13, 11}, {16, 16}, {17, 33},
		{22, 23}, {46, 31}, {5, 120}, {131, 70},
	}
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		sizes := small
		if d.Info().Name != "emulator" {
			sizes = append(slices.Clone(small), [2]int{480, 270}, [2]int{639, 271}, [2]int{960, 540}, [2]int{1919, 1079}, [2]int{1920, 1080},
				[2]int{3840, 2160}, [2]int{4096, 17}, [2]int{9, 4001}, [2]int{32767, 8})
		}
		o := dis.Default()
		e := newEstimate(t, d, o)
		defer e.close(t)
		for i, size := range sizes {
			for _, j := range []int{0, 7} {
				a, b := movements[j].pair(uint64(i), size[0], size[1], size[0]+i%3)
				compareFlows(t, e, o, a, b, false)
				compareFlows(t, e, o, a, b, true)
			}
		}
	})
}

// Estimates on several streams at once do not disturb each other.
func TestDISInFlight(t *testing.T) {
	inAnyOrder(t, func(t *testing.T, d *cuda.Device) {
		var list [4]*estimate
		var wants [4][2]flow.Field
		cpu, err := dis.New(dis.Default(), frame.Workers{})
		must(t, err)
		defer cpu.Close()
		for i := range list {
			list[i] = newEstimate(t, d, dis.Default())
			defer list[i].close(t)
			a, b := movements[5+i%3].pair(uint64(i), 33+i, 27, 40)
			must(t, cpu.Estimate(a, b, &wants[i][0], &wants[i][1], false))
			list[i].upload(t, a, b)
		}
		for range 2 { // the second estimate uses the memory of the first
			for _, e := range list {
				must(t, e.Estimate(e.pictures[0], e.pictures[1], e.fields[0], e.fields[1], false))
			}
		}
		for i, e := range list {
			for j, want := range wants[i] {
				got := flow.NewField(want.Width, want.Height)
				must(t, e.fields[j].Download(e.Stream(), got.Image))
				must(t, e.Stream().Synchronize())
				if !slices.Equal(got.Pix, want.Pix) {
					t.Errorf("estimate %d, direction %d differs", i, j)
				}
			}
		}
	})
}

// After a device failure in any call, the estimator can still be used and closed.
func TestDISFaults(t *testing.T) {
	a, b := movements[5].pair(0, 20, 16, 20)
	for fail, failed := 1, true; failed; fail++ {
		emulator := kernels.NewEmulator()
		run(t, cuda.NewDevice(emulator), func(t *testing.T, d *cuda.Device) {
			o := dis.Default()
			o.Rounds = 1
			e := newEstimate(t, d, o)
			defer e.close(t)
			e.upload(t, a, b)
			calls := 0
			emulator.Fail = func(string) error {
				if calls++; calls == fail {
					return errUnknown
				}
				return nil
			}
			err := e.Estimate(e.pictures[0], e.pictures[1], e.fields[0], e.fields[1], false)
			emulator.Fail = nil
			if failed = calls >= fail; failed != errors.Is(err, errUnknown) {
				t.Errorf("call %d of %d: error %v", fail, calls, err)
			}
			compareFlows(t, e, o, a, b, false)
		})
		if !failed && fail < 8 {
			t.Errorf("only %d calls", fail-1)
		}
	}
}

func TestDISErrors(t *testing.T) {
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		o := dis.Default()
		o.Stride = 9
		if _, err := cuda.NewDIS(d, o); err == nil || !strings.Contains(err.Error(), "stride 9") {
			t.Errorf("stride 9: error %v", err)
		}
		e := newEstimate(t, d, dis.Default())
		defer e.close(t)
		a, b := movements[5].pair(0, 20, 16, 20)
		e.upload(t, a, b)
		narrow := e.pictures[1].Part(0, 0, 19, 16)
		if err := e.Estimate(e.pictures[0], narrow, e.fields[0], e.fields[1], false); err == nil || !strings.Contains(err.Error(), "sizes differ") {
			t.Errorf("pictures of two sizes: error %v", err)
		}
		if err := e.Estimate(e.pictures[0], e.pictures[1], e.fields[0], e.fields[1], true); err == nil || !strings.Contains(err.Error(), "want fields of 10x8") {
			t.Errorf("fields of the pictures' size for halved flow: error %v", err)
		}
		var big cuda.Image[byte]
		big.Width, big.Height = 40000, 0
		none := cuda.Image[flow.Vec]{Width: 40000}
		if err := e.Estimate(big, big, none, none, false); err == nil {
			t.Error("an empty picture: no error")
		}
	})
}
