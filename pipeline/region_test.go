package pipeline

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
	"retime/testdata/scene"
)

// regionFrames converts a small clip to twice its rate and returns frame 5, which is made.
func regionFrames(t *testing.T, input, decisions string) (made *frame.Frame, record Record) {
	t.Helper()
	rate, err := timeline.ParseRate("2x")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Input: Input{File: input}, Timing: Timing{Rate: rate}}
	if decisions != "" {
		if o.Synthesis.Decisions, err = decision.Read(strings.NewReader(decisions)); err != nil {
			t.Fatal(err)
		}
	}
	o.Output = Output{File: filepath.Join(t.TempDir(), "o.nut"), VideoCodec: "rawvideo"}
	o.Hooks.Record = func(r Record) {
		if r.Frame == 5 {
			record = r
		}
	}
	if _, err := Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	r, err := media.Open(context.Background(), o.Output.File, media.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 5 {
		f, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		f.Release()
	}
	if made, err = r.Read(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Release)
	return made, record
}

// luma at the middle of the left, or the right, half of f.
func halves(f *frame.Frame) (left, right []uint8) {
	g := frame.Samples[uint8](f.Planes[0])
	for y := 16; y < 48; y++ {
		left, right = append(left, g.Row(y)[8:40]...), append(right, g.Row(y)[56:88]...)
	}
	return left, right
}

// A region is made in its own way, and the rest of the frame as before.
func TestRegions(t *testing.T) {
	input := filepath.Join(t.TempDir(), "clip.y4m")
	if err := scene.CreateY4M(input, 96, 64, 8, 24, 1); err != nil {
		t.Fatal(err)
	}
	line := func(method, region string) string {
		return `{"frame":5,"method":"` + method + `","regions":[{"method":"` + region + `","outline":[[0,0],[48,0],[48,64],[0,64]]}]}`
	}
	plain := map[string]*frame.Frame{}
	for _, m := range []string{"interpolated", "nearest", "source"} {
		plain[m], _ = regionFrames(t, input, `{"frame":5,"method":"`+m+`"}`)
	}
	for _, c := range []struct{ method, region string }{
		{"interpolated", "nearest"}, {"interpolated", "source"}, {"nearest", "interpolated"}, {"source", "interpolated"}, {"source", "nearest"},
	} {
		got, _ := regionFrames(t, input, line(c.method, c.region))
		left, right := halves(got)
		wantLeft, _ := halves(plain[c.region])
		_, wantRight := halves(plain[c.method])
		if string(left) != string(wantLeft) || string(right) != string(wantRight) {
			t.Errorf("%s in a frame of %s: the region is right: %v, the rest: %v", c.region, c.method, string(left) == string(wantLeft), string(right) == string(wantRight))
		}
	}
	blended, _ := regionFrames(t, input, line("interpolated", "blend"))
	a, _ := halves(plain["source"])
	left, right := halves(blended)
	b, _ := halves(plain["nearest"])
	for i := range left {
		if lo, hi := min(a[i], b[i]), max(a[i], b[i]); left[i] < lo || left[i] > hi {
			t.Fatalf("sample %d of the cross-fade is %d, of %d and %d", i, left[i], a[i], b[i])
		}
	}
	if _, want := halves(plain["interpolated"]); string(right) != string(want) {
		t.Error("the rest of a frame with a cross-faded region differs")
	}
}

func TestRegionsAreChecked(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"frame":1,"regions":[{"method":"magic","outline":[[0,0],[1,0],[1,1]]}]}`, `no method "magic" of a region`},
		{`{"frame":1,"regions":[{"method":"nearest","outline":[[0,0],[1,0]]}]}`, "has 2 corners"},
		{`{"frame":1,"regions":[{"method":"nearest","outline":[[0,0],[1e9,0],[1,1]]}]}`, "want pixels"},
		{`{"frame":1,"regions":{}}`, `"regions" cannot be a object`},
	} {
		if _, err := decision.Read(strings.NewReader(c.text)); fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}
