package pipeline

import (
	"context"
	"fmt"
	"math/big"

	"retime/pipeline/media"
	"retime/pipeline/timeline"
)

// variation is what is known of a clip whose frame rate varies, or whose first frame is
// lengthened.
type variation struct {
	spacing media.Spacing
	counted int // frames of the part among those examined; 0 if between is not known
	between int // of them, those that fall between the output's times
}

// measure examines the input's timestamps if the container does not show that the rate is
// constant. It returns nil for an input of constant rate, and for one of a rate that varies if
// the output's rate does not follow from it.
func (o *Options) measure(ctx context.Context, source *media.Reader, reading media.ReaderOptions) (*variation, error) {
	v := source.Video()
	constant := v.Frames > 0 && v.Rate != nil && v.Average != nil && nearly(v.Rate, v.Average)
	if constant || reading.Deinterlace != media.KeepFields || !o.followsRate() && !source.MayLengthen() {
		return nil, nil
	}
	s, err := media.MeasureSpacing(ctx, o.Input.File, reading)
	if err != nil || !s.Lengthened() && (!s.Varies || !o.followsRate()) {
		return nil, err
	}
	return &variation{spacing: s}, nil
}

// followsRate reports whether the output's rate follows from the source's.
func (o *Options) followsRate() bool { return o.Timing.Rate.Value == nil || o.Timing.Rate.Multiple }

// plan returns the plan for a clip whose rate varies. Its gaps are measured by the mean
// rate, as those of any clip.
func (n *variation) plan(o *Options, v media.Video) (*timeline.Plan, error) {
	v.Rate, v.Average = n.spacing.Rate, n.spacing.Rate
	times := n.spacing.Times
	lengthened := n.spacing.Lengthened() && v.FirstPTS == times[0] && !o.Timing.KeepTimestamps
	if lengthened {
		v.FirstPTS = n.spacing.Begin
	}
	p, err := newPlan(o, v)
	if err != nil {
		return nil, err
	}
	if lengthened {
		p.Clock.Begin(n.spacing.Begin)
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

// log says which rate counts as the clip's, and how many shot frames the output lacks.
func (n *variation) log(o *Options, p *timeline.Plan) {
	if o.Timing.KeepTimestamps || !n.spacing.Varies || !o.followsRate() {
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
