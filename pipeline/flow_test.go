package pipeline_test

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"retime/flow"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/motion"
)

// writeFlows writes the flows between the frames of a file as the method of o has them,
// and returns the method that reads them.
func writeFlows(t *testing.T, name string, o pipeline.Options) pipeline.FlowMethod {
	t.Helper()
	dir := t.TempDir()
	r, err := media.Open(t.Context(), name, media.ReaderOptions{})
	must(t, err)
	defer r.Close()
	last, err := r.Read()
	must(t, err)
	for n := 0; ; n++ {
		next, err := r.Read()
		if err != nil {
			last.Release()
			return pipeline.FlowMethod(motion.FromFiles + filepath.Join(dir, "%03d.flo"))
		}
		forward, backward, err := pipeline.EstimateFlow(t.Context(), last, next, o)
		must(t, err)
		for suffix, f := range map[string]flow.Field{"": forward, ".back": backward} {
			file, err := os.Create(filepath.Join(dir, fmt.Sprintf("%03d%s.flo", n, suffix)))
			must(t, err)
			must(t, flow.WriteFlo(file, f))
			must(t, file.Close())
		}
		last.Release()
		last = next
	}
}

// Flow from files makes the frames that the same flow makes when it is estimated,
// wherever reading begins, and in whichever direction time runs.
func TestFlowFromFilesMakesTheSameFrames(t *testing.T) {
	input := filepath.Join(t.TempDir(), "scene.mp4")
	ffmpeg(t, "-i", writeScene(t, 118, 74, 13, 24, 1), "-c:v", "libx264", "-g", "4", "-qp", "12", input)
	var frames []pipeline.Digest
	o := pipeline.Options{
		Input:     pipeline.Input{File: input},
		Output:    pipeline.Output{File: "-", Format: "null", VideoCodec: "rawvideo"},
		Synthesis: pipeline.Synthesis{Preset: pipeline.Balanced},
		Compute:   pipeline.Compute{Threads: 3, Backend: pipeline.CPU},
		Hooks:     pipeline.Hooks{Digest: func(_ int64, d pipeline.Digest) { frames = append(frames, d) }},
	}
	files := writeFlows(t, input, o)
	for name, timing := range map[string]pipeline.Timing{
		"all":  {Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}},
		"part": {Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}, From: big.NewRat(7, 25)},
	} {
		o.Timing, frames = timing, nil
		o.Synthesis.Flow = pipeline.DIS
		mustRun(t, o)
		want := frames
		frames = nil
		o.Synthesis.Flow = files
		mustRun(t, o)
		if len(want) < 10 || !slices.Equal(frames, want) {
			t.Errorf("%s: %d and %d frames, which differ", name, len(frames), len(want))
		}
	}
	o.Synthesis.Flow = pipeline.FlowMethod(motion.FromFiles + filepath.Join(t.TempDir(), "%d.flo"))
	if _, err := pipeline.Run(t.Context(), o); fault.KindOf(err) != fault.NoInput {
		t.Errorf("without files: error %v", err)
	}
}

// A conversion whose command fails says why, and ends.
func TestFlowCommandFails(t *testing.T) {
	o := pipeline.Options{
		Input:     pipeline.Input{File: writeScene(t, 72, 50, 9, 24, 1)},
		Output:    pipeline.Output{File: "-", Format: "null", VideoCodec: "rawvideo"},
		Timing:    pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}},
		Synthesis: pipeline.Synthesis{Flow: "command=echo out of luck >&2; exit 9"},
		Compute:   pipeline.Compute{Threads: 8, Backend: pipeline.CPU},
	}
	_, err := pipeline.Run(t.Context(), o)
	if fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), "(exit status 9): out of luck") {
		t.Errorf("error %v", err)
	}
}

// What names no flow is refused before anything is read.
func TestUnknownFlow(t *testing.T) {
	for _, m := range []pipeline.FlowMethod{"medium", "files=x.flo", "command="} {
		o := pipeline.Options{Input: pipeline.Input{File: "in"}, Output: pipeline.Output{File: "out"}, Synthesis: pipeline.Synthesis{Flow: m}}
		if err := o.Check(); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "Synthesis.Flow "+string(m)) {
			t.Errorf("%s: error %v", m, err)
		}
	}
}

// What is told of the flow is that of each frame's own run, in the order of the frames.
func TestVectorsOfDecidedPresets(t *testing.T) {
	input := writeScene(t, 96, 64, 3, 24, 1)
	told := func(preset pipeline.Preset, decisions ...pipeline.Decision) (list []pipeline.Vectors) {
		t.Helper()
		o := pipeline.Options{Input: pipeline.Input{File: input}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "o.nut"), VideoCodec: "rawvideo"}}
		o.Timing.Rate = pipeline.Rate{Value: big.NewRat(3, 1), Multiple: true}
		o.Synthesis.Preset, o.Synthesis.Decisions = preset, decisions
		o.Hooks.Vectors = func(v pipeline.Vectors) error { list = append(list, v); return nil }
		if _, err := pipeline.Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		return list
	}
	fast, best := told(pipeline.Fast), told(pipeline.Best)
	if len(fast) != 4 || reflect.DeepEqual(fast, best) {
		t.Fatalf("%d flows, alike by presets", len(fast))
	}
	mixed := told(pipeline.Fast, pipeline.Decision{Frame: 1, Preset: pipeline.Best}, pipeline.Decision{Frame: 5, Preset: pipeline.Best})
	if want := []pipeline.Vectors{best[0], fast[1], fast[2], best[3]}; !reflect.DeepEqual(mixed, want) {
		t.Errorf("%d flows, which are not those of the frames' presets", len(mixed))
	}
}
