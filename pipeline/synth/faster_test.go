//go:build unix

package synth

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/flow"
	"retime/flow/dis"
	"retime/frame"
	"retime/warp"
)

// idleDevice makes nothing in no time, and counts how often.
type idleDevice struct {
	failingDevice
	made int
}

func (d *idleDevice) Start(*frame.Frame, warp.Phase) (func() (warp.Made, error), error) {
	d.made++
	return func() (warp.Made, error) { return warp.Made{}, nil }, nil
}

func (d *idleDevice) Flow(dis.Options) (FlowDevice, error) { return idleFlow{}, nil }

type idleFlow struct{}

func (idleFlow) Estimate(_, _ warp.Guide) (ResidentFlow, error) { return idleResident{}, nil }
func (idleFlow) Close() error                                   { return nil }

type idleResident struct{}

func (idleResident) Pair() warp.FlowPair          { return warp.FlowPair{} }
func (idleResident) Comparison() flow.Comparison  { return flow.Comparison{} }
func (idleResident) Download(warp.FlowPair) error { return nil }
func (idleResident) Release()                     {}

// compared returns parameters that ask for a comparison, what they log, and the device's description.
func compared(t *testing.T) (p Params, log *bytes.Buffer, device cuda.Info) {
	log = new(bytes.Buffer)
	p = params()
	p.Warp.Mode, p.Flow, p.SpeedFile = warp.Project, dis.Default(), filepath.Join(t.TempDir(), "cache", "speed.json")
	p.Log = slog.New(slog.NewTextHandler(log, nil))
	return p, log, cuda.Info{Name: "a small one"}
}

// A device that is slower than the CPU is left alone and named, at once and, with the file, from then on,
// unless it gets another share of the CPU. Here the CPU emulates the device.
func TestSlowerDeviceIsLeftAlone(t *testing.T) {
	p, log, info := compared(t)
	device, err := OpenDevice(p.Warp, cuda.NewDevice(kernels.NewEmulator()), "")
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	if compare(&p, info).leaves() {
		t.Error("left alone before it is known")
	}
	c := compare(&p, info)
	c.width, c.height = 192, 108 // the emulation takes long
	if !c.measures(&p, device) {
		t.Error("an emulated device counts as the faster one")
	}
	if !compare(&p, info).leaves() {
		t.Error("not remembered")
	}
	if n := strings.Count(log.String(), "on a small one"); n != 2 {
		t.Errorf("named %d times:\n%s", n, log)
	}
	more := p
	more.Warp.Workers.N++
	if compare(&more, info).leaves() {
		t.Error("another number of threads has not been compared")
	}
	said, err := os.ReadFile(p.SpeedFile)
	if err != nil {
		t.Fatal(err)
	}
	early := regexp.MustCompile(`"measured": "\d{4}`).ReplaceAll(said, []byte(`"measured": "2020`))
	for _, content := range [][]byte{[]byte("[1]"), early} {
		if err := os.WriteFile(p.SpeedFile, content, 0o666); err != nil {
			t.Fatal(err)
		}
		if compare(&p, info).leaves() {
			t.Errorf("left alone by %s", content)
		}
	}
}

// A device that is faster is compared once.
func TestFasterDeviceIsUsed(t *testing.T) {
	p, log, info := compared(t)
	device := &idleDevice{failingDevice: failingDevice{never}}
	for range 2 {
		if c := compare(&p, info); c.leaves() || c.measures(&p, device) {
			t.Error("a device that takes no time is left alone")
		}
	}
	if device.made != comparedTimes || log.Len() > 0 {
		t.Errorf("%d frames on the device; log:\n%s", device.made, log)
	}
}

// A device that fails in the comparison is used: what becomes of its frames is Params.Policy's.
func TestFailingDeviceIsNotCompared(t *testing.T) {
	p, _, info := compared(t)
	device := &failingDevice{func(call string) error {
		if call == "flow" {
			return errBroken
		}
		return nil
	}}
	if compare(&p, info).measures(&p, device) {
		t.Error("left alone")
	}
	if _, err := os.Stat(p.SpeedFile); err == nil {
		t.Error("something is remembered")
	}
}

// Only the choice that is left to the program is made by comparison.
func TestNothingToCompare(t *testing.T) {
	for name, change := range map[string]func(p *Params){
		"backend": func(p *Params) { p.Backend = CUDA },
		"devices": func(p *Params) { p.Devices = []int{0} },
		"file":    func(p *Params) { p.SpeedFile = "" },
		"mode":    func(p *Params) { p.Warp.Mode = warp.Blend },
	} {
		p, _, info := compared(t)
		change(&p)
		device := &idleDevice{failingDevice: failingDevice{never}}
		if c := compare(&p, info); c.leaves() || c.measures(&p, device) || device.made > 0 {
			t.Errorf("%s: %d frames on the device", name, device.made)
		}
	}
}

// Turns are long where what waits in them is small.
func TestTurns(t *testing.T) {
	for _, c := range []struct {
		roomy             bool
		devices, pixels   int
		intervals, frames int
	}{
		{true, 1, 1920 * 1080, 1, 8},
		{true, 2, 1920 * 1080, 32, 128},
		{false, 2, 1920 * 1080, 8, 32},
		{true, 4, 3840 * 2160, 16, 64},
	} {
		d := &devices{workers: make([]*worker, c.devices), roomy: c.roomy}
		if intervals, frames := d.Ahead(c.pixels); intervals != c.intervals || frames != c.frames {
			t.Errorf("%+v: %d intervals and %d frames wait", c, intervals, frames)
		}
	}
}
