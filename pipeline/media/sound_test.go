package media_test

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/asticode/go-astiav"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/warp"
)

// The picture of a clock clip is one level of grey, clockStep times the number of
// its frame modulo clockTurn, so that a blend of two frames tells its time.
const (
	clockStep = 1000
	clockTurn = 64
)

// clockClip makes a clip of a clock and a click every second or so.
func clockClip(t *testing.T, name string, seconds, rate int, args ...string) (clip string, clicks []int) {
	t.Helper()
	dir := t.TempDir()
	frames := seconds * 24000 / 1001
	var video []byte
	for i := range frames {
		for range 16 * 16 {
			video = binary.LittleEndian.AppendUint16(video, uint16(i%clockTurn*clockStep))
		}
	}
	sound := make([]byte, 2*(frames*1001*rate/24000))
	for i := 0; ; i++ {
		at := rate/3 + i*rate + i%7*rate/30
		if 2*(at+rate/5) > len(sound) {
			break
		}
		clicks = append(clicks, at)
		for j := range rate / 1000 {
			v := int16(30000 * math.Exp(-float64(j)/8) * math.Cos(0.9*float64(j)))
			binary.LittleEndian.PutUint16(sound[2*(at+j):], uint16(v))
		}
	}
	for file, data := range map[string][]byte{"video": video, "sound": sound} {
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	clip = filepath.Join(dir, name)
	ffmpeg(t, append(append([]string{
		"-f", "rawvideo", "-pix_fmt", "gray16le", "-s", "16x16", "-r", "24000/1001", "-i", filepath.Join(dir, "video"),
		"-f", "s16le", "-ar", fmt.Sprint(rate), "-ac", "1", "-i", filepath.Join(dir, "sound")}, args...), clip)...)
	return clip, clicks
}

// heard decodes a file's sound from its time 0 on.
func heard(t *testing.T, name string, rate int) []float32 {
	t.Helper()
	raw := filepath.Join(t.TempDir(), "sound.f32")
	ffmpeg(t, "-copyts", "-i", name, "-map", "0:a:0", "-af", "aresample=async=1:first_pts=0", "-ac", "1", "-ar", fmt.Sprint(rate), "-f", "f32le", raw)
	b, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, len(b)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return x
}

// clickNear returns the strongest sample within 50 ms of at.
func clickNear(x []float32, at, rate int) int {
	best := at
	for i := max(at-rate/20, 0); i < min(at+rate/20, len(x)); i++ {
		if best >= len(x) || math.Abs(float64(x[i])) > math.Abs(float64(x[best])) {
			best = i
		}
	}
	return best
}

// clockDrift returns the greatest distance in seconds of the output between a
// click and the moment that the picture shows then.
func clockDrift(t *testing.T, name string, clicks []int, rate int, slow *big.Rat) (drift float64) {
	t.Helper()
	frames, times, _ := readAll(t, name)
	factor, _ := slow.Float64()
	x := heard(t, name, rate)
	seconds := func(k int) float64 { s, _ := times[k].Float64(); return s }
	k := 0
	for _, c := range clicks {
		source := float64(c) / float64(rate)
		// Encoders' delays move picture and sound alike.
		at := clickNear(x, int(math.Round((seconds(0)+source*factor)*float64(rate))), rate)
		now := float64(at) / float64(rate)
		for k+1 < len(times)-1 && seconds(k+1) <= now {
			k++
		}
		level := func(k int) float64 { return float64(binary.LittleEndian.Uint16(frames[k])) / clockStep }
		// What it shows, in source frames, modulo clockTurn.
		part := (now - seconds(k)) / (seconds(k+1) - seconds(k))
		a, b := level(k), level(k+1)
		if b < a {
			continue // the clock turns over
		}
		want := math.Mod(source*24000/1001, clockTurn)
		off := math.Abs(a+(b-a)*part-want) * 1001 / 24000 * factor
		drift = max(drift, min(off, float64(clockTurn)*1001/24000*factor-off))
	}
	return drift
}

// Clicks and pictures stay together, whatever becomes of the time.
func TestSoundDoesNotDrift(t *testing.T) {
	length := 12
	if os.Getenv("RETIME_LONG_TESTS") != "" {
		length = 600
	}
	for _, c := range []struct {
		name, out, slow, fps string
		rate                 int
		args                 []string
	}{
		{"pcm.mkv", "out.mkv", "1", "60", 48000, []string{"-c:v", "ffv1", "-c:a", "pcm_s16le"}},
		{"pcm.mkv", "out.mkv", "5/2", "24000/1001", 8000, []string{"-c:v", "ffv1", "-c:a", "pcm_s16le"}},
		{"pcm.mkv", "out.mkv", "2/5", "60", 8000, []string{"-c:v", "ffv1", "-c:a", "flac"}},
		{"aac.mkv", "out.mkv", "5/2", "60", 44100, []string{"-c:v", "ffv1", "-c:a", "aac"}},
		{"opus.nut", "out.mkv", "5/4", "30", 48000, []string{"-c:v", "ffv1", "-c:a", "libopus"}},
		{"opus.nut", "out.nut", "5/4", "30", 48000, []string{"-c:v", "ffv1", "-c:a", "libopus"}},
	} {
		t.Run(c.name+" to "+c.out+" "+c.slow, func(t *testing.T) {
			clip, clicks := clockClip(t, c.name, length, c.rate, c.args...)
			o := pipeline.Options{
				Input:     pipeline.Input{File: clip},
				Output:    pipeline.Output{File: filepath.Join(t.TempDir(), c.out), VideoCodec: "ffv1"},
				Synthesis: pipeline.Synthesis{Mode: warp.Blend},
				Timing:    pipeline.Timing{Rate: pipeline.Rate{Value: ratio(c.fps)}, Slow: ratio(c.slow)},
			}
			mustRun(t, o)
			drift := clockDrift(t, o.Output.File, clicks, c.rate, o.Timing.Slow)
			t.Logf("%d s from 23.976 to %s, slow %s: %d clicks, drift at most %.3f ms, of the source %.3f", length, c.fps, c.slow, len(clicks), 1000*drift, 1000*clockDrift(t, clip, clicks, c.rate, ratio("1")))
			if drift > 0.001 {
				t.Errorf("drift of %.3f ms, want 1 at most", 1000*drift)
			}
		})
	}
}

// Stretched sound has the length that the arithmetic says, to the sample.
func TestSoundLength(t *testing.T) {
	clip, _ := clockClip(t, "clip.nut", 8, 44100, "-c:v", "ffv1", "-c:a", "pcm_s16le")
	samples := len(heard(t, clip, 44100))
	for _, c := range []struct {
		slow     string
		from, to *big.Rat
		want     int
	}{
		{"5/2", nil, nil, (samples*5 + 1) / 2},
		{"1/3", nil, nil, (samples + 1) / 3},
		{"3", big.NewRat(1001, 2000), big.NewRat(3, 2), 132_234}, // 0.9995 s x 3, as the two below
		{"3", big.NewRat(1, 2), big.NewRat(3, 2), 132_234},
		{"3", big.NewRat(46, 100), big.NewRat(3, 2), 132_234},
		{"2", big.NewRat(1, 2), big.NewRat(1, 1), 44_056},
		{"7/3", big.NewRat(1001, 1000), nil, int(math.Round((float64(samples) - 44100*1.001) * 7 / 3))},
	} {
		o := lossless(t, clip)
		o.Synthesis.Mode, o.Timing.Slow, o.Timing.From, o.Timing.To = warp.Nearest, ratio(c.slow), c.from, c.to
		mustRun(t, o)
		if got := len(heard(t, o.Output.File, 44100)); got != c.want {
			t.Errorf("slow %s from %v to %v: %d samples, want %d", c.slow, c.from, c.to, got, c.want)
		}
	}
}

// Every stream of sound is carried, with its channels, language and disposition.
func TestSoundStreams(t *testing.T) {
	dir := t.TempDir()
	clip := filepath.Join(dir, "many.mkv")
	ffmpeg(t, "-i", writeScene(t, 32, 32, 48, 24, 1),
		"-f", "lavfi", "-i", "sine=duration=2:sample_rate=48000", "-f", "lavfi", "-i", "aevalsrc=0.1*sin(3000*t)|0.1*sin(2000*t)|0|0.1|0|0.1:c=5.1:s=44100:d=2",
		"-map", "0:v", "-map", "1:a", "-map", "2:a", "-c:v", "ffv1", "-c:a:0", "flac", "-c:a:1", "pcm_s16le",
		"-metadata:s:a:0", "language=deu", "-metadata:s:a:1", "language=fra", "-disposition:a:0", "0", "-disposition:a:1", "default+dub", clip)
	probe := func(name string) string {
		return program(t, "ffprobe", "-v", "error", "-select_streams", "a", "-show_entries",
			"stream=codec_name,sample_rate,channel_layout:stream_disposition=default,dub:stream_tags=language", "-of", "compact", name)
	}
	for _, c := range []struct {
		audio media.Audio
		slow  int64
		want  string
	}{
		{media.StretchAudio, 2, probe(clip)},
		{media.StretchAudio, 1, probe(clip)},
		{media.KeepAudio, 2, probe(clip)},
		{media.DropAudio, 2, ""},
		{media.DropAudio, 1, ""},
	} {
		o := lossless(t, clip)
		o.Output.File = filepath.Join(dir, "out.mkv")
		o.Synthesis.Mode, o.Timing.Slow, o.Timing.Audio = warp.Nearest, big.NewRat(c.slow, 1), c.audio
		mustRun(t, o)
		if got := probe(o.Output.File); got != c.want {
			t.Errorf("%s, %d times slower:\n%s\nwant\n%s", c.audio, c.slow, got, c.want)
		}
		if c.want == "" {
			continue
		}
		want := 96000
		if c.audio == media.StretchAudio {
			want *= int(c.slow)
		}
		if got := len(heard(t, o.Output.File, 48000)); got != want {
			t.Errorf("%s, %d times slower: %d samples, want %d", c.audio, c.slow, got, want)
		}
	}
}

// Sound that an edit list hides does not come back in a container without edit lists.
func TestTrimmedSoundStaysTrimmed(t *testing.T) {
	dir := t.TempDir()
	whole, clip := filepath.Join(dir, "whole.mp4"), filepath.Join(dir, "trimmed.mp4")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=32x32:r=25:d=5", "-f", "lavfi", "-i", "aevalsrc='if(lt(t,2.24),0.8*sin(3000*t),0)':s=48000:d=5",
		"-c:v", "libx264", "-g", "50", "-c:a", "aac", whole)
	ffmpeg(t, "-ss", "2.24", "-i", whole, "-c", "copy", clip) // from the key frame at 2 s, hidden until 2.24 s
	for _, out := range []string{"out.mkv", "out.ts", "out.nut", "out.mp4"} {
		o := lossless(t, clip)
		o.Output.File, o.Output.VideoCodec, o.Synthesis.Mode = filepath.Join(dir, out), "", warp.Nearest
		mustRun(t, o)
		starts := strings.Fields(strings.ReplaceAll(program(t, "ffprobe", "-v", "error", "-show_entries", "stream=start_time", "-of", "csv=p=0", o.Output.File), ",", ""))
		video, sound := ratio(starts[0]), ratio(starts[1])
		if lead := video.Sub(video, sound); lead.Cmp(big.NewRat(1, 1000)) > 0 {
			t.Errorf("%s: the sound begins %s s before the video", out, lead.FloatString(3))
		}
		if x := heard(t, o.Output.File, 48000); peak(x[4800:]) > 0.01 {
			t.Errorf("%s: a peak of %.3f in the sound, want silence", out, peak(x[4800:]))
		}
	}
}

// soundClip has a stereo stream of noise of a second in a codec, or of six channels.
func soundClip(t *testing.T, codec, layout string) string {
	t.Helper()
	clip := filepath.Join(t.TempDir(), "in.mkv")
	ffmpeg(t, "-i", writeScene(t, 32, 24, 24, 24, 1), "-f", "lavfi", "-i", "anoisesrc=d=1:r=48000:a=0.5:seed=7", "-map", "0", "-map", "1",
		"-c:v", "copy", "-c:a", codec, "-channel_layout:a", layout, "-ac", map[bool]string{true: "2", false: "6"}[layout == "stereo"], "-metadata:s:a", "language=fin", clip)
	return clip
}

// What the container does not take is encoded, what is asked for always.
func TestAudioCodec(t *testing.T) {
	pcm, saysPCM := "alac,stereo", "in another codec"
	if takes(t, "mp4", astiav.CodecIDPcmS24Le) { // from FFmpeg 6.1 on
		pcm, saysPCM = "pcm_s24le,stereo", ""
	}
	for _, c := range []struct {
		codec, layout, output, encoder string
		options                        map[string]string
		want, says                     string // codec and layout, and what is said
	}{
		{"pcm_s24le", "stereo", "out.mp4", "", nil, pcm, saysPCM},
		{"flac", "stereo", "out.webm", "", nil, "opus,stereo", "in another codec"},
		{"flac", "stereo", "out.ts", "", nil, "aac,stereo", "in another codec"},
		{"flac", "stereo", "out.mkv", "", nil, "flac,stereo", ""},
		{"flac", "stereo", "out.mkv", "pcm_s16le", nil, "pcm_s16le,", ""},
		{"aac", "stereo", "out.mkv", "libvorbis", map[string]string{"b": "96k"}, "vorbis,stereo", ""},
		{"ac3", "5.1(side)", "out.webm", "", nil, "opus,5.1", "another name"},
		{"ac3", "5.1(side)", "out.mp4", "aac", nil, "aac,5.1", "another name"},
		{"ac3", "5.1(side)", "out.mkv", "flac", nil, "flac,5.1(side)", ""},
	} {
		var said strings.Builder
		o := pipeline.Options{Input: pipeline.Input{File: soundClip(t, c.codec, c.layout)}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.output), AudioCodec: c.encoder, AudioOptions: c.options}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		if filepath.Ext(c.output) == ".webm" {
			o.Output.VideoCodec = "libvpx"
		}
		o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
		mustRun(t, o)
		out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "stream=codec_name,channel_layout", "-of", "csv=p=0", o.Output.File).Output()
		if got, _, _ := strings.Cut(string(out), "\n"); err != nil || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s to %s with %q: %q (%v), want %q", c.codec, c.output, c.encoder, got, err, c.want)
		}
		if !strings.Contains(said.String(), c.says) || (c.says == "") != (said.String() == "") {
			t.Errorf("%s to %s with %q: said %q, want %q", c.codec, c.output, c.encoder, said.String(), c.says)
		}
	}
}

// Sound that is encoded again without a loss, at its own speed, has every sample.
func TestEncodedSoundIsExact(t *testing.T) {
	hash := func(name string) string {
		return ffmpeg(t, "-i", name, "-map", "0:a", "-c", "pcm_s32le", "-f", "streamhash", "-")
	}
	for _, codec := range []string{"pcm_s16le", "pcm_s24le"} {
		o := pipeline.Options{Input: pipeline.Input{File: soundClip(t, codec, "stereo")}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "out.mkv"), AudioCodec: "flac"}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		mustRun(t, o)
		if a, b := hash(o.Input.File), hash(o.Output.File); a != b {
			t.Errorf("%s: %s became %s", codec, a, b)
		}
	}
}

func TestAudioCodecIsRefused(t *testing.T) {
	clip := soundClip(t, "flac", "stereo")
	for _, c := range []struct {
		output, encoder string
		options         map[string]string
		audio           media.Audio
		says            string
	}{
		{"out.mkv", "nothing", nil, "", "it has aac, "},
		{"out.mkv", "libx264", nil, "", "no encoder of sound"},
		{"out.mkv", "copy", nil, "", "leave it out"},
		{"out.webm", "aac", nil, "", "libopus"},
		{"out.mkv", "flac", map[string]string{"colour": "blue"}, "", "Output.AudioOptions colour"},
		{"out.mkv", "flac", map[string]string{"compression_level": "1000"}, "", "refuses 2 channels at 48000 Hz"},
		{"out.mkv", "flac", nil, media.KeepAudio, "Timing.Audio keep"},
		{"out.mkv", "flac", nil, media.DropAudio, "Timing.Audio drop"},
	} {
		o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), c.output), AudioCodec: c.encoder, AudioOptions: c.options}, Timing: pipeline.Timing{Audio: c.audio}}
		if _, err := pipeline.Run(t.Context(), o); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Encoded sound that comes long after its pictures is there; only the packets that the container
// cannot take any more are left out, with a word.
func TestSoundBehindItsPictures(t *testing.T) {
	dir := t.TempDir()
	picture, sound, in := filepath.Join(dir, "picture.flv"), filepath.Join(dir, "sound.flv"), filepath.Join(dir, "in.flv")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=5:d=30", "-c:v", "flv1", picture)
	ffmpeg(t, "-f", "lavfi", "-i", "sine=d=1:r=44100", "-c:a", "nellymoser", sound)
	data, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	behind, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	const header = 13
	data[4] |= 4 // it has sound
	if err := os.WriteFile(in, append(data, behind[header:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	o := pipeline.Options{Input: pipeline.Input{File: in}, Output: pipeline.Output{File: filepath.Join(dir, "out.nut"), VideoCodec: "rawvideo"}, Synthesis: pipeline.Synthesis{Mode: warp.Nearest}}
	var said strings.Builder
	o.Hooks.Log = slog.New(slog.NewTextHandler(&said, nil))
	mustRun(t, o)
	list, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "packet=pts", "-of", "csv", o.Output.File).Output()
	if packets := strings.Count(string(list), "\n"); err != nil || packets < 10 || !strings.Contains(said.String(), "packets left out") {
		t.Errorf("%d packets of sound: %v\n%s", packets, err, said.String())
	}
}
