package pipeline

import (
	"math/big"
	"slices"

	"retime/pipeline/curve"
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// plan is the arithmetic of one conversion.
type plan struct {
	rate  *big.Rat // of the output
	clock *clock
	curve *curve.Curve // from output time to the source's clock; nil for frames at given times
	lines []timeline   // one for each run of the curve
	to    *big.Rat     // where the part ends on the source's clock; nil for the end
	total int64        // frames expected; 0 where the source does not tell
	gap   *big.Rat     // no motion runs through intervals that are longer; nil for none
	unit  *big.Rat     // of the output's timestamps where the source's are kept, else nil
}

// gapFrames is how many frames long, at the source's mean rate, an interval may
// be before it counts as a gap, if it lasts for half a second.
const gapFrames = 8

func longest(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) > 0 {
		return a
	}
	return b
}

// timestampUnit is a unit of time that scaled timestamps of the source are whole
// multiples of, and that is at most a 90000th of a second, where that can be had.
func timestampUnit(base, slow *big.Rat) *big.Rat {
	unit := base
	if slow != nil {
		unit = new(big.Rat).Mul(base, slow)
	}
	fine := new(big.Rat).Mul(unit, big.NewRat(90_000, 1))
	unit = new(big.Rat).Quo(unit, big.NewRat(max(ceil(fine), 1), 1))
	if unit.Num().BitLen() > 31 || unit.Denom().BitLen() > 31 {
		return big.NewRat(1, 1_000_000)
	}
	return unit
}

func newPlan(o *Options, v media.Video) (*plan, error) {
	source := v.Average
	if o.Timing.KeepTimestamps && v.Rate != nil {
		source = v.Rate // of the frames that are there
	}
	if v.Rate != nil && (source == nil || nearly(v.Rate, source)) {
		source = v.Rate
	}
	rate, err := o.outputRate(source)
	if err != nil {
		return nil, err
	}
	p := &plan{rate: rate, clock: newClock(v), to: o.Timing.To}
	origin := p.clock.at(v.FirstPTS)
	if o.Timing.From != nil && o.Timing.From.Cmp(origin) > 0 {
		origin = o.Timing.From
	}
	if o.Timing.To != nil && o.Timing.To.Cmp(origin) <= 0 {
		return nil, fault.New(fault.Usage, "Timing.To %s: the video begins at %s", seconds(o.Timing.To), seconds(origin))
	}
	end := o.Timing.To
	if v.Duration != nil {
		if e := new(big.Rat).Add(p.clock.at(v.StreamPTS), v.Duration); end == nil || e.Cmp(end) < 0 {
			end = e
		}
	}
	if p.curve, err = o.curve(end); err != nil {
		return nil, err
	}
	if source != nil {
		p.gap = longest(new(big.Rat).Quo(big.NewRat(gapFrames, 1), source), big.NewRat(1, 2))
	}
	if o.Timing.KeepTimestamps {
		p.unit = timestampUnit(v.TimeBase, p.curve.Line())
	}
	if source == nil {
		source = p.rate
	}
	p.place(origin, end, o.Timing.Shutter, source)
	switch {
	case o.Repairs != nil:
		p.total, p.gap = v.Frames, nil // what is lost may be long
	case o.Timing.KeepTimestamps:
		p.total = 0
	}
	return p, nil
}

// curve returns what o asks of a source that ends at a time, nil where that is
// not known.
func (o *Options) curve(end *big.Rat) (*curve.Curve, error) {
	if o.Timing.Curve != nil {
		return o.bend(end)
	}
	from, slow := new(big.Rat), o.Timing.Slow
	if o.Timing.From != nil {
		from = o.Timing.From
	}
	if o.Timing.Fit != nil {
		if end == nil {
			return nil, fault.New(fault.Usage, "Timing.Fit: input %q states no duration; give Timing.Slow or Timing.To", o.Input.File)
		}
		length := new(big.Rat).Sub(end, from)
		if length.Sign() <= 0 {
			return nil, fault.New(fault.Usage, "Timing.From %s: the video ends at %s", seconds(from), seconds(end))
		}
		if slow = new(big.Rat).Quo(o.Timing.Fit, length); slow.Cmp(big.NewRat(MaxSlow, 1)) > 0 || slow.Cmp(big.NewRat(1, MaxSlow)) < 0 {
			return nil, fault.New(fault.Usage, "Timing.Fit %s: %s would play at 1/%d or %d times its speed, or beyond", seconds(o.Timing.Fit), seconds(length), MaxSlow, MaxSlow)
		}
	}
	return curve.Constant(from, slow), nil
}

// bend joins o's keyframes for a source that ends at a time.
func (o *Options) bend(end *big.Rat) (*curve.Curve, error) {
	keys := slices.Clone(o.Timing.Curve)
	for i := range keys {
		k := &keys[i]
		switch {
		case k.Source == nil && end == nil:
			return nil, fault.New(fault.Usage, "Timing.Curve: input %q states no duration; give a time instead of \"end\"", o.Input.File)
		case k.Source == nil:
			k.Source = end
		case end != nil && k.Source.Cmp(end) > 0:
			return nil, fault.New(fault.Usage, "Timing.Curve: keyframe %d is at %s, the source ends at %s", i+1, seconds(k.Source), seconds(end))
		}
	}
	c, err := curve.New(keys)
	if err != nil {
		return nil, fault.New(fault.Usage, "Timing.Curve: %w", err)
	}
	if o.Timing.Fit != nil {
		c = c.Stretch(new(big.Rat).Quo(o.Timing.Fit, c.Duration()))
	}
	return c, nil
}

// reopens says whether runs need the source opened anew: all but one that plays
// on from the source's start.
func (p *plan) reopens() bool {
	run := &p.lines[0].run
	return len(p.lines) > 1 || run.End != nil && (run.Backward || run.From.Sign() > 0)
}

// place lays the output's frames: the first at origin on the source's clock, the
// last before end, where the source's end is known.
func (p *plan) place(origin, end, shutter, source *big.Rat) {
	var first int64
	for _, run := range p.curve.Runs() {
		line := timeline{run: run, first: first, step: new(big.Rat).Inv(p.rate), frames: endless, slow: p.curve.Line()}
		if shutter != nil && shutter.Sign() > 0 {
			line.exposure = new(big.Rat).Quo(shutter, p.rate)
			open := line.exposure
			if line.slow != nil {
				open = new(big.Rat).Quo(open, line.slow)
			}
			line.each = subFrames(open, source)
		}
		if run.End == nil {
			line.start = line.run.Output(origin)
		} else {
			line.start = new(big.Rat) // a curve's frames count from its begin
			first = ceil(new(big.Rat).Mul(run.End, p.rate)) * line.moments()
			line.frames, line.end = first, run.End
		}
		if p.to != nil {
			line.frames, line.end = line.count(p.to)*line.moments(), line.run.Output(p.to)
		}
		p.lines = append(p.lines, line)
	}
	if last := &p.lines[len(p.lines)-1]; last.run.End != nil {
		p.total = last.frames / last.moments()
	} else if end != nil {
		p.total = min(last.count(end), last.frames/last.moments())
	}
}

// newPlanAt is the plan of frames at given timestamps of the source.
func newPlanAt(v media.Video, timestamps []int64) *plan {
	p := &plan{clock: newClock(v), total: int64(len(timestamps))}
	p.clock.at(v.FirstPTS) // the grid stands on the first frame
	times := make([]*big.Rat, len(timestamps))
	for i, t := range timestamps {
		times[i] = p.clock.at(t)
	}
	p.lines = []timeline{{times: times, frames: p.total}}
	return p
}

// nearly says whether two rates differ by less than 1 in 500, as a guessed one
// and a mean over a file do where the rate is constant.
func nearly(a, b *big.Rat) bool {
	x, _ := a.Float64()
	y, _ := b.Float64()
	return x > y*0.998 && x < y*1.002
}

// shown is the time of an output frame in seconds: after the first frame where the
// output has a constant rate, else from its 0, or on the source's clock for frames
// at given times.
func (p *plan) shown(s slot) float64 {
	var t *big.Rat
	switch {
	case s.from != nil:
		t = s.from
	case p.rate != nil:
		t = new(big.Rat).Quo(new(big.Rat).SetInt64(s.index/p.lines[0].moments()), p.rate)
	default:
		t = p.lines[0].at(s.index)
	}
	seconds, _ := t.Float64()
	return seconds
}

func (p *plan) writerOptions(o *Options, synth Synthesizer) media.WriterOptions {
	w := media.WriterOptions{
		Format: o.Output.Format,
		Encoder: media.EncoderOptions{
			Codec: o.Output.VideoCodec, CRF: -1, Options: o.Output.VideoOptions, PixelFormat: o.Output.PixelFormat, Threads: o.Compute.Threads,
		},
		Memory: memoryOf(synth), Overwrite: o.Output.Overwrite, Verify: !o.Output.NoVerify,
		Rate: p.rate, Start: p.lines[0].start, Unit: p.unit, Curve: p.curve, End: p.to, Passes: p.reopens(),
		Sound: media.SoundOptions{Mode: o.Timing.Audio, Codec: o.Output.AudioCodec, Options: o.Output.AudioOptions}, Log: o.Hooks.Log,
	}
	if p.unit != nil {
		w.Start = nil // the frames' times count from the output's 0
	}
	if o.Repairs != nil {
		w.Numbers = o.Repairs.Numbers
	}
	if o.Output.CRF != nil {
		w.Encoder.CRF = *o.Output.CRF
	}
	return w
}
