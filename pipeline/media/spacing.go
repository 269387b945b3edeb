package media

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"math/big"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// Spacing says how far apart the frames of a video stand, judging by the first of them.
type Spacing struct {
	// Rate is the rate in frames per second that most distances between frames have; nil if
	// it is unknown. If no rate has most, as in soft telecine, it is the mean rate. Timestamps
	// that a container has rounded to milliseconds give the same rate as exact ones.
	Rate *big.Rat
	// Varies is set if some distances are longer or shorter than others, from Begin on.
	Varies bool
	// Times are the timestamps examined, ascending, in the video's time base.
	Times []int64
	// Begin is when the first frame is meant to be shown: a frame's length before the second if
	// the first alone is off the grid of all others and lasts more than one frame and less than
	// two. FFmpeg so lengthens the first frame of a fragmented MP4 file with AAC sound, by the
	// sound's priming. Else it is the first of Times; 0 if there is none.
	Begin int64
}

// Lengthened reports whether the first frame is meant to be shown later than it says.
func (s *Spacing) Lengthened() bool { return len(s.Times) > 0 && s.Begin > s.Times[0] }

// How much of a file MeasureSpacing reads.
const (
	measuredFrames = 4096
	measuredBytes  = 64 << 20
)

// MeasureSpacing reads the timestamps at the beginning of a file, without decoding. It returns
// an empty Spacing for an input that cannot be read again or lacks a timestamp of its own for
// each frame.
func MeasureSpacing(ctx context.Context, name string, opt ReaderOptions) (Spacing, error) {
	if !Seekable(name) {
		return Spacing{}, nil
	}
	opt.Log = slog.New(slog.DiscardHandler)
	d, err := openDemuxer(ctx, name, &opt)
	if err != nil {
		return Spacing{}, err
	}
	defer d.close()
	d.fanout.holding = false
	var times []int64
	for bytes := 0; len(times) < measuredFrames && bytes < measuredBytes; {
		p, err := d.read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return Spacing{}, err
		}
		bytes += p.Size()
		switch {
		case !d.isVideo(p) || p.Flags().Has(astiav.PacketFlagDiscard):
		case p.Pts() == av.NoTimestamp:
			return Spacing{}, nil
		default:
			times = append(times, p.Pts())
		}
	}
	slices.Sort(times)
	if n := len(times); len(slices.Compact(times)) < n { // such as Ogg's, which are of pages
		return Spacing{}, nil
	}
	return spacing(times, timebase.Rat(d.video.TimeBase())), nil
}

// rounding is how far, in seconds, the rounding of timestamps to milliseconds moves a
// distance, with a margin for the arithmetic.
const rounding = 1.001e-3

// spacing judges timestamps, which ascend.
func spacing(times []int64, base *big.Rat) Spacing {
	s := Spacing{Times: times}
	if len(times) > 0 {
		s.Begin = times[0]
	}
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
	step := new(big.Rat).Inv(new(big.Rat).Mul(s.Rate, base))
	frame, _ := step.Float64()
	off := func(d float64) bool { return math.Abs(math.Remainder(d, frame*tick)) > rounding }
	if first := distances[0] / tick; off(distances[0]) && frame < first && first < 2*frame && !slices.ContainsFunc(distances[1:], off) {
		s.Begin = times[1] - timebase.Nearest(step)
		s.Varies = n < len(distances)-1
	}
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
