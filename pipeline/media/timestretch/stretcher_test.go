package timestretch

import (
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"retime/pipeline/timeline/curve"
)

func slowed(num, den int64) curve.Run {
	return curve.Constant(new(big.Rat), big.NewRat(num, den)).Runs()[0]
}

// stretched writes source in chunks and reads the whole output.
func stretched(source [][]float32, rate int, run curve.Run, length int64, chunk int) [][]float32 {
	s := New(len(source), rate, run, 0, length)
	out := make([][]float32, len(source))
	read := func() {
		dst := make([][]float32, len(source))
		for c := range dst {
			dst[c] = make([]float32, 1000)
		}
		for {
			n := s.Read(dst)
			if n == 0 {
				return
			}
			for c := range out {
				out[c] = append(out[c], dst[c][:n]...)
			}
		}
	}
	for i := 0; i < len(source[0]); i += chunk {
		part := make([][]float32, len(source))
		for c := range part {
			part[c] = source[c][i:min(i+chunk, len(source[c]))]
		}
		s.Write(part, int64(i))
		read()
	}
	s.Close(length)
	read()
	return out
}

// clicks makes bursts of a millisecond in a quiet tone.
func clicks(rate, n int, at []int) [][]float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(0.02 * math.Sin(2*math.Pi*440*float64(i)/float64(rate)))
	}
	for _, p := range at {
		for j := range rate / 1000 {
			x[p+j] += float32(0.9 * math.Exp(-float64(j)/8) * math.Cos(float64(j)*0.9))
		}
	}
	return [][]float32{x}
}

func TestAsRecordedIsUnchanged(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 100, 5000, 48000} {
		for _, rate := range []int{8000, 44100, 96000} {
			source := make([][]float32, 2)
			for c := range source {
				for range n {
					source[c] = append(source[c], rng.Float32()-0.5)
				}
			}
			out := stretched(source, rate, slowed(1, 1), int64(n), 777)
			for c := range source {
				if len(out[c]) != n {
					t.Fatalf("%d samples at %d became %d", n, rate, len(out[c]))
				}
				for i, v := range source[c] {
					if math.Abs(float64(out[c][i]-v)) > 1e-6 {
						t.Fatalf("%d samples at %d: sample %d of channel %d is %v, was %v", n, rate, i, c, out[c][i], v)
					}
				}
			}
		}
	}
}

// Clicks are heard once, within a tenth of a millisecond of their time.
func TestClicksKeepTheirTime(t *testing.T) {
	for rate, slows := range map[int][][2]int64{8000: {{5, 2}, {2, 1}, {5, 4}, {4, 5}, {1, 2}, {10, 1}}, 44100: {{5, 2}}} {
		for _, slow := range slows {
			var at []int
			n := 3 * rate
			for i := range 5 {
				at = append(at, int(float64(rate)*(0.3+0.5*float64(i)+0.037*float64(i%7))))
			}
			length := int64(n) * slow[0] / slow[1]
			out := stretched(clicks(rate, n, at), rate, slowed(slow[0], slow[1]), length, 4096)[0]
			if int64(len(out)) != length {
				t.Errorf("slow %v at %d: %d samples, want %d", slow, rate, len(out), length)
			}
			for i, p := range at {
				want := int(int64(p) * slow[0] / slow[1])
				lo, hi := max(0, want-rate/10), min(len(out), want+rate/10)
				best, echo := lo, 0.0
				for j := lo; j < hi; j++ {
					if math.Abs(float64(out[j])) > math.Abs(float64(out[best])) {
						best = j
					}
				}
				for j := lo; j < hi; j++ {
					if j < best-rate/500 || j > best+rate/500 {
						echo = max(echo, math.Abs(float64(out[j]/out[best])))
					}
				}
				if off := math.Abs(float64(best-want)) / float64(rate) * 1000; off > 0.15 {
					t.Errorf("slow %v at %d: click %d is off by %.2f ms", slow, rate, i, off)
				}
				if echo > 0.2 {
					t.Errorf("slow %v at %d: click %d has an echo of %.2f", slow, rate, i, echo)
				}
			}
		}
	}
}

// A chord's tones keep their pitch and stay pure.
func TestChordStaysPure(t *testing.T) {
	const rate = 48000
	freqs := []float64{220, 277.18, 329.63, 440, 659.26, 1318.5}
	source := [][]float32{make([]float32, 3*rate)}
	for i := range source[0] {
		for _, f := range freqs {
			source[0][i] += float32(0.08 * math.Sin(2*math.Pi*f*float64(i)/rate+f))
		}
	}
	for _, slow := range [][2]int64{{5, 2}, {1, 2}} {
		n := int64(3*rate) * slow[0] / slow[1]
		out := stretched(source, rate, slowed(slow[0], slow[1]), n, 4096)[0]
		if p := purity(out[n/8:7*n/8], freqs, rate); p < 30 {
			t.Errorf("slow %v: %.1f dB of the sound are the chord's tones, want 30", slow, p)
		}
	}
}

// purity returns by how many dB the tones, within 3 Hz, are stronger than everything
// else.
func purity(x []float32, freqs []float64, rate int) float64 {
	n := 1
	for 2*n <= len(x) {
		n *= 2
	}
	re, im := make([]float64, n), make([]float64, n)
	for i := range re {
		re[i] = float64(x[i]) * (0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(n)))
	}
	newFFT(n).forward(re, im)
	var tones, rest float64
	for k := range n / 2 {
		p := re[k]*re[k] + im[k]*im[k]
		near := false
		for _, f := range freqs {
			near = near || math.Abs(float64(k)*float64(rate)/float64(n)-f) < 3
		}
		if near {
			tones += p
		} else {
			rest += p
		}
	}
	return 10 * math.Log10(tones/rest)
}

// Channels turn alike: a sound that is twice as loud on one side stays so.
func TestChannelsStayTogether(t *testing.T) {
	const rate = 44100
	rng := rand.New(rand.NewPCG(5, 6))
	source := make([][]float32, 3)
	for range rate {
		v := rng.Float32() - 0.5
		source[0], source[1], source[2] = append(source[0], v), append(source[1], -v/2), append(source[2], 0)
	}
	out := stretched(source, rate, slowed(7, 4), rate*7/4, 512)
	for i := range out[0] {
		if math.Abs(float64(out[0][i]/2+out[1][i])) > 1e-6 || out[2][i] != 0 {
			t.Fatalf("sample %d: %v, %v and %v", i, out[0][i], out[1][i], out[2][i])
		}
	}
}

// The sizes of the chunks that are written do not matter.
func TestChunksDoNotMatter(t *testing.T) {
	source := clicks(8000, 24000, []int{3000, 9000, 9100, 20000})
	var first []float32
	for _, chunk := range []int{24000, 1, 333, 4096} {
		out := stretched(source, 8000, slowed(3, 2), 36000, chunk)[0]
		if first == nil {
			first = out
		}
		for i := range first {
			if out[i] != first[i] {
				t.Fatalf("in chunks of %d, sample %d is %v, not %v", chunk, i, out[i], first[i])
			}
		}
	}
}

// Clicks follow a ramp of speed.
func TestClicksFollowACurve(t *testing.T) {
	const rate = 16000
	r := big.NewRat
	c, err := curve.New([]curve.Keyframe{
		{Source: r(0, 1), Speed: r(1, 1), Shape: curve.Smooth}, {Source: r(2, 1), Speed: r(1, 5), Shape: curve.Smooth}, {Source: r(4, 1), Speed: r(2, 1), Shape: curve.Smooth},
	})
	if err != nil {
		t.Fatal(err)
	}
	run := c.Runs()[0]
	var at []int
	for i := range 9 {
		at = append(at, 3000+6500*i)
	}
	length := round(new(big.Rat).Mul(c.Duration(), r(rate, 1)))
	out := stretched(clicks(rate, 4*rate, at), rate, run, length, 1000)[0]
	for i, p := range at {
		want := int(round(new(big.Rat).Mul(run.Output(r(int64(p), rate)), r(rate, 1))))
		best := want
		for j := max(0, want-rate/20); j < min(len(out), want+rate/20); j++ {
			if math.Abs(float64(out[j])) > math.Abs(float64(out[best])) {
				best = j
			}
		}
		if d := best - want; d < -2 || d > 2 {
			t.Errorf("click %d is off by %d samples", i, d)
		}
	}
}

// A gap is silent, and sound that comes twice is heard once.
func TestGapsAndOverlaps(t *testing.T) {
	tone := func(n int) [][]float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = 0.5
		}
		return [][]float32{x}
	}
	s := New(1, 8000, slowed(1, 1), 0, 5000)
	s.Write(tone(1000), 0)
	s.Write(tone(1000), 3000)
	s.Write(tone(1000), 3500)
	s.Close(5000)
	out := [][]float32{make([]float32, 6000)}
	if n := s.Read(out); n != 5000 {
		t.Fatalf("%d samples, want 5000", n)
	}
	for i, v := range out[0] {
		want := float32(0)
		if i < 1000 || i >= 3000 && i < 4500 {
			want = 0.5
		}
		if math.Abs(float64(v-want)) > 1e-6 {
			t.Fatalf("sample %d is %v, want %v", i, v, want)
		}
	}
}

func TestFFT(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 2, 4, 16, 64} {
		re, im := make([]float64, n), make([]float64, n)
		x := make([]complex128, n)
		for i := range x {
			re[i], im[i] = rng.Float64(), rng.Float64()
			x[i] = complex(re[i], im[i])
		}
		f := newFFT(n)
		f.forward(re, im)
		for k := range x {
			var want complex128
			for i, v := range x {
				want += v * cmplx.Rect(1, -2*math.Pi*float64(k*i)/float64(n))
			}
			if cmplx.Abs(want-complex(re[k], im[k])) > 1e-9 {
				t.Errorf("length %d: bin %d is %v, want %v", n, k, complex(re[k], im[k]), want)
			}
		}
		f.inverse(re, im)
		for i, v := range x {
			if cmplx.Abs(v-complex(re[i], im[i])/complex(float64(n), 0)) > 1e-12 {
				t.Errorf("length %d: sample %d comes back as %v, was %v", n, i, complex(re[i], im[i])/complex(float64(n), 0), v)
			}
		}
	}
}

func BenchmarkStretch(b *testing.B) {
	source := clicks(48000, 48000, []int{10000, 30000})
	for b.Loop() {
		stretched(source, 48000, slowed(5, 2), 120000, 4096)
	}
}
