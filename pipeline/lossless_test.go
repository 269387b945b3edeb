package pipeline

import (
	"log/slog"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"retime/warp"
)

// Sound without losses stays without them, sample for sample, in the codec that suits the container;
// where the container has none, a warning names the option that chooses.
func TestLosslessSoundStaysLossless(t *testing.T) {
	dir := t.TempDir()
	made := map[string]bool{}
	for _, c := range []struct {
		input, codec, format string // the source's
		output, want         string // want is the codec
		says                 string
	}{
		{"a.m2ts", "pcm_bluray", "s16", "o.mkv", "pcm_s16le", "without losses"},
		{"b.m2ts", "pcm_bluray", "s32", "o.mkv", "pcm_s24le", "without losses"},
		{"b.m2ts", "pcm_bluray", "s32", "o.mov", "pcm_s24le", "without losses"},
		{"a.m2ts", "pcm_bluray", "s16", "o.mp4", "alac", "without losses"},
		{"a.m2ts", "pcm_bluray", "s16", "o.webm", "opus", "Output.AudioCodec"},
		{"a.vob", "pcm_dvd", "s16", "o.mkv", "pcm_s16le", "without losses"},
		{"a.ts", "s302m", "s16", "o.mkv", "pcm_s16le", "without losses"},
		{"a.mkv", "wavpack", "s16p", "o.mp4", "alac", "without losses"},
		{"b.mkv", "flac", "s32", "o.mov", "alac", "without losses"},
		{"b.mkv", "flac", "s32", "o.ogv", "flac", ""},
		{"a.mov", "pcm_s16le", "s16", "o.mp4", "alac", "without losses"},
		{"a.mov", "pcm_s16le", "s16", "o.ts", "aac", "Output.AudioCodec"},
		{"c.mov", "pcm_f32le", "flt", "o.nut", "pcm_f32le", ""},
		{"c.mov", "pcm_f32le", "flt", "o.mp4", "alac", "24 bits"},
		{"d.mkv", "tta", "s16", "o.mp4", "alac", "without losses"},
	} {
		clip := filepath.Join(dir, c.input)
		if !made[clip] {
			made[clip] = true
			ffmpeg(t, "-f", "lavfi", "-i", "color=gray:s=64x48:r=25", "-f", "lavfi", "-i", "anoisesrc=d=0.2:r=48000:a=0.3:seed=7", "-t", "0.2", "-ac", "2",
				"-c:v", "mpeg2video", "-strict", "-2", "-c:a", c.codec, "-sample_fmt", c.format, clip)
		}
		for _, slow := range []int64{1, 2} {
			if slow == 2 && c.codec != "pcm_bluray" {
				break
			}
			var said strings.Builder
			o := Options{
				Input: Input{File: clip, Deinterlace: IgnoreFields}, Synthesis: Synthesis{Mode: warp.Blend},
				Output: Output{File: filepath.Join(dir, c.output), Overwrite: true}, Hooks: Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
			}
			o.Timing.Slow = big.NewRat(slow, 1)
			mustRun(t, o)
			got := streamsOf(t, o.Output.File, "a", "codec_name")
			if len(got) == 0 || got[0] != c.want && slow == 1 {
				t.Errorf("%s to %s, %d times slower: %q, want %s", c.input, c.output, slow, got, c.want)
			}
			if slow == 1 && c.says != "" && !strings.Contains(said.String(), c.says) {
				t.Errorf("%s to %s: said %q, want %s", c.input, c.output, said.String(), c.says)
			}
			// FFmpeg's muxer leaves a hole in the times of DVD's PCM, which becomes silence.
			sound := func(name string) string {
				return ffmpeg(t, "-i", name, "-map", "0:a", "-c:a", "pcm_s32le", "-f", "md5", "-")
			}
			if slow == 1 && (c.says == "" || c.says == "without losses") && c.codec != "pcm_dvd" && sound(o.Output.File) != sound(clip) {
				t.Errorf("%s to %s: the samples differ", c.input, c.output)
			}
			if lossy := strings.Contains(said.String(), "with losses"); lossy != (c.says == "Output.AudioCodec") {
				t.Errorf("%s to %s, %d times slower: said %q", c.input, c.output, slow, said.String())
			}
		}
	}
}
