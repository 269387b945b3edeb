package restore

import (
	"bytes"
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/frame"
	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/media"
	"retime/testdata/scene"
	"retime/warp"
)

var ffmpeg = cliptest.FFmpeg

// writeScene writes the test scene as a YUV4MPEG2 file.
func writeScene(t testing.TB, width, height, frames int) string {
	t.Helper()
	return cliptest.WriteScene(t, width, height, frames, 24, 1)
}

// blacken makes frames of a 4:2:0 YUV4MPEG2 file black.
func blacken(t testing.TB, name string, width, height int, frames ...int) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	luma := width * height
	size := luma + 2*((width+1)/2)*((height+1)/2)
	at := bytes.IndexByte(data, '\n') + 1
	for _, n := range frames {
		f := data[at+n*(size+len("FRAME\n"))+len("FRAME\n"):][:size]
		for i := range f {
			if f[i] = 128; i < luma {
				f[i] = 16
			}
		}
	}
	out := filepath.Join(t.TempDir(), "damaged.y4m")
	if err := os.WriteFile(out, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return out
}

func readAll(t testing.TB, name string) (frames []*frame.Frame, stamps []int64) {
	t.Helper()
	cliptest.Each(t, name, func(f *frame.Frame, _ media.Video) {
		frames, stamps = append(frames, f.Retain()), append(stamps, f.PTS)
	})
	return frames, stamps
}

// psnr returns the PSNR of luma in dB.
func psnr(a, b *frame.Frame) float64 {
	p, q := frame.Samples[uint8](a.Planes[0]), frame.Samples[uint8](b.Planes[0])
	sum := 0.0
	for y := range p.Height {
		rp, rq := p.Row(y), q.Row(y)
		for x := range rp {
			d := float64(rp[x]) - float64(rq[x])
			sum += d * d
		}
	}
	return 10 * math.Log10(255*255*float64(p.Width*p.Height)/sum)
}

// options returns the options of a lossless restoration.
func options(t testing.TB, input string) Options {
	return Options{Convert: pipeline.Options{
		Input:     pipeline.Input{File: input},
		Output:    pipeline.Output{File: filepath.Join(t.TempDir(), "out.nut"), VideoCodec: "rawvideo"},
		Synthesis: pipeline.Synthesis{Preset: pipeline.Fast},
		Compute:   pipeline.Compute{Backend: pipeline.CPU},
	}}
}

func frames(t testing.TB, text string) []Finding {
	t.Helper()
	f, err := ParseFrames(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustRun(t testing.TB, o Options) *Report {
	t.Helper()
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Listed frames come back close to the original; all others are untouched.
func TestListedFrames(t *testing.T) {
	const width, height, count = 97, 61, 20
	whole := writeScene(t, width, height, count)
	truth, _ := readAll(t, whole)
	for _, c := range []struct {
		list   string
		bad    []int
		within float64 // dB
	}{
		{"5", []int{5}, 27}, {"3,9-11", []int{3, 9, 10, 11}, 22}, {"0:00.21", []int{5}, 27}, {"0-1", []int{0, 1}, 19}, {"18-19", []int{18, 19}, 19},
	} {
		input := blacken(t, whole, width, height, c.bad...)
		_, stamps := readAll(t, input)
		o := options(t, input)
		o.Damage = frames(t, c.list)
		var log []Entry
		o.Log = func(e Entry) { log = append(log, e) }
		report := mustRun(t, o)
		got, times := readAll(t, o.Convert.Output.File)
		if len(got) != count || report.Made != int64(len(c.bad)) || len(log) != len(c.bad) {
			t.Fatalf("%s: %d frames, %d made, %d in the log", c.list, len(got), report.Made, len(log))
		}
		if len(times) != len(stamps) {
			t.Fatalf("%s: %d timestamps of %d", c.list, len(times), len(stamps))
		}
		for i := range got {
			if slices.Contains(c.bad, i) {
				if db := psnr(got[i], truth[i]); db < c.within {
					t.Errorf("%s: frame %d is %.1f dB off, want %.0f", c.list, i, db, c.within)
				}
			} else if !frame.Equal(got[i], truth[i]) {
				t.Errorf("%s: frame %d, which is sound, is touched", c.list, i)
			}
		}
		for k, e := range log {
			if e.Frame != int64(c.bad[k]) || e.Source != int64(c.bad[k]) || e.Kind != Listed {
				t.Errorf("%s: log %+v of frame %d", c.list, e, c.bad[k])
			}
			for _, n := range e.Neighbours {
				if slices.Contains(c.bad, int(n)) {
					t.Errorf("%s: frame %d is made from %d, which is damaged", c.list, c.bad[k], n)
				}
			}
			if edge := c.bad[0] == 0 || c.bad[k] == count-1; edge && e.Method != pipeline.Extrapolated || !(e.Confidence > 0 && e.Confidence < 1) {
				t.Errorf("%s: frame %d: %s, confidence %.2f", c.list, c.bad[k], e.Method, e.Confidence)
			}
			if e.Method == pipeline.Extrapolated && (e.Phase >= 0 && e.Phase <= 1 || len(e.Neighbours) != 2) {
				t.Errorf("%s: frame %d: phase %v between %v", c.list, c.bad[k], e.Phase, e.Neighbours)
			}
		}
	}
}

// Motion that bends on either side of a gap also bends inside it.
func TestMotionThroughAGap(t *testing.T) {
	const width, height = 192, 108
	times := steady(20)
	for i := range times {
		times[i] = 12 + 9*math.Sin(float64(i)/3.2) // up to 2.8 frames' motion at a time
	}
	input := writeClip(t, width, height, times, nil)
	truth, _ := readAll(t, input)
	for _, c := range []struct {
		list string
		bad  []int
		gain float64 // dB over straight motion
	}{{"5", []int{5}, 1}, {"4-6,14-15", []int{4, 5, 6, 14, 15}, 2}} {
		var db [2]float64
		for k, preset := range []pipeline.Preset{pipeline.Fast, pipeline.Balanced} { // the first preset makes motion straight
			o := options(t, input)
			o.Convert.Synthesis.Preset, o.Damage = preset, frames(t, c.list)
			mustRun(t, o)
			got, _ := readAll(t, o.Convert.Output.File)
			for _, n := range c.bad {
				db[k] += psnr(got[n], truth[n]) / float64(len(c.bad))
			}
		}
		t.Logf("%s: %.2f dB, %.2f dB", c.list, db[0], db[1])
		if db[1] < db[0]+c.gain {
			t.Errorf("%s: %.2f dB, %.2f dB straight; want %.0f more", c.list, db[1], db[0], c.gain)
		}
	}
}

// At a scene cut in the gap, each side shows its own scene.
func TestGapOverACut(t *testing.T) {
	const width, height = 160, 96
	name := filepath.Join(t.TempDir(), "cut.y4m")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := scene.WriteY4M(f, width, height, 8, 24, 1); err != nil {
		t.Fatal(err)
	}
	p := scene.Draw(width, height, 100) // another texture
	for range 8 {
		planes := [][]byte{[]byte("FRAME\n"), p.Y, p.U, p.V}
		for _, plane := range planes {
			if _, err := f.Write(plane); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.Close()
	o := options(t, name)
	o.Damage = frames(t, "6-9")
	if r := mustRun(t, o); r.Made != 4 || r.Conversion.Made != 0 || r.Conversion.Held != 4 {
		t.Errorf("%d rebuilt, %d of them made and %d held", r.Made, r.Conversion.Made, r.Conversion.Held)
	}
	truth, _ := readAll(t, name)
	got, _ := readAll(t, o.Convert.Output.File)
	for i, want := range map[int]int{6: 5, 7: 5, 8: 10, 9: 10} {
		if !frame.Equal(got[i], truth[want]) {
			t.Errorf("frame %d is not frame %d, the nearer one", i, want)
		}
	}
}

// Inserted frames are evenly spaced in the gap.
func TestInsert(t *testing.T) {
	whole := writeScene(t, 96, 64, 12)
	gappy := filepath.Join(t.TempDir(), "gap.nut")
	ffmpeg(t, "-i", whole, "-vf", "select='not(between(n,5,6))'", "-fps_mode", "passthrough", "-c:v", "rawvideo", gappy)
	truth, stamps := readAll(t, whole)
	o := options(t, gappy)
	var err error
	if o.Damage, err = ParseInsert("4:2"); err != nil {
		t.Fatal(err)
	}
	var log []Entry
	o.Log = func(e Entry) { log = append(log, e) }
	mustRun(t, o)
	got, times := readAll(t, o.Convert.Output.File)
	if len(got) != len(truth) {
		t.Fatalf("%d frames, want %d", len(got), len(truth))
	}
	unit := times[1] - times[0]
	for i := range got {
		if times[i] != stamps[i]*unit {
			t.Errorf("frame %d at %d, want %d", i, times[i], stamps[i]*unit)
		}
		if made := i == 5 || i == 6; !made && !frame.Equal(got[i], truth[i]) {
			t.Errorf("frame %d is touched", i)
		} else if db := psnr(got[i], truth[i]); made && db < 22 {
			t.Errorf("frame %d is %.1f dB off", i, db)
		}
	}
	if len(log) != 2 || log[0].Frame != 5 || log[0].Source != -1 || !slices.Equal(log[1].Neighbours, []int64{4, 5}) {
		t.Errorf("log %+v", log)
	}
}

// Variable timestamps stay the same, to the tick.
func TestTimestampsStay(t *testing.T) {
	vfr := filepath.Join(t.TempDir(), "vfr.mkv")
	ffmpeg(t, "-i", writeScene(t, 96, 64, 14), "-vf", "setpts='(N*N*3+40*N)*1001/30000/50/TB'", "-fps_mode", "passthrough", "-enc_time_base", "1/1000", "-c:v", "ffv1", vfr)
	truth, stamps := readAll(t, vfr)
	o := options(t, vfr)
	o.Convert.Output.File, o.Convert.Output.VideoCodec = filepath.Join(t.TempDir(), "out.mkv"), "ffv1"
	o.Damage = frames(t, "3,7-8")
	mustRun(t, o)
	got, times := readAll(t, o.Convert.Output.File)
	if !slices.Equal(times, stamps) {
		t.Errorf("timestamps %v, want %v", times, stamps)
	}
	for i := range got {
		if made := i == 3 || i == 7 || i == 8; made == frame.Equal(got[i], truth[i]) {
			t.Errorf("frame %d: made %t", i, made)
		}
	}
}

func TestLongRunsStay(t *testing.T) {
	input := writeScene(t, 64, 48, 16)
	o := options(t, input)
	o.Convert.Synthesis.Mode = warp.Blend
	o.Damage = frames(t, "2,5-8,12-13")
	o.MaxRun = 2
	report := mustRun(t, o)
	truth, _ := readAll(t, input)
	got, _ := readAll(t, o.Convert.Output.File)
	if len(report.TooLong) != 1 || report.TooLong[0].First.Number != 5 || report.TooLong[0].Last.Number != 8 || report.Made != 3 {
		t.Errorf("left %v, made %d", report.TooLong, report.Made)
	}
	for i := 5; i <= 8; i++ {
		if !frame.Equal(got[i], truth[i]) {
			t.Errorf("frame %d is touched", i)
		}
	}
}

// If the container does not state the pixels' shape, it is still kept in another codec.
func TestPixelAspectStays(t *testing.T) {
	input := filepath.Join(t.TempDir(), "in.vob")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=88x72:r=25", "-frames:v", "6", "-vf", "setsar=16/11", "-c:v", "mpeg4", input)
	o := options(t, input)
	o.Convert.Synthesis.Mode, o.Convert.Output.VideoCodec = warp.Blend, "ffv1"
	o.Convert.Output.File = filepath.Join(t.TempDir(), "out.mkv")
	o.Damage = frames(t, "2")
	mustRun(t, o)
	out, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "stream=sample_aspect_ratio", "-of", "csv=p=0", o.Convert.Output.File).Output()
	if got := strings.TrimSpace(string(out)); err != nil || got != "16:11" {
		t.Errorf("%q, %v; want 16:11", got, err)
	}
}

func TestDryRun(t *testing.T) {
	o := options(t, writeScene(t, 64, 48, 6))
	o.Damage, o.DryRun, o.Convert.Output.File = frames(t, "0:00.125"), true, ""
	var found []Finding
	o.Found = func(f []Finding) error { found = f; return nil }
	report := mustRun(t, o)
	if report.Conversion != nil || len(found) != 1 || found[0].First.Number != 3 || found[0].Time != 0.125 {
		t.Errorf("found %v, %+v", found, report)
	}
}
