package pipeline

import (
	"fmt"
	"math/big"
	"strings"

	"retime/pipeline/media"
	"retime/pipeline/timeline"
)

// variation is what is known of a clip whose frame rate varies.
type variation struct {
	spacing media.Spacing
	counted int // frames of the part among those examined; 0 if between is not known
	between int // of them, those that fall between the output's times
}

// variation returns nil for an input of constant rate, and for one of a rate that varies if the
// output's rate does not follow from it.
func (o *Options) variation(source *media.Reader, deinterlace media.FieldMode) *variation {
	v, found := source.Video(), source.Measured()
	constant := found.Steady() || v.Frames > 0 && v.Rate != nil && v.Average != nil && nearly(v.Rate, v.Average)
	if constant || !found.Spacing.Varies || deinterlace != media.KeepFields || !o.followsRate() {
		return nil
	}
	s := found.Spacing
	if v.Grid != nil {
		s.Rate = v.Rate
	}
	return &variation{spacing: s}
}

// followsRate reports whether the output's rate follows from the source's.
func (o *Options) followsRate() bool { return o.Timing.Rate.Value == nil || o.Timing.Rate.Multiple }

// plan returns the plan for a clip whose rate varies. Its gaps are measured by the mean
// rate, as those of any clip.
func (n *variation) plan(o *Settled, v media.Video) (*timeline.Plan, error) {
	v.Rate, v.Average = n.spacing.Rate, n.spacing.Rate
	times := n.spacing.Times
	p, err := o.Plan(v)
	if err != nil {
		return nil, err
	}
	length := new(big.Rat).Mul(v.TimeBase, new(big.Rat).SetInt64(times[len(times)-1]-times[0]))
	p.Gap = longestInterval(new(big.Rat).Quo(new(big.Rat).SetInt64(int64(len(times)-1)), length))
	if p.Curve.Line() == nil || o.Timing.KeepTimestamps || p.Passes[0].Layout.Subframes() > 1 {
		return p, nil
	}
	layout := p.Passes[0].Layout
	begin := layout.Moment(layout.First())
	for _, t := range times {
		at := p.Clock.At(t)
		if at.Cmp(begin) < 0 || p.To != nil && at.Cmp(p.To) >= 0 {
			continue
		}
		n.counted++
		if layout.Moment(layout.FirstFrom(at)).Cmp(at) != 0 {
			n.between++
		}
	}
	return p, nil
}

// logGrid logs how the source's timestamps differ from what they are taken for.
func (o *Options) logGrid(v media.Video) {
	if g := v.Grid; g != nil && (g.Jitter.Cmp(v.TimeBase) > 0 || g.Mean.Cmp(g.Rate) != 0) && !o.Timing.KeepTimestamps {
		ms := func(x *big.Rat) string { return new(big.Rat).Mul(x, big.NewRat(1000, 1)).FloatString(2) + " ms" }
		details := []any{"input", o.Input.File, "rate", g.Rate.RatString(), "jitter", ms(g.Jitter)}
		if g.Mean.Cmp(g.Rate) != 0 {
			details = append(details, "clock", g.Mean.FloatString(4))
		}
		o.Hooks.Log.Info("the timestamps jitter or drift; frames count as shot at an even rate", details...)
	}
}

// warnOfRate warns if the output's rate is nearly, but not exactly, a multiple of the source's, as
// 60 is of 29.97: then hardly a shot frame falls on the output's times.
func (o *Options) warnOfRate(v media.Video) {
	source := v.Rate
	if o.followsRate() || source == nil || o.Timing.KeepTimestamps || o.Timing.Curve != nil || o.Timing.Fit != nil || o.Timing.blurs() {
		return
	}
	times := new(big.Rat).Mul(new(big.Rat).Quo(o.Timing.Rate.Value, source), o.Timing.Slow)
	whole := big.NewRat(timeline.Round(times), 1)
	if times.IsInt() || whole.Sign() == 0 || !nearly(times, whole) || new(big.Rat).Quo(times, whole).Denom().BitLen() < 6 {
		return
	}
	rate := new(big.Rat).Quo(whole, o.Timing.Slow)
	hint := "without Timing.Rate, all are"
	if rate.Cmp(big.NewRat(1, 1)) != 0 {
		hint = "with Timing.Rate " + rate.RatString() + "x, all are"
	}
	o.Hooks.Log.Warn(fmt.Sprintf("%s is not %s times %s: hardly a shot frame is kept; %s, and less is made",
		decimal(o.Timing.Rate.Value), rate.RatString(), decimal(source), hint), "input", o.Input.File)
}

// decimal returns a rate in the form in which people write it.
func decimal(rate *big.Rat) string {
	if rate.IsInt() {
		return rate.RatString()
	}
	return strings.TrimSuffix(strings.TrimRight(rate.FloatString(3), "0"), ".")
}

// log logs which rate counts as the clip's, and how many shot frames the output lacks.
func (n *variation) log(o *Settled, p *timeline.Plan) {
	if o.Timing.KeepTimestamps {
		return
	}
	details := []any{"input", o.Input.File, "rate", n.spacing.Rate.RatString(), "output", p.Rate.RatString()}
	if n.counted > 0 {
		details = append(details, "between", fmt.Sprintf("%d of %d", n.between, n.counted))
	}
	if 2*n.between > n.counted {
		o.Hooks.Log.Warn("the frame rate varies, and most shot frames fall between the output's times; Timing.KeepTimestamps shows each at its own", details...)
	} else {
		o.Hooks.Log.Info("the frame rate varies; the rate that most frames have counts as the source's", details...)
	}
}
