package media_test

import (
	"math"
	"math/big"
	"path/filepath"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// attackClip makes a clip of 4 s that can be entered only at its start. Its sound is a
// loud attack at 0.5 s, a tone until 1.99 s, and silence.
func attackClip(t *testing.T, name, codec string) string {
	t.Helper()
	clip := filepath.Join(t.TempDir(), name)
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=32x32:r=24:d=4",
		"-f", "lavfi", "-i", "aevalsrc='if(lt(t,0.5),0,if(lt(t,0.7),0.9*exp(-20*(t-0.5))*sin(2000*t),if(lt(t,1.99),0.5*sin(3000*t),0)))':s=48000:d=4",
		"-c:v", "libx264", "-g", "300", "-c:a", codec, clip)
	return clip
}

// A part in which the source has no sound is a whole output, whatever its container makes of that.
func TestPartWithoutSound(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "short.mkv")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=32x32:r=24:d=4", "-f", "lavfi", "-i", "sine=d=1", "-f", "lavfi", "-i", "sine=d=4",
		"-map", "0", "-map", "1", "-map", "2", "-c:v", "libx264", "-c:a", "aac", clip)
	for _, name := range []string{"a.mp4", "a.mov", "a.mkv"} {
		for _, c := range []struct{ slow, codec string }{{"1", ""}, {"2", ""}, {"1", "aac"}} {
			o := pipeline.Options{Input: pipeline.Input{File: clip}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), name), AudioCodec: c.codec}}
			o.Synthesis.Mode, o.Timing.From, o.Timing.Slow = warp.Nearest, big.NewRat(5, 2), ratio(c.slow)
			mustRun(t, o)
			if got := streamsOf(t, o.Output.File, "a", "codec_type"); len(got) == 0 {
				t.Errorf("%s, slow %s, %q: the sound that is there is lost", name, c.slow, c.codec)
			}
		}
	}
}

func peak(x []float32) (p float64) {
	for _, v := range x {
		p = max(p, math.Abs(float64(v)))
	}
	return p
}

// A part of a clip sounds as its own moments do. What lies before the part, or in what a
// curve jumps over, or behind the part that plays backward, is not heard.
func TestPartHasNoSoundFromOutside(t *testing.T) {
	for _, clip := range []string{attackClip(t, "pcm.mov", "pcm_s16le"), attackClip(t, "aac.mp4", "aac")} {
		for _, c := range []struct {
			name string
			set  func(*pipeline.Options)
		}{
			{"slow", func(o *pipeline.Options) { o.Timing.From, o.Timing.Slow = big.NewRat(41, 20), big.NewRat(2, 1) }},
			{"speed", func(o *pipeline.Options) { o.Timing.From, o.Timing.Slow = big.NewRat(41, 20), big.NewRat(1, 2) }},
			{"encoded again", func(o *pipeline.Options) { o.Timing.From, o.Output.AudioCodec = big.NewRat(41, 20), "flac" }},
			{"curve", func(o *pipeline.Options) { o.Timing.Curve = mustParse(t, "source speed\n2.05 50%\n3.5 100%") }},
			{"jump", func(o *pipeline.Options) {
				o.Timing.Curve = mustParse(t, "source output\n0.1 0\n0.3 0.2 hold\n2.05 0.4\n3 2")
			}},
			{"jump at once", func(o *pipeline.Options) { o.Timing.Curve = mustParse(t, "source output\n0 0 hold\n2.05 0.4\n3 2") }},
			{"backward", func(o *pipeline.Options) { o.Timing.Curve = mustParse(t, "source output\n3.5 0\n2.05 2") }},
			{"there and back", func(o *pipeline.Options) { o.Timing.Curve = mustParse(t, "source output\n2.05 0\n3.5 1\n2.05 4") }},
			{"backward jump", func(o *pipeline.Options) {
				o.Timing.Curve = mustParse(t, "source output\n3.5 0\n3 1 hold\n0.4 2\n0.2 3")
			}},
		} {
			o := lossless(t, clip)
			o.Synthesis.Mode = warp.Nearest
			c.set(&o)
			mustRun(t, o)
			if p := peak(heard(t, o.Output.File, 48000)); p > 0.001 {
				t.Errorf("%s of %s: a peak of %.4f, want silence", c.name, filepath.Base(clip), p)
			}
		}
	}
}

// A part has its sound to its end where the file holds the sound behind the picture: FFmpeg reads
// the sound of a fragmented MP4 file up to a second later.
func TestPartHasItsSoundToTheEnd(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "fragments.mp4")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=32x32:r=24:d=4", "-f", "lavfi", "-i", "aevalsrc=0.5*sin(3000*t):s=48000:d=4",
		"-c:v", "libx264", "-g", "300", "-c:a", "aac", "-movflags", "frag_keyframe+empty_moov", clip)
	for _, c := range []struct {
		name   string
		set    func(*pipeline.Options)
		length float64 // of the part, in seconds
	}{
		{"to", func(o *pipeline.Options) { o.Timing.To = big.NewRat(1, 1) }, 1},
		{"slow", func(o *pipeline.Options) { o.Timing.To, o.Timing.Slow = big.NewRat(1, 1), big.NewRat(2, 1) }, 2},
		{"from", func(o *pipeline.Options) {
			o.Timing.From, o.Timing.To, o.Timing.Slow = big.NewRat(1, 2), big.NewRat(1, 1), big.NewRat(2, 1)
		}, 1},
		{"encoded again", func(o *pipeline.Options) { o.Timing.To, o.Output.AudioCodec = big.NewRat(1, 1), "flac" }, 1},
		{"curve", func(o *pipeline.Options) { o.Timing.Curve = mustParse(t, "source output\n0 0\n1 2") }, 2},
		{"there and back", func(o *pipeline.Options) { o.Timing.Curve = mustParse(t, "source output\n0.5 0\n1.5 1\n0.2 2") }, 1},
	} {
		o := lossless(t, clip)
		o.Synthesis.Mode = warp.Nearest
		c.set(&o)
		mustRun(t, o)
		sound := heard(t, o.Output.File, 48000)
		const window, edge = 2400, 0.15 // the picture begins up to 0.1 s late, as it has B-frames
		if end := int((c.length - edge) * 48000); len(sound) < end {
			t.Errorf("%s: %.3f s of sound, want %.3f", c.name, float64(len(sound))/48000, c.length)
		} else {
			for i := int(edge * 48000); i+window <= end; i += window {
				if p := peak(sound[i : i+window]); p < 0.2 {
					t.Errorf("%s: a peak of %.4f from %.2f s on", c.name, p, float64(i)/48000)
				}
			}
		}
	}
}

// A part that begins before the picture has the sound from there on.
func TestPartBeforeThePicture(t *testing.T) {
	dir := t.TempDir()
	clip, late := filepath.Join(dir, "clip.mp4"), filepath.Join(dir, "late.mp4")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=32x32:r=24:d=4", "-f", "lavfi", "-i", "aevalsrc=0.5*sin(3000*t):s=48000:d=4", "-c:v", "libx264", "-c:a", "aac", clip)
	ffmpeg(t, "-itsoffset", "2", "-i", clip, "-i", clip, "-map", "0:v", "-map", "1:a", "-c", "copy", late)
	o := lossless(t, late)
	o.Synthesis.Mode, o.Timing.From, o.Timing.To = warp.Nearest, big.NewRat(1, 2), big.NewRat(3, 1)
	mustRun(t, o)
	sound := heard(t, o.Output.File, 48000)
	for i := 4800; i+2400 <= 48000*24/10; i += 2400 {
		if i+2400 > len(sound) || peak(sound[i:i+2400]) < 0.2 {
			t.Fatalf("no sound at %.2f s, of %.2f", float64(i)/48000, float64(len(sound))/48000)
		}
	}
}

// FFmpeg's reader of Ogg misplaces FLAC and Speex after a seek.
func TestPartOfOgg(t *testing.T) {
	clip := filepath.Join(t.TempDir(), "clip.ogg")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=160x120:r=24:d=6", "-f", "lavfi", "-i", "aevalsrc='if(lt(t,3.75),0,0.5*sin(3000*t))':s=48000:d=6", "-c:v", "libtheora", "-q:v", "8", "-c:a", "flac", clip)
	o := lossless(t, clip)
	o.Synthesis.Mode, o.Timing.From = warp.Nearest, big.NewRat(13, 4)
	mustRun(t, o)
	begins := 0
	sound := heard(t, o.Output.File, 48000)
	for begins < len(sound) && math.Abs(float64(sound[begins])) < 0.1 {
		begins++
	}
	if at := float64(begins) / 48000; math.Abs(at-0.5) > 0.01 {
		t.Errorf("the sound begins at %.3f s, want 0.5", at)
	}
}
