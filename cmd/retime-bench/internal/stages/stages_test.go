package stages

import (
	"context"
	"math/big"
	"path/filepath"
	"testing"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/synth"
	"retime/testdata/scene"
)

func clip(t *testing.T, width, height, frames int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "scene.y4m")
	if err := scene.CreateY4M(name, width, height, frames, 24, 1); err != nil {
		t.Fatal(err)
	}
	return name
}

// Each stage of either backend is measured.
func TestMeasure(t *testing.T) {
	o := pipeline.Options{
		Input:     pipeline.Input{File: clip(t, 72, 50, 5)},
		Timing:    pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(3, 1), Multiple: true}},
		Synthesis: pipeline.Synthesis{Preset: pipeline.Fast, FlowCache: t.TempDir()},
		Compute:   pipeline.Compute{Threads: 2, Backend: pipeline.CPU},
	}
	onCPU, err := Measure(context.Background(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Output = pipeline.Output{File: "-", Format: "null", VideoCodec: "rawvideo"}
	if err := o.Settle(); err != nil {
		t.Fatal(err)
	}
	device, err := synth.OpenDevice(o.WarpParams(), cuda.NewDevice(kernels.NewEmulator()), "")
	if err != nil {
		t.Fatal(err)
	}
	d := synth.NewDevices(o.SynthParams(), device)
	defer d.Close()
	onDevice, err := measure(context.Background(), &o, d, func() (*cuda.Device, error) { return cuda.NewDevice(kernels.NewEmulator()), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		report *Report
		stages []string
	}{
		{onCPU, []string{"decode", "flow, read", "synthesis"}},
		{onDevice, []string{"decode", "flow, read", "upload", "kernels", "download"}},
	} {
		if c.report.Frames != 15 || c.report.Made != 8 || c.report.Whole <= 0 {
			t.Errorf("%+v", c.report)
		}
		if len(c.report.Alone) != len(c.stages) {
			t.Fatalf("stages %v, want %v", c.report.Alone, c.stages)
		}
		for i, s := range c.report.Alone {
			if s.Name != c.stages[i] || s.Elapsed <= 0 || s.Elapsed > c.report.Slowest().Elapsed {
				t.Errorf("stage %+v, want %s", s, c.stages[i])
			}
		}
	}
}

func TestMeasureRefuses(t *testing.T) {
	type (
		input     = pipeline.Input
		synthesis = pipeline.Synthesis
		compute   = pipeline.Compute
	)
	for name, o := range map[string]pipeline.Options{
		"no cache":   {Input: input{File: "a"}},
		"no flow":    {Input: input{File: "a"}, Synthesis: synthesis{FlowCache: "b", Mode: "blend"}},
		"no input":   {Input: input{File: "nothing.mp4"}, Synthesis: synthesis{FlowCache: t.TempDir()}, Compute: compute{Backend: pipeline.CPU}},
		"no motion":  {Input: input{File: clip(t, 32, 32, 3)}, Synthesis: synthesis{FlowCache: t.TempDir()}, Compute: compute{Backend: pipeline.CPU}},
		"wrong mode": {Input: input{File: "a"}, Synthesis: synthesis{FlowCache: "b", Mode: "other"}},
	} {
		if _, err := Measure(context.Background(), o, nil); fault.KindOf(err) != fault.Usage && fault.KindOf(err) != fault.NoInput {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
