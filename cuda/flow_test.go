//go:build unix

package cuda_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"retime/cuda"
	"retime/flow"
	"retime/frame"
	"retime/warp"
)

// known is an estimator on a device that looks up known flows.
type known struct {
	stream *cuda.Stream
	fields map[string]flow.Field
	memory [2]cuda.Image[flow.Vec]
}

var errUnknown = errors.New("no such pictures")

func (k *known) Stream() *cuda.Stream { return k.stream }

func (k *known) Close() error {
	for i := range k.memory {
		k.memory[i].Free()
	}
	return k.stream.Close()
}

func (k *known) Estimate(a, b cuda.Image[byte], forward, backward cuda.Image[flow.Vec], _ bool) error {
	var pictures [2][]byte
	for i, m := range []cuda.Image[byte]{a, b} {
		got := frame.NewImage[byte](m.Width, m.Height)
		if err := m.Download(k.stream, got); err != nil {
			return err
		}
		pictures[i] = got.Pix
	}
	if err := k.stream.Synchronize(); err != nil {
		return err
	}
	for i, dst := range []cuda.Image[flow.Vec]{forward, backward} {
		f, ok := k.fields[string(slices.Concat(pictures[i], pictures[1-i]))]
		if !ok {
			return errUnknown
		}
		if err := k.memory[i].Resize(k.stream.Device(), f.Width, f.Height); err != nil {
			return err
		}
		if err := k.memory[i].Upload(k.stream, f.Image); err != nil {
			return err
		}
		if err := dst.CopyFrom(k.stream, k.memory[i]); err != nil {
			return err
		}
	}
	return nil
}

// learn tells k the flow between two pictures.
func (k *known) learn(a, b frame.Image[uint8], f flow.Field) {
	k.fields[string(slices.Concat(a.Pix, b.Pix))] = f
}

// unestimated returns a clip whose flows are not filled in yet.
func unestimated(list []warp.Interval) []warp.Interval {
	given := slices.Clone(list)
	for i, in := range list {
		w, h := in.GuideA.Width, in.GuideA.Height
		given[i].Flows = []warp.FlowPair{{Forward: flow.NewField(w, h), Backward: flow.NewField(w, h)}}
	}
	for i := range given {
		if given[i].Before != nil {
			b, a := *given[i].Before, *given[i].After
			b.Flow, a.Flow = given[i-1].Flows[0].Backward, given[i+1].Flows[0].Forward
			given[i].Before, given[i].After = &b, &a
		}
	}
	return given
}

// knownPair is a pair of estimators that know the flows of a clip.
type knownPair [2]*known

func estimatorPair(t *testing.T, d *cuda.Device, list []warp.Interval) (p knownPair) {
	t.Helper()
	for j := range p {
		stream, err := d.NewStream()
		must(t, err)
		p[j] = &known{stream: stream, fields: map[string]flow.Field{}}
		for _, in := range list {
			p[j].learn(in.GuideA, in.GuideB, in.Flows[0].Forward)
			p[j].learn(in.GuideB, in.GuideA, in.Flows[0].Backward)
		}
	}
	return p
}

// estimate fills in the flows of some intervals, two at a time.
func (p knownPair) estimate(s *cuda.Synthesizer, list ...*warp.Interval) error {
	errs := make(chan error, len(p))
	for i, k := range p {
		go func() {
			var err error
			for j := i; j < len(list) && err == nil; j += len(p) {
				in := list[j]
				err = s.EstimateFlow(k, warp.Guide{Image: in.GuideA, Frame: in.A}, warp.Guide{Image: in.GuideB, Frame: in.B}, in.Flows[0].Forward, in.Flows[0].Backward)
			}
			errs <- err
		}()
	}
	return errors.Join(<-errs, <-errs)
}

func pointers[T any](list []T) []*T {
	at := make([]*T, len(list))
	for i := range list {
		at[i] = &list[i]
	}
	return at
}

func (p knownPair) close() {
	for _, k := range p {
		k.Close()
	}
}

// Intervals whose flows several goroutines estimated on the device, ahead or just in time, give the
// same frames as with flows from the host. Exact.
func TestEstimateFlow(t *testing.T) {
	const seed, n = 31, 24
	t.Logf("seed %d", seed)
	params := warp.Params{Mode: warp.Project, Order: 3, Acceleration: true, Overlays: true}
	inAnyOrder(t, func(t *testing.T, d *cuda.Device) {
		for _, ahead := range []int{1, 3, n} {
			subtest(t, d, fmt.Sprint(ahead, " ahead"), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, uint64(ahead)))
				list, released := clip(rng, formats[1], 37, 29, 1, n)
				cpu, gpu := backends(t, d, params)
				s := gpu.(*cuda.Synthesizer)
				given := unestimated(list)
				estimators := estimatorPair(t, d, list)
				defer estimators.close()
				estimate := func(first, end int) {
					must(t, estimators.estimate(s, pointers(given[first:end])...))
					for i := first; i < end; i++ {
						got, want := given[i].Flows[0], list[i].Flows[0]
						if !slices.Equal(got.Forward.Pix, want.Forward.Pix) || !slices.Equal(got.Backward.Pix, want.Backward.Pix) {
							t.Fatalf("interval %d: the host's flow differs", i)
						}
						if ahead < n { // the flow is still on the device, so the interval does not upload this one
							clear(got.Forward.Pix)
							clear(got.Backward.Pix)
						}
					}
				}
				// A failed estimate leaves nothing on the device.
				blank := warp.Guide{Image: frame.NewImage[uint8](list[0].GuideA.Width, list[0].GuideA.Height)}
				if err := s.EstimateFlow(estimators[0], blank, blank, given[0].Flows[0].Forward, given[0].Flows[0].Backward); !errors.Is(err, errUnknown) {
					t.Errorf("unknown pictures: error %v", err)
				}
				next := 0
				for i := range list {
					if end := min(i+ahead+1, n); next < end {
						estimate(next, end)
						next = end
					}
					must(t, s.Load(given[i]))
					compareAs(t, cpu, gpu, list[i], given[i], phases[1:2])
				}
				s.Close()
				cpu.Close()
				release(t, list, released)
			})
		}
	})
}

// The device clears estimated flows at still pixels as flow.KeepStill does. Exact.
func TestEstimateFlowKeepsStill(t *testing.T) {
	const seed = 37
	t.Logf("seed %d", seed)
	onDevices(t, func(t *testing.T, d *cuda.Device) {
		s, err := cuda.NewSynthesizer(d, warp.Params{Mode: warp.Project, Order: 1})
		must(t, err)
		defer s.Close()
		stream, err := d.NewStream()
		must(t, err)
		e := &known{stream: stream, fields: map[string]flow.Field{}}
		defer e.Close()
		rng := rand.New(rand.NewPCG(seed, 0))
		for _, size := range [][2]int{{1, 1}, {5, 3}, {17, 17}, {40, 37}, {131, 70}} {
			cleared := 0
			for changes := range 4 { // number of pixels that differ
				w, h := size[0], size[1]
				a, b := frame.NewImage[uint8](w, h), frame.NewImage[uint8](w, h)
				for i := range a.Pix {
					a.Pix[i] = uint8(rng.IntN(256))
				}
				copy(b.Pix, a.Pix)
				for range changes {
					b.Pix[rng.IntN(len(b.Pix))]++
				}
				wants := [2]flow.Field{motions[4].field(rng, w, h, 1), motions[4].field(rng, w, h, -1)}
				gots := [2]flow.Field{flow.NewField(w, h), flow.NewField(w, h)}
				pictures := [2]frame.Image[uint8]{a, b}
				for i, want := range wants {
					for j := range want.Pix {
						want.Pix[j].X |= 1
					}
					// If the picture does not change, both directions have the same field.
					if i == 1 && slices.Equal(a.Pix, b.Pix) {
						copy(want.Pix, e.fields[string(slices.Concat(a.Pix, b.Pix))].Pix)
					}
					e.learn(pictures[i], pictures[1-i], flow.Field{Image: frame.Image[flow.Vec]{Width: w, Height: h, Stride: want.Stride, Pix: slices.Clone(want.Pix)}})
				}
				must(t, flow.KeepStill(a, b, frame.Workers{}, wants[:]...))
				must(t, s.EstimateFlow(e, warp.Guide{Image: a}, warp.Guide{Image: b}, gots[0], gots[1]))
				for i, got := range gots {
					if !slices.Equal(got.Pix, wants[i].Pix) {
						t.Errorf("%dx%d, %d pixels differ: the fields of direction %d do too", w, h, changes, i)
					}
					for _, v := range got.Pix {
						if v == (flow.Vec{}) {
							cleared++
						}
					}
				}
			}
			if cleared == 0 || size[0] > 40 && cleared == 8*size[0]*size[1] {
				t.Errorf("%v: %d vectors cleared", size, cleared)
			}
		}
	})
}
