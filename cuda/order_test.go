//go:build unix

package cuda_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/flow"
	"retime/frame"
	"retime/warp"
)

// underWay holds started frames and the frames that they must equal.
type underWay struct {
	cpu  maker
	gpu  *cuda.Synthesizer
	list []startedFrame
}

type startedFrame struct {
	interval  int
	want, got *frame.Frame
	made      warp.Made
	finish    func() (warp.Made, error)
}

// start begins interval i, given on the device and in on the CPU, and starts the interval's frames
// at phases.
func (u *underWay) start(t *testing.T, i int, in, given warp.Interval, phases []warp.Phase) {
	t.Helper()
	must(t, u.cpu.Begin(in))
	must(t, u.gpu.Begin(given))
	for _, phase := range phases {
		f := startedFrame{interval: i, want: frame.New(in.A.Format, in.A.Width, in.A.Height), got: frame.New(in.A.Format, in.A.Width, in.A.Height)}
		var err error
		f.made, err = u.cpu.Make(f.want, phase)
		must(t, err)
		f.finish, err = u.gpu.Start(f.got, phase)
		must(t, err)
		u.list = append(u.list, f)
	}
}

// finish finishes frames until left are still in progress.
func (u *underWay) finish(t *testing.T, left int) {
	t.Helper()
	for len(u.list) > left {
		f := u.list[0]
		u.list = u.list[1:]
		made, err := f.finish()
		must(t, err)
		if made != f.made || !frame.Equal(f.got, f.want) {
			t.Errorf("interval %d: a frame differs; made %+v, want %+v", f.interval, made, f.made)
		}
	}
}

// newUnderWay returns synthesizers of both backends with no frames in progress.
func newUnderWay(t *testing.T, d *cuda.Device, p warp.Params) *underWay {
	t.Helper()
	cpu, gpu := backends(t, d, p)
	return &underWay{cpu: cpu, gpu: gpu.(*cuda.Synthesizer)}
}

var everything = warp.Params{Mode: warp.Project, Order: 3, Acceleration: true, Overlays: true}

// Frames of many intervals are in progress at once while intervals are loaded, some of which never
// begin, and flows are estimated. Exact.
func TestSynthesizerManyUnderWay(t *testing.T) {
	const seed, n, open = 77, 14, 10
	t.Logf("seed %d", seed)
	inAnyOrder(t, func(t *testing.T, d *cuda.Device) {
		for _, c := range []struct {
			name  string
			ahead int  // number of intervals ahead to estimate flows for, or 0
			loads bool // whether to load the next interval while frames are made
			vain  bool // whether to load intervals of another clip
		}{
			{"alone", 0, false, false},
			{"loads", 0, true, false},
			{"loads in vain", 0, true, true},
			{"estimates", 4, false, false},
			{"estimates and loads", 3, true, false},
			{"estimates and loads in vain", 2, false, true},
		} {
			subtest(t, d, c.name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, uint64(c.ahead)))
				list, released := clip(rng, formats[1], 37, 29, 1, n)
				others, othersReleased := clip(rng, formats[1], 37, 29, 1, n)
				u := newUnderWay(t, d, everything)
				given := list
				if c.ahead > 0 {
					given = unestimated(list)
				}
				estimators := estimatorPair(t, d, list)
				defer estimators.close()
				next := 0
				estimate := func(end int) {
					if end = min(end, n); next < end {
						must(t, estimators.estimate(u.gpu, pointers(given[next:end])...))
						next = end
					}
				}
				if c.ahead > 0 {
					estimate(c.ahead)
				}
				loaded := make(chan error, 1)
				loaded <- nil
				for i := range given {
					if c.vain {
						must(t, u.gpu.Load(others[i]))
						must(t, u.gpu.Load(given[i]))
					}
					must(t, <-loaded)
					if c.loads && i+1 < n {
						go func() { loaded <- u.gpu.Load(given[i+1]) }()
					} else {
						loaded <- nil
					}
					u.start(t, i, list[i], given[i], phases[i%2:][:2])
					if c.ahead > 0 && i%2 == 0 { // replaces flows that no interval needs any more, or ever did
						estimate(i + 2 + c.ahead)
					}
					u.finish(t, open)
				}
				must(t, <-loaded)
				u.finish(t, 0)
				u.gpu.Close()
				u.cpu.Close()
				release(t, list, released)
				release(t, others, othersReleased)
			})
		}
	})
}

// If the size grows while frames are in progress and loads are queued, some of them in vain, the
// synthesizer frees no memory that is still read or written, whoever gets it next. Exact.
func TestSynthesizerGrows(t *testing.T) {
	const seed = 53
	t.Logf("seed %d", seed)
	sizes := [][2]int{{21, 17}, {33, 29}, {61, 43}}
	inAnyOrder(t, func(t *testing.T, d *cuda.Device) {
		for _, vain := range []bool{false, true} {
			rng := rand.New(rand.NewPCG(seed, 0))
			u := newUnderWay(t, d, everything)
			other, err := d.NewStream()
			must(t, err)
			var taken []*cuda.Buffer[byte]
			for _, size := range sizes {
				list, released := clip(rng, formats[1], size[0], size[1], 0, 5)
				for i, in := range list {
					must(t, u.gpu.Load(in))
					// Other buffers take all free memory and write to it.
					for _, bytes := range []int{1, 300, 600, 1000, 2000, 4000} {
						b := new(cuda.Buffer[byte])
						must(t, b.Resize(d, bytes))
						must(t, b.Fill(other, 0xee))
						taken = append(taken, b)
					}
					must(t, other.Synchronize())
					if vain && i%2 > 0 {
						continue
					}
					u.start(t, i, in, in, phases[:1])
				}
				for _, b := range taken {
					got := make([]byte, b.N)
					must(t, b.Download(other, got))
					must(t, other.Synchronize())
					if slices.ContainsFunc(got, func(v byte) bool { return v != 0xee }) {
						t.Errorf("%v: what others hold is written to", size)
					}
				}
				defer release(t, list, released)
			}
			u.finish(t, 0)
			for _, b := range taken {
				b.Free()
			}
			must(t, other.Close())
			u.gpu.Close()
			u.cpu.Close()
		}
	})
}

// A load in vain does not overwrite a flow that is later estimated in its place. Exact.
func TestEstimateFlowInPlaceOfLoad(t *testing.T) {
	const seed = 61
	t.Logf("seed %d", seed)
	inAnyOrder(t, func(t *testing.T, d *cuda.Device) {
		rng := rand.New(rand.NewPCG(seed, 0))
		list, released := clip(rng, formats[0], 42, 34, 1, 5)
		others, othersReleased := clip(rng, formats[0], 42, 34, 1, 7)
		u := newUnderWay(t, d, everything)
		estimators := estimatorPair(t, d, list)
		// New allocations wait for uploads. The memory of these loads stays, so that the test needs
		// no new memory below.
		for _, in := range others[1:] {
			must(t, u.gpu.Load(in))
		}
		must(t, u.gpu.Load(list[0]))
		u.start(t, 0, list[0], list[0], phases[:1])
		must(t, u.gpu.Load(list[1])) // uploads the pictures before the load in vain
		must(t, u.gpu.Load(others[0]))
		must(t, u.gpu.Load(list[2]))
		u.start(t, 2, list[2], list[2], phases[:1]) // from here on no interval needs the load in vain
		given := slices.Repeat(list[1:2], 5)
		for i := range given { // enough to take all free images
			given[i].Flows = unestimated(list)[1].Flows
		}
		must(t, estimators.estimate(u.gpu, pointers(given)...))
		for _, in := range given {
			u.start(t, 1, list[1], in, phases[:1])
		}
		u.finish(t, 0)
		estimators.close()
		u.gpu.Close()
		u.cpu.Close()
		release(t, list, released)
		release(t, others, othersReleased)
	})
}

// slowCopy is a driver that holds back copies to one address until the test releases them.
type slowCopy struct {
	cuda.Driver
	to           unsafe.Pointer
	reached, let chan struct{}
}

func (c *slowCopy) CopyToHost(stream any, dst unsafe.Pointer, dstStride int, src uintptr, srcStride, width, height int) error {
	if dst == c.to {
		close(c.reached)
		<-c.let
	}
	return c.Driver.CopyToHost(stream, dst, dstStride, src, srcStride, width, height)
}

// copier is an estimator that copies the pictures when its queued work runs.
type copier struct {
	stream *cuda.Stream
	a, b   cuda.Image[byte]
	field  cuda.Image[flow.Vec]
}

func (c *copier) Stream() *cuda.Stream { return c.stream }

func (c *copier) Close() error { return nil }

func (c *copier) Estimate(a, b cuda.Image[byte], forward, backward cuda.Image[flow.Vec], _ bool) error {
	return errors.Join(c.a.CopyFrom(c.stream, a), c.b.CopyFrom(c.stream, b), forward.CopyFrom(c.stream, c.field), backward.CopyFrom(c.stream, c.field))
}

// An estimate that takes as long as many intervals keeps the images that it reads and writes.
func TestEstimateFlowUnderWay(t *testing.T) {
	const seed, n = 59, 40
	t.Logf("seed %d", seed)
	for late := range uint64(3) {
		slow := &slowCopy{Driver: kernels.NewLate(late), reached: make(chan struct{}), let: make(chan struct{})}
		run(t, cuda.NewDevice(slow), func(t *testing.T, d *cuda.Device) {
			rng := rand.New(rand.NewPCG(seed, 0))
			list, released := clip(rng, formats[0], 9, 7, 0, n)
			u := newUnderWay(t, d, warp.Params{Mode: warp.Splat, Order: 1})
			stream, err := d.NewStream()
			must(t, err)
			k := &copier{stream: stream}
			pictures := [2]frame.Image[uint8]{frame.NewImage[uint8](9, 7), frame.NewImage[uint8](9, 7)}
			for i := range pictures[0].Pix {
				pictures[0].Pix[i], pictures[1].Pix[i] = uint8(rng.IntN(128)), uint8(128+rng.IntN(128))
			}
			want, got, back := motions[4].field(rng, 9, 7, 1), flow.NewField(9, 7), flow.NewField(9, 7)
			must(t, k.field.Resize(d, 9, 7))
			must(t, k.field.Upload(stream, want.Image))
			must(t, k.a.Resize(d, 9, 7))
			must(t, k.b.Resize(d, 9, 7))
			slow.to = unsafe.Pointer(unsafe.SliceData(got.Pix))
			done := make(chan error)
			go func() {
				done <- u.gpu.EstimateFlow(k, warp.Guide{Image: pictures[0]}, warp.Guide{Image: pictures[1]}, got, back)
			}()
			<-slow.reached
			for i, in := range list {
				if i < n/2 {
					must(t, u.gpu.Load(in))
				} else if i == n/2 { // more than ever before
					for _, in := range list[i:] {
						must(t, u.gpu.Load(in))
					}
				}
				u.start(t, i, in, in, phases[:1])
				u.finish(t, 3)
			}
			u.finish(t, 0)
			close(slow.let)
			must(t, <-done)
			for i, m := range []cuda.Image[byte]{k.a, k.b} {
				picture := frame.NewImage[byte](9, 7)
				must(t, m.Download(stream, picture))
				if !slices.Equal(picture.Pix, pictures[i].Pix) {
					t.Errorf("picture %d has changed", i)
				}
			}
			if !slices.Equal(got.Pix, want.Pix) || !slices.Equal(back.Pix, want.Pix) {
				t.Error("a field differs")
			}
			k.a.Free()
			k.b.Free()
			k.field.Free()
			must(t, stream.Close())
			u.gpu.Close()
			u.cpu.Close()
			release(t, list, released)
		})
	}
}
