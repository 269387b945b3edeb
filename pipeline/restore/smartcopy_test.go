package restore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/warp"
)

// film makes four seconds of video with sound.
func film(t testing.TB, name string, args ...string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	args = append([]string{"-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=4", "-f", "lavfi", "-i", "sine=duration=4", "-c:a", "pcm_s16le"}, args...)
	ffmpeg(t, append(args, name)...)
	return name
}

func output(t testing.TB, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, append([]string{"-v", "error"}, args...)...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skipf("needs the %s program; make deps installs it", program)
	}
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return string(out)
}

// packets returns the hash of each video packet by its timestamp, in microseconds after the first.
func packets(t testing.TB, name string) map[int64]string {
	t.Helper()
	list := map[int64]string{}
	var in struct {
		Packets []struct {
			Time string `json:"pts_time"`
			Hash string `json:"data_hash"`
		}
	}
	if err := json.Unmarshal([]byte(output(t, "ffprobe", "-select_streams", "v:0", "-show_packets", "-show_data_hash", "md5", "-of", "json", name)), &in); err != nil {
		t.Fatal(err)
	}
	for _, p := range in.Packets {
		at, err := strconv.ParseFloat(p.Time, 64)
		if err != nil {
			t.Fatalf("%s: a packet at %q", name, p.Time)
		}
		list[int64(math.Round(at*1e6))] = p.Hash
	}
	first := slices.Min(slices.Collect(maps.Keys(list)))
	rest := map[int64]string{}
	for at, hash := range list {
		rest[at-first] = hash
	}
	return rest
}

// decoded returns the hash of each picture of a file by its timestamp in microseconds, as ffmpeg
// decodes the file from the given time on.
func decoded(t testing.TB, name, from string) map[int64]string {
	t.Helper()
	list := map[int64]string{}
	for _, line := range strings.Split(output(t, "ffmpeg", "-ss", from, "-copyts", "-start_at_zero", "-xerror", "-i", name,
		"-map", "0:v", "-enc_time_base", "1/1000000", "-fps_mode", "passthrough", "-f", "framemd5", "-"), "\n") {
		if f := strings.Split(line, ","); !strings.HasPrefix(line, "#") && len(f) > 5 {
			at, err := strconv.ParseInt(strings.TrimSpace(f[2]), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			list[at] = strings.TrimSpace(f[5])
		}
	}
	return list
}

// Packets that no repair changes are copied and decode as before, wherever decoding begins; the
// others keep their places and hold the pictures of a full restoration.
func TestSmartCopy(t *testing.T) {
	for _, c := range []struct {
		name    string
		file    string
		args    []string
		encoded int64 // at most
	}{
		{"FFV1", "a.mkv", []string{"-c:v", "ffv1", "-level", "3", "-g", "1", "-slices", "9"}, 3},
		{"FFV1 groups", "a.mkv", []string{"-c:v", "ffv1", "-level", "3", "-g", "5", "-coder", "1", "-context", "1"}, 9},
		{"FFV1 by default", "a.mkv", []string{"-c:v", "ffv1"}, 24},
		{"FFV1 version 0", "a.avi", []string{"-c:v", "ffv1", "-level", "0", "-coder", "1", "-context", "1"}, 24},
		{"FFV1 version 1", "a.avi", []string{"-c:v", "ffv1", "-level", "1", "-g", "1"}, 3},
		{"HuffYUV", "a.avi", []string{"-c:v", "huffyuv", "-pix_fmt", "yuv422p"}, 3},
		{"ProRes", "a.mov", []string{"-c:v", "prores_ks", "-profile:v", "2"}, 3},
		{"MJPEG", "a.mov", []string{"-c:v", "mjpeg", "-q:v", "3"}, 3},
		{"DNxHR", "a.mov", []string{"-c:v", "dnxhd", "-profile:v", "dnxhr_sq", "-vf", "scale=256:128", "-pix_fmt", "yuv422p"}, 3},
		{"H.264", "a.mov", []string{"-c:v", "libx264", "-g", "20", "-pix_fmt", "yuv420p"}, 40},
		{"H.264 in Matroska", "a.mkv", []string{"-c:v", "libx264", "-g", "20", "-pix_fmt", "yuv420p"}, 40},
		{"H.264 without B-frames", "a.mov", []string{"-c:v", "libx264", "-g", "20", "-bf", "0", "-pix_fmt", "yuv420p"}, 37},
		{"H.264 open", "a.mov", []string{"-c:v", "libx264", "-g", "20", "-x264-params", "open-gop=1", "-pix_fmt", "yuv420p"}, 75},
		{"H.264 baseline", "a.mov", []string{"-c:v", "libx264", "-g", "20", "-profile:v", "baseline", "-pix_fmt", "yuv420p"}, 37},
		{"H.264 of 10 bits", "a.mkv", []string{"-c:v", "libx264", "-g", "20", "-pix_fmt", "yuv422p10le"}, 40},
		{"H.264 in a transport stream", "a.ts", []string{"-c:v", "libx264", "-g", "20", "-pix_fmt", "yuv420p", "-c:a", "mp2"}, 40},
		{"HEVC", "a.mov", []string{"-c:v", "libx265", "-tag:v", "hvc1", "-x265-params", "log-level=error:keyint=20:open-gop=0"}, 40},
		{"HEVC open", "a.mov", []string{"-c:v", "libx265", "-x265-params", "log-level=error:keyint=20"}, 75},
		{"HEVC of 10 bits", "a.mkv", []string{"-c:v", "libx265", "-x265-params", "log-level=error:keyint=20:open-gop=0", "-pix_fmt", "yuv420p10le"}, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			input := film(t, c.file, c.args...)
			o := Options{Convert: pipeline.Options{Input: pipeline.Input{File: input}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Backend: pipeline.CPU}}, SmartCopy: true}
			o.Convert.Output.File = filepath.Join(t.TempDir(), "out"+filepath.Ext(c.file))
			o.Damage = frames(t, "30,71-72")
			report := mustRun(t, o)
			r := report.Conversion
			if report.Made != 3 || r.Made != 3 || r.Frames != 100 || r.Copied+r.Encoded != 100 || r.Encoded > c.encoded {
				t.Errorf("%d frames made, %d packets copied, %d encoded, want at most %d", report.Made, r.Copied, r.Encoded, c.encoded)
			}
			checkCopied(t, input, o.Convert.Output.File, int(r.Copied))
		})
	}
}

// checkCopied compares an input with its restoration.
func checkCopied(t testing.TB, input, name string, want int) {
	t.Helper()
	before, after := packets(t, input), packets(t, name)
	if a, b := slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)); !slices.Equal(a, b) {
		t.Fatalf("packets are at %v, want %v", b, a)
	}
	sound := func(name string) string {
		return output(t, "ffmpeg", "-i", name, "-map", "0:a", "-c", "copy", "-f", "md5", "-")
	}
	if sound(input) != sound(name) {
		t.Error("the sound differs")
	}
	was, is := decoded(t, input, "0"), decoded(t, name, "0")
	if len(is) != len(before) {
		t.Errorf("%d pictures play, want %d", len(is), len(before))
	}
	same := 0
	for at, hash := range before {
		if after[at] != hash {
			continue
		}
		same++
		if is[at] != was[at] {
			t.Errorf("the picture at %d µs was copied and plays differently", at)
		}
	}
	if same != want {
		t.Errorf("%d packets are as they were, want %d", same, want)
	}
	for _, from := range []string{"1.3", "1.7"} {
		for at, hash := range decoded(t, name, from) {
			if is[at] != hash {
				t.Errorf("the picture at %d µs plays differently from %s s on", at, from)
			}
		}
	}
}

// Where lengths of MP4 become start codes, the same pictures play, also if the source repeats its parameter sets.
func TestSmartCopyIntoStartCodes(t *testing.T) {
	for _, c := range []struct {
		args  []string
		files []string
	}{
		{[]string{"-c:v", "libx264", "-g", "20", "-pix_fmt", "yuv420p"}, []string{"out.ts", "out.avi", "out.vob", "out.mxf", "out.h264"}},
		{[]string{"-c:v", "libx264", "-g", "20", "-pix_fmt", "yuv420p", "-x264-params", "repeat-headers=1:aud=1"}, []string{"out.ts", "out.vob"}},
		{[]string{"-c:v", "libx265", "-x265-params", "log-level=error:keyint=20:open-gop=0:repeat-headers=1"}, []string{"out.ts", "out.hevc"}},
	} {
		input, dir := film(t, "a.mov", c.args...), t.TempDir()
		pictures := func(file string) (list []string) {
			o := Options{Convert: pipeline.Options{Input: pipeline.Input{File: input}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}, SmartCopy: true}
			o.Convert.Output.File = filepath.Join(dir, file)
			o.Damage = frames(t, "30")
			mustRun(t, o)
			for _, line := range strings.Split(output(t, "ffmpeg", "-i", o.Convert.Output.File, "-map", "0:v", "-fps_mode", "passthrough", "-f", "framemd5", "-"), "\n") {
				if f := strings.Split(line, ","); len(f) == 6 && !strings.HasPrefix(line, "#") {
					list = append(list, strings.TrimSpace(f[5]))
				}
			}
			if len(list) == 100 {
				list = slices.Delete(list, 20, 40) // these are encoded, and x264 does not always code such small pictures alike
			}
			return list
		}
		want := pictures("out.mp4")
		for _, file := range c.files {
			if got := pictures(file); len(got) != 80 || !slices.Equal(got, want) {
				t.Errorf("%s of %v: %d copied pictures play, some otherwise than in MP4", file, c.args, len(got))
			}
			if file == "out.mxf" {
				stated := output(t, "ffprobe", "-show_entries", "stream=r_frame_rate,duration", "-select_streams", "v", "-of", "csv=p=0", filepath.Join(dir, file))
				if strings.TrimSpace(stated) != "25/1,4.000000" {
					t.Errorf("MXF states rate and length %s", stated)
				}
			}
		}
	}
}

// In a lossless codec, all frames equal the frames of a restoration that copies nothing.
func TestSmartCopyMakesTheSameFrames(t *testing.T) {
	for _, list := range []string{"0", "1,99", "0-2,40,42,50-53", "98-99"} {
		t.Run(list, func(t *testing.T) {
			t.Parallel()
			o := Options{Convert: pipeline.Options{Input: pipeline.Input{File: film(t, "a.mkv", "-c:v", "ffv1", "-g", "7", "-level", "3")}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Backend: pipeline.CPU}}}
			o.Damage = frames(t, list)
			logs := map[bool][]Entry{}
			run := func(smart bool) map[int64]string {
				o.SmartCopy, o.Convert.Output.File, o.Convert.Output.VideoCodec = smart, filepath.Join(t.TempDir(), "out.mkv"), "ffv1"
				o.Log = func(e Entry) { logs[smart] = append(logs[smart], e) }
				mustRun(t, o)
				return decoded(t, o.Convert.Output.File, "0")
			}
			if plain, smart := run(false), run(true); !maps.Equal(plain, smart) {
				t.Error("the frames differ")
			}
			if fmt.Sprint(logs[false]) != fmt.Sprint(logs[true]) {
				t.Errorf("the logs differ:\n%v\n%v", logs[false], logs[true])
			}
		})
	}
}

// Frames that are made once more as neighbours of other damage count once.
func TestSmartCopyCounts(t *testing.T) {
	o := Options{Convert: pipeline.Options{Input: pipeline.Input{File: film(t, "a.mkv", "-c:v", "ffv1", "-level", "3", "-g", "1")},
		Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Backend: pipeline.CPU}}, SmartCopy: true}
	o.Convert.Output.File = filepath.Join(t.TempDir(), "out.mkv")
	o.Damage = frames(t, "30,32,34")
	if r := mustRun(t, o); r.Made != 3 || r.Conversion.Made != 3 || r.Conversion.Held != 0 {
		t.Errorf("%d rebuilt, %d of them made and %d held", r.Made, r.Conversion.Made, r.Conversion.Held)
	}
}

// Missing frames are inserted between copied ones.
func TestSmartCopyInserts(t *testing.T) {
	for _, c := range []struct {
		name, file string
		args       []string
		encoded    int64
	}{
		{"MJPEG", "gap.mov", []string{"-c:v", "mjpeg"}, 2},
		{"H.264", "gap.mov", []string{"-c:v", "libx264", "-g", "20", "-pix_fmt", "yuv420p"}, 22},
		{"H.264 in Matroska", "gap.mkv", []string{"-c:v", "libx264", "-g", "20", "-pix_fmt", "yuv420p"}, 22},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			input := film(t, c.file, append([]string{"-vf", "select='not(between(n,50,51))'", "-fps_mode", "passthrough"}, c.args...)...)
			o := Options{Convert: pipeline.Options{Input: pipeline.Input{File: input}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Backend: pipeline.CPU}}, SmartCopy: true}
			o.Convert.Output.File = filepath.Join(t.TempDir(), "out"+filepath.Ext(c.file))
			var err error
			if o.Damage, err = ParseInsert("49:2"); err != nil {
				t.Fatal(err)
			}
			r := mustRun(t, o).Conversion
			if r.Frames != 100 || r.Copied+r.Encoded != 100 || r.Encoded > c.encoded {
				t.Errorf("%d frames, %d packets copied, %d encoded", r.Frames, r.Copied, r.Encoded)
			}
			after, is, was := packets(t, o.Convert.Output.File), decoded(t, o.Convert.Output.File, "0"), decoded(t, input, "0")
			for n := range 100 {
				if at := int64(n) * 40_000; after[at] == "" || is[at] == "" {
					t.Errorf("no packet or no picture at %d µs", at)
				}
			}
			for at, hash := range packets(t, input) {
				if after[at] == hash && was[at] != is[at] {
					t.Errorf("the picture at %d µs was copied and plays differently", at)
				}
			}
		})
	}
}

// A restored file can be restored again.
func TestSmartCopyTwice(t *testing.T) {
	for _, args := range [][]string{
		{"-c:v", "libx264", "-g", "20", "-pix_fmt", "yuv420p"},
		{"-c:v", "libx265", "-x265-params", "log-level=error:keyint=20:open-gop=0"},
	} {
		input := film(t, "a.mov", args...)
		for i, list := range []string{"30", "31,75", "5"} {
			o := Options{Convert: pipeline.Options{Input: pipeline.Input{File: input}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Backend: pipeline.CPU}}, SmartCopy: true}
			if i == 2 {
				o.Convert.Output.VideoOptions = map[string]string{"refs": "1", "g": "3"} // other parameter sets
			}
			o.Damage, o.Convert.Output.File = frames(t, list), filepath.Join(t.TempDir(), "out.mov")
			checkCopied(t, input, o.Convert.Output.File, int(mustRun(t, o).Conversion.Copied))
			input = o.Convert.Output.File
		}
	}
}

// If the input ends early, its complete frames are kept under another name.
func TestSmartCopyOfATruncatedFile(t *testing.T) {
	for _, args := range [][]string{{"-c:v", "ffv1", "-g", "1"}, {"-c:v", "libx264", "-g", "20", "-pix_fmt", "yuv420p"}} {
		whole := film(t, "a.mkv", args...)
		data, err := os.ReadFile(whole)
		if err != nil {
			t.Fatal(err)
		}
		input := filepath.Join(t.TempDir(), "a.mkv")
		if err := os.WriteFile(input, data[:len(data)*7/10], 0o600); err != nil {
			t.Fatal(err)
		}
		o := Options{Convert: pipeline.Options{Input: pipeline.Input{File: input}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Backend: pipeline.CPU}}, SmartCopy: true}
		o.Convert.Output.File, o.Damage = filepath.Join(t.TempDir(), "out.mkv"), frames(t, "30")
		report, err := Run(context.Background(), o)
		if fault.KindOf(err) != fault.BadData || report == nil || report.Conversion == nil {
			t.Fatalf("%+v: %v", report, err)
		}
		r := report.Conversion
		if r.Output != strings.TrimSuffix(o.Convert.Output.File, ".mkv")+".partial.mkv" || report.Made != 1 || r.Frames < 50 {
			t.Errorf("%d frames in %q, %d made", r.Frames, r.Output, report.Made)
		}
		was, is := packets(t, whole), packets(t, r.Output)
		same := 0
		for at, hash := range is {
			if was[at] == hash {
				same++
			}
		}
		if int64(len(is)) != r.Copied+r.Encoded || int64(same) != r.Copied {
			t.Errorf("%d packets, %d as they were; %d copied, %d encoded", len(is), same, r.Copied, r.Encoded)
		}
	}
}

// In an image sequence, all files but the damaged ones stay the same, byte for byte.
func TestSmartCopyOfSequences(t *testing.T) {
	for _, c := range []struct{ ext, format string }{
		{"png", "rgb24"}, {"tiff", "rgb48le"}, {"dpx", "gbrp10le"}, {"exr", "gbrpf32le"}, {"bmp", "bgr24"}, {"jpg", "yuvj444p"},
	} {
		dir := t.TempDir()
		ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=24:duration=0.5", "-pix_fmt", c.format, filepath.Join(dir, "%04d."+c.ext))
		out := filepath.Join(t.TempDir(), "%04d."+c.ext)
		o := Options{Convert: pipeline.Options{Input: pipeline.Input{File: filepath.Join(dir, "%04d."+c.ext)}, Output: pipeline.Output{File: out}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Backend: pipeline.CPU}}, SmartCopy: true}
		o.Damage = frames(t, "4,7-8")
		if r := mustRun(t, o).Conversion; r.Copied != 9 || r.Encoded != 3 {
			t.Errorf("%s: %d copied, %d encoded", c.ext, r.Copied, r.Encoded)
		}
		for n := range 12 {
			before, err := os.ReadFile(fmt.Sprintf(o.Convert.Input.File, n+1))
			if err != nil {
				t.Fatal(err)
			}
			after, err := os.ReadFile(fmt.Sprintf(out, n+1))
			if bad := n == 4 || n == 7 || n == 8; err != nil || bad == (string(before) == string(after)) {
				t.Errorf("%s: picture %d, bad %v: the same %v, %v", c.ext, n, bad, string(before) == string(after), err)
			}
		}
	}
}

func TestSmartCopyRefuses(t *testing.T) {
	jpeg := []string{"-c:v", "mjpeg"}
	for _, c := range []struct {
		name   string
		file   string
		args   []string
		change func(*pipeline.Options)
		want   string
	}{
		{"another codec", "a.mkv", []string{"-c:v", "mpeg4"}, nil, "mpeg4"},
		{"a decoder of 12 bits, an encoder of 10", "a.mkv", []string{"-c:v", "prores_ks", "-profile:v", "4", "-pix_fmt", "yuv444p10le"}, nil, "yuv444p12le"},
		{"sample format", "a.mov", jpeg, func(o *pipeline.Options) { o.Output.PixelFormat = "yuv444p" }, "Output.PixelFormat yuv444p"},
		{"encoder", "a.mov", jpeg, func(o *pipeline.Options) { o.Output.VideoCodec = "libx264" }, "Output.VideoCodec libx264"},
		{"container", "a.mov", jpeg, func(o *pipeline.Options) { o.Output.File = strings.TrimSuffix(o.Output.File, ".mov") + ".webm" }, "webm"},
		{"header", "a.mkv", []string{"-c:v", "ffv1", "-level", "3"}, func(o *pipeline.Options) { o.Output.VideoOptions = map[string]string{"slices": "42"} }, "header"},
	} {
		o := Options{Convert: pipeline.Options{Input: pipeline.Input{File: film(t, c.file, c.args...)}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Backend: pipeline.CPU}}, SmartCopy: true}
		o.Convert.Output.File, o.Damage = filepath.Join(t.TempDir(), "out"+filepath.Ext(c.file)), frames(t, "30")
		if c.change != nil {
			c.change(&o.Convert)
		}
		_, err := Run(context.Background(), o)
		if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "Options.SmartCopy") || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "leave it out") {
			t.Errorf("%s: %v", c.name, err)
		}
		if left, _ := filepath.Glob(filepath.Dir(o.Convert.Output.File) + "/*"); len(left) > 0 {
			t.Errorf("%s: left behind %v", c.name, left)
		}
	}
}

// Packets are not copied from streams that change, jump, have no timestamps or a packet for each field.
func TestSmartCopyOfUnevenStreams(t *testing.T) {
	h264 := []string{"-an", "-c:v", "libx264", "-g", "10", "-bf", "0"}
	join := func(header int, a, b string) string {
		first, err1 := os.ReadFile(a)
		second, err2 := os.ReadFile(b)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(a, append(first, second[header:]...), 0o600); err != nil {
			t.Fatal(err)
		}
		return a
	}
	const flvHeader = 13
	for want, in := range map[string]string{
		"no timestamp": film(t, "a.h264", h264...),
		"second field": "../../testdata/paff.mkv",
		"changes":      join(flvHeader, film(t, "a.flv", h264...), film(t, "b.flv", append(h264, "-profile:v", "baseline", "-output_ts_offset", "4")...)),
		"jump":         join(0, film(t, "a.ts", h264...), film(t, "b.ts", append(h264, "-output_ts_offset", "5000")...)),
	} {
		o := Options{Convert: pipeline.Options{Input: pipeline.Input{File: in}, Synthesis: pipeline.Synthesis{Preset: pipeline.Fast}, Compute: pipeline.Compute{Backend: pipeline.CPU}}, SmartCopy: true}
		o.Convert.Output.File, o.Damage = filepath.Join(t.TempDir(), "out"+filepath.Ext(in)), frames(t, "5")
		if _, err := Run(t.Context(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", filepath.Base(in), err)
		}
	}
}
