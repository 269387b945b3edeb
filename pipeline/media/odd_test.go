package media_test

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// Inputs that are odd in ways that players cope with.
func TestOddInputs(t *testing.T) {
	dir := t.TempDir()
	name := func(s string) string { return filepath.Join(dir, s) }
	picture := func(size string, args ...string) []string {
		return append([]string{"-f", "lavfi", "-i", "testsrc2=r=25:d=1:s=" + size}, args...)
	}
	join := func(out string, parts ...string) {
		var all []byte
		for _, p := range parts {
			data, err := os.ReadFile(name(p))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, data...)
		}
		if err := os.WriteFile(name(out), all, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ffmpeg(t, append(picture("64x48", "-c:v", "libx264"), name("small.ts"))...)
	ffmpeg(t, append(picture("80x64", "-c:v", "libx264"), name("large.ts"))...)
	join("sizes.ts", "small.ts", "large.ts")
	ffmpeg(t, append(picture("64x48", "-vf", "setsar=4/3", "-c:v", "libx264"), name("narrow.ts"))...)
	ffmpeg(t, append(picture("64x48", "-vf", "setsar=16/9", "-c:v", "libx264"), name("wide.ts"))...)
	join("shapes.ts", "narrow.ts", "wide.ts")
	// The 33 bits of a broadcast's clock turn within the clip.
	ffmpeg(t, append(picture("64x48", "-f", "lavfi", "-i", "sine=d=1", "-c:v", "libx264", "-c:a", "mp2", "-output_ts_offset", "95442.2"), name("turn.ts"))...)
	ffmpeg(t, append(picture("64x48"), name("a.gif"))...)
	ffmpeg(t, append(picture("64x48", "-f", "lavfi", "-i", "sine=d=1", "-c:v", "libtheora", "-c:a", "libvorbis"), name("a.ogv"))...)
	// FFmpeg 9 reads the packets that repeat a picture, which are empty, and older ones find gaps.
	repeats := "the frame rate varies"
	if sizes := program(t, "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=size", "-of", "csv=p=0", name("a.ogv")); slices.Contains(strings.Fields(sizes), "0") {
		repeats = ""
	}
	ffmpeg(t, append(picture("64x48", "-f", "lavfi", "-i", "sine=d=1", "-c:v", "libx264", "-c:a", "flac", "-metadata:s:a", "language=deu"), name("flac.mkv"))...)
	ffmpeg(t, append(picture("64x48", "-frames:v", "1", "-c:v", "libx264"), name("one.mp4"))...)
	ffmpeg(t, append(picture("64x48", "-f", "lavfi", "-i", "anullsrc=d=0.001", "-c:v", "libx264", "-c:a", "pcm_s16le"), name("short.mkv"))...)
	ffmpeg(t, append(picture("64x48", "-f", "lavfi", "-i", "sine=d=1", "-c:v", "libx264", "-c:a", "aac", "-movflags", "frag_keyframe+empty_moov"), name("fragments.mp4"))...)
	for _, c := range []struct {
		input, output string
		frames        int64
		says          string   // empty for nothing
		streams       []string // codecs, and languages where they are known
	}{
		{"sizes.ts", "out.ts", 50, "80x64", nil},
		{"shapes.ts", "out.mkv", 50, "shape of pixels", nil},
		{"turn.ts", "out.ts", 25, "", []string{"h264", "mp2"}},
		{"a.gif", "out.gif", 25, "lost", []string{"gif"}},
		{"a.ogv", "out.ogv", 25, repeats, []string{"theora", "vorbis"}},
		{"flac.mkv", "out.mov", 25, "another codec", []string{"h264", "alac,ger"}},
		{"flac.mkv", "out.mp4", 25, "", []string{"h264,und", "flac,deu"}},
		{"one.mp4", "out.mp4", 1, "", []string{"h264,und"}},
		{"short.mkv", "out.mkv", 25, "", []string{"h264", "pcm_s16le"}},
		{"fragments.mp4", "out.mp4", 25, "", []string{"h264,und", "aac,und"}},
	} {
		var said strings.Builder
		o := pipeline.Options{Input: pipeline.Input{File: name(c.input)}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.output)}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
		if report := mustRun(t, o); report.Frames != c.frames {
			t.Errorf("%s to %s: %d frames, want %d", c.input, c.output, report.Frames, c.frames)
		}
		if !strings.Contains(said.String(), c.says) || (c.says == "") != (said.String() == "") {
			t.Errorf("%s to %s: said %q, want %q", c.input, c.output, said.String(), c.says)
		}
		if c.streams == nil {
			continue
		}
		out, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "stream=codec_name:stream_tags=language", "-of", "csv=p=0", o.Output.File).Output()
		got := strings.Fields(string(out))
		if n := len(c.streams); filepath.Ext(c.output) == ".ts" && len(got) > n { // named once more by program
			got = got[:n]
		}
		if err != nil || !slices.Equal(got, c.streams) {
			t.Errorf("%s to %s: streams %q (%v), want %q", c.input, c.output, got, err, c.streams)
		}
	}
}

// VP8 and VP9 hold alpha beside their pictures.
func TestAlphaOfWebM(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ encoder, name string }{{"libvpx", "vp8.webm"}, {"libvpx-vp9", "vp9.webm"}} {
		clip := filepath.Join(dir, c.name)
		ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.2,format=yuva420p,geq=lum='p(X,Y)':a='100+2*X'", "-c:v", c.encoder, "-auto-alt-ref", "0", clip)
		frames := func(name string, decoder ...string) string {
			return ffmpeg(t, append(decoder, "-i", name, "-pix_fmt", "yuva420p", "-f", "framemd5", "-")...)
		}
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(dir, "out.mkv"), VideoCodec: "ffv1", Overwrite: true}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		mustRun(t, o)
		if want, got := frames(clip, "-c:v", c.encoder), frames(o.Output.File); hashes(want) != hashes(got) {
			t.Errorf("%s: frames\n%s\nbecame\n%s", c.name, want, got)
		}
		o.Output.File, o.Output.VideoCodec = filepath.Join(dir, "out.webm"), c.encoder
		mustRun(t, o)
		if _, _, v := readAll(t, o.Output.File); v.Source != "yuva420p" {
			t.Errorf("%s: written in %s", c.name, v.Source)
		}
	}
}

// hashes are the last words of the lines of a list of frames.
func hashes(list string) string {
	var out []string
	for line := range strings.Lines(list) {
		if !strings.HasPrefix(line, "#") {
			out = append(out, line[strings.LastIndex(line, ",")+1:])
		}
	}
	return strings.Join(out, "")
}
