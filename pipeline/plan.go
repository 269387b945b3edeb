package pipeline

import (
	"math/big"

	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// plan is the arithmetic of one conversion.
type plan struct {
	rate  *big.Rat // of the output
	clock *clock
	line  timeline
	to    *big.Rat // where the part ends on the source's clock; nil for the end
	start *big.Rat // time of the first frame in the output
	zero  *big.Rat // time on the source's clock that is the output's 0
	total int64    // frames expected; 0 where the source states no duration
}

func newPlan(o *Options, v media.Video) (*plan, error) {
	source := v.Average
	if v.Rate != nil && (source == nil || nearly(v.Rate, source)) {
		source = v.Rate
	}
	rate, err := o.outputRate(source)
	if err != nil {
		return nil, err
	}
	p := &plan{rate: rate, clock: newClock(v), to: o.To, zero: new(big.Rat)}
	first := p.clock.at(v.FirstPTS)
	origin := first
	if o.From != nil {
		p.zero = o.From
		if o.From.Cmp(first) > 0 {
			origin = o.From
		}
	}
	if o.To != nil && o.To.Cmp(origin) <= 0 {
		return nil, fault.New(fault.Usage, "--to %s: the video begins at %s", seconds(o.To), seconds(origin))
	}
	step := new(big.Rat).Mul(rate, o.Slow)
	p.line = timeline{origin: origin, step: step.Inv(step), end: o.To}
	p.start = new(big.Rat).Sub(origin, p.zero)
	p.start.Mul(p.start, o.Slow)

	if v.Duration != nil {
		end := new(big.Rat).Add(p.clock.at(v.StreamPTS), v.Duration)
		if o.To != nil && o.To.Cmp(end) < 0 {
			end = o.To
		}
		p.total = p.line.count(end)
	} else if o.To != nil {
		p.total = p.line.count(o.To)
	}
	return p, nil
}

// newPlanAt is the plan of frames at given timestamps of the source.
func newPlanAt(v media.Video, timestamps []int64) *plan {
	p := &plan{clock: newClock(v), total: int64(len(timestamps))}
	p.line.origin = p.clock.at(v.FirstPTS)
	p.line.times = make([]*big.Rat, len(timestamps))
	for i, t := range timestamps {
		p.line.times[i] = p.clock.at(t)
	}
	return p
}

// nearly says whether two rates differ by less than 1 in 500, as a guessed one
// and a mean over a file do where the rate is constant.
func nearly(a, b *big.Rat) bool {
	x, _ := a.Float64()
	y, _ := b.Float64()
	return x > y*0.998 && x < y*1.002
}

// shown is the time of output frame k in seconds: in the output where that has a
// rate, else on the source's clock.
func (p *plan) shown(k int64) float64 {
	t := p.line.at(k)
	if p.rate != nil {
		t = t.Quo(new(big.Rat).SetInt64(k), p.rate)
	}
	seconds, _ := t.Float64()
	return seconds
}

func (p *plan) writerOptions(o *Options) media.WriterOptions {
	w := media.WriterOptions{
		Format: o.OutputFormat, Codec: o.VideoCodec, CRF: -1, Options: o.VideoOptions, PixelFormat: o.PixelFormat,
		Threads: o.Threads, Overwrite: o.Overwrite, Rate: p.rate, Start: p.start, Zero: p.zero, End: p.to,
		Copy: o.Slow.Cmp(big.NewRat(1, 1)) == 0, Log: o.Log,
	}
	if o.CRF != nil {
		w.CRF = *o.CRF
	}
	return w
}
