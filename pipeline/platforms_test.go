package pipeline_test

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// Frames made from raw pictures are the same on every platform. The first run writes their
// digests to the file that RETIME_DIGESTS names, and runs on other platforms compare.
func TestFramesOfEveryPlatform(t *testing.T) {
	name := os.Getenv("RETIME_DIGESTS")
	if name == "" {
		t.Skip("RETIME_DIGESTS names no file of digests")
	}
	input := writeScene(t, 192, 112, 6, 24, 1)
	var digests bytes.Buffer
	for _, c := range []struct {
		name      string
		synthesis pipeline.Synthesis
		shutter   *big.Rat
	}{
		{"fast", pipeline.Synthesis{Preset: pipeline.Fast}, nil},
		{"balanced", pipeline.Synthesis{Preset: pipeline.Balanced}, nil},
		{"best", pipeline.Synthesis{Preset: pipeline.Best}, nil},
		{"splat", pipeline.Synthesis{Mode: warp.Splat}, nil},
		{"blend", pipeline.Synthesis{Mode: warp.Blend}, nil},
		{"shutter", pipeline.Synthesis{Preset: pipeline.Fast}, big.NewRat(1, 2)},
	} {
		o := lossless(t, input)
		o.Synthesis, o.Timing = c.synthesis, pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(60, 1)}, Shutter: c.shutter}
		o.Hooks.Digest = func(frame int64, d pipeline.Digest) { fmt.Fprintf(&digests, "%s %d %x\n", c.name, frame, d) }
		mustRun(t, o)
	}
	want, err := os.ReadFile(name)
	switch {
	case os.IsNotExist(err):
		if err := os.WriteFile(name, digests.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	case err != nil:
		t.Fatal(err)
	}
	got := bytes.Split(digests.Bytes(), []byte("\n"))
	for i, line := range bytes.Split(want, []byte("\n")) {
		if i >= len(got) || !bytes.Equal(got[i], line) {
			t.Fatalf("the other platform's frames differ from here on: %s", line)
		}
	}
	if len(got) != bytes.Count(want, []byte("\n"))+1 {
		t.Errorf("%d lines of digests, want those of %s", len(got), name)
	}
}
