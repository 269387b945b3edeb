package pipeline_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
	"retime/testdata/scene"
	"retime/warp"
)

// regionFrames converts a small clip to twice its rate and returns frame 5, which is made and rated.
func regionFrames(t *testing.T, input, decisions string) (made *frame.Frame, record pipeline.Record) {
	t.Helper()
	rate, err := timeline.ParseRate("2x")
	if err != nil {
		t.Fatal(err)
	}
	o := pipeline.Options{Input: pipeline.Input{File: input}, Timing: pipeline.Timing{Rate: rate}}
	if decisions != "" {
		if o.Synthesis.Decisions, err = decision.Read(strings.NewReader(decisions)); err != nil {
			t.Fatal(err)
		}
	}
	o.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "o.nut"), VideoCodec: "rawvideo"}
	o.Hooks.Rate = true
	o.Hooks.Record = func(r pipeline.Record) {
		if r.Frame == 5 {
			record = r
		}
	}
	if _, err := pipeline.Run(context.Background(), o); err != nil {
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
	input := writeScene(t, 96, 64, 8, 24, 1)
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

// What lies in the outline goes as the arrow says, whatever the rest of the frame is.
func TestDrawnMotion(t *testing.T) {
	input := writeScene(t, 96, 64, 8, 24, 1)
	const region = `{"method":"motion","outline":[[20,16],[44,16],[44,48],[20,48]],"arrows":[[30,30,50,30]]}`
	source, _ := regionFrames(t, input, `{"frame":5,"method":"source"}`)
	nearest, _ := regionFrames(t, input, `{"frame":5,"method":"nearest"}`)
	a, b := frame.Samples[uint8](source.Planes[0]), frame.Samples[uint8](nearest.Planes[0])
	for _, line := range []string{
		`{"frame":5,"regions":[` + region + `]}`,
		`{"frame":5,"method":"nearest","regions":[` + region + `]}`,
		`{"frame":5,"regions":[{"method":"source","outline":[[0,0],[96,0],[96,64],[0,64]]},` + region + `]}`,
	} {
		got, _ := regionFrames(t, input, line)
		m := frame.Samples[uint8](got.Planes[0])
		for y := 20; y < 44; y++ {
			for x := 34; x < 50; x++ { // half of the way from 24 to 44
				if v, want := int(m.Row(y)[x]), (int(a.Row(y)[x-10])+int(b.Row(y)[x+10])+1)/2; max(v-want, want-v) > 1 {
					t.Fatalf("%s: pixel %d, %d is %d, want %d", line, x, y, v, want)
				}
			}
		}
	}
	if _, err := decision.Read(strings.NewReader(`{"frame":5,"regions":[` + region + `]}`)); err != nil {
		t.Fatal(err)
	}
}

// A ball that falls by more than its diameter from one source frame to the next is torn, and one
// arrow mends it.
func TestDrawnMotionMendsABall(t *testing.T) {
	const width, height, frames = 320, 180, 6
	input := filepath.Join(t.TempDir(), "ball.y4m")
	if err := scene.CreateBallY4M(input, width, height, frames); err != nil {
		t.Fatal(err)
	}
	// Frame 5 of twice the rate lies between the source frames 2 and 3.
	const from, at, to = 2. / 24, 2.5 / 24, 3. / 24
	x0, y0, r := scene.BallAt(height, from)
	x1, y1, _ := scene.BallAt(height, to)
	var corners []string
	for i := range 16 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / 16)
		corners = append(corners, fmt.Sprintf("[%.1f,%.1f]", x0+(r+1)*cos, y0+(r+1)*sin))
	}
	truth := scene.DrawBall(width, height, at)
	x, y, _ := scene.BallAt(height, at)
	wrong := func(f *frame.Frame) (sum float64) { // mean error around the ball's way, and twice its width
		n := 0
		m := frame.Samples[uint8](f.Planes[0])
		for j := max(int(y-4*r), 0); j < min(int(y+4*r), height); j++ {
			for i := int(x - 2*r); i < int(x+2*r); i++ {
				sum += math.Abs(float64(m.Row(j)[i]) - float64(truth.Y[j*width+i]))
				n++
			}
		}
		return sum / float64(n)
	}
	torn, doubted := regionFrames(t, input, "")
	mended, trusted := regionFrames(t, input, fmt.Sprintf(`{"frame":5,"regions":[{"method":"motion","outline":[%s],"arrows":[[%g,%g,%g,%g]]}]}`, strings.Join(corners, ","), x0, y0, x1, y1))
	if before, after := wrong(torn), wrong(mended); before < 3 || after > before/4 {
		t.Errorf("wrong by %.1f before and by %.1f after", before, after)
	}
	if doubted.Worst.Score > 0.5 || trusted.Worst.Score < doubted.Worst.Score+0.1 {
		t.Errorf("the worst places are %+v before and %+v after", *doubted.Worst, *trusted.Worst)
	}
}

// A frame between two that no motion joins has none that somebody could draw.
func TestDrawnMotionNeedsFlow(t *testing.T) {
	input := writeScene(t, 96, 64, 8, 24, 1)
	o := pipeline.Options{Input: pipeline.Input{File: input}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "o.nut"), VideoCodec: "rawvideo"}}
	var err error
	if o.Timing.Rate, err = timeline.ParseRate("2x"); err != nil {
		t.Fatal(err)
	}
	if o.Synthesis.Decisions, err = decision.Read(strings.NewReader(`{"frame":5,"regions":[{"method":"motion","outline":[[0,0],[9,0],[0,9]],"arrows":[[1,1,2,2]]}]}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.Run(context.Background(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "cannot be motion: no motion is estimated there") {
		t.Error(err)
	}
}

func TestRegionsAreChecked(t *testing.T) {
	motion := func(method, arrows string) string {
		return `{"frame":1,"regions":[{"method":"` + method + `","outline":[[0,0],[1,0],[1,1]],"arrows":` + arrows + `}]}`
	}
	for _, c := range []struct{ text, want string }{
		{`{"frame":1,"regions":[{"method":"magic","outline":[[0,0],[1,0],[1,1]]}]}`, `has no method "magic"`},
		{`{"frame":1,"regions":[{"method":"nearest","outline":[[0,0],[1,0]]}]}`, "has 2 corners"},
		{`{"frame":1,"regions":[{"method":"nearest","outline":[[0,0],[1e9,0],[1,1]]}]}`, "want pixels"},
		{`{"frame":1,"regions":{}}`, `"regions" cannot be a object`},
		{motion("nearest", `[[1,1,2,2]]`), "has arrows, and the method nearest; arrows go with motion"},
		{motion("motion", "[]"), "has 0 arrows; want 1 to 16"},
		{motion("motion", `[[1,1,2,1e6]]`), "has an arrow from 1, 1 to 2, 1e+06; want pixels"},
		{motion("motion", `[[1,1,2,2],[1,1,3,2]]`), "has no motion: all arrows begin at one place"},
		{motion("motion", `[[1,1,2,2],[4,1,2,2]]`), "has no motion: the arrows change the size too much"},
		{motion("motion", `[{"x":1}]`), "cannot be a object"},
		{`{"frame":1,"method":"motion"}`, `no method "motion"`},
	} {
		if _, err := decision.Read(strings.NewReader(c.text)); fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}
