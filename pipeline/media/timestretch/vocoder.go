package timestretch

import "math"

// vocoder carries the phases of the partials from one window of the output to the next.
type vocoder struct {
	window, hop int       // lengths in samples; the hop is a quarter of the window
	shape       []float64 // Hann
	fft         *fft
	now         []spectrum // of the window, by channel
	earlier     []spectrum // of the window one hop before, in the source
	output      []spectrum // of the last window of the output
	power       []float64  // of now, summed over the channels
	peaks       []int
	started     bool
	re, im      []float64
}

// spectrum holds the bins from 0 to half the rate of a real signal.
type spectrum struct{ re, im []float64 }

func newSpectrum(window int) spectrum {
	return spectrum{make([]float64, window/2+1), make([]float64, window/2+1)}
}

func newVocoder(channels, rate int) *vocoder {
	window := 16
	for float64(window)*math.Sqrt2 < windowSeconds*float64(rate) {
		window *= 2
	}
	v := &vocoder{
		window: window, hop: window / 4, shape: make([]float64, window), fft: newFFT(window),
		power: make([]float64, window/2+1), re: make([]float64, window), im: make([]float64, window),
	}
	for i := range v.shape {
		v.shape[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(window))
	}
	for range channels {
		v.now = append(v.now, newSpectrum(window))
		v.earlier = append(v.earlier, newSpectrum(window))
		v.output = append(v.output, newSpectrum(window))
	}
	return v
}

// transform computes the spectra x and y of a channel's windows around the source
// positions a and b with one transform, in which y is the imaginary part.
func (v *vocoder) transform(source *sound, channel int, a, b int64, x, y spectrum) {
	v.load(source, channel, a, v.re)
	v.load(source, channel, b, v.im)
	v.fft.forward(v.re, v.im)
	n := v.window
	for k := range x.re {
		j := (n - k) & (n - 1)
		x.re[k], x.im[k] = (v.re[k]+v.re[j])/2, (v.im[k]-v.im[j])/2
		y.re[k], y.im[k] = (v.im[k]+v.im[j])/2, (v.re[j]-v.re[k])/2
	}
}

// load fills dst with the window around a source position; samples that the source
// lacks are silent.
func (v *vocoder) load(source *sound, channel int, centre int64, dst []float64) {
	samples := source.channels[channel]
	from := centre - int64(v.window/2) - source.begin
	for i, w := range v.shape {
		dst[i] = 0
		if j := from + int64(i); j >= 0 && j < int64(len(samples)) {
			dst[i] = samples[j] * w
		}
	}
}

// analyse computes the spectra at a source position and one hop before it. Between the
// two, each partial turns by the angle of one hop, without ambiguity.
func (v *vocoder) analyse(source *sound, at int64) {
	for c := range v.now {
		v.transform(source, c, at, at-int64(v.hop), v.now[c], v.earlier[c])
	}
	clear(v.power)
	for _, x := range v.now {
		for k := range v.power {
			v.power[k] += float64(x.re[k]*x.re[k]) + float64(x.im[k]*x.im[k])
		}
	}
}

// turn rotates the window's spectrum so that it continues the last output: each peak
// by the angle between that output and the source one hop before, and the bins around
// a peak with it. All channels turn alike. Peaks in rising, the bins that begin with
// an attack, are left as they are; rising is nil if there is no attack.
func (v *vocoder) turn(rising []bool) {
	v.findPeaks()
	begin := 0
	for i, p := range v.peaks {
		end := len(v.power)
		if i+1 < len(v.peaks) {
			end = v.valley(p, v.peaks[i+1])
		}
		if v.started && (rising == nil || !rising[p]) {
			re, im := v.angle(p)
			v.rotate(begin, end, re, im)
		}
		begin = end
	}
	v.started = true
	v.now, v.output = v.output, v.now
}

// findPeaks lists the bins that none of their four neighbours exceeds.
func (v *vocoder) findPeaks() {
	v.peaks = v.peaks[:0]
	power := v.power
	for k, p := range power {
		if p > 0 && (k < 1 || power[k-1] < p) && (k < 2 || power[k-2] < p) &&
			(k+1 >= len(power) || power[k+1] <= p) && (k+2 >= len(power) || power[k+2] <= p) {
			v.peaks = append(v.peaks, k)
		}
	}
}

// valley returns the weakest bin between two peaks.
func (v *vocoder) valley(p, q int) int {
	least := p + 1
	for k := p + 1; k < q; k++ {
		if v.power[k] < v.power[least] {
			least = k
		}
	}
	return least
}

// angle returns the rotation of bin p as a number on the unit circle.
func (v *vocoder) angle(p int) (re, im float64) {
	for c := range v.now {
		y, x := v.output[c], v.earlier[c]
		re += float64(y.re[p]*x.re[p]) + float64(y.im[p]*x.im[p])
		im += float64(y.im[p]*x.re[p]) - float64(y.re[p]*x.im[p])
	}
	if n := math.Sqrt(float64(re*re) + float64(im*im)); n > 0 {
		return re / n, im / n
	}
	return 1, 0
}

func (v *vocoder) rotate(begin, end int, re, im float64) {
	for _, x := range v.now {
		for k := begin; k < end; k++ {
			a, b := x.re[k], x.im[k]
			x.re[k] = float64(a*re) - float64(b*im)
			x.im[k] = float64(a*im) + float64(b*re)
		}
	}
}

// rise is the factor by which a bin's power grows if it begins with an attack.
const rise = 2

// rising tells which bins begin with the attack at a source position. It compares the
// window that ends there with one that begins just before.
func (v *vocoder) rising(source *sound, attack int64) []bool {
	half := int64(v.window / 2)
	before, after := make([]float64, len(v.power)), make([]float64, len(v.power))
	x, y := newSpectrum(v.window), newSpectrum(v.window)
	for c := range v.now {
		v.transform(source, c, attack-half, attack+half/2, x, y)
		for k := range before {
			before[k] += float64(x.re[k]*x.re[k]) + float64(x.im[k]*x.im[k])
			after[k] += float64(y.re[k]*y.re[k]) + float64(y.im[k]*y.im[k])
		}
	}
	rising := make([]bool, len(v.power))
	for k := range rising {
		rising[k] = after[k] > rise*before[k]
	}
	return rising
}

// overlap is the sum of the squared windows at any sample.
const overlap = 1.5

// synthesise adds a channel's output spectrum to sum, which is one window long.
func (v *vocoder) synthesise(channel int, sum []float64) {
	n := v.window
	y := v.output[channel]
	for k := range y.re {
		v.re[k], v.im[k] = y.re[k], y.im[k]
		if j := n - k; k > 0 && j > k {
			v.re[j], v.im[j] = y.re[k], -y.im[k]
		}
	}
	v.im[0], v.im[n/2] = 0, 0
	v.fft.inverse(v.re, v.im)
	scale := 1 / (overlap * float64(n))
	for i, w := range v.shape {
		sum[i] += float64(v.re[i] * w * scale)
	}
}
