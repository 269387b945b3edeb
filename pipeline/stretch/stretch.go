// Package stretch changes the time of sound and keeps its pitch: a phase vocoder
// that locks the phases around spectral peaks (Laroche and Dolson, "Improved
// Phase Vocoder Time-Scale Modification of Audio", IEEE Trans. Speech and Audio
// Processing 7 (1999), section IV), rotates all channels alike, and copies what
// surrounds an attack sample for sample to its exact place. At the speed it was
// recorded at, sound comes through as it is but for rounding.
package stretch

import (
	"math"
	"math/big"

	"retime/pipeline/curve"
)

// Stretcher turns the samples of a source into those of an output. It is used by
// one goroutine. Positions count samples at Rate from time 0, in the source as in
// the output.
type Stretcher struct {
	channels, rate int
	window, hop    int // lengths in samples; the hop is a quarter of the window
	run            curve.Run

	source   [][]float64 // by channel, from position begin on
	begin    int64
	detector detector
	closed   bool

	centre     int64 // of the next window in the output
	next, last int64 // what is still to be read
	sum        [][]float64
	summed     int64 // position of the first sample of sum

	anchors []*anchor // ascending
	shape   []float64 // Hann
	fft     *fft
	now     []spectrum // of the window, by channel
	earlier []spectrum // of the window one hop before, in the source
	output  []spectrum // of the last window that was put out
	power   []float64
	peaks   []int
	started bool
	re, im  []float64
}

// spectrum is the lower half of a real signal's.
type spectrum struct{ re, im []float64 }

// anchor is an attack, which is heard at its exact time.
type anchor struct {
	source, output int64
	rising         []bool // bins that begin with it, nil until it is used
}

// windowSeconds is about how long the window is: 4096 samples at 48 kHz, which
// part the tones of a chord; half of that leaves them beating. decay is for how
// many windows an attack bends the time around it.
const (
	windowSeconds = 0.09
	decay         = 4
)

// New returns a stretcher of sound that lies in the source as run says. It puts
// out the positions from begin to before end, which Close may bring forward.
func New(channels, rate int, run curve.Run, begin, end int64) *Stretcher {
	window := 16
	for float64(window)*math.Sqrt2 < windowSeconds*float64(rate) {
		window *= 2
	}
	s := &Stretcher{
		channels: channels, rate: rate, window: window, hop: window / 4, run: run,
		next: begin, last: end, centre: begin - int64(window/2), summed: begin - int64(window),
		shape: make([]float64, window), fft: newFFT(window), power: make([]float64, window/2+1),
		re: make([]float64, window), im: make([]float64, window),
		detector: newDetector(rate),
	}
	for i := range s.shape {
		s.shape[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(window))
	}
	spectra := func() []spectrum {
		all := make([]spectrum, channels)
		for c := range all {
			all[c] = spectrum{make([]float64, window/2+1), make([]float64, window/2+1)}
		}
		return all
	}
	s.now, s.earlier, s.output = spectra(), spectra(), spectra()
	s.source, s.sum = make([][]float64, channels), make([][]float64, channels)
	for c := range s.sum {
		s.sum[c] = make([]float64, window)
	}
	return s
}

// Write adds samples of the source, one slice a channel, at a position. What lies
// between the last ones and these is silent; what overlaps them is left out.
func (s *Stretcher) Write(samples [][]float32, position int64) {
	if s.source[0] == nil {
		s.begin = position
		s.detector.start(position)
	}
	end := s.begin + int64(len(s.source[0]))
	for gap := position - end; gap > 0; gap -= int64(s.rate) {
		s.append(make([]float32, min(gap, int64(s.rate))), nil)
		s.drain()
	}
	skip := int(min(max(end-position, 0), int64(len(samples[0]))))
	s.append(samples[0][skip:], samples)
	s.drain()
}

// append adds as many samples as first has, the last ones of every channel or,
// where there are no channels, silence.
func (s *Stretcher) append(first []float32, channels [][]float32) {
	old := len(s.source[0])
	for c := range s.source {
		from := first
		if channels != nil {
			from = channels[c][len(channels[c])-len(first):]
		}
		for _, v := range from {
			s.source[c] = append(s.source[c], float64(v))
		}
	}
	for _, t := range s.detector.attacks(s.source, old) {
		s.anchor(t)
	}
}

// anchor notes an attack at a source position, unless it is too near to the last.
func (s *Stretcher) anchor(source int64) {
	at := s.run.Output(big.NewRat(source, int64(s.rate)))
	a := &anchor{source: source, output: round(at.Mul(at, new(big.Rat).SetInt64(int64(s.rate))))}
	if n := len(s.anchors); n > 0 {
		b := s.anchors[n-1]
		if a.source-b.source < int64(s.window) || a.output-b.output < int64(s.window) {
			return
		}
	}
	s.anchors = append(s.anchors, a)
}

// Close says that the source has no more samples and that the output ends before
// a position, if that is not behind the end given to New.
func (s *Stretcher) Close(end int64) {
	s.closed = true
	s.last = min(s.last, end)
	if s.source[0] == nil {
		for c := range s.source {
			s.source[c] = []float64{}
		}
	}
}

// Read fills dst, one slice a channel, with the next samples of the output, as
// many as are ready, and returns their count: 0 until more is written, and behind
// the end.
func (s *Stretcher) Read(dst [][]float32) int {
	n := 0
	for n < len(dst[0]) && s.next < s.last {
		ready := s.centre - int64(s.window/2) // before the next window
		if s.next >= ready {
			if !s.step() {
				break
			}
			continue
		}
		count := int(min(ready-s.next, s.last-s.next, int64(len(dst[0])-n)))
		from := int(s.next - s.summed)
		for c := range dst {
			for i, v := range s.sum[c][from : from+count] {
				dst[c][n+i] = float32(v)
			}
		}
		n, s.next = n+count, s.next+int64(count)
	}
	return n
}

// step adds the next window to the output; false where the source does not reach
// far enough.
func (s *Stretcher) step() bool {
	if !s.closed && s.begin+int64(len(s.source[0])) < s.position(s.centre+int64(s.reach()))+int64(2*s.window) {
		return false
	}
	at := s.moment(s.centre)
	mute := s.position(s.centre-int64(s.hop)) == s.position(s.centre+int64(s.hop))
	s.analyse(at)
	s.turn()
	s.synthesise(mute)
	s.centre += int64(s.hop)
	s.drain()
	return true
}

// reach is how far ahead in the output an attack is felt.
func (s *Stretcher) reach() int { return (2*decay + 1) * s.window }

// position is where in the source the run is at an output position.
func (s *Stretcher) position(output int64) int64 {
	v := s.run.Source(big.NewRat(output, int64(s.rate)))
	return round(v.Mul(v, new(big.Rat).SetInt64(int64(s.rate))))
}

// moment is the source position that sounds at an output position: around an
// attack at its distance from it, elsewhere the run's, to which it leads over.
func (s *Stretcher) moment(output int64) int64 {
	half, length := int64(s.window/2), int64(decay*s.window)
	var before, after *anchor
	for _, a := range s.anchors {
		if a.output-half > output {
			after = a
			break
		}
		before = a
	}
	if before != nil && output <= before.output+half {
		return before.source + output - before.output
	}
	at := s.position(output)
	// How far the edges of the attacks' surroundings are off the run, and where.
	var left, right, from, to int64
	from, to = math.MinInt64/2, math.MaxInt64/2
	if before != nil {
		from = before.output + half
		left = before.source + half - s.position(from)
	}
	if after != nil {
		to = after.output - half
		right = after.source - half - s.position(to)
	}
	if gap := to - from; gap < 2*length {
		return at + left + (right-left)*(output-from)/gap
	}
	if d := output - from; d < length {
		return at + left*(length-d)/length
	} else if d := to - output; d < length {
		return at + right*(length-d)/length
	}
	return at
}

// drain forgets the source and the attacks that no later window needs.
func (s *Stretcher) drain() {
	keep := s.moment(s.centre) - int64(4*s.window)
	for len(s.anchors) > 1 && s.anchors[1].output+int64(s.reach()) < s.centre {
		s.anchors = s.anchors[1:]
	}
	n := int(min(max(keep-s.begin, 0), int64(len(s.source[0]))))
	if n < 16*s.window { // moving what is left costs more than it frees
		return
	}
	for c := range s.source {
		s.source[c] = append(s.source[c][:0], s.source[c][n:]...)
	}
	s.begin += int64(n)
}

// round rounds v to nearest.
func round(v *big.Rat) int64 {
	n := new(big.Int).Lsh(v.Num(), 1)
	n.Add(n, v.Denom())
	d := new(big.Int).Lsh(v.Denom(), 1)
	if n.Div(n, d); !n.IsInt64() {
		return math.MaxInt64 / 4
	}
	return min(max(n.Int64(), math.MinInt64/4), math.MaxInt64/4)
}
