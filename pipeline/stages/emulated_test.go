//go:build unix

package stages_test

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/flow/opencv"
	"retime/frame"
	"retime/internal/runtest"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/testdata/scene"
	"retime/warp"
)

// emulated returns a synthesizer on devices that the CPU emulates, so small that their turns are short.
func emulated(t *testing.T, o *pipeline.Settled, drivers ...cuda.Driver) synth.Synthesizer {
	t.Helper()
	var list []synth.Device
	for _, driver := range drivers {
		small := cuda.NewDevice(driver)
		small.LimitMemory(1 << 30)
		d, err := synth.OpenDevice(o.WarpParams(), small, "")
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	return synth.NewDevices(o.SynthParams(), list...)
}

// collectingSink keeps the samples of all frames, which lie in memory, or anywhere where
// it is nil or has none.
type collectingSink struct {
	runtest.MemorySink
	memory  frame.Memory
	frames  [][]byte
	direct  atomic.Int32 // frames in memory
	records []pipeline.Record
}

// differences returns the numbers of the frames whose samples or records differ.
func (s *collectingSink) differences(other *collectingSink) (list []int) {
	for k := range min(len(s.frames), len(other.frames)) {
		if !bytes.Equal(s.frames[k], other.frames[k]) || !reflect.DeepEqual(s.records[k], other.records[k]) {
			list = append(list, k)
		}
	}
	for k := min(len(s.frames), len(other.frames)); k < max(len(s.frames), len(other.frames)); k++ {
		list = append(list, k)
	}
	return list
}

func (s *collectingSink) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	if s.memory == nil {
		return s.MemorySink.NewFrame(like)
	}
	var planes []frame.Plane
	free := func(*frame.Frame) {
		for _, p := range planes {
			s.memory.Free(unsafe.Pointer(unsafe.SliceData(p.Pix)))
		}
	}
	for i := range like.Format.Planes {
		w, h := like.Format.PlaneSize(i, like.Width, like.Height)
		stride := w*like.Format.Bytes() + 6
		p := s.memory.Alloc(stride * h)
		if p == nil {
			free(nil)
			return s.MemorySink.NewFrame(like)
		}
		planes = append(planes, frame.Plane{Width: w, Height: h, Stride: stride, Pix: unsafe.Slice((*byte)(p), stride*h)})
	}
	f := frame.Wrap(like.Format, like.Width, like.Height, planes, free)
	f.Memory = s.memory
	s.direct.Add(1)
	return f, nil
}

func (s *collectingSink) WriteFrame(f *frame.Frame, _, _ *big.Rat) error {
	s.frames = append(s.frames, samples(f))
	return nil
}

// throughSynthesizer converts a clip.
func throughSynthesizer(t *testing.T, clip string, o *pipeline.Settled, s synth.Synthesizer) (*collectingSink, error) {
	t.Helper()
	return rangeThrough(t, clip, o, s, stages.Whole())
}

// rangeThrough converts a range of a clip.
func rangeThrough(t *testing.T, clip string, o *pipeline.Settled, s synth.Synthesizer, want stages.Range) (*collectingSink, error) {
	t.Helper()
	source, err := media.Open(context.Background(), clip, media.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	plan, err := o.Plan(source.Video())
	if err != nil {
		t.Fatal(err)
	}
	sink := &collectingSink{memory: s.Memory()}
	recorded := *o
	recorded.Hooks.Record = func(r pipeline.Record) { sink.records = append(sink.records, r) }
	return sink, recorded.Line(plan, sink, s).Run(context.Background(), source, &plan.Passes[0], want)
}

// onProcessor converts a clip on the CPU.
func onProcessor(t *testing.T, clip string, o *pipeline.Settled) *collectingSink {
	t.Helper()
	cpu, err := synth.NewCPU(o.WarpParams())
	must(t, err)
	defer cpu.Close()
	made, err := throughSynthesizer(t, clip, o, cpu)
	must(t, err)
	return made
}

// closedDriver is a Late that keeps what Close says.
type closedDriver struct {
	*kernels.Late
	closed bool
	err    error
}

func (d *closedDriver) Close() error {
	d.closed, d.err = true, d.Late.Close()
	return d.err
}

// every fails in every nth call of that name, or of any where it is empty.
func every(n int32, name string) func(string) error {
	var calls atomic.Int32
	return func(call string) error {
		if (name == "" || call == name) && calls.Add(1)%n == 0 {
			return errBroken
		}
		return nil
	}
}

// Devices make frames between pictures with drawings that are held as the CPU does.
func TestHoldsOnDevices(t *testing.T) {
	clip := writePictures(t, 5, sprite(on(2)))
	s := settled(t, pipeline.Options{
		Input: pipeline.Input{File: "a", Tune: pipeline.Animation}, Output: pipeline.Output{File: "b"},
		Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio("2"), Multiple: true}}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Threads: 2},
	})
	want := onProcessor(t, clip, s)
	if made := want.records[2].Method; made != pipeline.Interpolated {
		t.Errorf("the second picture, in which the drawing is held, is %s", made)
	}
	d := emulated(t, s, kernels.NewLate(1))
	defer d.Close()
	got, err := throughSynthesizer(t, clip, s, d)
	must(t, err)
	if list := got.differences(want); len(list) > 0 || len(got.frames) < 9 {
		t.Errorf("frames %v of %d differ", list, len(got.frames))
	}
}

// The kernels make the frames that the CPU makes, in all ways, on one to three devices
// that do late what is queued, also where calls fail now and then.
func TestDevicesMakeTheFramesOfTheCPU(t *testing.T) {
	const width, height = 72, 50
	moving := writeScene(t, width, height, 12, 24, 1)
	cut, twos := writeCut(t, width, height, 8), onTwos(t, width, height, []int{2, 1, 2, 1, 2, 1, 2})
	mask := frame.NewImage[uint8](width, height)
	for i := range mask.Pix {
		mask.Pix[i] = uint8(i)
	}
	ball, matte := filepath.Join(t.TempDir(), "ball.y4m"), filepath.Join(t.TempDir(), "matte.y4m")
	must(t, scene.CreateBallY4M(ball, width, height, 5))
	must(t, scene.CreateBallMatte(matte, width, height, 5))
	counter := writePictures(t, 5, counting)
	triple := pipeline.Rate{Value: ratio("3"), Multiple: true}
	for name, c := range map[string]struct {
		clip string
		pipeline.Options
	}{
		"fast":      {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}}},
		"balanced":  {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{Preset: pipeline.Balanced}}},
		"best":      {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{Preset: pipeline.Best}}},
		"splat":     {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{Mode: warp.Splat}}},
		"blend":     {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}},
		"shutter":   {moving, pipeline.Options{Timing: pipeline.Timing{Shutter: big.NewRat(1, 2)}}},
		"mask":      {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{StaticMask: mask}}},
		"matte":     {ball, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{Matte: matte}}},
		"cut":       {cut, pipeline.Options{Timing: pipeline.Timing{Rate: triple}}},
		"repeats":   {twos, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{Duplicates: pipeline.RetimeDuplicates}}},
		"animation": {counter, pipeline.Options{Input: pipeline.Input{Tune: pipeline.Animation}, Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{BlendBelow: new(1.0)}}},
		"drawn": {moving, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{Decisions: []pipeline.Decision{{
			Frame: 4, Line: 1, Regions: []pipeline.Region{{Method: pipeline.DrawnMotion, Outline: [][2]float64{{10, 10}, {40, 12}, {25, 35}}, Arrows: [][4]float64{{20, 20, 30, 24}, {25, 30, 37, 33}}}},
		}}}}},
		"doubted": {twos, pipeline.Options{Timing: pipeline.Timing{Rate: triple}, Synthesis: pipeline.Synthesis{BlendBelow: new(1.0), NearestBelow: new(0.5)}}},
	} {
		t.Run(name, func(t *testing.T) {
			clip, o := c.clip, c.Options
			o.Input.File, o.Output.File, o.Compute.Threads = "a", "b", 2
			s := settled(t, o)
			want := onProcessor(t, clip, s)
			if len(want.frames) < 11 {
				t.Fatalf("%d frames", len(want.frames))
			}
			remade := int64(0)
			for _, c := range []struct {
				devices int
				fail    func(device int) func(call string) error
			}{
				{1, func(int) func(string) error { return every(97, "") }},
				{2, func(device int) func(string) error {
					return every(9, []string{"CopyToHost", "SynchronizeEvent"}[device])
				}},
				{3, nil},
			} {
				var drivers []cuda.Driver
				var lates []*closedDriver
				for i := range c.devices {
					l := &closedDriver{Late: kernels.NewLate(uint64(i))}
					lates, drivers = append(lates, l), append(drivers, l)
				}
				d := emulated(t, s, drivers...)
				if c.fail != nil {
					for i, l := range lates {
						l.Fail = c.fail(i)
					}
				}
				got, err := throughSynthesizer(t, clip, s, d)
				for _, l := range lates {
					l.Fail = nil
				}
				d.Close()
				if err != nil {
					t.Fatal(err)
				}
				for i, l := range lates {
					if !l.closed || l.err != nil {
						t.Errorf("device %d of %d: closed %v: %v", i, c.devices, l.closed, l.err)
					}
				}
				r := d.Summary()
				if c.fail == nil && r.Remade > 0 {
					t.Errorf("%d devices: %d frames were made again", c.devices, r.Remade)
				}
				remade += r.Remade
				if len(got.frames) != len(want.frames) || got.direct.Load() == 0 {
					t.Fatalf("%d frames, want %d; %d in page-locked memory", len(got.frames), len(want.frames), got.direct.Load())
				}
				if list := got.differences(want); len(list) > 0 {
					t.Errorf("%d devices: frames %v of %d differ; calls fail: %v", c.devices, list, len(want.frames), c.fail != nil)
				}
			}
			if remade == 0 {
				t.Error("no frame was made again")
			}
		})
	}
}

func TestDeviceWithoutMemory(t *testing.T) {
	o := settled(t, pipeline.Options{Input: pipeline.Input{File: "a"}, Output: pipeline.Output{File: "b"}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio("2"), Multiple: true}}, Compute: pipeline.Compute{Threads: 2}})
	clip := writeScene(t, 72, 50, 4, 24, 1)
	e := kernels.NewEmulator()
	e.Memory = 300 << 10
	d := emulated(t, o, e)
	_, err := throughSynthesizer(t, clip, o, d)
	d.Close()
	if fault.KindOf(err) != fault.TryAgain || !errors.Is(err, cuda.ErrOutOfMemory) || !strings.Contains(err.Error(), "of 300.0 KiB are free") {
		t.Errorf("error %v", err)
	}
}

// Where page-locked memory does not do for staging uploads, they go without. Less than a
// frame takes is an error that says so.
func TestDeviceWithoutHostMemory(t *testing.T) {
	o := fading()
	o.Timing.Rate = pipeline.Rate{Value: ratio("2"), Multiple: true}
	clip := writeScene(t, 72, 50, 4, 24, 1)
	for _, c := range []struct {
		memory int64
		direct bool // frames lie in page-locked memory
		fails  bool
	}{{1 << 20, true, false}, {5 << 10, false, true}, {0, false, true}} {
		e := kernels.NewEmulator()
		e.HostMemory = c.memory
		d := emulated(t, o, e)
		sink, err := throughSynthesizer(t, clip, o, d)
		d.Close()
		switch {
		case c.fails:
			if fault.KindOf(err) != fault.TryAgain || !errors.Is(err, cuda.ErrOutOfMemory) || !strings.Contains(err.Error(), "page-locked") {
				t.Errorf("%d bytes: error %v", c.memory, err)
			}
		case err != nil || len(sink.frames) != 8 || (sink.direct.Load() > 0) != c.direct:
			t.Errorf("%d bytes: %d frames, %d in page-locked memory: %v", c.memory, len(sink.frames), sink.direct.Load(), err)
		}
	}
}

// graphDriver counts the graphs that are launched, as estimates of flow are, and fails
// from some on.
type graphDriver struct {
	*kernels.Late
	launched atomic.Int32
	failFrom int32 // 0 for never
}

func (d *graphDriver) LaunchGraph(stream, graph any) error {
	if n := d.launched.Add(1); d.failFrom > 0 && n >= d.failFrom {
		return errBroken
	}
	return d.Late.LaunchGraph(stream, graph)
}

// Devices estimate the flow along which they make frames, unless it is kept or comes from
// elsewhere. If that fails, the processor does it, and the frames are the same.
func TestDevicesEstimateFlow(t *testing.T) {
	const frames = 9
	clip := writeScene(t, 72, 50, frames, 24, 1)
	cache := t.TempDir()
	for _, c := range []struct {
		name     string
		flow     pipeline.FlowMethod
		cache    string
		failFrom int32
		policy   pipeline.FaultPolicy
		launched int32
		fails    bool
	}{
		// Both devices estimate the flow on either side of where the other takes over.
		{"estimated", pipeline.DIS, "", 0, pipeline.RemakeOnCPU, frames - 1 + 2, false},
		{"estimated and kept", pipeline.DIS, cache, 0, pipeline.RemakeOnCPU, frames - 1 + 2, false},
		{"kept", pipeline.DIS, cache, 0, pipeline.RemakeOnCPU, 0, false},
		{"by OpenCV", pipeline.OpenCVDIS, "", 0, pipeline.RemakeOnCPU, 0, false},
		{"faults", pipeline.DIS, "", 3, pipeline.RemakeOnCPU, -1, false},
		{"faults end the job", pipeline.DIS, "", 3, pipeline.StopAtFault, -1, true},
	} {
		if c.flow == pipeline.OpenCVDIS && opencv.Version() == "" {
			continue
		}
		o := settled(t, pipeline.Options{
			Input: pipeline.Input{File: "a"}, Output: pipeline.Output{File: "b"}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio("2"), Multiple: true}},
			Synthesis: pipeline.Synthesis{Flow: c.flow, FlowCache: c.cache, Preset: pipeline.Fast}, Compute: pipeline.Compute{Threads: 4, FaultPolicy: c.policy},
		})
		told := func(list map[int64]warp.FlowPair) func(pipeline.Vectors) error {
			var mu sync.Mutex
			return func(v pipeline.Vectors) error {
				mu.Lock()
				defer mu.Unlock()
				list[v.Number] = v.FlowPair
				return nil
			}
		}
		there, here := map[int64]warp.FlowPair{}, map[int64]warp.FlowPair{}
		o.Hooks.Vectors = told(there)
		drivers := []*graphDriver{{Late: kernels.NewLate(1), failFrom: c.failFrom}, {Late: kernels.NewLate(2), failFrom: c.failFrom}}
		d := emulated(t, o, drivers[0], drivers[1])
		got, err := throughSynthesizer(t, clip, o, d)
		d.Close()
		if c.fails != errors.Is(err, errBroken) || !c.fails && err != nil {
			t.Errorf("%s: error %v", c.name, err)
		}
		if n := drivers[0].launched.Load() + drivers[1].launched.Load(); c.launched >= 0 && n != c.launched {
			t.Errorf("%s: %d flows on devices, want %d", c.name, n, c.launched)
		}
		if c.fails {
			continue
		}
		o.Synthesis.FlowCache, o.Hooks.Vectors = "", told(here)
		o = settled(t, o.Options)
		list := got.differences(onProcessor(t, clip, o))
		if len(there) != frames-1 || !reflect.DeepEqual(there, here) {
			t.Errorf("%s: %d flows of devices are told, which are not the processor's", c.name, len(there))
		}
		if len(got.frames) != 2*frames || len(list) > 0 {
			t.Errorf("%s: %d frames, of which %v differ from the processor's", c.name, len(got.frames), list)
		}
	}
}
