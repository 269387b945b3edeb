package pipeline

import (
	"math/big"
	"slices"

	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
)

// gapFrames is how many frames long, at the source's mean rate, an interval may
// be before it counts as a gap, if it lasts for half a second.
const gapFrames = 8

// begin returns when the part begins: with the first frame at or after Timing.From that v
// begins with, or at Timing.From if there is none, or if the video begins later.
func (o *Options) begin(v media.Video) *big.Rat {
	from := o.Timing.From
	if from == nil || from.Sign() <= 0 {
		return from
	}
	clock := o.clock(v)
	first := clock.At(v.FirstPTS)
	if v.Grid != nil {
		from = clock.Place(from)
	}
	if media.Misses(first, from) || v.FirstPTS == v.StreamPTS && first.Cmp(from) > 0 {
		return from
	}
	return first
}

// clock returns the clock of the source.
func (o *Options) clock(v media.Video) *timeline.Clock {
	if o.Timing.KeepTimestamps {
		return timeline.NewStatedClock(v)
	}
	return timeline.NewClock(v)
}

// Plan places the frames of the output of a source that v describes. Errors carry a fault.Kind.
func (o *Settled) Plan(v media.Video) (*timeline.Plan, error) {
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
	if rate, err = o.shown(rate, v.Average); err != nil {
		return nil, err
	}
	p := &timeline.Plan{Rate: rate, Clock: o.clock(v), To: o.Timing.To}
	origin := p.Clock.At(v.FirstPTS)
	if o.Timing.From != nil && o.Timing.From.Cmp(origin) > 0 {
		origin = o.Timing.From
	}
	if o.Timing.To != nil && o.Timing.To.Cmp(origin) <= 0 {
		return nil, fault.New(fault.Usage, "Timing.To %s: the first frame stands at %s", seconds(o.Timing.To), seconds(origin))
	}
	end := o.Timing.To
	if e := p.Clock.End(v); e != nil && (end == nil || e.Cmp(end) < 0) {
		end = e
	}
	if p.Curve, err = o.curve(origin, end); err != nil {
		return nil, err
	}
	if source != nil {
		p.Gap = longestInterval(source)
	} else {
		source = p.Rate
	}
	p.Lay(timeline.Spacing{Origin: origin, End: end, Shutter: o.Timing.shutter(), Source: source, Keep: o.Timing.KeepTimestamps, TimeBase: v.TimeBase})
	return p, nil
}

// outputRate returns the rate in frames per second.
func (o *Options) outputRate(source *big.Rat) (*big.Rat, error) {
	switch {
	case o.Timing.Rate.Value != nil && !o.Timing.Rate.Multiple:
		return o.Timing.Rate.Value, nil
	case source == nil:
		return nil, fault.New(fault.Usage, "input %q states no frame rate; give one with Timing.Rate", o.Input.File)
	case o.Timing.Rate.Value == nil:
		return source, nil
	}
	rate := new(big.Rat).Mul(o.Timing.Rate.Value, source)
	if !timeline.IsRate(rate) {
		return nil, fault.New(fault.Usage, "Timing.Rate %sx of %s: want 1/%d to %d", o.Timing.Rate.Value.RatString(), source.RatString(), timeline.MaxPeriod, timeline.MaxRate)
	}
	return rate, nil
}

// shown returns the rate nearest to rate at which players show the output's format.
// average is the source's mean rate; nil if it is unknown.
func (o *Options) shown(rate, average *big.Rat) (*big.Rat, error) {
	most := media.MaxRate(o.Output.File, o.Output.Format)
	kept := rate // the frames are as many as the rate asks for, and the source's own at least
	if average != nil && o.Timing.Slow != nil {
		average = new(big.Rat).Quo(average, o.Timing.Slow)
	}
	if average != nil {
		kept = timeline.Later(kept, average)
	}
	switch {
	case most == nil:
		return rate, nil
	case o.Timing.KeepTimestamps && kept.Cmp(most) > 0:
		return nil, fault.New(fault.Usage, "output %q: players show at most %s frames per second of this format, and the timestamps that are kept have %s; choose another format",
			o.Output.File, most.RatString(), kept.FloatString(3))
	case !o.Timing.KeepTimestamps && rate.Cmp(most) > 0:
		o.Hooks.Log.Warn("players slow this format down at such a rate; the output has the nearest one that they play",
			"output", o.Output.File, "asked", rate.RatString(), "written", most.RatString())
		return most, nil
	}
	return rate, nil
}

// longestInterval returns the length in seconds from which on an interval is a gap, for
// a source of some mean rate.
func longestInterval(rate *big.Rat) *big.Rat {
	return timeline.Later(new(big.Rat).Quo(big.NewRat(gapFrames, 1), rate), big.NewRat(1, 2))
}

// curve returns what o asks of a part of a source that begins at origin and ends at end, nil if that
// is not known.
func (o *Options) curve(origin, end *big.Rat) (*curve.Curve, error) {
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
		length := new(big.Rat).Sub(end, origin)
		if length.Sign() <= 0 {
			return nil, fault.New(fault.Usage, "Timing.From %s: the video ends at %s", seconds(origin), seconds(end))
		}
		if slow = new(big.Rat).Quo(o.Timing.Fit, length); slow.Cmp(big.NewRat(timeline.MaxSlow, 1)) > 0 || slow.Cmp(big.NewRat(1, timeline.MaxSlow)) < 0 {
			return nil, fault.New(fault.Usage, "Timing.Fit %s: %s would play at 1/%d or %d times its speed, or beyond", seconds(o.Timing.Fit), seconds(length), timeline.MaxSlow, timeline.MaxSlow)
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
	if end == nil {
		end = latest(keys)
	}
	if limit := new(big.Rat).Mul(end, big.NewRat(timeline.MaxSlow, 1)); c.Duration().Cmp(limit) > 0 {
		return nil, fault.New(fault.Usage, "Timing.Curve: it lasts for %s, which is more than %d times the source's %s", seconds(c.Duration()), timeline.MaxSlow, seconds(end))
	}
	return c, nil
}

// latest returns the latest source time of keyframes.
func latest(keys []curve.Keyframe) *big.Rat {
	t := new(big.Rat)
	for _, k := range keys {
		t = timeline.Later(t, k.Source)
	}
	return t
}

// nearly reports whether two rates differ by less than 1 in 500, as a guessed one
// and a mean over a file do if the rate is constant.
func nearly(a, b *big.Rat) bool {
	x, _ := a.Float64()
	y, _ := b.Float64()
	return x > y*0.998 && x < y*1.002
}
