package stretch

import "math"

// transform computes the spectra of a channel's windows around two source
// positions with one transform, the second as the imaginary part.
func (s *Stretcher) transform(channel int, a, b int64, x, y spectrum) {
	s.load(channel, a, s.re)
	s.load(channel, b, s.im)
	s.fft.forward(s.re, s.im)
	n := s.window
	for k := range x.re {
		j := (n - k) & (n - 1)
		x.re[k], x.im[k] = (s.re[k]+s.re[j])/2, (s.im[k]-s.im[j])/2
		y.re[k], y.im[k] = (s.im[k]+s.im[j])/2, (s.re[j]-s.re[k])/2
	}
}

// load fills dst with the window around a source position.
func (s *Stretcher) load(channel int, centre int64, dst []float64) {
	source := s.source[channel]
	from := centre - int64(s.window/2) - s.begin
	for i, w := range s.shape {
		dst[i] = 0
		if j := from + int64(i); j >= 0 && j < int64(len(source)) {
			dst[i] = source[j] * w
		}
	}
}

// analyse takes the spectra at a source position and one hop before it. Their
// phases differ by what each partial turns in a hop, without ambiguity.
func (s *Stretcher) analyse(at int64) {
	for c := range s.channels {
		s.transform(c, at, at-int64(s.hop), s.now[c], s.earlier[c])
	}
	clear(s.power)
	for _, x := range s.now {
		for k := range s.power {
			s.power[k] += float64(x.re[k]*x.re[k]) + float64(x.im[k]*x.im[k])
		}
	}
}

// turn rotates the window's spectrum so that it continues the last one: each
// peak by the angle that lies between the last output and the source one hop
// before, and the bins around the peak as it. All channels turn alike. What
// begins with an attack is left as it is.
func (s *Stretcher) turn() {
	var attack []bool
	for _, a := range s.anchors {
		if d := s.centre - a.output; d >= -int64(s.window/2) && d <= int64(s.window/2) {
			attack = s.rising(a)
		}
	}
	s.findPeaks()
	begin := 0
	for i, p := range s.peaks {
		end := len(s.power)
		if i+1 < len(s.peaks) {
			end = s.valley(p, s.peaks[i+1])
		}
		if s.started && (attack == nil || !attack[p]) {
			re, im := s.angle(p)
			s.rotate(begin, end, re, im)
		}
		begin = end
	}
	s.started = true
	s.now, s.output = s.output, s.now
}

// findPeaks lists the bins that none of their four neighbours exceeds.
func (s *Stretcher) findPeaks() {
	s.peaks = s.peaks[:0]
	v := s.power
	for k, p := range v {
		if p > 0 && (k < 1 || v[k-1] < p) && (k < 2 || v[k-2] < p) && (k+1 >= len(v) || v[k+1] <= p) && (k+2 >= len(v) || v[k+2] <= p) {
			s.peaks = append(s.peaks, k)
		}
	}
}

// valley is the weakest bin between two peaks.
func (s *Stretcher) valley(p, q int) int {
	least := p + 1
	for k := p + 1; k < q; k++ {
		if s.power[k] < s.power[least] {
			least = k
		}
	}
	return least
}

// angle is the rotation of bin p as a number on the unit circle.
func (s *Stretcher) angle(p int) (re, im float64) {
	for c := range s.channels {
		y, x := s.output[c], s.earlier[c]
		re += float64(y.re[p]*x.re[p]) + float64(y.im[p]*x.im[p])
		im += float64(y.im[p]*x.re[p]) - float64(y.re[p]*x.im[p])
	}
	if n := math.Sqrt(float64(re*re) + float64(im*im)); n > 0 {
		return re / n, im / n
	}
	return 1, 0
}

func (s *Stretcher) rotate(begin, end int, re, im float64) {
	for _, x := range s.now {
		for k := begin; k < end; k++ {
			a, b := x.re[k], x.im[k]
			x.re[k] = float64(a*re) - float64(b*im)
			x.im[k] = float64(a*im) + float64(b*re)
		}
	}
}

// rise is by what factor a bin's power grows in an attack that it begins with.
const rise = 2

// rising says which bins begin with an attack, by the windows that end at it and
// begin just before it.
func (s *Stretcher) rising(a *anchor) []bool {
	if a.rising != nil {
		return a.rising
	}
	half := int64(s.window / 2)
	before, after := make([]float64, len(s.power)), make([]float64, len(s.power))
	x := spectrum{make([]float64, len(s.power)), make([]float64, len(s.power))}
	y := spectrum{make([]float64, len(s.power)), make([]float64, len(s.power))}
	for c := range s.channels {
		s.transform(c, a.source-half, a.source+half/2, x, y)
		for k := range before {
			before[k] += float64(x.re[k]*x.re[k]) + float64(x.im[k]*x.im[k])
			after[k] += float64(y.re[k]*y.re[k]) + float64(y.im[k]*y.im[k])
		}
	}
	a.rising = make([]bool, len(s.power))
	for k := range a.rising {
		a.rising[k] = after[k] > rise*before[k]
	}
	return a.rising
}

// overlap is the sum of the squares of the windows over any sample.
const overlap = 1.5

// synthesise adds the last output spectrum to the sum, around the centre.
func (s *Stretcher) synthesise(mute bool) {
	// Make room: samples that have been read go.
	shift := int(s.centre - int64(s.window/2) - s.summed)
	n := s.window
	for c := range s.channels {
		sum := s.sum[c]
		copy(sum, sum[min(shift, len(sum)):])
		clear(sum[max(len(sum)-shift, 0):])
		if mute {
			continue
		}
		y := s.output[c]
		for k := range y.re {
			s.re[k], s.im[k] = y.re[k], y.im[k]
			if j := n - k; k > 0 && j > k {
				s.re[j], s.im[j] = y.re[k], -y.im[k]
			}
		}
		s.im[0], s.im[n/2] = 0, 0
		s.fft.inverse(s.re, s.im)
		scale := 1 / (overlap * float64(n))
		for i, w := range s.shape {
			sum[i] += float64(s.re[i] * w * scale)
		}
	}
	s.summed += int64(shift)
}
