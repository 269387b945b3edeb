package media

import (
	"errors"
	"io"
	"log/slog"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
	"retime/pipeline/timeline/rational"
)

// Spacing says how far apart the frames of a video stand, judging by the first of them.
type Spacing struct {
	// Rate is the rate in frames per second that most distances between frames have; nil if
	// it is unknown. If no rate has most, as in soft telecine, it is the mean rate. Timestamps
	// that a container has rounded to milliseconds give the same rate as exact ones.
	Rate *big.Rat
	// Varies is set if some distances are longer or shorter than others.
	Varies bool
	// Times are the timestamps examined, ascending, in the video's time base.
	Times []int64
}

// lookahead bounds how much of an input is read to measure the distances of its frames. If enough is
// not 0, that many frames at the stated rate will do.
type lookahead struct{ frames, bytes, enough int }

// A file is read a second time for this. What is read ahead of a pipe stays in memory, and the
// first frame waits for it.
var (
	fileLookahead  = lookahead{4096, 64 << 20, 0}
	pipeLookahead  = lookahead{64, 8 << 20, 12}
	indexLookahead = lookahead{4096, 64 << 20, 256} // of a file whose index says that its mean rate is the nominal one
)

// stamps are the timestamps of the first packets of a video, ascending.
type stamps struct {
	list     []int64
	decoding bool // they are decoding times, as in AVI, whose distances are the frames' all the same
	end      int64
	whole    bool // the input ends with them
	paired   bool // some of the frames are pairs of fields, with a packet for each
	tail     bool // end comes from packets behind them
}

// read takes timestamps from the packets with which frames begin; none if the packets have none of their own, as some in Ogg,
// whose timestamps are of pages.
func (l lookahead) read(d *demuxer, next func() (*astiav.Packet, error)) (stamps, error) {
	var shown, decoded []int64
	all := stamps{end: math.MinInt64}
	fields := newFieldPairs(d.video.CodecParameters())
	defer fields.close()
	packets := 0
	for bytes := 0; packets < l.frames && bytes < l.bytes; {
		p, err := next()
		if errors.Is(err, io.EOF) {
			all.whole = true
			break
		} else if err != nil {
			return stamps{}, err
		}
		bytes += p.Size()
		if !d.isVideo(p) || p.Flags().Has(astiav.PacketFlagDiscard) {
			continue
		}
		t := p.Pts()
		if t != av.NoTimestamp {
			all.end = max(all.end, t+p.Duration())
		}
		if fields.second(p) {
			all.paired = true
			continue
		}
		packets++
		if t != av.NoTimestamp {
			shown = append(shown, t)
		}
		if t := p.Dts(); t != av.NoTimestamp {
			decoded = append(decoded, t)
		}
		if packets == l.enough && d.evenSoFar(shown) {
			break
		}
	}
	for i, list := range [][]int64{shown, decoded} {
		slices.Sort(list)
		if len(list) == packets && len(slices.Compact(slices.Clone(list))) == packets {
			all.list, all.decoding = list, i == 1
			break
		}
	}
	return all, nil
}

// evenSoFar reports whether timestamps lie on the grid of the rate that the container states.
func (d *demuxer) evenSoFar(times []int64) bool {
	rate, _ := d.statedRates()
	base := timebase.Rat(d.video.TimeBase())
	if rate == nil || base == nil || len(times) < 3 {
		return false
	}
	_, ok := exact(slices.Sorted(slices.Values(times)), base, rate)
	return ok
}

// findEnd sets the end of a video of which packets were read from its beginning. It looks for the
// last packets, further and further from the end of a file in which other streams last longer.
func (s *stamps) findEnd(d *demuxer) error {
	end := timebase.Ticks(new(big.Rat).Add(d.zero, big.NewRat(d.duration(), 1e6)), d.video.TimeBase())
	for back := int64(2); !s.whole; back *= 4 {
		from := end - timebase.Ticks(big.NewRat(back, 1), d.video.TimeBase())
		if from <= s.end || !d.seek(from, false) {
			return nil
		}
		d.times.restart()
		tail, err := lookahead{math.MaxInt, math.MaxInt, 0}.read(d, d.read)
		if err != nil {
			return err
		}
		s.whole = tail.whole && tail.end > math.MinInt64
		s.end, s.tail = max(s.end, tail.end), true
	}
	return nil
}

// hasEvenRate reports whether the format has no timestamps but an even rate that it states: who
// writes such a stream may wait for its reader.
func (d *demuxer) hasEvenRate() bool {
	name := d.input.InputFormat().Name()
	return name == "yuv4mpegpipe" || name == "rawvideo" || strings.HasSuffix(name, "_pipe")
}

// indexIsEven reports whether the index says that all frames together last as long as their nominal
// rate gives, to within two ticks.
func (d *demuxer) indexIsEven() bool {
	rate, average := d.statedRates()
	base := timebase.Rat(d.video.TimeBase())
	if d.video.NbFrames() <= 0 || rate == nil || average == nil || base == nil {
		return false
	}
	off := new(big.Rat).Mul(average, average)
	return within(rate, average, off.Mul(off, base).Mul(off, big.NewRat(2, d.video.NbFrames())))
}

// again opens a file once more, to read it ahead; nil if it has changed meanwhile.
func (d *demuxer) again(opt *ReaderOptions) (*demuxer, error) {
	quiet := *opt
	quiet.Log = slog.New(slog.DiscardHandler)
	e := &demuxer{ctx: d.ctx, name: d.name, errors: av.NewErrorCount(), chosen: d.chosen}
	err := e.open(&quiet, probeLimits{})
	if err == nil && av.LacksHeader(e.input) {
		err = e.findStreams()
	}
	if err != nil || d.video.Index() >= e.input.NbStreams() {
		e.close()
		return nil, err
	}
	e.video = e.input.Streams()[d.video.Index()]
	e.begin(&quiet)
	return e, nil
}

// measure returns the timestamps of the video's first packets, without decoding; none if the
// pictures have no times of their own.
func (d *demuxer) measure(opt *ReaderOptions) (stamps, error) {
	switch {
	case d.paced != nil || d.numbers.list != nil || d.hasEvenRate():
		return stamps{}, nil
	case !Seekable(d.name):
		return pipeLookahead.read(d, d.readAhead)
	}
	e, err := d.again(opt)
	if err != nil || e == nil {
		return stamps{}, err
	}
	defer e.close()
	look := fileLookahead
	if d.indexIsEven() {
		look = indexLookahead
	}
	found, err := look.read(e, e.read)
	// Other containers state the video's own duration, or lack an index to seek by.
	if err == nil && d.duration() > 0 && d.input.InputFormat().Name() == "matroska,webm" {
		err = found.findEnd(e)
	}
	return found, err
}

// Measured is what the timestamps of a video's first packets say.
type Measured struct {
	// Spacing says how far apart they are; it is empty if the packets lack timestamps of their own.
	Spacing Spacing
	regular regular
	first   *big.Rat // timestamp of the first picture, in seconds of the stream's clock; nil if unknown
	frames  int64    // in all; 0 if unknown
	paired  bool     // as in stamps
	end     *big.Rat // of the video, in seconds of the stream's clock, if the container states only the file's; nil if unknown
}

// Steady reports whether every frame has one length, within the jitter of the camera's clock and
// the rounding of the container.
func (m *Measured) Steady() bool { return m.regular.steady }

func measure(d *demuxer, opt *ReaderOptions) (*Measured, error) {
	found, err := d.measure(opt)
	if err != nil {
		return nil, err
	}
	m, base := &Measured{paired: found.paired}, timebase.Rat(d.video.TimeBase())
	rate, average := d.statedRates()
	if average != nil && isKnown(average) { // as Matroska states it, while FFmpeg takes 119.88 for 120
		rate, average = average, rate
	}
	m.regular = regularity(found.list, base, rate, average)
	if g := m.regular.grid; found.decoding && g != nil {
		if m.regular.grid = nil; g.Tolerance.Cmp(base) > 0 {
			m.regular = regular{}
		}
	}
	if !found.decoding {
		m.Spacing = spacing(found.list, base)
	}
	if !found.decoding && len(found.list) > 0 && base != nil {
		m.first = new(big.Rat).Mul(base, big.NewRat(found.list[0], 1))
		if found.whole && !found.tail {
			m.frames = int64(len(found.list))
		}
	}
	if found.whole && !found.decoding && len(found.list) > 0 && d.video.Duration() <= 0 && base != nil {
		m.end = new(big.Rat).Mul(base, big.NewRat(found.end, 1))
	}
	return m, nil
}

// correct sets the rates, the grid and the duration of v.
func (m *Measured) correct(v *Video) {
	r := &m.regular
	if m.end != nil {
		if length := new(big.Rat).Sub(m.end, new(big.Rat).Mul(v.TimeBase, big.NewRat(v.StreamPTS, 1))); length.Sign() > 0 {
			v.Duration = length
		}
	}
	if r.steady || r.grid != nil {
		v.Rate, v.Grid = r.rate, r.grid
	}
	if r.steady {
		v.Average = r.rate
		m.endOnGrid(v)
	}
}

// endOnGrid makes v, whose frames are even, end with a whole one: some containers state any length for
// the last, and edit lists end where they like.
func (m *Measured) endOnGrid(v *Video) {
	if m.first == nil || v.Duration == nil {
		return
	}
	first := m.first
	if g := m.regular.grid; g != nil {
		first = g.First
	}
	start := new(big.Rat).Mul(v.TimeBase, big.NewRat(v.StreamPTS, 1))
	frames := new(big.Rat).Add(start, v.Duration)
	frames.Mul(frames.Sub(frames, first), v.Rate)
	n := rational.Nearest(frames)
	if within(frames, big.NewRat(n, 1), big.NewRat(1, toleranceShare)) {
		return
	}
	if n = rational.Floor(frames); m.frames > 0 {
		n = m.frames
	}
	if n > 0 {
		end := new(big.Rat).Add(first, new(big.Rat).Quo(big.NewRat(n, 1), v.Rate))
		v.Duration = end.Sub(end, start)
	}
}

// rounding is how far, in seconds, the rounding of timestamps to milliseconds moves a
// distance, with a margin for the arithmetic.
const rounding = 1.001e-3

// spacing judges timestamps, which ascend.
func spacing(times []int64, base *big.Rat) Spacing {
	s := Spacing{Times: times}
	if len(times) < 3 || base == nil {
		return s
	}
	tick, _ := base.Float64()
	distances := make([]float64, len(times)-1)
	for i := range distances {
		distances[i] = float64(times[i+1]-times[i]) * tick
	}
	usual, n := mode(distances)
	s.Varies = n < len(distances)
	// Over many frames, roundings and jitter cancel out.
	var length, frames float64
	fitting := 0
	for _, d := range distances {
		k := math.Round(d / usual)
		if k < 1 || k > 16 || math.Abs(d-k*usual) > max(rounding, usual/8) {
			continue
		}
		fitting++
		length += d
		frames += k
	}
	if 2*n <= len(distances) && 20*fitting < 19*len(distances) {
		frames, length = float64(len(distances)), float64(times[len(times)-1]-times[0])*tick
	}
	s.Rate = standardRate(frames / length)
	return s
}

// mode returns the mean of the distances that lie within one rounding of each other, for
// the most of them, and their number. Of two equally frequent ones it takes the shorter.
func mode(distances []float64) (mean float64, n int) {
	sorted := slices.Sorted(slices.Values(distances))
	end := 0
	sums := make([]float64, len(sorted)+1)
	for i, d := range sorted {
		sums[i+1] = sums[i] + d
	}
	for i, d := range sorted {
		for end < len(sorted) && sorted[end] <= d+rounding {
			end++
		}
		if end-i > n {
			mean, n = (sums[end]-sums[i])/float64(end-i), end-i
		}
	}
	return mean, n
}

// standardRate returns the rate in use that is nearest to a measured one: a whole number
// or one of the NTSC rates, if one is near enough, or else the rate rounded to hundredths.
func standardRate(rate float64) *big.Rat {
	const near = 0.002
	best := big.NewRat(max(int64(math.Round(rate*100)), 1), 100)
	off := near
	try := func(num, den int64) {
		v := float64(num) / float64(den)
		if d := math.Abs(v-rate) / v; num > 0 && d < off {
			best, off = big.NewRat(num, den), d
		}
	}
	whole := int64(math.Round(rate))
	try(whole, 1)
	if up := int64(math.Round(rate * 1.001)); up%12 == 0 || up%15 == 0 {
		try(up*1000, 1001)
	}
	try(int64(math.Round(rate*2)), 2)
	return best
}
