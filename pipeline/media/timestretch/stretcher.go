// Package timestretch changes the time of sound and keeps its pitch. It is a phase
// vocoder that locks the phases around spectral peaks (Laroche and Dolson, "Improved
// Phase Vocoder Time-Scale Modification of Audio", IEEE Trans. Speech and Audio
// Processing 7 (1999), section IV), rotates all channels alike, and copies the
// surroundings of an attack sample for sample to their exact place. At the speed of
// its recording, sound comes through unchanged except for rounding.
package timestretch

import (
	"math"
	"math/big"

	"retime/pipeline/timeline/curve"
)

// Stretcher turns the samples of a source into the samples of an output. One
// goroutine may use it. A position counts samples from time 0, in the source and in
// the output, at the rate given to New.
type Stretcher struct {
	channels, rate int
	run            curve.Run
	from           int64 // source position at which the run begins

	source   sound
	detector detector
	anchors  []*anchor // ascending
	closed   bool

	vocoder    *vocoder
	centre     int64 // of the next window in the output
	next, last int64 // positions of the next sample to read and of the end
	sum        [][]float64
	summed     int64 // position of the first sample of sum
}

// sound holds the samples of each channel from a position on.
type sound struct {
	channels [][]float64
	begin    int64
}

// length returns the samples of one channel; 0 before the first Write.
func (s *sound) length() int { return len(s.channels[0]) }

// anchor ties an attack to the exact time at which it is heard.
type anchor struct {
	source, output int64
	rising         []bool // bins that begin with the attack; nil until needed
}

const (
	// windowSeconds sets the approximate length of a window: 4096 samples at 48 kHz,
	// enough to separate the tones of a chord, which beat in windows half as long.
	windowSeconds = 0.09
	// decay counts the windows over which an attack bends the time around it.
	decay = 4
)

// New returns a Stretcher for sound at rate samples a second. run maps the output's
// time to the source's; it plays forward and does not jump. Read delivers the positions
// from begin up to, not including, end; Close may bring the end forward.
func New(channels, rate int, run curve.Run, begin, end int64) *Stretcher {
	v := newVocoder(channels, rate)
	s := &Stretcher{
		channels: channels, rate: rate, run: run, vocoder: v,
		from:   round(new(big.Rat).Mul(run.From, new(big.Rat).SetInt64(int64(rate)))),
		source: sound{channels: make([][]float64, channels)}, detector: newDetector(rate),
		next: begin, last: end, centre: begin - int64(v.window/2), summed: begin - int64(v.window),
		sum: make([][]float64, channels),
	}
	for c := range s.sum {
		s.sum[c] = make([]float64, v.window)
	}
	return s
}

// Write adds samples of the source, one slice a channel, at a position. It fills a
// gap after the last samples with silence, and drops samples that it already has and
// samples from before the run.
func (s *Stretcher) Write(samples [][]float32, position int64) {
	if position+int64(len(samples[0])) <= s.from {
		return
	}
	if s.source.channels[0] == nil {
		s.source.begin = max(position, s.from)
		s.detector.start(s.source.begin)
		if position < s.from {
			s.anchor(s.from) // a sound that is cut begins like an attack
		}
	}
	end := s.source.begin + int64(s.source.length())
	for gap := position - end; gap > 0; gap -= int64(s.rate) {
		s.append(make([]float32, min(gap, int64(s.rate))), nil)
		s.drain()
	}
	skip := int(min(max(end-position, 0), int64(len(samples[0]))))
	s.append(samples[0][skip:], samples)
	s.drain()
}

// append adds the last len(first) samples of every channel. If channels is nil, it
// adds first to each of them.
func (s *Stretcher) append(first []float32, channels [][]float32) {
	old := s.source.length()
	for c := range s.source.channels {
		from := first
		if channels != nil {
			from = channels[c][len(channels[c])-len(first):]
		}
		for _, v := range from {
			s.source.channels[c] = append(s.source.channels[c], float64(v))
		}
	}
	for _, t := range s.detector.attacks(s.source.channels, old) {
		s.anchor(t)
	}
}

// anchor records an attack at a source position unless it is too near to the last one.
func (s *Stretcher) anchor(source int64) {
	at := s.run.Output(big.NewRat(source, int64(s.rate)))
	a := &anchor{source: source, output: round(at.Mul(at, new(big.Rat).SetInt64(int64(s.rate))))}
	if n := len(s.anchors); n > 0 {
		b := s.anchors[n-1]
		if a.source-b.source < int64(s.vocoder.window) || a.output-b.output < int64(s.vocoder.window) {
			return
		}
	}
	s.anchors = append(s.anchors, a)
}

// Close ends the source, and the output at end or at the end given to New, whichever
// comes first.
func (s *Stretcher) Close(end int64) {
	s.closed = true
	s.last = min(s.last, end)
	if s.source.channels[0] == nil {
		for c := range s.source.channels {
			s.source.channels[c] = []float64{}
		}
	}
}

// Read fills dst, one slice a channel, with the next samples of the output that are
// ready and returns how many it filled in. It returns 0 at the end, and if it needs
// another Write or Close first.
func (s *Stretcher) Read(dst [][]float32) int {
	n := 0
	for n < len(dst[0]) && s.next < s.last {
		ready := s.centre - int64(s.vocoder.window/2) // before the next window
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

// step adds the next window to the output. It returns false if the source does not
// reach far enough yet.
func (s *Stretcher) step() bool {
	if !s.closed && s.source.begin+int64(s.source.length()) < s.position(s.centre+int64(s.reach()))+int64(2*s.vocoder.window) {
		return false
	}
	at := s.moment(s.centre)
	mute := s.position(s.centre-int64(s.vocoder.hop)) == s.position(s.centre+int64(s.vocoder.hop))
	s.vocoder.analyse(&s.source, at)
	s.vocoder.turn(s.rising())
	s.synthesise(mute)
	s.centre += int64(s.vocoder.hop)
	s.drain()
	return true
}

// rising returns the bins that begin with an attack inside the next window, or nil.
func (s *Stretcher) rising() (bins []bool) {
	for _, a := range s.anchors {
		if d := s.centre - a.output; d >= -int64(s.vocoder.window/2) && d <= int64(s.vocoder.window/2) {
			if a.rising == nil {
				a.rising = s.vocoder.rising(&s.source, a.source)
			}
			bins = a.rising
		}
	}
	return bins
}

// synthesise drops the samples of the sum that have been read, and adds the vocoder's
// window around the centre unless mute is set.
func (s *Stretcher) synthesise(mute bool) {
	shift := int(s.centre - int64(s.vocoder.window/2) - s.summed)
	for c, sum := range s.sum {
		copy(sum, sum[min(shift, len(sum)):])
		clear(sum[max(len(sum)-shift, 0):])
		if !mute {
			s.vocoder.synthesise(c, sum)
		}
	}
	s.summed += int64(shift)
}

// reach returns how many samples ahead of its place in the output an attack bends time.
func (s *Stretcher) reach() int { return (2*decay + 1) * s.vocoder.window }

// position returns the source position that the run plays at an output position.
func (s *Stretcher) position(output int64) int64 {
	v := s.run.Source(big.NewRat(output, int64(s.rate)))
	return round(v.Mul(v, new(big.Rat).SetInt64(int64(s.rate))))
}

// moment returns the source position that sounds at an output position. Within half
// a window of an attack it keeps the distance from the attack; further away it leads
// over to the position of the run.
func (s *Stretcher) moment(output int64) int64 {
	half, length := int64(s.vocoder.window/2), int64(decay*s.vocoder.window)
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
	// left and right are the offsets from the run at the edges of the attacks'
	// surroundings, from and to.
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

// drain drops the samples of the source and the attacks that no later window needs.
func (s *Stretcher) drain() {
	keep := s.moment(s.centre) - int64(4*s.vocoder.window)
	for len(s.anchors) > 1 && s.anchors[1].output+int64(s.reach()) < s.centre {
		s.anchors = s.anchors[1:]
	}
	n := int(min(max(keep-s.source.begin, 0), int64(s.source.length())))
	if n < 16*s.vocoder.window { // moving what is left costs more than it frees
		return
	}
	for c, samples := range s.source.channels {
		s.source.channels[c] = append(samples[:0], samples[n:]...)
	}
	s.source.begin += int64(n)
}

// round returns the integer nearest to v, limited to a quarter of the range of int64.
func round(v *big.Rat) int64 {
	n := new(big.Int).Lsh(v.Num(), 1)
	n.Add(n, v.Denom())
	d := new(big.Int).Lsh(v.Denom(), 1)
	if n.Div(n, d); !n.IsInt64() {
		return math.MaxInt64 / 4
	}
	return min(max(n.Int64(), math.MinInt64/4), math.MaxInt64/4)
}
