package segment

import (
	"bytes"
	"context"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/timeline/curve"
)

// Plans run no commands, but an interrupted conversion goes on with its own.
func TestPlansRunNoCommands(t *testing.T) {
	o := options(clip(t))
	o.Synthesis.Flow = "command=cat"
	if _, err := New(t.Context(), o, Options{Length: big.NewRat(2, 1), Program: "test"}); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "command") {
		t.Errorf("planned: %v", err)
	}
	p := full(t)
	p.Settings.Synthesis.Flow = "command=touch evil"
	name := filepath.Join(t.TempDir(), "plan.json")
	if err := p.Write(name, true); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPlan(name, "test"); fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), "touch evil") {
		t.Errorf("read: %v", err)
	}
	o.Synthesis.Flow = "command=exit 9"
	o.Output.File = filepath.Join(t.TempDir(), "out.mkv")
	if _, err := Convert(t.Context(), o, Options{Length: big.NewRat(2, 1), Program: "test"}); err == nil || !strings.Contains(err.Error(), "exit status 9") {
		t.Errorf("converted: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	input := clip(t)
	back := []curve.Keyframe{{Source: big.NewRat(1, 1), Output: new(big.Rat), Shape: curve.Linear}, {Source: new(big.Rat), Output: big.NewRat(1, 1), Shape: curve.Linear}}
	for _, test := range []struct {
		name string
		set  func(o *pipeline.Options)
		want string
	}{
		{"backward", func(o *pipeline.Options) { o.Timing.Curve, o.Timing.Rate = back, pipeline.Rate{} }, "Timing.Curve"},
		{"times kept", func(o *pipeline.Options) { o.Timing.KeepTimestamps = true }, "Timing.KeepTimestamps"},
		{"standard input", func(o *pipeline.Options) { o.Input.File = "-" }, "cannot be read in parts"},
		{"wrapped frames", func(o *pipeline.Options) { o.Output.Format, o.Output.VideoCodec = "yuv4mpegpipe", "" }, "Output.Format"},
		{"no such container", func(o *pipeline.Options) { o.Output.Format = "none" }, "none"},
	} {
		o := options(input)
		test.set(&o)
		_, err := New(context.Background(), o, Options{Length: big.NewRat(1, 1), Program: "test"})
		if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want a usage error with %q", test.name, err, test.want)
		}
	}
}

func TestChangedInputIsRefused(t *testing.T) {
	input := clip(t)
	p := newPlan(t, options(input), 2)
	dir := t.TempDir()
	b, err := os.ReadFile(input)
	if err != nil {
		t.Fatal(err)
	}
	makeAll(t, p, dir, []int{0, 1})
	b[len(b)/2]++
	if err := os.WriteFile(input, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Make(context.Background(), dir, 0, pipeline.Options{}); fault.KindOf(err) != fault.BadData {
		t.Errorf("segment: %v, want bad data", err)
	}
	// A change whose time is set back shows only if all of the file is read.
	if err := os.Chtimes(input, p.Input.Modified, p.Input.Modified); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Join(context.Background(), dir, pipeline.Options{Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv")}}); fault.KindOf(err) != fault.BadData {
		t.Errorf("join: %v, want bad data", err)
	}
	if _, err := p.Verify(context.Background(), dir, 1, pipeline.Options{}); fault.KindOf(err) != fault.BadData {
		t.Errorf("verify: %v, want bad data", err)
	}
}

func TestPlansAreReadBack(t *testing.T) {
	o := options(clip(t))
	o.Synthesis.Scenes, o.Timing.Curve = rats(900), nil
	crf := 20
	o.Output.CRF, o.Output.VideoOptions = &crf, map[string]string{"level": "3"}
	o.Output.VideoCodec = "libx264"
	p := newPlan(t, o, 3)
	name := filepath.Join(t.TempDir(), "plan.json")
	if err := p.Write(name, true); err != nil {
		t.Fatal(err)
	}
	q, err := ReadPlan(name, "test")
	if err != nil {
		t.Fatal(err)
	}
	if p.ID() != q.ID() || !reflect.DeepEqual(p.Ranges, q.Ranges) {
		t.Errorf("read %+v, wrote %+v", q, p)
	}
	if _, err := ReadPlan(name, "another"); fault.KindOf(err) != fault.BadData {
		t.Errorf("another version: %v, want bad data", err)
	}
	if _, err := ReadPlan(name+"x", "test"); fault.KindOf(err) != fault.NoInput {
		t.Errorf("no plan: %v, want no input", err)
	}
	text, _ := os.ReadFile(name)
	for _, change := range [][2]string{
		{`"retime plan 4"`, `"retime plan 5"`}, {`"first": 0`, `"first": 1`}, {`"ranges"`, `"rangers"`}, {`"rate": "50"`, `"rate": "0"`},
		{"}", ""},
	} {
		if _, err := parsePlan(bytes.Replace(text, []byte(change[0]), []byte(change[1]), 1)); err == nil {
			t.Errorf("a plan with %s for %s is accepted", change[1], change[0])
		}
	}
}

func TestDivide(t *testing.T) {
	for _, test := range []struct {
		frames, count int64
		scenes        []int64
		want          []int64 // ends of the ranges
	}{
		{10, 1, nil, []int64{10}},
		{10, 3, nil, []int64{3, 6, 10}},
		{100, 4, []int64{20, 24, 51, 70, 99}, []int64{24, 51, 70, 100}},
		{100, 4, []int64{1, 10, 40, 60, 90}, []int64{25, 50, 75, 100}},
	} {
		var ends []int64
		at := int64(0)
		for _, r := range divide(test.frames, test.count, test.scenes) {
			if r.First != at {
				t.Errorf("%+v: a range begins at %d, not %d", test, r.First, at)
			}
			at = r.End
			ends = append(ends, at)
		}
		if !slices.Equal(ends, test.want) {
			t.Errorf("%d in %d at %d: ends %d, want %d", test.frames, test.count, test.scenes, ends, test.want)
		}
	}
}
