package synth

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"retime/cuda"
	"retime/flow/dis"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/warp"
	"retime/warp/bspline"
)

func params() Params {
	return Params{
		Warp:    warp.Params{Mode: warp.Blend, Order: bspline.Cubic, Workers: frame.Workers{N: 1}},
		Backend: Auto, Policy: RemakeOnCPU, Log: slog.New(slog.DiscardHandler),
	}
}

var errBroken = errors.New("an illegal memory access was encountered")

func never(string) error { return nil }

// failingDevice makes nothing, and fails where it is told to.
type failingDevice struct{ fail func(call string) error }

func (d *failingDevice) Load(warp.Interval) error  { return d.fail("load") }
func (d *failingDevice) Begin(warp.Interval) error { return d.fail("begin") }

func (d *failingDevice) Start(*frame.Frame, warp.Phase) (func() (warp.Made, error), error) {
	if err := d.fail("start"); err != nil {
		return nil, err
	}
	return func() (warp.Made, error) { return warp.Made{}, d.fail("finish") }, nil
}

func (d *failingDevice) Flow(dis.Options) (FlowDevice, error) {
	return failingFlow{d.fail}, d.fail("open")
}

// failingFlow estimates nothing.
type failingFlow struct{ fail func(call string) error }

func (f failingFlow) Estimate(_, _ warp.Guide) (ResidentFlow, error) {
	return failingResident{fail: f.fail}, f.fail("flow")
}

func (f failingFlow) Close() error { return f.fail("close") }

// failingResident holds nothing.
type failingResident struct {
	ResidentFlow
	fail func(call string) error
}

func (f failingResident) Download(warp.FlowPair) error { return f.fail("download") }

func (d *failingDevice) Has(warp.FlowPair) bool { return false }

func (d *failingDevice) HostMemory() frame.Memory { return nil }
func (d *failingDevice) FreeMemory() int64        { return 1 << 30 }
func (d *failingDevice) Name() string             { return "failing" }
func (d *failingDevice) Close()                   {}

// A frame that was started before a device was left alone, and is finished behind that,
// does not bring the device back.
func TestLostDevicesStayLost(t *testing.T) {
	starts := 0
	r := newFallback(&failingDevice{fail: func(call string) error {
		if call == "start" {
			if starts++; starts > 1 {
				return errBroken
			}
		}
		return nil
	}}, params())
	defer r.Close()
	grey := func() *frame.Frame { return frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, 4, 4) }
	in := InHost{A: grey(), B: grey()}
	begin := func() (finish func() (warp.Made, error)) {
		if err := r.Begin(in); err != nil {
			t.Fatal(err)
		}
		finish, err := r.Start(grey(), 1)
		if err != nil {
			t.Fatal(err)
		}
		return finish
	}
	early := begin()
	for range maxFaults {
		if _, err := begin()(); err != nil {
			t.Fatal(err)
		}
	}
	if !r.lost() {
		t.Fatalf("%d faults, and the device is used", maxFaults)
	}
	if _, err := early(); err != nil {
		t.Fatal(err)
	}
	if !r.lost() {
		t.Error("the device is back")
	}
}

// Devices change after so many intervals, or frames. Many frames of one interval are
// shared, few are not, and none goes to a device that is lost.
func TestShares(t *testing.T) {
	all := NewDevices(params(), &failingDevice{fail: never}, &failingDevice{fail: never}).(*devices)
	defer all.Close()
	type share struct{ device, frames int }
	for _, c := range []struct {
		frames int
		lost   bool // the first device, from now on
		want   []share
	}{
		{0, false, nil},
		{4, false, []share{{1, 4}}},
		{10, false, []share{{1, 10}}},
		{0, false, nil},
		{9, false, []share{{1, 9}}},
		{1, false, []share{{0, 1}}},
		{1, false, []share{{0, 1}}},
		{1, false, []share{{0, 1}}},
		{1, false, []share{{0, 1}}},
		{1, false, []share{{1, 1}}},
		{40, false, []share{{1, 16}, {0, 16}, {1, 8}}},
		{1, false, []share{{1, 1}}},
		{40, true, []share{{1, 40}}},
		{1, false, []share{{1, 1}}},
	} {
		if c.lost {
			all.workers[0].device.dropped.Store(true)
		}
		var got []share
		for _, u := range all.assign(c.frames, short) {
			got = append(got, share{u.worker, u.frames})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d frames: %v, want %v", c.frames, got, c.want)
		}
	}
}

// A device that answers but cannot be used leaves a job to the CPU, and says so, unless
// the device was asked for.
func TestWithoutDevices(t *testing.T) {
	short := fmt.Errorf("CUDA device 0: %w", cuda.ErrOutOfMemory)
	for _, c := range []struct {
		backend Backend
		err     error
		kind    fault.Kind // where the job ends
		warned  int
	}{
		{Auto, short, 0, 1},
		{Auto, errBroken, 0, 1},
		{Auto, fmt.Errorf("mode: %w", errors.ErrUnsupported), 0, 0},
		{Auto, fault.New(fault.Usage, "Compute.Devices 7"), fault.Usage, 0},
		{CUDA, short, fault.TryAgain, 0},
		{CUDA, errBroken, fault.Internal, 0},
		{CUDA, fault.New(fault.Usage, "Compute.Devices 7"), fault.Usage, 0},
	} {
		var log bytes.Buffer
		p := params()
		p.Backend, p.Log = c.backend, slog.New(slog.NewTextHandler(&log, nil))
		s, err := withoutDevices(p, c.err)
		if (err == nil) != (c.kind == 0) || err != nil && fault.KindOf(err) != c.kind || (s == nil) != (err != nil) {
			t.Errorf("%s, %v: %v, error %v", c.backend, c.err, s, err)
		}
		if n := strings.Count(log.String(), "level=WARN"); n != c.warned {
			t.Errorf("%s, %v: %d warnings, want %d", c.backend, c.err, n, c.warned)
		}
		if s != nil {
			s.Close()
		}
	}
}

// A device that fails to estimate leaves the flow to the processor, and is left alone
// after a while, unless faults end the job or memory is short.
func TestFlowFallsBack(t *testing.T) {
	estimate := func(p Params, d Device, times int) (done int, err error) {
		s := NewDevices(p, d)
		defer s.Close()
		e := s.Flow()[0].New()
		defer e.Close()
		for range times {
			f, ok, err := e.Estimate(warp.Guide{}, warp.Guide{})
			if err == nil && ok {
				ok, err = f.Download(warp.FlowPair{})
			}
			if err != nil {
				return done, err
			}
			if ok {
				done++
			}
		}
		return done, nil
	}
	failing := func(at string, err error, calls *int) Device {
		return &failingDevice{fail: func(call string) error {
			if call == at {
				*calls++
				return err
			}
			return nil
		}}
	}
	for _, c := range []struct {
		at    string
		err   error
		calls int // that fail
		done  int
	}{{"flow", errBroken, maxFaults, 0}, {"download", errBroken, maxFaults, 0}, {"open", errBroken, maxFaults, 0}, {"open", errors.ErrUnsupported, 1, 0}, {"close", errBroken, 1, 9}} {
		calls := 0
		if done, err := estimate(params(), failing(c.at, c.err, &calls), 9); err != nil || done != c.done || calls != c.calls {
			t.Errorf("%s fails (%v): %d calls, %d estimates: %v", c.at, c.err, calls, done, err)
		}
		if c.at == "close" || !errors.Is(c.err, errBroken) {
			continue
		}
		p := params()
		p.Policy = StopAtFault
		if _, err := estimate(p, failing(c.at, c.err, &calls), 1); !errors.Is(err, errBroken) {
			t.Errorf("%s fails, and faults end the job: %v", c.at, err)
		}
		short := fmt.Errorf("CUDA device 0: %w", cuda.ErrOutOfMemory)
		_, err := estimate(params(), failing(c.at, short, &calls), 1)
		if elsewhere := c.at != "download"; elsewhere != (err == nil) || !elsewhere && fault.KindOf(err) != fault.TryAgain {
			t.Errorf("%s finds no memory: %v", c.at, err)
		}
	}
	cpu, err := NewCPU(params().Warp)
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	if len(cpu.Flow()) > 0 {
		t.Error("the processor is a device")
	}
}
