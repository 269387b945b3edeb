package media_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/asticode/go-astiav"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media/container"
	"retime/warp"
)

// containerClip makes a clip of 5 pictures with noise, encoded with the given arguments.
func containerClip(t *testing.T, name, size string, rate, channels int, args ...string) string {
	t.Helper()
	clip := filepath.Join(t.TempDir(), name)
	ffmpeg(t, append(append([]string{
		"-f", "lavfi", "-i", "testsrc2=s=" + size + ":r=25", "-f", "lavfi", "-i", fmt.Sprintf("anoisesrc=d=0.2:r=%d:a=0.3:seed=7", rate),
		"-t", "0.2", "-ac", fmt.Sprint(channels)}, args...), clip)...)
	return clip
}

// Sound that a container does not take as it is becomes sound that it takes, in codec,
// sample rate and channels.
func TestSoundForEveryContainer(t *testing.T) {
	const small, pal = "352x288", "720x576"
	flacInFLV, saysFLV := "aac,48000,6", "in another codec"
	if takes(t, "flv", astiav.CodecIDFlac) { // from FFmpeg 9 on
		flacInFLV, saysFLV = "flac,48000,6", ""
	}
	for _, c := range []struct {
		output, size   string
		rate, channels int
		source         string // encoder of the source's sound
		want           string // codec, sample rate, channels
		says           string
	}{
		{"o.mpg", small, 44100, 2, "flac", "mp2,44100,2", "in another codec"},
		{"o.mpeg", small, 48000, 6, "flac", "ac3,48000,6", "in another codec"},
		{"o.mpg", small, 48000, 2, "ac3", "ac3,48000,2", ""},
		{"o.mpg", small, 8000, 1, "aac", "mp2,16000,1", "in another codec"},
		{"o.mpg", small, 48000, 2, "dca", "dts,48000,2", ""},
		{"o.mpg", small, 24000, 2, "libvorbis", "mp2,24000,2", "in another codec"},
		{"o.webm", small, 48000, 2, "dca", "opus,48000,2", "in another codec"},
		{"o.ogv", small, 48000, 2, "dca", "vorbis,48000,2", "in another codec"},
		{"o.ismv", small, 48000, 2, "ac3", "ac3,48000,2", ""},
		{"o.vob", small, 44100, 2, "libvorbis", "mp2,44100,2", "in another codec"},
		{"o.mxf", small, 44100, 2, "pcm_s16le", "pcm_s16le,48000,2", ""},
		{"o.mxf", small, 44100, 2, "flac", "pcm_s16le,48000,2", "in another codec"},
		{"o.mxf", small, 48000, 2, "pcm_s24le", "pcm_s24le,48000,2", ""},
		{"o.dv", pal, 22050, 1, "flac", "pcm_s16le,32000,2", "in another codec"},
		{"o.dv", pal, 48000, 6, "aac", "pcm_s16le,48000,2", "fewer channels"},
		{"o.gxf", pal, 44100, 2, "flac", "pcm_s16le,48000,1", "fewer channels"},
		{"o.3gp", small, 44100, 2, "flac", "aac,44100,2", "in another codec"},
		{"o.3g2", small, 48000, 6, "flac", "aac,48000,6", "in another codec"},
		{"o.flv", small, 48000, 6, "flac", flacInFLV, saysFLV},
		{"o.flv", small, 32000, 2, "libmp3lame", "mp3,44100,2", ""},
		{"o.swf", small, 48000, 2, "flac", "mp3,44100,2", "in another codec"},
		{"o.rm", small, 44100, 2, "flac", "ac3,44100,2", "in another codec"},
		{"o.avi", small, 44100, 2, "libopus", "mp3,48000,2", "in another codec"},
		{"o.mkv", small, 44100, 2, "wmav2", "wmav2,44100,2", ""},
		{"o.mkv", small, 44100, 2, "adpcm_ms", "adpcm_ms,44100,2", ""},
		{"o.avi", small, 44100, 2, "adpcm_ima_wav", "adpcm_ima_wav,44100,2", ""},
		{"o.mkv", small, 8000, 1, "pcm_mulaw", "pcm_mulaw,8000,1", ""},
		{"o.mkv", small, 44100, 2, "libspeex", "speex,32000,2", ""},
	} {
		args := []string{"-c:v", "ffv1", "-strict", "-2", "-c:a", c.source}
		if c.source == "libspeex" {
			args = append(args, "-ar", "32000")
		}
		name := "in.nut"
		switch c.source {
		case "wmav2":
			name = "in.wmv" // NUT loses the size of blocks
		case "adpcm_ms", "adpcm_ima_wav":
			name = "in.avi" // the same
		}
		clip := containerClip(t, name, c.size, c.rate, c.channels, args...)
		var said bytes.Buffer
		o := pipeline.Options{Input: pipeline.Input{File: clip, Deinterlace: pipeline.IgnoreFields}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.output)}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		if filepath.Ext(c.output) == ".ismv" {
			o.Output.Format = "ismv"
		}
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))
		if _, err := pipeline.Run(t.Context(), o); err != nil {
			t.Errorf("%d channels of %s at %d Hz to %s: %v", c.channels, c.source, c.rate, c.output, err)
			continue
		}
		if got := streamsOf(t, o.Output.File, "a", "codec_name,sample_rate,channels"); len(got) == 0 || got[0] != c.want {
			t.Errorf("%d channels of %s at %d Hz to %s: %q, want %q", c.channels, c.source, c.rate, c.output, got, c.want)
		}
		if c.says != "" && !strings.Contains(said.String(), c.says) || c.says == "" && strings.Contains(said.String(), "sound") {
			t.Errorf("%s to %s: said %q, want %q", c.source, c.output, said.String(), c.says)
		}
	}
}

// Ambisonic sound stays so where the container holds Opus; elsewhere it becomes sound of loudspeakers, which is said.
func TestAmbisonicSound(t *testing.T) {
	if astiav.FindEncoderByName("libopus") == nil {
		t.Skip("this FFmpeg has no encoder of Opus")
	}
	const says = "for sound of loudspeakers"
	clip := containerClip(t, "in.mkv", "64x48", 48000, 4, "-c:v", "ffv1", "-c:a", "libopus", "-mapping_family", "2")
	for output, want := range map[string]string{
		"o.mkv": "opus,4,ambisonic 1", "o.webm": "opus,4,ambisonic 1", "o.mp4": "opus,4,ambisonic 1", "o.ogv": "opus,4,ambisonic 1", "o.mov": "aac,4,4.0",
	} {
		var said bytes.Buffer
		o := pipeline.Options{
			Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), output)}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest},
			Timing: pipeline.Timing{Slow: big.NewRat(2, 1)}, Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
		}
		mustRun(t, o)
		if got := streamsOf(t, o.Output.File, "a", "codec_name,channels,channel_layout"); strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", output, got, want)
		}
		if strings.Contains(said.String(), says) == strings.Contains(want, "ambisonic") {
			t.Errorf("%s: said %q", output, said.String())
		}
	}
}

// ADPCM whose size of blocks the input does not state is heard in containers whose readers
// need the size.
func TestADPCMWithoutBlockSize(t *testing.T) {
	for _, codec := range []string{"adpcm_ms", "adpcm_ima_wav"} {
		clip := containerClip(t, "in.nut", "64x48", 44100, 2, "-map", "0", "-map", "1", "-c:v", "ffv1", "-c:a", codec)
		if codec == "adpcm_ima_wav" && exec.Command("ffmpeg", "-nostdin", "-i", clip, "-map", "0:a", "-f", "null", "-").Run() != nil {
			continue // FFmpeg 7 itself does not read its NUT file
		}
		for _, ext := range []string{".nut", ".mkv", ".avi"} {
			o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "o"+ext)}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest}}
			mustRun(t, o)
			if x := heard(t, o.Output.File, 44100); len(x) < 44100/6 || peak(x) < 0.1 {
				t.Errorf("%s to %s: %d samples with a peak of %.2f are heard", codec, ext, len(x), peak(x))
			}
		}
	}
}

// takes reports whether this FFmpeg's muxer takes a codec.
func takes(t *testing.T, muxer string, codec astiav.CodecID) bool {
	t.Helper()
	c, err := astiav.AllocOutputFormatContext(nil, muxer, "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Free()
	return container.Takes(c, codec)
}

// A container that takes one stream of sound gets the first; the others are named.
func TestOneSoundStream(t *testing.T) {
	clip := containerClip(t, "in.mkv", "352x288", 44100, 2, "-map", "0", "-map", "1", "-map", "1", "-c:v", "ffv1", "-c:a", "flac")
	for _, name := range []string{"o.flv", "o.swf", "o.rm"} {
		var said bytes.Buffer
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), name)}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
		mustRun(t, o)
		if n := len(streamsOf(t, o.Output.File, "a", "codec_name")); n != 1 {
			t.Errorf("%s: %d streams of sound", name, n)
		}
		if !strings.Contains(said.String(), "one stream of this kind") {
			t.Errorf("%s: said %q", name, said.String())
		}
	}
}

// What a container refuses is the caller's choice, not a fault of the file, and the
// message has the container's reason.
func TestContainerRefuses(t *testing.T) {
	clip := containerClip(t, "in.mkv", "352x288", 44100, 2, "-c:v", "ffv1", "-c:a", "flac")
	for _, c := range []struct{ output, codec, says string }{
		{"o.mp3", "", "mp3 container holds no video"},
		{"o.srt", "", "srt container holds no video"},
		{"o.opus", "", "opus container holds no video"},
		{"o.flac", "", "flac container holds no video"},
		{"o.srt", "libx264", "srt container holds no video"},
		{"o.mp3", "png", "mp3 container holds no video"},
		{"o.gxf", "", "only accepts PAL or NTSC"},
	} {
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.output), VideoCodec: c.codec}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		if _, err := pipeline.Run(t.Context(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The extension of a name decides what is written: one file, or a file for each picture.
func TestNamesOfFiles(t *testing.T) {
	clip := containerClip(t, "in.mkv", "64x48", 44100, 2, "-map", "0", "-c:v", "ffv1")
	for _, c := range []struct {
		output string
		files  []string
		codec  string
	}{
		{"%d.mp4", []string{"%d.mp4"}, "h264"},
		{"clip%03d.mkv", []string{"clip%03d.mkv"}, "ffv1"},
		{"%d.png", []string{"1.png", "2.png", "3.png", "4.png", "5.png"}, "png"},
		{"a%02d.webp", []string{"a01.webp", "a02.webp", "a03.webp", "a04.webp", "a05.webp"}, "webp"},
		{"o.hevc", []string{"o.hevc"}, "hevc"},
		{"o.h265", []string{"o.h265"}, "hevc"},
		{"o.mjpeg", []string{"o.mjpeg"}, "mjpeg"},
		{"o.m2v", []string{"o.m2v"}, "mpeg2video"},
		{"o.m1v", []string{"o.m1v"}, "mpeg1video"},
		{"o.ivf", []string{"o.ivf"}, "vp9"},
	} {
		dir := t.TempDir()
		mustRun(t, pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(dir, c.output)}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}})
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if !slices.Equal(names, c.files) {
			t.Errorf("%s: wrote %q", c.output, names)
			continue
		}
		if got := streamsOf(t, "file:"+filepath.Join(dir, names[0]), "v", "codec_name"); !slices.Equal(got, []string{c.codec}) {
			t.Errorf("%s: holds %q, want %s", c.output, got, c.codec)
		}
	}
	raw := filepath.Join(t.TempDir(), "o.yuv")
	mustRun(t, pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: raw}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}})
	want := ffmpeg(t, "-i", clip, "-f", "md5", "-c:v", "rawvideo", "-")
	if got := ffmpeg(t, "-f", "rawvideo", "-video_size", "64x48", "-pixel_format", "yuv420p", "-i", raw, "-f", "md5", "-"); got != want {
		t.Errorf("o.yuv: %s, want %s", got, want)
	}
}

// boxes lists the types of an MP4 file's outermost boxes.
func boxes(t *testing.T, data []byte) (list []string) {
	t.Helper()
	for len(data) >= 8 {
		size := uint64(binary.BigEndian.Uint32(data))
		if size == 1 && len(data) >= 16 {
			size = binary.BigEndian.Uint64(data[8:])
		}
		list = append(list, string(data[4:8]))
		if size < 8 || size > uint64(len(data)) {
			t.Fatalf("boxes %q and one of %d bytes", list, size)
		}
		data = data[size:]
	}
	return list
}

// The index of a file comes first. Without it, what goes into a pipe is in fragments, and
// both play the same.
func TestMovieLayout(t *testing.T) {
	clip := containerClip(t, "in.mkv", "64x48", 44100, 2, "-c:v", "ffv1", "-c:a", "ac3")
	dir := t.TempDir()
	// Readers of fragments do not mark the samples to skip, which FFmpeg 9 has for AC-3.
	skip := regexp.MustCompile(`, S=.*`)
	play := func(name string) string {
		return skip.ReplaceAllString(ffmpeg(t, "-copyts", "-i", name, "-map", "0", "-c:a", "copy", "-f", "framemd5", "-"), "")
	}
	for _, format := range []string{"mp4", "mov"} {
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(dir, "o."+format)}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		mustRun(t, o)
		data, err := os.ReadFile(o.Output.File)
		if err != nil {
			t.Fatal(err)
		}
		if got := boxes(t, data); slices.Index(got, "moov") < 0 || slices.Index(got, "moov") > slices.Index(got, "mdat") || slices.Contains(got, "moof") {
			t.Errorf("%s: boxes %q", format, got)
		}
		pipe := filepath.Join(dir, "pipe."+format)
		program(t, "mkfifo", pipe)
		read := make(chan []byte)
		go func() {
			data, _ := os.ReadFile(pipe)
			read <- data
		}()
		o.Output.File = pipe
		mustRun(t, o)
		streamed := <-read
		if got := boxes(t, streamed); !slices.Contains(got, "moof") {
			t.Errorf("%s into a pipe: boxes %q", format, got)
		}
		kept := filepath.Join(dir, "kept."+format)
		if err := os.WriteFile(kept, streamed, 0o600); err != nil {
			t.Fatal(err)
		}
		if a, b := play(filepath.Join(dir, "o."+format)), play(kept); a != b {
			t.Errorf("%s into a pipe plays\n%s, the file\n%s", format, b, a)
		}
	}
}

// HEVC in MP4 and MOV has the name that Apple's players take.
func TestHEVCTag(t *testing.T) {
	tag := func(name string) string { return strings.Join(streamsOf(t, name, "v", "codec_tag_string"), " ") }
	clip := containerClip(t, "in.mkv", "64x64", 44100, 2, "-map", "0", "-c:v", "ffv1")
	for _, name := range []string{"o.mp4", "o.mov"} {
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), name), VideoCodec: "libx265"}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		mustRun(t, o)
		if got := tag(o.Output.File); got != "hvc1" {
			t.Errorf("%s: %s", name, got)
		}
		second := filepath.Join(t.TempDir(), "second.mkv") // HEVC that is copied
		ffmpeg(t, "-i", clip, "-i", o.Output.File, "-map", "0", "-map", "1", "-c", "copy", "-disposition:v:0", "default", "-disposition:v:1", "0", second)
		o.Input.File, o.Output.VideoCodec, o.Output.Overwrite = second, "libx264", true
		mustRun(t, o)
		if got := tag(o.Output.File); got != "avc1 hvc1" {
			t.Errorf("%s: a copy has %s", name, got)
		}
	}
}

// MuxOptions reach the muxer, add to its flags, and are refused if it has none of that
// name.
func TestMuxOptions(t *testing.T) {
	clip := containerClip(t, "in.mkv", "64x48", 44100, 2, "-map", "0", "-c:v", "ffv1")
	run := func(name, key, value string) ([]byte, error) {
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), name), MuxOptions: map[string]string{key: value}}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		if _, err := pipeline.Run(t.Context(), o); err != nil {
			return nil, err
		}
		return os.ReadFile(o.Output.File)
	}
	for _, c := range []struct {
		value string
		first string // of moov and mdat
	}{{"+negative_cts_offsets", "moov"}, {"-faststart", "mdat"}, {"negative_cts_offsets", "mdat"}} {
		data, err := run("o.mp4", "movflags", c.value)
		if err != nil {
			t.Fatal(err)
		}
		list := boxes(t, data)
		if got := list[slices.IndexFunc(list, func(b string) bool { return b == "moov" || b == "mdat" })]; got != c.first {
			t.Errorf("movflags=%s: boxes %q", c.value, list)
		}
	}
	// Fragments keep sound and pictures together, too, which the check of the output demands.
	clip = filepath.Join(t.TempDir(), "long.mp4")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=2", "-f", "lavfi", "-i", "sine=d=2", "-c:v", "libx264", "-c:a", "aac", clip)
	for _, value := range []string{"+frag_keyframe", "frag_keyframe+empty_moov"} {
		if _, err := run("o.mp4", "movflags", value); err != nil {
			t.Errorf("movflags=%s: %v", value, err)
		}
	}
	if data, err := run("o.mp4", "brand", "dash"); err != nil || !strings.HasPrefix(string(data[8:]), "dash") {
		t.Errorf("brand: %v", err)
	}
	for _, c := range [][4]string{
		{"o.mp4", "colour", "blue", "Output.MuxOptions colour: the mp4 container has no such option"},
		{"o.mkv", "movflags", "+faststart", "Output.MuxOptions movflags: the matroska container has no such option"},
		{"o.mp4", "movflags", "blue", "Output.MuxOptions movflags=blue: the mp4 container's option does not take this"},
		{"o.mp4", "movie_timescale", "0", "Output.MuxOptions movie_timescale=0: the mp4 container's option does not take this"},
		{"o.mp4", "encryption_scheme", "none-such", "refuses these streams or options"},
	} {
		if _, err := run(c[0], c[1], c[2]); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), c[3]) {
			t.Errorf("%q: %v", c, err)
		}
	}
}

// Without a name, the encoder follows the source, and what that means is said before the
// work.
func TestEncoderFollowsTheSource(t *testing.T) {
	const hdr = "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc:log-level=error"
	for _, c := range []struct {
		args   []string
		output string
		want   string // codec, tag, sample format; empty for the source's, whose tag depends on FFmpeg
		says   string
	}{
		{[]string{"-c:v", "libx265", "-pix_fmt", "yuv420p10le", "-x265-params", hdr}, "o.mp4", "hevc,hvc1,yuv420p10le", "libx265"},
		{[]string{"-c:v", "libx265", "-pix_fmt", "yuv420p10le", "-x265-params", hdr}, "o.avi", "h264,H264,yuv420p10le", "few devices"},
		{[]string{"-c:v", "libx265", "-pix_fmt", "yuv420p", "-x265-params", "log-level=error"}, "o.mp4", "h264,avc1,yuv420p", ""},
		{[]string{"-c:v", "ffv1", "-pix_fmt", "bgr0"}, "o.mov", "h264,avc1,gbrp", "libx264rgb"},
		{[]string{"-c:v", "ffv1", "-pix_fmt", "gbrp16le"}, "o.mkv", "", "ffv1"},
		{[]string{"-c:v", "ffv1", "-pix_fmt", "yuv422p"}, "o.mp4", "h264,avc1,yuv422p", "has none, but few devices"},
		{[]string{"-c:v", "rawvideo", "-pix_fmt", "bgr24", "-allow_raw_vfw", "1"}, "o.mp4", "h264,avc1,gbrp", "few devices"},
		{[]string{"-c:v", "libx264", "-pix_fmt", "yuv422p"}, "o.mp4", "h264,avc1,yuv422p", "few devices"},
	} {
		clip := containerClip(t, "in.mkv", "64x64", 44100, 2, append([]string{"-map", "0"}, c.args...)...)
		var said bytes.Buffer
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.output)}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
		mustRun(t, o)
		const shown = "codec_name,codec_tag_string,pix_fmt"
		want := []string{c.want}
		if c.want == "" {
			want = streamsOf(t, clip, "v", shown)
		}
		if got := streamsOf(t, o.Output.File, "v", shown); !slices.Equal(got, want) {
			t.Errorf("%q to %s: %q, want %q", c.args, c.output, got, want)
		}
		if !strings.Contains(said.String(), c.says) || c.says == "" && said.Len() > 0 {
			t.Errorf("%q to %s: said %q", c.args, c.output, said.String())
		}
	}
}

// The first picture comes with the first sound in every container, though encoders code pictures before they are shown.
func TestPicturesComeWithTheirSound(t *testing.T) {
	const late = "players show all of them late"
	clip := filepath.Join(t.TempDir(), "in.mov")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=352x288:r=25", "-f", "lavfi", "-i", "anoisesrc=r=48000:seed=7", "-t", "0.4", "-ac", "2",
		"-c:v", "libx264", "-bf", "2", "-c:a", "pcm_s16le", clip)
	for _, c := range []struct {
		output, bf string
		late       bool
	}{
		{"o.avi", "", false}, {"o.ismv", "", false}, {"o.mkv", "2", false}, {"o.mp4", "2", false}, {"o.mov", "2", false}, {"o.ts", "2", false},
		{"o.flv", "2", false}, {"o.nut", "2", false}, {"o.asf", "2", false}, {"o.mpg", "2", false}, {"o.mxf", "2", false}, {"o.3gp", "2", false},
		{"o.avi", "2", true}, {"o.ismv", "2", true},
	} {
		var said bytes.Buffer
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.output)}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest}}
		if c.bf != "" {
			o.Output.VideoOptions = map[string]string{"bf": c.bf}
		}
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))
		mustRun(t, o)
		first := func(stream string) float64 {
			out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "frame=best_effort_timestamp_time",
				"-of", "csv=p=0", o.Output.File).Output()
			at, _, _ := strings.Cut(string(out), "\n")
			x, parsed := strconv.ParseFloat(strings.Trim(at, ",\r"), 64)
			if err := errors.Join(err, parsed); err != nil {
				t.Fatal(c.output, err)
			}
			return x
		}
		const frame, priming = 0.04, 1152. / 48_000 // some containers cannot say of MP2 and AAC what comes before the sound
		if apart := first("v:0") - first("a:0"); (apart > priming+0.001) != c.late || apart < -frame {
			t.Errorf("%s, bf %q: the pictures come %.3f s after the sound", c.output, c.bf, apart)
		}
		if strings.Contains(said.String(), late) != c.late {
			t.Errorf("%s, bf %q: said %q", c.output, c.bf, said.String())
		}
	}
}

// Uncompressed pictures in MOV and AVI have tags by which they can be read, as the pictures that they are, or are refused.
func TestUncompressedPictures(t *testing.T) {
	dir := t.TempDir()
	rgb := func(name string) string { return ffmpeg(t, "-i", name, "-pix_fmt", "rgb24", "-f", "md5", "-") }
	for _, c := range []struct{ container, format, tag string }{
		{"mov", "uyvy422", "2vuy"}, {"mov", "yuyv422", "yuvs"}, {"mov", "rgb24", "raw "}, {"mov", "bgr24", "24BG"}, {"mov", "bgra", "BGRA"},
		{"mov", "rgb48be", "b48r"}, {"mov", "rgb48le", ""}, {"mov", "gray", "raw "}, {"mov", "yuv420p", "I420"}, {"mov", "yuv444p", ""},
		{"avi", "gray", "Y800"}, {"avi", "bgr24", "[0][0][0][0]"}, {"avi", "rgb24", ""}, {"avi", "bgra", "[0][0][0][0]"}, {"avi", "uyvy422", "UYVY"},
	} {
		in, out := filepath.Join(dir, c.format+".nut"), filepath.Join(dir, c.format+"."+c.container)
		ffmpeg(t, "-y", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=0.08", "-c:v", "rawvideo", "-pix_fmt", c.format, in)
		o := pipeline.Options{Input: pipeline.Input{File: in}, Output: pipeline.Output{File: out, VideoCodec: "rawvideo", PixelFormat: c.format}}
		if c.tag == "" {
			if _, err := pipeline.Run(t.Context(), o); fault.KindOf(err) != fault.Usage {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		mustRun(t, o)
		if got := ffprobe(t, out, "stream=codec_tag_string"); !strings.Contains(got, `"`+c.tag+`"`) || rgb(out) != rgb(in) {
			t.Errorf("%+v: %s, or other pictures", c, got)
		}
	}
}
