package review

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"testing"

	"retime/internal/cliptest"
)

// The sound of a clip comes as WAV, each sample at its time in the source, and silence behind its end. A clip without sound has
// no content.
func TestSound(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name     string
		codec    []string
		channels int
	}{
		{"pcm.mkv", []string{"-c:a", "pcm_s16le"}, 1},
		{"aac.mp4", []string{"-c:a", "aac", "-ac", "6", "-ar", "44100"}, 2},
	} {
		name := filepath.Join(dir, c.name)
		// A tone from the second 2 on.
		cliptest.FFmpeg(t, append(append([]string{"-f", "lavfi", "-i", "testsrc2=size=64x48:rate=24:duration=4", "-f", "lavfi", "-i", "aevalsrc=0.5*sin(2*PI*500*t)*gte(t\\,2):s=48000:d=4", "-c:v", "libx264", "-g", "24"}, c.codec...), name)...)
		s := serve(t, Options{Clips: []Clip{doubled(name)}})
		for _, from := range []int{0, 1} {
			status, h, text := ask(t, s, "GET", "clip/0/sound?from="+string(rune('0'+from)), "", nil)
			if status != 200 || h.Get("Content-Type") != "audio/wav" || text[:4] != "RIFF" || len(text) != 44+20*48000*2*c.channels || int(text[22]) != c.channels {
				t.Fatalf("%s from %d: %d %v, %d bytes", c.name, from, status, h, len(text))
			}
			rms := func(at float64) float64 {
				sum, n := 0.0, 4800*c.channels
				for i := range n {
					v := float64(int16(binary.LittleEndian.Uint16([]byte(text[44+2*(int((at-float64(from))*48000)*c.channels+i):]))))
					sum += v * v
				}
				return math.Sqrt(sum/float64(n)) / 32767
			}
			for at, loud := range map[float64]bool{1.2: false, 1.85: false, 2.02: true, 3.85: true, 4.2: false, 10: false} {
				if got := rms(at); (got > 0.1) != loud {
					t.Errorf("%s from %d: %.3f at %g s", c.name, from, got, at)
				}
			}
		}
	}
	s := serve(t, Options{Clips: []Clip{doubled(cutClip(t, 96, 64, 6))}})
	if status, _, text := ask(t, s, "GET", "clip/0/sound?from=0", "", nil); status != 204 || text != "" {
		t.Errorf("without sound: %d %q", status, text)
	}
	for _, from := range []string{"", "-1", "x", "1.5"} {
		if status, _, _ := ask(t, s, "GET", "clip/0/sound?from="+from, "", nil); status != 400 {
			t.Errorf("from %q: %d", from, status)
		}
	}
}
