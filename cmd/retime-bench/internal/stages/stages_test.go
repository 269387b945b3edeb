//go:build unix

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

// Each stage of both backends is measured.
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
	settled, err := o.Settle()
	if err != nil {
		t.Fatal(err)
	}
	device, err := synth.OpenDevice(settled.WarpParams(), cuda.NewDevice(kernels.NewEmulator()), "")
	if err != nil {
		t.Fatal(err)
	}
	d := synth.NewDevices(settled.SynthParams(), device)
	defer d.Close()
	onDevice, err := measure(context.Background(), settled, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	stages := []string{"decode", "flow, read", "synthesis"}
	for _, r := range []*Report{onCPU, onDevice} {
		if r.Frames != 15 || r.Made != 8 || r.Whole <= 0 {
			t.Errorf("%+v", r)
		}
		if len(r.Alone) != len(stages) {
			t.Fatalf("stages %v, want %v", r.Alone, stages)
		}
		for i, s := range r.Alone {
			if s.Name != stages[i] || s.Elapsed <= 0 || s.Elapsed > r.Slowest().Elapsed {
				t.Errorf("stage %+v, want %s", s, stages[i])
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
