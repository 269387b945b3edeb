package timestretch

import (
	"encoding/binary"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAgainstFFmpegsFilters makes the figures of docs/time.md: FFmpeg's filters atempo
// and rubberband move clicks by milliseconds, which the stretcher does not, and blur a
// chord.
func TestAgainstFFmpegsFilters(t *testing.T) {
	if os.Getenv("RETIME_LONG_TESTS") == "" {
		t.Skip("takes long; RETIME_LONG_TESTS=1 runs it")
	}
	const rate = 48000
	var at []int
	for i := range 7 {
		at = append(at, int(rate*(0.4+0.5*float64(i)+0.037*float64(i%5))))
	}
	clicks := clicks(rate, 4*rate, at)[0]
	freqs := []float64{220, 277.18, 329.63, 440, 659.26, 1318.5}
	chord := make([]float32, 4*rate)
	for i := range chord {
		for _, f := range freqs {
			chord[i] += float32(0.08 * math.Sin(2*math.Pi*f*float64(i)/rate+f))
		}
	}
	for _, c := range []struct {
		num, den int64
		filters  []string
	}{
		{5, 2, []string{"atempo=0.5,atempo=0.8", "rubberband=tempo=0.4", "rubberband=tempo=0.4:window=long"}},
		{1, 2, []string{"atempo=2", "rubberband=tempo=2", "rubberband=tempo=2:window=long"}},
	} {
		length := int64(4*rate) * c.num / c.den
		measure := func(name string, click, chord []float32) (off, pure float64) {
			for _, p := range at {
				want := int(int64(p) * c.num / c.den)
				best := max(0, want-rate/10)
				for j := best; j < min(len(click), want+rate/10); j++ {
					if math.Abs(float64(click[j])) > math.Abs(float64(click[best])) {
						best = j
					}
				}
				off = max(off, math.Abs(float64(best-want))/rate*1000)
			}
			pure = purity(chord[length/4:3*length/4], freqs, rate)
			t.Logf("%d/%d %-32s clicks off by up to %5.2f ms, %6d samples of %d, chord %5.1f dB", c.num, c.den, name, off, len(click), length, pure)
			return off, pure
		}
		run := slowed(c.num, c.den)
		own, ownPure := measure("retime", stretched([][]float32{clicks}, rate, run, length, 4096)[0], stretched([][]float32{chord}, rate, run, length, 4096)[0])
		for _, f := range c.filters {
			off, pure := measure(f, filtered(t, clicks, f), filtered(t, chord, f))
			if off < own || pure > ownPure {
				t.Errorf("%s does better", f)
			}
		}
	}
}

// filtered runs x through a filter of the ffmpeg program.
func filtered(t *testing.T, x []float32, filter string) []float32 {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.f32"), filepath.Join(dir, "out.f32")
	b := make([]byte, 4*len(x))
	for i, v := range x {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(v))
	}
	if err := os.WriteFile(in, b, 0o600); err != nil {
		t.Fatal(err)
	}
	sound := []string{"-f", "f32le", "-ar", "48000", "-ac", "1"}
	args := append(append([]string{"-v", "error"}, sound...), "-i", in, "-af", filter, "-f", "f32le", out)
	if msg, err := exec.Command("ffmpeg", args...).CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the ffmpeg program; make deps installs it")
	} else if err != nil {
		t.Skipf("this ffmpeg has no filter %s: %s", filter, msg)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float32, len(b)/4)
	for i := range y {
		y[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return y
}
