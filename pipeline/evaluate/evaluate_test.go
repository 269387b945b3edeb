package evaluate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/evaluate/report"
	"retime/pipeline/fault"
	"retime/testdata/scene"
	"retime/warp"
)

// writeScene writes the test scene as a YUV4MPEG2 file.
func writeScene(t testing.TB, width, height, frames, rate int) string {
	t.Helper()
	return cliptest.WriteScene(t, width, height, frames, rate, 1)
}

// writeCut writes the test scene as a YUV4MPEG2 file at 24 frames per second, with
// inverted brightness from frame cut on.
func writeCut(t testing.TB, width, height, frames, cut int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cut.y4m")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := bufio.NewWriter(f)
	fmt.Fprintf(b, "YUV4MPEG2 W%d H%d F24:1 Ip A1:1 C420jpeg\n", width, height)
	for k := range frames {
		p := scene.Draw(width, height, float64(k)/24)
		for i, v := range p.Y {
			if k >= cut {
				p.Y[i] = 255 - v/2
			}
		}
		fmt.Fprintf(b, "FRAME\n%s%s%s", p.Y, p.U, p.V)
	}
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	return name
}

// ffmpeg runs the ffmpeg program.
func ffmpeg(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command("ffmpeg", append([]string{"-v", "info", "-nostdin", "-y"}, args...)...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the ffmpeg program; make deps installs it")
	}
	if err != nil {
		t.Fatalf("ffmpeg %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func mustRun(t testing.TB, o Options) *report.Report {
	t.Helper()
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// quick returns options with one setting, a blend, which is quick.
func quick(input string) Options {
	return Options{Input: pipeline.Input{File: input}, Settings: []Setting{{Name: "quick", Convert: pipeline.Options{Synthesis: pipeline.Synthesis{Mode: warp.Blend}}}}, NoVIF: true}
}

func TestHeldOutFrames(t *testing.T) {
	clip := writeScene(t, 32, 24, 11, 24)
	for _, c := range []struct {
		set   func(*Options)
		want  []int
		times float64 // relative to the first
	}{
		{func(*Options) {}, []int{1, 3, 5, 7, 9}, 1. / 24},
		{func(o *Options) { o.Every = 3 }, []int{2, 5, 8}, 2. / 24},
		{func(o *Options) { o.Every = 10 }, []int{9}, 9. / 24},
		{func(o *Options) { o.MaxFrames = 6 }, []int{1, 3}, 1. / 24},
		{func(o *Options) { o.MaxFrames = 100 }, []int{1, 3, 5, 7, 9}, 1. / 24},
		{func(o *Options) { o.From = big.NewRat(4, 24) }, []int{1, 3, 5}, 5. / 24},
		{func(o *Options) { o.From, o.To = big.NewRat(4, 24), big.NewRat(8, 24) }, []int{1}, 5. / 24},
		{func(o *Options) { o.To = big.NewRat(7, 24) }, []int{1, 3, 5}, 1. / 24},
	} {
		o := quick(clip)
		c.set(&o)
		r := mustRun(t, o)
		var got []int
		for _, f := range r.Frames {
			got = append(got, f.Index)
		}
		if !slices.Equal(got, c.want) || math.Abs(float64(r.Frames[0].Time)-c.times) > 1e-6 {
			t.Errorf("every %d from %v to %v, at most %d: held out %v, the first at %f s; want %v, %f s",
				r.Every, o.From, o.To, o.MaxFrames, got, r.Frames[0].Time, c.want, c.times)
		}
		if m := r.Methods[0]; len(m.Frames.PSNRY) != len(c.want) || m.Total.Frames != len(c.want) {
			t.Errorf("%d figures of %d frames", len(m.Frames.PSNRY), len(c.want))
		}
	}
}

func TestMethodsCompare(t *testing.T) {
	o := Options{Input: pipeline.Input{File: writeScene(t, 160, 96, 9, 12)}, Peers: []Peer{
		{Name: "blend", Method: Blend}, {Name: "nearest", Method: Nearest}, {Name: "minterpolate", Method: Minterpolate},
		{Name: "dup", Method: Minterpolate, Filter: "mi_mode=dup"},
	}}
	var last pipeline.Progress
	o.Progress = func(p pipeline.Progress) {
		if p.Frames != last.Frames+1 {
			t.Errorf("progress jumps from %d to %d", last.Frames, p.Frames)
		}
		last = p
	}
	r := mustRun(t, o)
	if last.Frames != last.Total || last.Total != 5*(4+4) {
		t.Errorf("progress ends at %d of %d, want 40", last.Frames, last.Total)
	}
	by := map[string]report.Method{}
	for _, m := range r.Methods {
		by[m.Name] = m
		if m.Total.Frames != 4 || m.TimedFrames != 4 || m.SecondsPerFrame <= 0 {
			t.Errorf("%s: %d frames, %d timed at %f s", m.Name, m.Total.Frames, m.TimedFrames, m.SecondsPerFrame)
		}
	}
	for _, pair := range [][2]string{{"balanced", "blend"}, {"minterpolate", "blend"}, {"blend", "nearest"}, {"blend", "dup"}} {
		a, b := by[pair[0]].Total, by[pair[1]].Total
		if a.PSNRY <= b.PSNRY || a.SSIMY <= b.SSIMY || a.VIF <= b.VIF {
			t.Errorf("on linear motion %s (%.2f dB, %.3f, %.3f) is no better than %s (%.2f dB, %.3f, %.3f)",
				pair[0], a.PSNRY, a.SSIMY, a.VIF, pair[1], b.PSNRY, b.SSIMY, b.VIF)
		}
	}
	if len(r.Verdict) != 1 || !strings.Contains(r.Verdict[0], "above the best peer") {
		t.Errorf("verdict %q", r.Verdict)
	}
	if !strings.Contains(r.Note, "pessimistic") {
		t.Errorf("the note does not say that the figures are pessimistic: %q", r.Note)
	}
}

// Every method makes a still clip without error, even minterpolate at the end.
func TestStillClip(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "still.mkv")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=96x64:r=24:d=0.05", "-vf", "loop=loop=8:size=1,setpts=N/24/TB", "-r", "24", "-c:v", "ffv1", "-pix_fmt", "yuv420p", clip)
	o := Options{Input: pipeline.Input{File: clip}, Worst: 3, Peers: []Peer{{Name: "m", Method: Minterpolate}, {Name: "b", Method: Blend}}}
	r := mustRun(t, o)
	if len(r.Frames) != 4 {
		t.Fatalf("%d frames held out, want 4", len(r.Frames))
	}
	for _, m := range r.Methods {
		s := m.Total
		if !math.IsInf(float64(s.PSNRY), 1) || !math.IsInf(float64(s.PSNR), 1) || s.PSNRYMean != maxDecibel || s.SSIM != 1 || s.VIF != 1 {
			t.Errorf("%s: %+v", m.Name, s)
		}
	}
	var b strings.Builder
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var decoded struct {
		Methods []struct {
			Total struct {
				PSNRY *float64 `json:"psnr_y"`
				SSIM  *float64
			}
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &decoded); err != nil {
		t.Fatal(err)
	}
	if got := decoded.Methods[0].Total; got.PSNRY != nil || got.SSIM == nil || *got.SSIM != 1 {
		t.Errorf("infinity is written as %v, a similarity of 1 as %v", got.PSNRY, got.SSIM)
	}
}

func TestShots(t *testing.T) {
	for _, c := range []struct {
		cut    int // index of the first frame after the cut
		across []int
		held   []int // of each shot
	}{{6, []int{5}, []int{3, 2}}, {7, []int{7}, []int{3, 2}}, {100, nil, []int{5}}} {
		r := mustRun(t, quick(writeCut(t, 64, 48, 11, c.cut)))
		var across, held []int
		for _, f := range r.Frames {
			if f.AcrossCut {
				across = append(across, f.Index)
			}
			if (f.Shot == 1) != (f.Index >= c.cut) {
				t.Errorf("cut before %d: frame %d is in shot %d", c.cut, f.Index, f.Shot)
			}
		}
		for i, s := range r.Shots {
			held = append(held, s.Frames)
			if got := r.Methods[0].Shots[i].Frames; got != s.Frames {
				t.Errorf("cut before %d: figures of %d frames in shot %d, which has %d", c.cut, got, i, s.Frames)
			}
		}
		if !slices.Equal(across, c.across) || !slices.Equal(held, c.held) {
			t.Errorf("cut before %d: frames %v across it, %v held out of each shot; want %v and %v", c.cut, across, held, c.across, c.held)
		}
		if m := r.Methods[0]; len(c.across) > 0 && m.WithinShots.PSNRY <= m.Total.PSNRY+1 {
			t.Errorf("cut before %d: %.2f dB within shots, %.2f dB in all", c.cut, m.WithinShots.PSNRY, m.Total.PSNRY)
		}
	}
}

// The report has retime's own confidence in each frame.
func TestConfidence(t *testing.T) {
	o := Options{Input: pipeline.Input{File: writeCut(t, 160, 96, 11, 6)}, NoVIF: true, Peers: []Peer{{Name: "blend", Method: Blend}}}
	r := mustRun(t, o)
	f := r.Methods[0].Frames
	if len(f.Confidence) != len(r.Frames) || len(f.How) != len(r.Frames) {
		t.Fatalf("%d confidences, %d methods of %d frames", len(f.Confidence), len(f.How), len(r.Frames))
	}
	for k, frame := range r.Frames {
		want := pipeline.Interpolated
		if frame.AcrossCut {
			want = pipeline.Nearest
		}
		if f.How[k] != want || f.Confidence[k] < 0 || f.Confidence[k] > 1 {
			t.Errorf("frame %d: %s with confidence %f, want %s", frame.Index, f.How[k], f.Confidence[k], want)
		}
	}
	if b := r.Methods[1].Frames; b.Confidence != nil || b.How != nil {
		t.Errorf("a blend has confidence %v", b.Confidence)
	}
}

// At a varying rate, each frame is made for its own time.
func TestVariableRate(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "vfr.mkv")
	// Frames at 0, 1, 3, 4, 6, 7, ... 24ths: the second of two gaps is twice as long.
	ffmpeg(t, "-i", writeScene(t, 160, 96, 24, 24), "-vf", "select='mod(n,3)-2'", "-fps_mode", "vfr", "-c:v", "ffv1", clip)
	o := Options{Input: pipeline.Input{File: clip}, NoVIF: true, Peers: []Peer{{Name: "minterpolate", Method: Minterpolate}, {Name: "blend", Method: Blend}}}
	r := mustRun(t, o)
	for i, f := range r.Frames {
		if want := float64(1+3*i) / 24; math.Abs(float64(f.Time)-want) > 1e-3 {
			t.Errorf("frame %d at %f s, want %f", f.Index, f.Time, want)
		}
	}
	// Frames made half-way between their neighbours would all miss the truth.
	for _, m := range r.Methods[:2] {
		if m.Total.PSNRY < 27 {
			t.Errorf("%s: %.2f dB", m.Name, m.Total.PSNRY)
		}
	}
}

func TestWorstFrames(t *testing.T) {
	o := quick(writeScene(t, 64, 48, 41, 24))
	o.Worst = 3
	r := mustRun(t, o)
	if len(r.Worst) != 3 || len(r.Pictures.Worst) != 3 {
		t.Fatalf("worst frames %v, %d exhibits; want 3", r.Worst, len(r.Pictures.Worst))
	}
	series := r.Methods[0].Frames.PSNRY
	for i, k := range r.Worst {
		if i > 0 && series[k] < series[r.Worst[i-1]] {
			t.Errorf("worst frames %v are out of order", r.Worst)
		}
		for _, other := range r.Worst[:i] {
			if d := k - other; d > -4 && d < 4 {
				t.Errorf("worst frames %v are neighbours", r.Worst)
			}
		}
	}
	if slices.Min(series) != series[r.Worst[0]] {
		t.Errorf("frame %d is shown as the worst, at %.2f dB; one has %.2f dB", r.Worst[0], series[r.Worst[0]], slices.Min(series))
	}
}

// The figures and pictures do not depend on the number of threads.
func TestSameReportWhateverTheThreads(t *testing.T) {
	input := writeCut(t, 161, 93, 9, 6)
	var first string
	for _, threads := range []int{1, 2, 8} {
		r := mustRun(t, Options{Input: pipeline.Input{File: input}, Threads: threads, Worst: 2, Regions: 3, Peers: []Peer{{Name: "minterpolate", Method: Minterpolate}}})
		r.Threads, r.Made, r.Verdict = 0, "", nil
		for i := range r.Methods {
			r.Methods[i].SecondsPerFrame = 0
		}
		var b strings.Builder
		if err := r.WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = b.String()
		} else if b.String() != first {
			t.Errorf("%d threads give another report than one", threads)
		}
	}
}

// The report shows each region of the truth, of the source frames and of every method's frame.
func TestWorstRegions(t *testing.T) {
	o := quick(writeCut(t, 160, 96, 21, 12))
	o.Regions, o.Peers = 4, []Peer{{Name: "nearest", Method: Nearest}, {Name: "truth", Method: Command, Line: "cat \"$CLIP\""}}
	t.Setenv("CLIP", o.Input.File)
	r := mustRun(t, o)
	if len(r.Regions) != 4 || len(r.Pictures.Regions) != 4 || len(r.Methods) != 3 {
		t.Fatalf("%d regions with %d pictures by %d methods, failed %v", len(r.Regions), len(r.Pictures.Regions), len(r.Methods), r.Failed)
	}
	for i, region := range r.Regions {
		if r.Frames[region.Frame].AcrossCut {
			t.Errorf("region %d lies in a frame across a cut", i)
		}
		if region.Width != 64 || region.Height != 64 || region.X < 0 || region.X+64 > 160 || region.Y < 0 || region.Y+64 > 96 || len(region.PSNRY) != 3 {
			t.Errorf("region %d: %+v", i, region)
		}
		if whole := r.Methods[0].Frames.PSNRY[region.Frame]; region.PSNRY[0] >= whole {
			t.Errorf("region %d has %.2f dB, its frame %.2f dB", i, region.PSNRY[0], whole)
		}
		p := r.Pictures.Regions[i]
		if !bytes.Equal(p.Truth, p.Made[2]) || bytes.Equal(p.Truth, p.Made[0]) || bytes.Equal(p.Truth, p.Before) || bytes.Equal(p.Truth, p.After) {
			t.Errorf("region %d: the pictures are mixed up", i)
		}
		if !bytes.Equal(p.Made[1], p.Before) && !bytes.Equal(p.Made[1], p.After) {
			t.Errorf("region %d: the nearest frame is none of the neighbours", i)
		}
		m, err := png.Decode(bytes.NewReader(p.Before))
		if err != nil || m.Bounds().Dx() != 64 || m.Bounds().Dy() != 64 {
			t.Errorf("region %d: a picture of %v: %v", i, m, err)
		}
	}
}

func TestParsePeer(t *testing.T) {
	for _, c := range []struct {
		text string
		want Peer
		ok   bool
	}{
		{"blend", Peer{Name: "blend", Method: Blend}, true},
		{"nearest", Peer{Name: "nearest", Method: Nearest}, true},
		{"minterpolate", Peer{Name: "minterpolate", Method: Minterpolate}, true},
		{"minterpolate=mc_mode=aobmc:vsbmc=1", Peer{Name: "minterpolate=mc_mode=aobmc:vsbmc=1", Method: Minterpolate, Filter: "mc_mode=aobmc:vsbmc=1"}, true},
		{`other=other "$IN" -r $RATE`, Peer{Name: "other", Method: Command, Line: `other "$IN" -r $RATE`}, true},
		{"other=", Peer{}, false}, {"other= ", Peer{}, false}, {"=other", Peer{}, false}, {"none=other", Peer{}, false},
		{"", Peer{}, false}, {"magic", Peer{}, false}, {"blend=1", Peer{}, false}, {"minterpolate=", Peer{}, false},
		{"minterpolate=scd=none,negate", Peer{}, false}, {"minterpolate=a[out];[in0]null", Peer{}, false},
	} {
		got, err := ParsePeer(c.text)
		if (err == nil) != c.ok || got != c.want || err != nil && fault.KindOf(err) != fault.Usage {
			t.Errorf("%q: %+v, %v; want %+v", c.text, got, err, c.want)
		}
	}
}
