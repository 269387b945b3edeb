package media_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/media"
	"retime/warp"
)

// clockCase is a clip whose shot frames must reach the output.
type clockCase struct {
	name   string // of the clip, with the container's extension
	mux    []string
	rate   string
	bf     int
	start  string // of the picture
	sound  string // start of the sound; empty for none
	jitter string // expression of setts in ticks; empty for none
}

func (c clockCase) String() string {
	return fmt.Sprintf("%s at %s, %d B-frames, starts at %s, sound %q, jitter %q", c.name, c.rate, c.bf, c.start, c.sound, c.jitter)
}

// make writes the clip and returns its name.
func (c clockCase) make(t *testing.T, frames int) string {
	dir := t.TempDir()
	codec := map[string][]string{
		".mpg": {"mpeg2video", "-q:v", "2"}, ".vob": {"mpeg2video", "-q:v", "2"}, ".m2v": {"mpeg2video", "-q:v", "2"},
		".avi": {"mpeg4", "-q:v", "2"}, ".hevc": {"libx265", "-x265-params", fmt.Sprintf("log-level=error:bframes=%d:pools=1", c.bf)},
		".webm": {"libvpx", "-b:v", "1M", "-deadline", "realtime"},
	}[filepath.Ext(c.name)]
	if codec == nil {
		codec = []string{"libx264", "-preset", "ultrafast", "-threads", "1"}
	}
	ext := filepath.Ext(c.name)
	args := []string{"-itsoffset", c.start, "-f", "lavfi", "-i", fmt.Sprintf("testsrc2=size=64x64:rate=%s,trim=end_frame=%d,rotate=n/3", c.rate, frames)}
	if c.sound != "" {
		args = append(args, "-itsoffset", c.sound, "-f", "lavfi", "-i", "sine=d=1", "-c:a", map[string]string{".webm": "libvorbis", ".mpg": "mp2", ".vob": "mp2"}[ext])
		if args[len(args)-1] == "" {
			args[len(args)-1] = "aac"
		}
	}
	args = append(append(args, "-fps_mode", "passthrough", "-pix_fmt", "yuv420p", "-g", "12", "-c:v"), codec...)
	if ext != ".webm" {
		args = append(args, "-bf", fmt.Sprint(c.bf))
	}
	clip := filepath.Join(dir, c.name)
	if c.jitter != "" {
		args = append(args, "-enc_time_base:v", "1/90000", "-bsf:v", "setts=ts=TS+"+strings.ReplaceAll(c.jitter, ",", `\,`))
		if ext == ".mp4" || ext == ".mov" {
			args = append(args, "-video_track_timescale", "90000")
		}
	} else {
		args = append(args, "-enc_time_base:v", new(big.Rat).Inv(ratio(c.rate)).String()) // ffmpeg takes 119.88 for 120
	}
	ffmpeg(t, append(append(args, c.mux...), clip)...)
	return clip
}

// clockCases are all combinations.
func clockCases() (list []clockCase) {
	containers := []struct {
		name string
		mux  []string
	}{
		{"clip.mp4", nil},
		{"clip.mov", nil},
		{"frag.mp4", []string{"-movflags", "frag_keyframe+empty_moov"}},
		{"noedit.mp4", []string{"-use_editlist", "0"}},
		{"clip.ts", nil},
		{"clip.m2ts", nil},
		{"clip.mpg", nil},
		{"clip.vob", nil},
		{"clip.mkv", nil},
		{"clip.webm", nil},
		{"clip.avi", nil},
		{"clip.flv", nil},
		{"clip.nut", nil},
		{"clip.h264", nil},
		{"clip.hevc", nil},
		{"clip.m2v", nil},
	}
	for _, c := range containers {
		raw := isRaw(c.name)
		for _, rate := range []string{"24000/1001", "24", "25", "30000/1001", "30", "50", "60000/1001", "60", "120000/1001", "120"} {
			if fps := ratio(rate); (strings.HasSuffix(c.name, "g") || strings.HasSuffix(c.name, ".vob") || strings.HasSuffix(c.name, ".m2v")) && fps.Cmp(big.NewRat(60, 1)) > 0 {
				continue // MPEG-2 has no such rate
			} else if c.name == "clip.avi" && rate == "120000/1001" {
				continue // nor has MPEG-4
			}
			for _, bf := range []int{0, 2} {
				for _, start := range []string{"0", "1.4771", "-0.1", "95443.6"} { // the clock of MPEG wraps at 95443.7
					for _, sound := range []string{"", start + "01", "0.1"} {
						// Without edit lists FFmpeg lengthens the first picture. AVI and raw streams begin at 0.
						if (raw || c.name == "clip.avi" || c.name == "frag.mp4" || c.name == "noedit.mp4") && start != "0" || raw && sound != "" ||
							start == "95443.6" && (sound == "0.1" || !strings.HasSuffix(c.name, "ts")) {
							continue
						}
						list = append(list, clockCase{name: c.name, mux: c.mux, rate: rate, bf: bf, start: start, sound: sound})
					}
				}
			}
			if c.name == "clip.mp4" || c.name == "clip.mov" || c.name == "clip.ts" || c.name == "clip.mkv" {
				jitters := []int{1, 9, 45, 90} // of 1/90000 s
				if c.name == "clip.mkv" {
					jitters = []int{1} // ms
				}
				for _, ticks := range jitters {
					list = append(list, clockCase{name: c.name, rate: rate, start: "0", jitter: fmt.Sprintf("mod(N*N*7919+N*31,%d)-%d+%d", 2*ticks+1, ticks, ticks)})
				}
			}
		}
	}
	return list
}

// isRaw reports whether a clip has no timestamps.
func isRaw(name string) bool {
	return slices.Contains([]string{".h264", ".hevc", ".m2v"}, filepath.Ext(name))
}

// Every shot frame of a clip of constant rate that an output frame falls on reaches the output bit
// for bit, at its own rate, at twice that and at five halves. RETIME_CLOCK=all tries all combinations; otherwise some by a fixed seed.
func TestShotFramesPassFromEveryContainer(t *testing.T) {
	cases := clockCases()
	if os.Getenv("RETIME_CLOCK") != "all" {
		random := rand.New(rand.NewPCG(28, 0))
		random.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		cases = cases[:40]
	}
	for _, c := range cases {
		t.Run(c.String(), func(t *testing.T) {
			frames := 30
			switch ms := c.name == "clip.flv" || c.name == "clip.webm" || c.name == "clip.mkv"; { // fewer do not tell 120 from 119.88
			case (ms || c.jitter != "") && c.rate == "120000/1001":
				frames = 250
			case c.jitter != "":
				frames = 100
			}
			clip := c.make(t, frames)
			shot, _, _ := readAll(t, clip)
			for _, times := range []*big.Rat{big.NewRat(1, 1), big.NewRat(2, 1), big.NewRat(5, 2)} {
				o := lossless(t, clip)
				if isRaw(c.name) {
					o.Input.Rate = ratio(c.rate)
				}
				o.Synthesis.Mode, o.Timing.Rate = warp.Blend, pipeline.Rate{Value: times, Multiple: true}
				report := mustRun(t, o)
				if want := new(big.Rat).Mul(ratio(c.rate), times); report.Rate.Cmp(want) != 0 {
					t.Errorf("%s times: %s frames per second, want %s", times.RatString(), report.Rate.RatString(), want.RatString())
				}
				got, _, _ := readAll(t, o.Output.File)
				// Of every Denom shot frames one falls on the time of an output frame.
				every, each := int(times.Denom().Int64()), int(times.Num().Int64())
				n := int64(len(shot))
				kept := (n + int64(every) - 1) / int64(every)
				if all := int64(len(got)); report.Made > all-kept || all < n*int64(each)/int64(every)-1 || all > n*int64(each)/int64(every)+1 {
					t.Errorf("%s times: %d of %d frames made from %d", times.RatString(), report.Made, all, n)
				}
				if once := report.Frames - report.Made - report.Held; once > n || times.IsInt() && once < n-1 {
					t.Errorf("%s times: %d frames as shot of %d", times.RatString(), once, n)
				}
				for k := 0; k*every < len(shot) && k*each < len(got); k++ {
					if !bytes.Equal(got[k*each], shot[k*every]) {
						t.Errorf("%s times: frame %d is not shot frame %d", times.RatString(), k*each, k*every)
						break
					}
				}
			}
		})
	}
}

// What is said and counted of clips whose containers mislead.
func TestMisleadingContainers(t *testing.T) {
	dir := t.TempDir()
	clip := func(name string, args ...string) string {
		name = filepath.Join(dir, name)
		ffmpeg(t, append(args, name)...)
		return name
	}
	pictures := func(rate string, n int) []string {
		return []string{"-f", "lavfi", "-i", fmt.Sprintf("testsrc2=size=64x64:rate=%s,trim=end_frame=%d,rotate=n/3", rate, n)}
	}
	sound := []string{"-f", "lavfi", "-i", "sine=d=5", "-c:a", "flac"}
	x264 := []string{"-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-bf", "0"}
	join := func(lists ...[]string) []string { return slices.Concat(lists...) }

	ntsc := clip("ntsc.mp4", join(pictures("30000/1001", 75), x264)...)
	long := clip("long.mkv", join(pictures("25", 50), sound, x264)...)
	film := clip("film.mp4", join(pictures("25", 50), x264)...)
	still := clip("still.mp4", join([]string{"-f", "lavfi", "-i", "testsrc2=size=256x256:rate=1:d=2"}, x264)...)
	two := clip("two.mov", "-i", film, "-i", still, "-map", "0:v", "-map", "1:v", "-c", "copy", "-disposition:v:1", "0")
	equal := clip("equal.nut", "-i", film, "-i", still, "-map", "1:v", "-map", "0:v", "-c", "copy", "-disposition:v:0", "0", "-disposition:v:1", "0")
	live := clip("live.mkv", // which states no lengths
		join([]string{"-i", film}, []string{"-f", "lavfi", "-i", "testsrc2=size=256x256:rate=25,trim=end_frame=2", "-map", "0", "-map", "1"}, x264,
			[]string{"-disposition:v", "0", "-default_mode", "passthrough", "-f", "matroska", "-live", "1"})...)
	jump := clip("jump.mp4", join(pictures("12", 24), x264, []string{"-vf", `setpts=PTS+gte(N\,12)*36000/TB`, "-fps_mode", "passthrough"})...)
	twos := clip("twos.mkv", join([]string{"-f", "lavfi", "-i", "testsrc2=size=64x64:rate=12:d=4,rotate=t*2,fps=24"}, []string{"-c:v", "ffv1"})...)

	rate := func(s string, multiple bool) func(*pipeline.Options) {
		return func(o *pipeline.Options) { o.Timing.Rate = pipeline.Rate{Value: ratio(s), Multiple: multiple} }
	}
	for _, c := range []struct {
		name, clip   string
		set          func(*pipeline.Options)
		frames, made int64
		says         string // empty for no word of any of these
	}{
		{"60 from 29.97", ntsc, rate("60", false), 151, 148, "60 is not 2 times 29.97: hardly a shot frame is kept; with Timing.Rate 2x, all are"},
		{"30 from 29.97", ntsc, rate("30", false), 76, 74, "30 is not 1 times 29.97: hardly a shot frame is kept; without Timing.Rate, all are"},
		{"2x of 29.97", ntsc, rate("2", true), 150, 74, ""},
		{"50 from 29.97", ntsc, rate("50", false), 126, 123, ""},
		{"sound outlasts the picture", long, func(o *pipeline.Options) { o.Timing.Fit = ratio("4") }, 100, 49, ""},
		{"the end of a curve", long, func(o *pipeline.Options) { o.Timing.Curve = mustParse(t, "source speed\nend -100%\n0 -100%") }, 50, 0, ""},
		{"a still beside the film", two, rate("2", true), 100, 49, "this video stream is copied as it is"},
		{"a still before the film", equal, rate("2", true), 100, 49, "this video stream is copied as it is"},
		{"a still that is not counted", live, rate("2", true), 100, 49, "this video stream is copied as it is"},
		{"a gap of hours", jump, rate("1", true), 24, 0, "a timestamp lies too far ahead"},
		{"each frame held", ntsc, func(o *pipeline.Options) { o.Synthesis.Mode, o.Timing.Slow = warp.Nearest, ratio("3") }, 225, 0, ""},
		{"on twos", twos, rate("1", true), 96, 0, "many frames repeat the one before"},
		{"on twos, retimed", twos, func(o *pipeline.Options) { o.Synthesis.Duplicates = pipeline.RetimeDuplicates }, 96, 47, ""},
	} {
		var said strings.Builder
		o := lossless(t, c.clip)
		o.Synthesis.Mode, o.Hooks.Log = warp.Blend, slog.New(slog.NewTextHandler(&said, nil))
		if c.clip == twos {
			o.Synthesis.Mode, o.Synthesis.Preset = warp.Project, pipeline.Fast
		}
		if c.clip == long {
			o.Timing.Audio = media.DropAudio
		}
		c.set(&o)
		r := mustRun(t, o)
		if r.Frames != c.frames || r.Made != c.made || r.Cutoff != nil {
			t.Errorf("%s: %d frames, %d made, %v; want %d, %d", c.name, r.Frames, r.Made, r.Cutoff, c.frames, c.made)
		}
		if r.Made == 0 && o.Timing.Curve == nil && r.Held != r.Frames-min(r.Frames, r.Sources) {
			t.Errorf("%s: %d of %d frames held", c.name, r.Held, r.Frames)
		}
		if !strings.Contains(said.String(), c.says) {
			t.Errorf("%s: said %q, want %q", c.name, said.String(), c.says)
		}
		for _, word := range []string{"hardly a shot frame", "repeat the one before"} {
			if !strings.Contains(c.says, word) && strings.Contains(said.String(), word) {
				t.Errorf("%s: said %q", c.name, said.String())
			}
		}
	}
}

// The sidecar says how far jitter has moved a shot frame, and the log says it once. With
// KeepTimestamps each keeps its own.
func TestJitterIsSaid(t *testing.T) {
	clip := clockCase{name: "clip.mp4", rate: "25", start: "0", jitter: "mod(N*N*7919+N*31,91)-45+45"}.make(t, 30)
	for _, keep := range []bool{false, true} {
		var said strings.Builder
		largest := 0.0
		o := lossless(t, clip)
		o.Output.File = filepath.Join(t.TempDir(), "out.mkv")
		o.Output.VideoCodec = "ffv1"
		o.Synthesis.Mode, o.Timing.KeepTimestamps = warp.Blend, keep
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
		o.Hooks.Record = func(r pipeline.Record) { largest = max(largest, math.Abs(r.Moved)) }
		if r := mustRun(t, o); r.Made != 0 {
			t.Errorf("keep %t: %d frames made", keep, r.Made)
		}
		if moved := largest > 0; moved == keep || largest > 0.0011 {
			t.Errorf("keep %t: moved by up to %f s", keep, largest)
		}
		if n := strings.Count(said.String(), "timestamps jitter"); n != map[bool]int{false: 1}[keep] {
			t.Errorf("keep %t: said %q", keep, said.String())
		}
	}
}

// A part of a clip that jitters begins and ends with the frame that a user names, by its timestamp or
// by its place.
func TestPartsOfJitter(t *testing.T) {
	for _, ticks := range []int{1, 45, 90} {
		t.Run(fmt.Sprint(ticks), func(t *testing.T) { testParts(t, ticks) })
	}
}

func testParts(t *testing.T, ticks int) {
	const frames, k = 50, 20
	clip := clockCase{name: "clip.mp4", rate: "25", start: "0", jitter: fmt.Sprintf("mod(N*N*7919+N*31,%d)-%d+%d", 2*ticks+1, ticks, ticks)}.make(t, frames)
	shot, times, v := readAll(t, clip)
	stated := func(i int) *big.Rat { return new(big.Rat).Sub(times[i], v.Start) }
	place := func(i int) *big.Rat { return new(big.Rat).Add(stated(0), big.NewRat(int64(i), 25)) }
	for i := k; i < k+6; i++ {
		for _, at := range []*big.Rat{stated(i), place(i)} {
			o := lossless(t, clip)
			o.Synthesis.Mode, o.Timing.Rate, o.Timing.From = warp.Blend, pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}, at
			report := mustRun(t, o)
			got, _, _ := readAll(t, o.Output.File)
			if !bytes.Equal(got[0], shot[i]) || report.Made > int64(frames-i) {
				t.Errorf("from %s, where frame %d stands: %d of %d frames made", at.FloatString(4), i, report.Made, len(got))
			}
			o = lossless(t, clip)
			o.Synthesis.Mode, o.Timing.To = warp.Blend, at
			if report := mustRun(t, o); report.Frames != int64(i) || report.Made != 0 {
				t.Errorf("to %s, where frame %d stands: %d frames, %d made", at.FloatString(4), i, report.Frames, report.Made)
			}
		}
	}
	o := lossless(t, clip)
	o.Synthesis.Mode, o.Timing.Curve = warp.Blend, mustParse(t, "source speed\nend -100%\n0 -100%")
	if report := mustRun(t, o); report.Frames != frames || report.Made != 0 {
		t.Errorf("backward: %d frames, %d made", report.Frames, report.Made)
	}
}

// A part of a clip on a server is that of the file: what was read ahead to find the rate does not count
// as a leap of the clock.
func TestPartsOverHTTP(t *testing.T) {
	dir := t.TempDir()
	clip := filepath.Join(dir, "clip.ts")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=64x64:rate=25:d=20", "-f", "lavfi", "-i", "sine=d=20", "-pix_fmt", "yuv420p",
		"-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-c:a", "aac", clip)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	var pictures [][][]byte
	for _, in := range []string{clip, server.URL + "/clip.ts"} {
		var said strings.Builder
		o := lossless(t, clip)
		o.Input.File, o.Timing.From, o.Synthesis.Mode = in, ratio("15"), warp.Blend
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
		if r := mustRun(t, o); r.Frames != 125 || r.Made != 0 || strings.Contains(said.String(), "timestamp") {
			t.Errorf("%s: %d frames, %d made; said %q", in, r.Frames, r.Made, said.String())
		}
		got, _, _ := readAll(t, o.Output.File)
		pictures = append(pictures, got)
	}
	if !slices.EqualFunc(pictures[0], pictures[1], bytes.Equal) {
		t.Error("the part differs from the file's")
	}
}
