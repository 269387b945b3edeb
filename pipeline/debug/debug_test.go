package debug

import (
	"context"
	"encoding/json"
	"image"
	"image/color"
	_ "image/png"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
)

// clip makes a video of a pattern that moves 4 pixels to the right a frame, at 10
// frames a second.
func clip(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "clip.nut")
	out, err := exec.Command("ffmpeg", "-v", "error", "-f", "lavfi", "-i",
		"mandelbrot=size=160x120:rate=10:end_scale=0.3,trim=end_frame=1,loop=7:1,setpts=N/10/TB,scroll=h=-0.025",
		"-r", "10", "-frames:v", "6", "-pix_fmt", "yuv420p", "-c:v", "rawvideo", name).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, out)
	}
	return name
}

func decode(t *testing.T, name string) image.Image {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, _, err := image.Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

func TestWrite(t *testing.T) {
	input := clip(t)
	o := pipeline.Options{Input: pipeline.Input{File: input}, Synthesis: pipeline.Synthesis{Preset: pipeline.Balanced}}
	d, err := Dissect(context.Background(), o, big.NewRat(25, 100))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release()
	dir := filepath.Join(t.TempDir(), "why")
	if err := Write(dir, d, false); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, d, false); fault.KindOf(err) != fault.CannotWrite {
		t.Errorf("writing over what is there: %v", err)
	}
	if err := Write(dir, d, true); err != nil {
		t.Error(err)
	}

	text, err := os.ReadFile(filepath.Join(dir, textName))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]bool{}
	for _, e := range entries {
		written[e.Name()] = true
	}
	for _, name := range Files {
		if !written[name] {
			t.Errorf("%s is not written", name)
		}
	}
	if len(written) != len(Files) {
		t.Errorf("%v are written, and not %q alone", written, Files)
	}
	for _, e := range entries {
		if name := e.Name(); name != textName && !strings.Contains(string(text), name) {
			t.Errorf("%s does not tell of %s", textName, name)
		}
	}
	for name, size := range map[string]image.Point{
		"1-first.png": {160, 120}, "2-made.png": {160, 120}, "3-second.png": {160, 120},
		"flow-forward.png": {160, 120}, "flow-backward.png": {160, 120}, "flow-projected.png": {160, 120},
		"costs.png": {160, 120}, "shares.png": {160, 120}, "confidence.png": {160, 120}, "overlay.png": {160, 120},
		"holes.png": {360, 120 + 3*legend}, "visibility.png": {360, 120 + 4*legend}, "hypotheses.png": {360, 120 + 12*legend},
	} {
		if got := decode(t, filepath.Join(dir, name)).Bounds().Size(); got != size {
			t.Errorf("%s is %v, want %v", name, got, size)
		}
	}
	// Motion to the right is red, and the other way cyan.
	rgb := func(name string) (r, g, b int) {
		c := color.RGBAModel.Convert(decode(t, filepath.Join(dir, name)).At(80, 60)).(color.RGBA)
		return int(c.R), int(c.G), int(c.B)
	}
	if r, g, b := rgb("flow-forward.png"); r < g+50 || r < b+50 {
		t.Errorf("forward flow is drawn (%d, %d, %d), want red", r, g, b)
	}
	if r, g, b := rgb("flow-backward.png"); r > g-50 || r > b-50 {
		t.Errorf("backward flow is drawn (%d, %d, %d), want cyan", r, g, b)
	}

	data, err := os.ReadFile(filepath.Join(dir, dataName))
	if err != nil {
		t.Fatal(err)
	}
	var n numbers
	if err := json.Unmarshal(data, &n); err != nil {
		t.Fatal(err)
	}
	if n.At != 0.25 || n.First != 0.2 || n.Second != 0.3 || n.Phase != 0.5 || n.Outer != 2 || n.GridWidth != 160 || len(n.Hypotheses) != 12 {
		t.Errorf("numbers: %+v", n)
	}
	var wins, share float64
	for _, h := range n.Hypotheses {
		wins, share = wins+h.Wins, share+h.Share
	}
	if wins < 99.9 || wins > 100.1 || share < 99 || share > 100.1 {
		t.Errorf("hypotheses win %.2f %% and have %.2f %% of the shares", wins, share)
	}
}

// The dissected frame equals the frame of a conversion.
func TestDissectionIsTheConversion(t *testing.T) {
	input := clip(t)
	for _, at := range []*big.Rat{big.NewRat(5, 100), big.NewRat(25, 100), big.NewRat(45, 100)} {
		d, err := Dissect(context.Background(), pipeline.Options{Input: pipeline.Input{File: input}}, at)
		if err != nil {
			t.Fatal(err)
		}
		rate, _ := timeline.ParseRate("20")
		var records []pipeline.Record
		o := pipeline.Options{
			Input:  pipeline.Input{File: input},
			Output: pipeline.Output{File: filepath.Join(t.TempDir(), "o.nut"), VideoCodec: "rawvideo"},
			Timing: pipeline.Timing{Rate: rate},
			Hooks:  pipeline.Hooks{Record: func(r pipeline.Record) { records = append(records, r) }},
		}
		if _, err := pipeline.Run(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		seconds, _ := at.Float64()
		r := records[int(seconds*20+0.5)]
		if r.Confidence != d.Record.Confidence || r.Error != d.Record.Error || r.Method != d.Record.Method || r.Phase != d.Record.Phase {
			t.Errorf("at %v: dissected %+v, converted %+v", seconds, d.Record, r)
		}
		d.Release()
	}
}

// The made frame is drawn in the source's colours.
func TestColours(t *testing.T) {
	name := filepath.Join(t.TempDir(), "clip.mp4")
	out, err := exec.Command("ffmpeg", "-v", "error", "-filter_complex",
		"color=red:s=64x48:r=10[ground];color=blue:s=8x8:r=10[box];[ground][box]overlay=x=8+4*n:y=20:format=gbrp,scale=out_color_matrix=bt709", "-frames:v", "6", "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-c:v", "libx264", "-qp", "0", name).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, out)
	}
	d, err := Dissect(context.Background(), pipeline.Options{Input: pipeline.Input{File: name}}, big.NewRat(25, 100))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release()
	drawn, err := Draw(d)
	if err != nil {
		t.Fatal(err)
	}
	if first, made := drawn[0].Picture.At(2, 2), drawn[1].Picture.At(2, 2); first != made {
		t.Errorf("a corner that never changes is %v in the source and %v in the made frame", first, made)
	}
}

func TestNothingToDissect(t *testing.T) {
	input := clip(t)
	for _, c := range []struct {
		at   *big.Rat
		want string
	}{
		{big.NewRat(2, 10), "there is a source frame at this time"},
		{big.NewRat(55, 100), "no frame"},
		{big.NewRat(100, 1), "no frame"},
	} {
		d, err := Dissect(context.Background(), pipeline.Options{Input: pipeline.Input{File: input}}, c.at)
		if err == nil {
			d.Release()
		}
		if fault.KindOf(err) != fault.Usage || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("at %s: %v, want %q", c.at.RatString(), err, c.want)
		}
	}
}
