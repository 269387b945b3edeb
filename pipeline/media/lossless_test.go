package media_test

import (
	"bytes"
	"log/slog"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/timeline"
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
		{"a.m2ts", "pcm_bluray", "s16", "o.m2ts", "pcm_bluray", ""},
		{"a.vob", "pcm_dvd", "s16", "o.mkv", "pcm_s16le", "without losses"},
		{"a.ts", "s302m", "s16", "o.mkv", "pcm_s16le", "without losses"},
		{"a.mkv", "wavpack", "s16p", "o.mp4", "alac", "without losses"},
		{"b.mkv", "flac", "s32", "o.mov", "alac", "without losses"},
		{"b.mkv", "flac", "s32", "o.ogv", "flac", ""},
		{"a.mov", "pcm_s16le", "s16", "o.mp4", "alac", "without losses"},
		{"a.mov", "pcm_s16le", "s16", "o.ts", "aac", "Output.AudioCodec"},
		{"a.mov", "pcm_s16le", "s16", "o.m2ts", "pcm_bluray", "without losses"},
		{"c.mov", "pcm_f32le", "flt", "o.nut", "pcm_f32le", ""},
		{"c.mov", "pcm_f32le", "flt", "o.mp4", "alac", "24 bits"},
		{"d.mkv", "tta", "s16", "o.mp4", "alac", "without losses"},
	} {
		clip := filepath.Join(dir, c.input)
		if !made[clip] {
			made[clip] = true
			strict := "-2"
			if c.codec == "flac" { // -2 has FFmpeg from 6 on write 32 bits, which are more than retime keeps
				strict = "0"
			}
			ffmpeg(t, "-f", "lavfi", "-i", "color=gray:s=64x48:r=25", "-f", "lavfi", "-i", "anoisesrc=d=0.2:r=48000:a=0.3:seed=7", "-t", "0.2", "-ac", "2",
				"-c:v", "mpeg2video", "-strict", strict, "-c:a", c.codec, "-sample_fmt", c.format, clip)
		}
		for _, slow := range []int64{1, 2} {
			if slow == 2 && c.codec != "pcm_bluray" {
				break
			}
			var said strings.Builder
			o := pipeline.Options{
				Input: pipeline.Input{File: clip, Deinterlace: pipeline.IgnoreFields}, Synthesis: pipeline.Synthesis{Mode: warp.Blend},
				Output: pipeline.Output{File: filepath.Join(dir, c.output), Overwrite: true}, Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
			}
			o.Timing.Slow = big.NewRat(slow, 1)
			mustRun(t, o)
			got := streamsOf(t, o.Output.File, "a", "codec_name")
			if c.output == "o.mp4" && strings.HasPrefix(c.codec, "pcm_") && len(got) == 1 && got[0] == c.codec {
				continue // FFmpeg from 6.1 on has MP4 hold it as it is
			}
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

// Sound of more than 24 bits that is encoded again is rounded to 24, whatever the codec, with a word.
func TestRoundedSoundIsSaid(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		codec, output, wanted string
		rounds                bool
	}{
		{"pcm_s32le", "o.mkv", "pcm_s32le", true}, {"pcm_s32le", "o.mkv", "flac", true}, {"pcm_s32le", "o.mkv", "aac", false}, {"pcm_s32le", "o.mkv", "", false}, // copied
		{"pcm_f64le", "o.mkv", "pcm_f64le", true}, {"pcm_s24le", "o.mkv", "pcm_s24le", false}, {"pcm_f32le", "o.mkv", "pcm_f32le", false},
	} {
		in := filepath.Join(dir, c.codec+".mov")
		ffmpeg(t, "-f", "lavfi", "-i", "color=gray:s=64x48:r=25", "-f", "lavfi", "-i", "anoisesrc=d=0.2:r=48000:a=0.3:seed=7", "-t", "0.2", "-c:v", "mpeg4", "-c:a", c.codec, "-y", in)
		var said strings.Builder
		o := pipeline.Options{Input: pipeline.Input{File: in}, Output: pipeline.Output{File: filepath.Join(dir, c.output), Overwrite: true, AudioCodec: c.wanted}, Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))}}
		mustRun(t, o)
		if strings.Contains(said.String(), "rounded to 24 bits") != c.rounds {
			t.Errorf("%s to %s, %q: said %s", c.codec, c.output, c.wanted, said.String())
		}
	}
}

// The encoder that retime chooses keeps what the source is: without losses, a mezzanine of its
// profile, or more than 8 bits. It says so in one line, or warns and names the option that chooses.
func TestEncoderKeepsTheSource(t *testing.T) {
	dir := t.TempDir()
	x264 := func(more ...string) []string {
		return append([]string{"-c:v", "libx264", "-preset", "ultrafast"}, more...)
	}
	made := map[string]bool{}
	for i, c := range []struct {
		input  string
		args   []string
		output string
		want   string // codec, profile, sample format
		exact  bool   // the shot frames are those of the source
		says   string
	}{
		{"ffv1.mkv", []string{"-c:v", "ffv1", "-pix_fmt", "yuv422p"}, "o.mkv", "ffv1,yuv422p", true, "has none"},
		{"ffv1.mkv", nil, "o.mp4", "h264,High 4:4:4 Predictive,yuv422p", true, "has none"},
		{"ffv1.mkv", nil, "o.webm", "vp9,Profile 1,yuv422p", true, "has none"},
		{"ffv1.mkv", nil, "o.ogv", "theora,yuv422p", false, "level=WARN"},
		{"huff.avi", []string{"-c:v", "huffyuv", "-pix_fmt", "yuv422p"}, "o.avi", "huffyuv,yuv422p", true, "has none"},
		{"ut.avi", []string{"-c:v", "utvideo", "-pix_fmt", "yuv420p"}, "o.mov", "h264,High 4:4:4 Predictive,yuv420p", true, "has none"},
		{"qp0.mp4", x264("-qp", "0", "-pix_fmt", "yuv420p"), "o.mp4", "h264,High 4:4:4 Predictive,yuv420p", true, "has none"},
		{"qp0.mp4", nil, "o.mkv", "h264,High 4:4:4 Predictive,yuv420p", true, "has none"},
		{"qp0.ts", x264("-qp", "0", "-pix_fmt", "yuv444p"), "o.mkv", "h264,High 4:4:4 Predictive,yuv444p", true, "has none"},
		{"x265.mp4", []string{"-c:v", "libx265", "-x265-params", "lossless=1:log-level=error", "-pix_fmt", "yuv420p"}, "o.mkv", "hevc,Main,yuv420p", true, "has none"},
		{"x265.ts", []string{"-c:v", "libx265", "-x265-params", "lossless=1:log-level=error", "-pix_fmt", "yuv422p10le"}, "o.mp4", "hevc,Rext,yuv422p10le", true, "has none"},
		{"vp9.webm", []string{"-c:v", "libvpx-vp9", "-lossless", "1", "-pix_fmt", "yuv420p"}, "o.webm", "vp9,Profile 0,yuv420p", true, "has none"},
		{"vp9.mkv", []string{"-c:v", "libvpx-vp9", "-lossless", "1", "-pix_fmt", "yuv444p10le"}, "o.mkv", "vp9,Profile 3,yuv444p10le", true, "has none"},
		{"rgb.webm", []string{"-c:v", "libvpx-vp9", "-lossless", "1", "-pix_fmt", "gbrp"}, "o.webm", "vp9,Profile 1,gbrp", true, "has none"},
		{"j2k.mov", []string{"-c:v", "jpeg2000", "-pred", "dwt53", "-pix_fmt", "yuv422p"}, "o.mkv", "ffv1,yuv422p", true, "has none"},
		{"j2k97.mov", []string{"-c:v", "jpeg2000", "-pred", "dwt97int", "-pix_fmt", "yuv422p"}, "o.mp4", "h264,High 4:2:2,yuv422p", false, "yuv420p plays"},
		{"lossy265.mp4", []string{"-c:v", "libx265", "-x265-params", "log-level=error", "-pix_fmt", "yuv420p"}, "o.mp4", "h264,High,yuv420p", false, ""},
		{"lossy9.webm", []string{"-c:v", "libvpx-vp9", "-crf", "4", "-b:v", "0"}, "o.webm", "vp9,Profile 0,yuv420p", false, ""},
		{"444.mp4", x264("-crf", "10", "-pix_fmt", "yuv444p"), "o.mp4", "h264,High 4:4:4 Predictive,yuv444p", false, "yuv420p plays"},
		{"deep.mkv", []string{"-c:v", "ffv1", "-pix_fmt", "yuv420p12le"}, "o.mp4", "hevc,Rext,yuv420p12le", true, "has none"},
		{"lt.mov", []string{"-c:v", "prores_ks", "-profile:v", "1"}, "o.mov", "prores,LT,yuv422p10le", false, "source's codec"},
		{"lt.mov", nil, "o.mkv", "prores,LT,yuv422p10le", false, "source's codec"},
		{"lt.mov", nil, "o.mxf", "prores,LT,yuv422p10le", false, "source's codec"},
		{"lt.mov", nil, "o.mp4", "hevc,Rext,yuv422p10le", false, "prores_ks"},
		{"4444.mov", []string{"-c:v", "prores_ks", "-profile:v", "4", "-pix_fmt", "yuva444p10le"}, "o.mov", "prores,4444,yuva444p1", false, "source's codec"},
		{"sq.mov", []string{"-c:v", "dnxhd", "-profile:v", "dnxhr_sq", "-pix_fmt", "yuv422p"}, "o.mov", "dnxhd,DNXHR SQ,yuv422p", false, "source's codec"},
		{"sq.mov", nil, "o.mxf", "dnxhd,DNXHR SQ,yuv422p", false, "source's codec"},
		{"sq.mov", nil, "o.mp4", "h264,High 4:2:2,yuv422p", false, "dnxhd"},
		{"hi10.mkv", x264("-pix_fmt", "yuv420p10le"), "o.mkv", "hevc,Main 10,yuv420p10le", false, "pictures decide"},
		{"hlg.mkv", x264("-pix_fmt", "yuv420p10le", "-color_trc", "arib-std-b67"), "o.mp4", "hevc,Main 10,yuv420p10le", false, "pictures decide"},
		{"plain.mp4", x264("-pix_fmt", "yuv420p"), "o.mp4", "h264,High,yuv420p", false, ""},
	} {
		clip := filepath.Join(dir, c.input)
		if !made[clip] {
			made[clip] = true
			ffmpeg(t, append(append([]string{"-f", "lavfi", "-i", "testsrc2=s=256x128:r=25", "-frames:v", "3"}, c.args...), clip)...)
		}
		var said strings.Builder
		o := pipeline.Options{
			Input: pipeline.Input{File: clip}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: filepath.Join(dir, c.output), Overwrite: true},
			Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
		}
		o.Timing.Rate, _ = timeline.ParseRate("2x")
		mustRun(t, o)
		got := strings.Join(strings.Split(strings.Join(streamsOf(t, o.Output.File, "v", "codec_name,profile,pix_fmt"), " "), ","), ",")
		if got = strings.ReplaceAll(got, ",unknown", ""); !strings.HasPrefix(got, c.want) {
			t.Errorf("%d: %s to %s is %s, want %s", i, c.input, c.output, got, c.want)
		}
		if !strings.Contains(said.String(), c.says) || c.says == "" && said.String() != "" {
			t.Errorf("%d: %s to %s: said %q, want %q", i, c.input, c.output, said.String(), c.says)
		}
		if strings.Contains(said.String(), "yuv420p plays") && c.says != "yuv420p plays" {
			t.Errorf("%d: %s to %s advises to throw bits away: %q", i, c.input, c.output, said.String())
		}
		if !c.exact {
			continue
		}
		source, _, _ := readAll(t, clip)
		frames, _, _ := readAll(t, o.Output.File)
		if len(frames) != 6 || !bytes.Equal(frames[0], source[0]) || !bytes.Equal(frames[2], source[1]) {
			t.Errorf("%d: %s to %s: the shot frames differ", i, c.input, c.output)
		}
	}
}
