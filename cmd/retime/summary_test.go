package main

import (
	"bytes"
	"log/slog"
	"math/big"
	"testing"
	"time"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// reported returns the report of a conversion.
func reported(rate *big.Rat, frames, made int64) *pipeline.Report {
	r := &pipeline.Report{Output: "out.mp4", Width: 64, Height: 48, Written: "yuv420p", Rate: rate, Elapsed: 2 * time.Second, Backend: pipeline.CPU}
	r.Frames, r.Made = frames, made
	return r
}

func TestSummary(t *testing.T) {
	held := reported(big.NewRat(60, 1), 30, 20)
	held.Held = 2
	gpu := reported(big.NewRat(30000, 1001), 1, 1)
	gpu.Backend, gpu.Devices, gpu.Remade, gpu.Repeats = pipeline.CUDA, []string{"one", "two"}, 1, 2
	for _, c := range []struct {
		report  *pipeline.Report
		verbose bool
		want    string
	}{
		{reported(big.NewRat(60, 1), 30, 20), false, "out.mp4: 64x48 yuv420p, 60 fps\n30 frames: 10 as shot, 20 made\n2.00 s on the CPU, 15 frame/s\n"},
		{reported(big.NewRat(60, 1), 30, 20), true, "out.mp4: 64x48 yuv420p, 60 fps\n30 frames: 10 as shot, 20 made\n2.00 s on the CPU, 15 frame/s\n" +
			"decode 0.00 s, flow 0.00 s, synthesis 0.00 s, encode 0.00 s (overlapping)\nno GPU: none answers\n"},
		{held, false, "out.mp4: 64x48 yuv420p, 60 fps\n30 frames: 8 as shot, 20 made, 2 held\n2.00 s on the CPU, 15 frame/s\n"},
		{gpu, false, "out.mp4: 64x48 yuv420p, 29.970 (30000/1001) fps\n1 frame: 0 as shot, 1 made, 2 repeated frames retimed, 1 made again on the CPU after faults\n2.00 s on one and two, 30 frame/min\n"},
	} {
		var b bytes.Buffer
		summarise(&b, c.report, "none answers", c.verbose)
		if b.String() != c.want {
			t.Errorf("%s\nwant\n%s", &b, c.want)
		}
	}
}

// The last line of --progress json tells how a run ended, with its warnings.
func TestOutcome(t *testing.T) {
	var warned []message
	var printed bytes.Buffer
	handler := (&display{progress: "json"}).logTo(&printed)
	handler.warned = &warned
	log := slog.New(handler)
	log.Info("not this")
	log.With("a", 1).Warn("but this")
	if want := `{"info":"not this"}` + "\n" + `{"warning":"but this","details":{"a":"1"}}` + "\n"; printed.String() != want {
		t.Errorf("%s\nwant\n%s", &printed, want)
	}
	for _, c := range []struct {
		report *pipeline.Report
		err    error
		want   string
	}{
		{reported(big.NewRat(24, 1), 9, 4), nil, `{"output":"out.mp4","frames":9,"shot":5,"made":4,"held":0,"cuts":0,"warnings":[{"warning":"but this","details":{"a":"1"}}],"seconds":2,"exit":0}`},
		{nil, fault.New(fault.BadData, "broken"), `{"output":"","frames":0,"shot":0,"made":0,"held":0,"cuts":0,"warnings":[{"warning":"but this","details":{"a":"1"}}],"seconds":0,"exit":65,"error":"broken"}`},
	} {
		var b bytes.Buffer
		printOutcome(&b, c.report, warned, c.err)
		if b.String() != c.want+"\n" {
			t.Errorf("%s\nwant\n%s", &b, c.want)
		}
	}
}
