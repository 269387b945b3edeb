package synth

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"retime/cuda"
	"retime/flow"
	"retime/flow/dis"
	"retime/frame"
	"retime/pipeline/atomicfile"
	"retime/warp"
)

// speeds are what Params.SpeedFile holds, by what was compared.
type speeds map[string]speed

// speed is how many seconds a device and the CPU take to find the motion in an interval and to make a
// frame in it.
type speed struct {
	Device   float64   `json:"device"`
	CPU      float64   `json:"cpu"`
	Measured time.Time `json:"measured"`
}

// A device is left alone if it takes clearly longer than the CPU. Other programs may have used either in the
// meantime, so times count for validFor.
const (
	clearly  = 1.25
	validFor = 7 * 24 * time.Hour
)

// comparison is of this machine's first device and its CPU. Without a file there is none, and the
// device counts as the faster one.
type comparison struct {
	file, key, device string
	width, height     int // of the pictures
	log               *slog.Logger
}

// compare returns the comparison that p asks for.
func compare(p *Params, device cuda.Info) (c comparison) {
	if p.SpeedFile == "" || p.Backend != Auto || len(p.Devices) > 0 || !p.Warp.Mode.UsesFlow() {
		return c
	}
	host, err := os.Hostname() // machines may share their users' directories
	if err != nil {
		return c
	}
	w := &p.Warp
	key := fmt.Sprintf("%s, %s, %d threads, %s, order %d, %s", host, device.Name, w.Workers.Count(), w.Mode, w.Order, program())
	return comparison{p.SpeedFile, key, device.Name, 1280, 720, p.Log}
}

// program tells one build of this program from another.
func program() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return info.Main.Version
}

// leaves reports whether the device is known to be slower, and says so.
func (c comparison) leaves() bool {
	s, known := c.known()
	return known && c.slower(s)
}

// measures reports whether the device turns out to be slower, and says so. It remembers that for leaves.
// A device that fails is left to those who make frames.
func (c comparison) measures(p *Params, d Device) bool {
	if c.file == "" {
		return false
	}
	if _, known := c.known(); known {
		return false
	}
	s, err := measure(p, d, comparedInterval(c.width, c.height))
	if err != nil {
		c.log.Debug("the device is not compared with the CPU", "error", err)
		return false
	}
	c.log.Debug("compared", "device", c.device, "seconds", s.Device, "CPU", s.CPU)
	c.remember(s)
	return c.slower(s)
}

// slower reports whether the device is slower, and says so.
func (c comparison) slower(s speed) bool {
	if s.Device <= clearly*s.CPU {
		return false
	}
	c.log.Info(fmt.Sprintf("the CPU makes the frames: one takes %.0f ms there, and %.0f ms on %s, which Compute.Backend cuda uses all the same",
		1000*s.CPU, 1000*s.Device, c.device))
	return true
}

// known returns times that count.
func (c comparison) known() (s speed, ok bool) {
	s, ok = c.read()[c.key]
	return s, ok && time.Since(s.Measured).Abs() < validFor
}

// read returns what the file has; one that cannot be read has nothing.
func (c comparison) read() (all speeds) {
	content, err := os.ReadFile(c.file)
	if err != nil || json.Unmarshal(content, &all) != nil || all == nil {
		return speeds{}
	}
	return all
}

// remember adds to the file. If two programs do so at once, one of them may have to measure again.
func (c comparison) remember(s speed) {
	all := c.read()
	s.Measured = time.Now().UTC()
	all[c.key] = s
	content, err := json.MarshalIndent(all, "", "\t")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(c.file), 0o777)
	}
	if err == nil {
		err = atomicfile.ReplaceFile(c.file, append(content, '\n'))
	}
	if err != nil {
		c.log.Debug("which is faster is not remembered", "error", err)
	}
}

// comparedTimes is how often each side makes a frame: the first time it loads its code and takes memory.
const comparedTimes = 3

// measure takes the time of the device and of the CPU.
func measure(p *Params, d Device, in warp.Interval) (s speed, err error) {
	e, err := d.Flow(p.Flow)
	if err != nil {
		return s, err
	}
	defer e.Close()
	if s.Device, err = fastest(func() error { return makeOnDevice(d, e, in) }); err != nil {
		return s, err
	}
	cpu, err := NewCPU(p.Warp)
	if err != nil {
		return s, err
	}
	defer cpu.Close()
	estimator, err := dis.New(p.Flow, p.Warp.Workers)
	if err != nil {
		return s, err
	}
	defer estimator.Close()
	s.CPU, err = fastest(func() error { return makeOnCPU(cpu, estimator, in) })
	return s, err
}

// fastest returns how many seconds the fastest of several calls takes.
func fastest(call func() error) (seconds float64, err error) {
	for range comparedTimes {
		began := time.Now()
		if err := call(); err != nil {
			return 0, err
		}
		took := time.Since(began).Seconds()
		seconds = min(cmp.Or(seconds, took), took)
	}
	return seconds, nil
}

func makeOnDevice(d Device, e FlowDevice, in warp.Interval) error {
	guide := func(m frame.Image[uint8], f *frame.Frame) warp.Guide {
		return warp.Guide{Image: m, Frame: f, Level: in.Level}
	}
	f, err := e.Estimate(guide(in.GuideA, in.A), guide(in.GuideB, in.B))
	if err != nil {
		return err
	}
	defer f.Release()
	in.Flows = []warp.FlowPair{f.Pair()}
	if err := d.Load(in); err != nil {
		return err
	}
	if err := d.Begin(in); err != nil {
		return err
	}
	finish, err := d.Start(frame.New(in.A.Format, in.A.Width, in.A.Height), warp.PhaseOne/2)
	if err != nil {
		return err
	}
	_, err = finish()
	return err
}

func makeOnCPU(cpu Synthesizer, e *dis.Estimator, in warp.Interval) error {
	p := warp.FlowPair{Forward: flow.NewField(in.GuideA.Width, in.GuideA.Height), Backward: flow.NewField(in.GuideA.Width, in.GuideA.Height)}
	if err := e.Estimate(in.GuideA, in.GuideB, &p.Forward, &p.Backward, false); err != nil {
		return err
	}
	in.Flows = []warp.FlowPair{p}
	ctx := context.Background()
	job, err := cpu.Prepare(ctx, Assignment{}, InHost(in), 1)
	if err != nil {
		return err
	}
	defer job.Close()
	finish, err := job.Start(ctx, frame.New(in.A.Format, in.A.Width, in.A.Height), warp.PhaseOne/2)
	if err != nil {
		return err
	}
	_, err = finish()
	return err
}

// comparedInterval returns an interval between two pictures, the second of which is the first, moved.
func comparedInterval(width, height int) (in warp.Interval) {
	const moves = 6 // pixels
	picture := func(x0 int) *frame.Frame {
		f := frame.New(frame.Format{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1}, width, height)
		for i, plane := range f.Planes {
			m := frame.Samples[uint8](plane)
			step := moves >> min(i, 1)
			for y := range m.Height {
				row := m.Row(y)
				for x := range row {
					row[x] = texture(x+x0*step, y)
				}
			}
		}
		return f
	}
	in = warp.Interval{A: picture(1), B: picture(0), Level: 1}
	in.GuideA, in.GuideB = warp.Halve(warp.Luma(in.A)), warp.Halve(warp.Luma(in.B))
	return in
}

// texture is a sample of blots of 16 pixels, each of a grey level of its own, that run into each other.
func texture(x, y int) uint8 {
	const size = 16
	blot := func(i, j int) int { return (i*73856093 ^ j*19349663) >> 4 & 255 }
	i, j, u, v := x/size, y/size, x%size, y%size
	top := blot(i, j)*(size-u) + blot(i+1, j)*u
	bottom := blot(i, j+1)*(size-u) + blot(i+1, j+1)*u
	return uint8((top*(size-v) + bottom*v) / (size * size))
}
