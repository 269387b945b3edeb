package timestretch

import (
	"math"
	"math/bits"
)

// fft is a radix-2 transform of one length, a power of two.
type fft struct {
	cos, sin []float64 // of 2 pi k/n, k < n/2
	reversed []int
}

func newFFT(n int) *fft {
	f := &fft{make([]float64, n/2), make([]float64, n/2), make([]int, n)}
	for k := range n / 2 {
		f.sin[k], f.cos[k] = math.Sincos(2 * math.Pi * float64(k) / float64(n))
	}
	shift := 64 - bits.Len(uint(n-1))
	for i := range f.reversed {
		if n > 1 {
			f.reversed[i] = int(bits.Reverse64(uint64(i)) >> shift)
		}
	}
	return f
}

// forward transforms re + i im in place: X[k] = sum x[n] exp(-2 pi i kn/N).
func (f *fft) forward(re, im []float64) {
	n := len(f.reversed)
	re, im = re[:n], im[:n]
	for i, j := range f.reversed {
		if i < j {
			re[i], re[j] = re[j], re[i]
			im[i], im[j] = im[j], im[i]
		}
	}
	for half := 1; half < n; half *= 2 {
		step := n / (2 * half)
		for base := 0; base < n; base += 2 * half {
			ar, ai := re[base:base+half], im[base:base+half]
			br, bi := re[base+half:base+2*half], im[base+half:base+2*half]
			for k := range ar {
				c, s := f.cos[k*step], f.sin[k*step]
				x := float64(br[k]*c) + float64(bi[k]*s)
				y := float64(bi[k]*c) - float64(br[k]*s)
				br[k], bi[k] = ar[k]-x, ai[k]-y
				ar[k], ai[k] = ar[k]+x, ai[k]+y
			}
		}
	}
}

// inverse undoes forward, but scales by N.
func (f *fft) inverse(re, im []float64) { f.forward(im, re) }
