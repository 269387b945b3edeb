package stages_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"retime/cuda"
	"retime/flow/dis"
	"retime/frame"
	"retime/internal/runtest"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
	"retime/warp"
	"retime/warp/bspline"
)

// fakeDevice makes frames on the CPU when they are finished, with the intervals
// that were current when they were started, and fails where it is told to.
type fakeDevice struct {
	t      *testing.T
	fail   func(call string) error
	in     warp.Interval
	begun  int
	closed bool
	most   int // frames that may be unfinished

	loaded            sync.Map // first frames of intervals
	strays            int      // intervals that were begun and not loaded
	started, finished atomic.Int32
}

var errBroken = errors.New("an illegal memory access was encountered")

func (d *fakeDevice) Has(warp.FlowPair) bool { return false }

func (d *fakeDevice) Flow(dis.Options) (synth.FlowDevice, error) { return nil, errors.ErrUnsupported }

func (d *fakeDevice) Load(in warp.Interval) error {
	d.loaded.Store(in.A, true)
	return d.fail("load")
}

func (d *fakeDevice) Begin(in warp.Interval) error {
	d.in = in
	d.begun++
	if _, ok := d.loaded.Load(in.A); !ok {
		d.strays++
	}
	return d.fail("begin")
}

func (d *fakeDevice) Start(dst *frame.Frame, phase warp.Phase) (func() (warp.Made, error), error) {
	if err := d.fail("start"); err != nil {
		return nil, err
	}
	in := d.in
	if open := d.started.Add(1) - d.finished.Load(); int(open) > d.most {
		d.t.Errorf("%d frames are unfinished", open)
	}
	return func() (warp.Made, error) {
		d.finished.Add(1)
		if err := d.fail("finish"); err != nil {
			clear(dst.Planes[0].Pix)
			return warp.Made{}, err
		}
		cpu, err := warp.NewSynthesizer(warp.Params{Mode: warp.Blend, Order: bspline.Cubic, Workers: frame.Workers{N: 1}})
		if err != nil {
			return warp.Made{}, err
		}
		defer cpu.Close()
		p, err := cpu.Prepare(in)
		if err != nil {
			return warp.Made{}, err
		}
		defer p.Close()
		return p.Make(dst, phase)
	}, nil
}

func (d *fakeDevice) HostMemory() frame.Memory { return nil }
func (d *fakeDevice) FreeMemory() int64        { return 1 << 30 }
func (d *fakeDevice) Name() string             { return "fake" }

func (d *fakeDevice) Close() {
	if s, f := d.started.Load(), d.finished.Load(); s != f {
		d.t.Errorf("%d frames were started and %d finished", s, f)
	}
	d.closed = true
}

func fading() *pipeline.Settled {
	o := pipeline.Options{Input: pipeline.Input{File: "a"}, Output: pipeline.Output{File: "b"}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Compute: pipeline.Compute{Threads: 1}}
	s, err := o.Settle()
	if err != nil {
		panic(err)
	}
	return s
}

// onFakes returns a synthesizer on fake devices.
func onFakes(o *pipeline.Settled, fakes ...*fakeDevice) synth.Synthesizer {
	list := make([]synth.Device, len(fakes))
	for i, f := range fakes {
		list[i] = f
	}
	s := synth.NewDevices(o.SynthParams(), list...)
	_, ahead := s.Ahead(1)
	for _, f := range fakes {
		f.most = ahead + 2
	}
	return s
}

// nth fails in the calls with these numbers, from 1, among those of one kind.
func nth(kind string, err error, numbers ...int) func(string) error {
	var n atomic.Int32
	return func(call string) error {
		if call == kind && slices.Contains(numbers, int(n.Add(1))) {
			return err
		}
		return nil
	}
}

// throughTimes makes frames at timestamps of a source.
func throughTimes(source pipeline.Source, v media.Video, o *pipeline.Settled, sink pipeline.Sink, s synth.Synthesizer, at []int64) error {
	plan := timeline.NewPlanAt(v, at)
	return o.Line(plan, sink, s).Run(context.Background(), source, &plan.Passes[0], stages.Whole())
}

func never(string) error { return nil }

// fade converts a fade of 20 frames, four times as many, and returns the first
// sample of each.
func fade(t *testing.T, s synth.Synthesizer, sink pipeline.Sink) error {
	t.Helper()
	times := make([]int64, 20)
	for i := range times {
		times[i] = int64(12 * i)
	}
	source := &runtest.RampSource{Times: times}
	at := make([]int64, 77)
	for i := range at {
		at[i] = int64(3 * i)
	}
	return throughTimes(source, source.Video(), fading(), sink, s, at)
}

func TestFramesAreRemadeAfterFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		fail   func(string) error
		remade int64
		warned int
		lost   bool
	}{
		{"no fault", never, 0, 0, false},
		{"a finish", nth("finish", errBroken, 5), 1, 1, false},
		{"a start", nth("start", errBroken, 4), 3, 1, false}, // the rest of its interval, too
		{"a begin", nth("begin", errBroken, 2), 3, 1, false}, // its interval
		{"two finishes apart", nth("finish", errBroken, 5, 30), 2, 2, false},
		{"every finish", func(call string) error {
			if call == "finish" {
				return errBroken
			}
			return nil
		}, 57, 2, true},
		{"every call", func(string) error { return errBroken }, 57, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			o := fading()
			o.Hooks.Log = slog.New(slog.NewTextHandler(&log, nil))
			device := &fakeDevice{t: t, fail: c.fail}
			s, sink := onFakes(o, device), &runtest.ValueSink{}
			if err := fade(t, s, sink); err != nil {
				t.Fatal(err)
			}
			s.Close()
			for k, v := range sink.Values {
				if v != 3*k {
					t.Fatalf("frame %d is %d, want %d", k, v, 3*k)
				}
			}
			if len(sink.Values) != 77 {
				t.Errorf("%d frames, want 77", len(sink.Values))
			}
			if n := s.Summary().Remade; n != c.remade {
				t.Errorf("%d frames were made again, want %d", n, c.remade)
			}
			if n := strings.Count(log.String(), "level=WARN"); n != c.warned {
				t.Errorf("%d warnings, want %d:\n%s", n, c.warned, log.String())
			}
			if lost := strings.Contains(log.String(), "left alone"); lost != c.lost || !device.closed {
				t.Errorf("lost %v, closed %v", lost, device.closed)
			}
		})
	}
}

func TestFaultsThatEndTheJob(t *testing.T) {
	short := fault.New(fault.TryAgain, "2.0 GiB of device memory wanted: %w", cuda.ErrOutOfMemory)
	for _, c := range []struct {
		policy pipeline.FaultPolicy
		err    error
		kind   fault.Kind
		says   string
	}{
		{pipeline.StopAtFault, errBroken, fault.Internal, "illegal memory access"},
		{pipeline.StopAtFault, short, fault.TryAgain, "2.0 GiB"},
		{pipeline.RemakeOnCPU, short, fault.TryAgain, "2.0 GiB"},
	} {
		for _, call := range []string{"begin", "start", "finish"} {
			t.Run(fmt.Sprintf("%s/%v/%s", c.policy, c.kind, call), func(t *testing.T) {
				o := fading()
				o.Compute.FaultPolicy = c.policy
				s := onFakes(o, &fakeDevice{t: t, fail: nth(call, c.err, 7)})
				err := fade(t, s, &runtest.ValueSink{})
				s.Close()
				if err == nil || fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
					t.Errorf("error %v, want kind %d that says %q", err, c.kind, c.says)
				}
			})
		}
	}
}

// changingSource is a countingSource whose frames differ, two ticks apart.
type changingSource struct{ countingSource }

func (s *changingSource) Read() (*frame.Frame, error) {
	f, err := s.countingSource.Read()
	if err == nil {
		f.Planes[0].Pix[0] = uint8(f.PTS)
		f.PTS, f.Duration = 2*f.PTS, 2
	}
	return f, err
}

// Frames that were started are finished and released when the sink fails.
func TestStartedFramesAreReleased(t *testing.T) {
	for _, left := range []int{0, 1, 9} {
		source := &changingSource{countingSource{frames: 20}}
		o := fading()
		device := &fakeDevice{t: t, fail: nth("finish", errBroken, 1, 4)}
		s := onFakes(o, device)
		at := make([]int64, 38)
		for i := range at {
			at[i] = int64(i)
		}
		video := media.Video{TimeBase: ratio("1/24"), Start: ratio("0")}
		err := throughTimes(source, video, o, &failingSink{&runtest.MemorySink{}, left}, s, at)
		s.Close()
		if err == nil {
			t.Errorf("sink that takes %d: no error", left)
		}
		if held := source.held.Load(); held != 0 {
			t.Errorf("sink that takes %d: %d frames are still held", left, held)
		}
		if left > 0 && device.started.Load() == 0 { // what the sink refuses is a made frame
			t.Errorf("sink that takes %d: no frame was started", left)
		}
	}
}

func TestIntervalsAreSharedAmongDevices(t *testing.T) {
	for _, broken := range []bool{false, true} {
		var fakes []*fakeDevice
		for i := range 3 {
			f := &fakeDevice{t: t, fail: never}
			if broken && i == 1 {
				f.fail = func(string) error { return errBroken }
			}
			fakes = append(fakes, f)
		}
		all := onFakes(fading(), fakes...)
		sink := &runtest.ValueSink{}
		if err := fade(t, all, sink); err != nil {
			t.Fatal(err)
		}
		all.Close()
		for k, v := range sink.Values {
			if v != 3*k {
				t.Fatalf("frame %d is %d, want %d", k, v, 3*k)
			}
		}
		report := all.Summary()
		begun := []int{fakes[0].begun, fakes[1].begun, fakes[2].begun}
		if strays := fakes[0].strays + fakes[1].strays + fakes[2].strays; !broken && strays > 0 {
			t.Errorf("%d intervals were begun on another device than they were loaded on", strays)
		}
		// The third of its intervals shows that a device is lost. What it was given by then,
		// at most two turns, is made on the CPU.
		const faults = 3 // in a row
		sum := begun[0] + begun[1] + begun[2]
		if !broken && (!slices.Equal(begun, []int{4, 8, 7}) || report.Remade != 0) ||
			broken && (begun[1] != faults || report.Remade < 3*faults || report.Remade > 3*8 || 3*sum+int(report.Remade) != 57+3*faults) {
			t.Errorf("broken %v: intervals of the devices %v; report %+v", broken, begun, report)
		}
		if len(report.Devices) != 3 || report.Backend != pipeline.CUDA {
			t.Errorf("report %+v", report)
		}
	}
}

// What one device is told to do does not hold up another: here the first frame of each
// waits for the other's.
func TestDevicesStartAtTheSameTime(t *testing.T) {
	var met sync.WaitGroup
	met.Add(2)
	var fakes []*fakeDevice
	for range 2 {
		first := true
		fakes = append(fakes, &fakeDevice{t: t, fail: func(call string) error {
			if call == "start" && first {
				first = false
				met.Done()
				met.Wait()
			}
			return nil
		}})
	}
	all := onFakes(fading(), fakes...)
	sink := &runtest.ValueSink{}
	if err := fade(t, all, sink); err != nil || len(sink.Values) != 77 {
		t.Errorf("%d frames, error %v", len(sink.Values), err)
	}
	all.Close()
}
