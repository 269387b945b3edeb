package media_test

import (
	"bytes"
	"context"
	"log/slog"
	"math/big"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/warp"
)

// Players show a frame of a GIF for a tenth of a second if it states less than two
// hundredths.
func TestGIFRate(t *testing.T) {
	in := writeScene(t, 48, 32, 30, 60, 1)
	for _, c := range []struct {
		rate, want int64
		frames     int64
		delays     string // distances of the frames in hundredths that may occur
	}{{60, 50, 25, "2"}, {120, 50, 25, "2"}, {50, 50, 25, "2"}, {40, 40, 20, "23"}, {25, 25, 12, "4"}} {
		var said strings.Builder
		o := pipeline.Options{
			Input: pipeline.Input{File: in}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.gif")},
			Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(c.rate, 1)}}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest},
			Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
		}
		report := mustRun(t, o)
		if report.Rate.Cmp(big.NewRat(c.want, 1)) != 0 || report.Frames < c.frames || report.Frames > c.frames+1 {
			t.Errorf("%d: %d frames at %s, want %d at %d", c.rate, report.Frames, report.Rate.RatString(), c.frames, c.want)
		}
		if warned := strings.Contains(said.String(), "written="+big.NewRat(c.want, 1).RatString()+"\n"); warned != (c.rate != c.want) {
			t.Errorf("%d: said %q", c.rate, said.String())
		}
		out, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "packet=duration", "-of", "csv=p=0", o.Output.File).Output()
		if err != nil {
			t.Fatal(err)
		}
		delays := strings.Fields(string(out))
		for _, d := range delays[:len(delays)-1] { // the last one has no frame to wait for
			if !strings.Contains(c.delays, d) {
				t.Errorf("%d: delays %s", c.rate, delays)
				break
			}
		}
	}
	_, err := pipeline.Run(context.Background(), pipeline.Options{
		Input: pipeline.Input{File: in}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.gif")}, Timing: pipeline.Timing{KeepTimestamps: true}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest},
	})
	if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "timestamps that are kept have 60.000") {
		t.Errorf("kept timestamps: %v", err)
	}
}

// The pictures of a GIF that need no more than its colours come through unchanged, and
// transparent ones stay so. There are more colours than a fixed palette has.
func TestGIFPalette(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.gif")
	ffmpeg(t, "-f", "lavfi", "-i", "color=s=48x32:r=20:d=0.5,format=rgba,geq=r='mod(X*5+N*5,240)':g=7*floor(Y/8):b=99:a='255*gte(X,16)'",
		"-filter_complex", "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none", in)
	o := pipeline.Options{Input: pipeline.Input{File: in}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.gif")}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest}}
	mustRun(t, o)
	want, _, v := readAll(t, in)
	got, _, w := readAll(t, o.Output.File)
	if v.Source != "bgra" || w.Source != v.Source || len(got) != len(want) || len(want) != 10 {
		t.Fatalf("%d frames in %s, want %d in %s", len(got), w.Source, len(want), v.Source)
	}
	for i := range want {
		if !bytes.Equal(want[i], got[i]) {
			t.Errorf("frame %d came through changed", i)
		}
	}
	alpha := want[0][len(want[0])-48*32:]
	if alpha[0] != 0 || alpha[47] != 255 {
		t.Errorf("alpha is %d and %d", alpha[0], alpha[47])
	}
}

// A palette of the whole clip cannot be made for its parts.
func TestGIFInParts(t *testing.T) {
	clip, err := pipeline.Open(t.Context(), pipeline.Options{Input: pipeline.Input{File: writeScene(t, 48, 32, 3, 24, 1)}, Output: pipeline.Output{File: "out.gif"}})
	if err != nil {
		t.Fatal(err)
	}
	defer clip.Close()
	_, err = media.NewEncoder(t.Context(), "out.gif", clip.Source, clip.WriterOptions(nil), 0, func(media.Packet) error { return nil })
	if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "palette") {
		t.Errorf("%v", err)
	}
}

// A GIF cannot keep timestamps that come faster than players show, whatever makes them so.
func TestGIFKeepsNoFastTimestamps(t *testing.T) {
	clip := writeScene(t, 64, 48, 12, 24, 1)
	for _, c := range []struct {
		rate, slow *big.Rat
		want       fault.Kind
	}{
		{nil, nil, 0},
		{big.NewRat(60, 1), nil, fault.Usage},
		{nil, big.NewRat(1, 3), fault.Usage},
		{big.NewRat(48, 1), big.NewRat(2, 1), 0},
	} {
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.gif")}}
		o.Synthesis.Mode, o.Timing.KeepTimestamps, o.Timing.Rate.Value, o.Timing.Slow = warp.Nearest, true, c.rate, c.slow
		if _, err := pipeline.Run(t.Context(), o); (err == nil) != (c.want == 0) || err != nil && fault.KindOf(err) != c.want {
			t.Errorf("rate %v, slow %v: %v", c.rate, c.slow, err)
		}
	}
}
