package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
	"retime/warp"
)

// decided runs o and returns what it wrote, frame by frame, with the records.
func decided(t *testing.T, o pipeline.Options, list []pipeline.Decision) (frames [][]byte, records []pipeline.Record, report *pipeline.Report) {
	t.Helper()
	o.Synthesis.Decisions = list
	o.Hooks.Record = func(r pipeline.Record) { records = append(records, r) }
	report = mustRun(t, o)
	frames, _, _ = readAll(t, o.Output.File)
	return frames, records, report
}

// given turns records into the decisions that their sidecar holds.
func given(t *testing.T, records []pipeline.Record) []pipeline.Decision {
	t.Helper()
	var b bytes.Buffer
	for _, r := range records {
		if err := json.NewEncoder(&b).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	list, err := decision.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The clip's frames 0 to 2 and 3 to 5 are two scenes; odd output frames lie
// half-way between source frames.
func TestDecisions(t *testing.T) {
	o := lossless(t, writeCut(t, 192, 108, 6))
	o.Timing.Rate, _ = timeline.ParseRate("48")
	plain, records, report := decided(t, o, nil)
	if len(report.Cuts) != 1 || records[5].Method != pipeline.Nearest {
		t.Fatalf("cuts %v, frame 5 %s", report.Cuts, records[5].Method)
	}

	same, again, _ := decided(t, o, given(t, records))
	if !reflect.DeepEqual(same, plain) || !reflect.DeepEqual(again, records) {
		t.Error("an unedited sidecar changes the output")
	}

	yes, no := true, false
	edits := func(change func(list []pipeline.Decision)) ([][]byte, []pipeline.Record, *pipeline.Report) {
		list := given(t, records)
		change(list)
		return decided(t, o, list)
	}
	frames, got, _ := edits(func(l []pipeline.Decision) {
		l[1].Method = pipeline.Nearest
		l[3].Method = pipeline.FromSource
		l[7].Method = pipeline.Blended
	})
	if got[1].Method != pipeline.Nearest || !bytes.Equal(frames[1], plain[2]) || got[1].Confidence != 0 {
		t.Errorf("frame 1 is %s", got[1].Method)
	}
	if got[3].Method != pipeline.FromSource || !bytes.Equal(frames[3], plain[2]) || got[3].Confidence != 0 {
		t.Errorf("frame 3 is %s", got[3].Method)
	}
	if got[7].Method != pipeline.Blended {
		t.Errorf("frame 7 is %s", got[7].Method)
	}
	if !bytes.Equal(frames[9], plain[9]) {
		t.Error("frame 9, of which nothing was said, has changed")
	}

	// A cut that is denied: the frame across it is made. Any line of the interval says so.
	for _, k := range []int{4, 5} {
		frames, got, report = edits(func(l []pipeline.Decision) { l[k].Cut = &no })
		if got[5].Cut || got[5].Method == pipeline.Nearest || len(report.Cuts) != 0 || bytes.Equal(frames[5], plain[5]) {
			t.Errorf("cut denied in line %d: frame 5 is %s, cuts %v", k, got[5].Method, report.Cuts)
		}
	}
	// The frame alone is made; the cut stays.
	_, got, report = edits(func(l []pipeline.Decision) { l[5].Method = pipeline.Interpolated })
	if !got[5].Cut || got[5].Method != pipeline.Interpolated || len(report.Cuts) != 1 {
		t.Errorf("frame 5 is %s, cuts %v", got[5].Method, report.Cuts)
	}
	// A cut that was missed.
	frames, got, report = edits(func(l []pipeline.Decision) { l[1].Cut = &yes })
	if !got[1].Cut || !got[0].Cut || got[1].Method != pipeline.Nearest || len(report.Cuts) != 2 || !bytes.Equal(frames[1], plain[2]) {
		t.Errorf("frame 1 is %s, cuts %v", got[1].Method, report.Cuts)
	}
}

func TestDecisionsThatCannotBeObeyed(t *testing.T) {
	o := lossless(t, writeScene(t, 64, 48, 3, 24, 1))
	o.Timing.Rate, _ = timeline.ParseRate("48")
	late := 0.5
	for _, c := range []struct {
		mode warp.Mode
		d    pipeline.Decision
		want string
	}{
		{warp.Project, pipeline.Decision{Frame: 1, Time: &late, Line: 9}, "line 9: frame 1 is shown at 0.020833 s here, not at 0.5"},
		{warp.Nearest, pipeline.Decision{Frame: 1, Method: pipeline.Interpolated, Line: 2}, "line 2: frame 1 cannot be interpolated"},
		{warp.Nearest, pipeline.Decision{Frame: 1, Method: pipeline.Blended, Line: 2}, "line 2: frame 1 cannot be blend"},
		{warp.Blend, pipeline.Decision{Frame: 1, Method: pipeline.Interpolated, Line: 2}, "line 2: frame 1 cannot be interpolated"},
	} {
		o := o
		o.Synthesis.Mode, o.Synthesis.Decisions = c.mode, []pipeline.Decision{c.d}
		if _, err := pipeline.Run(context.Background(), o); err == nil || fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.mode, c.d, err, c.want)
		}
	}
}

// Each made frame steps down as its confidence says, and has a map.
func TestLadder(t *testing.T) {
	o := lossless(t, writeScene(t, 97, 61, 4, 24, 1))
	o.Timing.Rate, _ = timeline.ParseRate("48")
	one, zero := 1.0, 0.0
	run := func(blend, nearest *float64) ([][]byte, []pipeline.Record, map[int64]frame.Image[uint8]) {
		maps := map[int64]frame.Image[uint8]{}
		o := o
		o.Synthesis.BlendBelow, o.Synthesis.NearestBelow = blend, nearest
		o.Hooks.ConfidenceMap = func(n int64, m frame.Image[uint8]) error { maps[n] = m; return nil }
		frames, records, _ := decided(t, o, nil)
		return frames, records, maps
	}
	full, _, fullMaps := run(&zero, &zero)
	blended, _, maps := run(&one, &zero)
	nearest, _, none := run(&one, &one)
	for _, k := range []int64{1, 3, 5} {
		if !bytes.Equal(nearest[k], full[k+1]) {
			t.Errorf("frame %d is not the nearer one", k)
		}
		if !reflect.DeepEqual(maps[k], fullMaps[k]) || maps[k].Width != 97 || maps[k].Height != 61 {
			t.Errorf("frame %d: confidence map of %dx%d", k, maps[k].Width, maps[k].Height)
		}
		if bytes.Equal(blended[k], nearest[k]) {
			t.Errorf("frame %d is not blended", k)
		}
	}
	if len(maps) != 3 || len(none) != 0 {
		t.Errorf("%d maps and %d, want 3 and none", len(maps), len(none))
	}
	if _, records, _ := run(&one, &zero); records[1].Method != pipeline.Blended || records[1].Confidence == 0 {
		t.Errorf("frame 1: %+v", records[1])
	}
	for _, bad := range []float64{-0.1, 1.5} {
		o := o
		o.Synthesis.BlendBelow = &bad
		if _, err := pipeline.Run(context.Background(), o); fault.KindOf(err) != fault.Usage {
			t.Errorf("Synthesis.BlendBelow %v: %v", bad, err)
		}
	}
}

func TestDecisionsBehindTheEnd(t *testing.T) {
	o := lossless(t, writeScene(t, 32, 32, 24, 24, 1))
	o.Synthesis.Decisions = []pipeline.Decision{{Frame: 900, Line: 7}}
	_, err := pipeline.Run(t.Context(), o)
	if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "line 7: frame 900: the output has 24 frames") {
		t.Errorf("a decision behind the end: %v", err)
	}
	o.Synthesis.Decisions = nil
	o.Output.VideoCodec, o.Output.CRF = "libx264", new(int)
	*o.Output.CRF = 99
	if _, err := pipeline.Run(t.Context(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "takes 0 to 51") {
		t.Errorf("a constant rate factor of 99: %v", err)
	}
}
