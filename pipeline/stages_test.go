package pipeline

import (
	"context"
	"testing"

	"retime/cuda/kernels"
	"retime/pipeline/fault"
)

// Each stage of either backend is measured.
func TestStudyStages(t *testing.T) {
	o := Options{Input: Input{File: writeScene(t, 72, 50, 5, 24, 1)}, Timing: Timing{Rate: Rate{ratio("3"), true}}, Synthesis: Synthesis{Preset: Fast, FlowCache: t.TempDir()}, Compute: Compute{Threads: 2, Backend: CPU}}
	onCPU, err := StudyStages(context.Background(), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Output.File = "-"
	o.Output.Format, o.Output.VideoCodec = "null", "rawvideo"
	if err := o.Settle(); err != nil {
		t.Fatal(err)
	}
	d := emulated(t, &o, kernels.NewEmulator())
	defer d.Close()
	onDevice, err := studyStages(context.Background(), &o, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		study  *StageStudy
		stages []string
	}{
		{onCPU, []string{"decode", "flow, read", "synthesis"}},
		{onDevice, []string{"decode", "flow, read", "upload", "kernels", "download"}},
	} {
		if c.study.Frames != 15 || c.study.Made != 8 || c.study.Whole <= 0 {
			t.Errorf("%+v", c.study)
		}
		if len(c.study.Alone) != len(c.stages) {
			t.Fatalf("stages %v, want %v", c.study.Alone, c.stages)
		}
		for i, s := range c.study.Alone {
			if s.Name != c.stages[i] || s.Elapsed <= 0 || s.Elapsed > c.study.Slowest().Elapsed {
				t.Errorf("stage %+v, want %s", s, c.stages[i])
			}
		}
	}
}

func TestStudyStagesRefuses(t *testing.T) {
	for name, o := range map[string]Options{
		"no cache":   {Input: Input{File: "a"}},
		"no flow":    {Input: Input{File: "a"}, Synthesis: Synthesis{FlowCache: "b", Mode: "blend"}},
		"no input":   {Input: Input{File: "nothing.mp4"}, Synthesis: Synthesis{FlowCache: t.TempDir()}, Compute: Compute{Backend: CPU}},
		"no motion":  {Input: Input{File: writeScene(t, 32, 32, 3, 24, 1)}, Synthesis: Synthesis{FlowCache: t.TempDir()}, Compute: Compute{Backend: CPU}},
		"wrong mode": {Input: Input{File: "a"}, Synthesis: Synthesis{FlowCache: "b", Mode: "other"}},
	} {
		if _, err := StudyStages(context.Background(), o, nil); fault.KindOf(err) != fault.Usage && fault.KindOf(err) != fault.NoInput {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
