package pipeline

import (
	"math/big"

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
	total int64        // frames expected; 0 where the source states no duration
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
	p := &plan{rate: rate, clock: newClock(v), to: o.To}
	origin := p.clock.at(v.FirstPTS)
	if o.From != nil && o.From.Cmp(origin) > 0 {
		origin = o.From
	}
	if o.To != nil && o.To.Cmp(origin) <= 0 {
		return nil, fault.New(fault.Usage, "--to %s: the video begins at %s", seconds(o.To), seconds(origin))
	}
	end := o.To
	if v.Duration != nil {
		if e := new(big.Rat).Add(p.clock.at(v.StreamPTS), v.Duration); end == nil || e.Cmp(end) < 0 {
			end = e
		}
	}
	if p.curve, err = o.curve(end); err != nil {
		return nil, err
	}
	p.place(origin, end)
	return p, nil
}

// curve returns what o asks of a source that ends at a time, nil where that is
// not known.
func (o *Options) curve(end *big.Rat) (*curve.Curve, error) {
	from, slow := new(big.Rat), o.Slow
	if o.From != nil {
		from = o.From
	}
	if o.Fit != nil {
		if end == nil {
			return nil, fault.New(fault.Usage, "--fit: input %q states no duration; give --slow or --to", o.Input)
		}
		length := new(big.Rat).Sub(end, from)
		if length.Sign() <= 0 {
			return nil, fault.New(fault.Usage, "--from %s: the video ends at %s", seconds(from), seconds(end))
		}
		if slow = new(big.Rat).Quo(o.Fit, length); slow.Cmp(big.NewRat(MaxSlow, 1)) > 0 || slow.Cmp(big.NewRat(1, MaxSlow)) < 0 {
			return nil, fault.New(fault.Usage, "--fit %s: %s would play at 1/%d or %d times its speed, or beyond", seconds(o.Fit), seconds(length), MaxSlow, MaxSlow)
		}
	}
	return curve.Constant(from, slow), nil
}

// place lays the output's frames: the first at origin on the source's clock, the
// last before end, where the source's end is known.
func (p *plan) place(origin, end *big.Rat) {
	for _, run := range p.curve.Runs() {
		line := timeline{run: run, step: new(big.Rat).Inv(p.rate), frames: endless}
		line.start = line.run.Output(origin)
		if p.to != nil {
			line.frames = line.from(p.to)
		}
		p.lines = append(p.lines, line)
	}
	if end != nil {
		p.total = p.lines[len(p.lines)-1].from(end)
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

// shown is the time of output frame k in seconds: after the first frame where the
// output has a rate, else on the source's clock.
func (p *plan) shown(k int64) float64 {
	var t *big.Rat
	if p.rate != nil {
		t = new(big.Rat).Quo(new(big.Rat).SetInt64(k), p.rate)
	} else {
		t = p.lines[0].at(k)
	}
	seconds, _ := t.Float64()
	return seconds
}

func (p *plan) writerOptions(o *Options) media.WriterOptions {
	w := media.WriterOptions{
		Format: o.OutputFormat, Codec: o.VideoCodec, CRF: -1, Options: o.VideoOptions, PixelFormat: o.PixelFormat,
		Threads: o.Threads, Overwrite: o.Overwrite, Rate: p.rate, Start: p.lines[0].start, Curve: p.curve, End: p.to,
		Audio: o.Audio, Log: o.Log,
	}
	if o.CRF != nil {
		w.CRF = *o.CRF
	}
	return w
}
