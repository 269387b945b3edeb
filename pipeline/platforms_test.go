package pipeline

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"testing"

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
		synthesis Synthesis
		shutter   *big.Rat
	}{
		{"fast", Synthesis{Preset: Fast}, nil},
		{"balanced", Synthesis{Preset: Balanced}, nil},
		{"best", Synthesis{Preset: Best}, nil},
		{"splat", Synthesis{Mode: warp.Splat}, nil},
		{"blend", Synthesis{Mode: warp.Blend}, nil},
		{"shutter", Synthesis{Preset: Fast}, big.NewRat(1, 2)},
	} {
		o := lossless(t, input)
		o.Synthesis, o.Timing = c.synthesis, Timing{Rate: Rate{Value: big.NewRat(60, 1)}, Shutter: c.shutter}
		o.Hooks.Digest = func(frame int64, d Digest) { fmt.Fprintf(&digests, "%s %d %x\n", c.name, frame, d) }
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
