package stages_test

import (
	"bytes"
	"math/big"
	"testing"

	"retime/pipeline"
	"retime/pipeline/timeline"
)

func TestCutsShowTheNearerFrame(t *testing.T) {
	input := writeCut(t, 320, 180, 8)
	source, _, _ := readAll(t, input)
	o := lossless(t, input)
	o.Timing.Rate, _ = timeline.ParseRate("120") // five frames an interval
	report := mustRun(t, o)
	if len(report.Cuts) != 1 || report.Cuts[0].Cmp(big.NewRat(4, 24)) != 0 {
		t.Fatalf("cuts at %v, want one at 1/6", report.Cuts)
	}
	got, _, _ := readAll(t, o.Output.File)
	for k, want := range map[int]int{15: 3, 16: 3, 17: 3, 18: 4, 19: 4, 20: 4} {
		if !bytes.Equal(got[k], source[want]) {
			t.Errorf("frame %d is not source frame %d", k, want)
		}
	}
	if bytes.Equal(got[14], source[2]) || bytes.Equal(got[14], source[3]) {
		t.Error("the frame before the cut's interval is not made")
	}

	// A list takes the place of detection, and may be empty.
	never := 2.0
	for _, c := range []struct {
		set  func(*pipeline.Options)
		cuts int
	}{
		{func(o *pipeline.Options) { o.Synthesis.Scenes = []*big.Rat{} }, 0},
		{func(o *pipeline.Options) { o.Synthesis.SceneThreshold = &never }, 0},
		{func(o *pipeline.Options) { o.Synthesis.Scenes = []*big.Rat{big.NewRat(166667, 1000000)} }, 1},
		{func(o *pipeline.Options) { o.Synthesis.Scenes = []*big.Rat{big.NewRat(5, 24), big.NewRat(1, 24)} }, 2},
	} {
		p := o
		c.set(&p)
		if report := mustRun(t, p); len(report.Cuts) != c.cuts {
			t.Errorf("cuts at %v, want %d", report.Cuts, c.cuts)
		}
	}
}
