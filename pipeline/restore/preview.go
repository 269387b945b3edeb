package restore

import (
	"context"
	"errors"
	"math/big"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
)

// Preview makes frames of a restoration one by one, without writing any. One goroutine at a time uses it.
type Preview struct {
	scan  *inputScan
	clip  *pipeline.Clip
	synth synth.Synthesizer
	max   int
}

// OpenPreview reads o's input once. The findings of o, which must not ask to detect more, are not looked at:
// Frame has its own. Errors carry a fault.Kind.
func OpenPreview(ctx context.Context, o Options) (*Preview, error) {
	o.SmartCopy = false
	o, err := o.settled()
	if err != nil {
		return nil, err
	}
	p := &Preview{max: o.MaxRun}
	if p.scan, err = scan(ctx, &o); err != nil {
		return nil, err
	}
	o.Convert.Input.Deinterlace = pipeline.IgnoreFields // the scan has seen to them
	if p.clip, err = openClip(ctx, o.Convert, (*pipeline.Settled).Open); err != nil {
		return nil, err
	}
	if p.synth, err = p.clip.Options.Synthesizer(); err != nil {
		p.clip.Close()
		return nil, err
	}
	return p, nil
}

// Close frees the preview.
func (p *Preview) Close() {
	p.synth.Close()
	p.clip.Close()
}

// Video describes the input.
func (p *Preview) Video() media.Video { return p.clip.Source.Video() }

// Frames is how many frames the input has.
func (p *Preview) Frames() int64 { return int64(len(p.scan.stamps)) }

// Resolve returns a finding with numbers for its places, and its time.
func (p *Preview) Resolve(f Finding) (Finding, error) {
	_, _, err := p.scan.span(&f)
	return f, err
}

// Source returns frame n of the input as it is, with a reference.
func (p *Preview) Source(ctx context.Context, n int64) (f *frame.Frame, err error) {
	if n < 0 || n >= p.Frames() {
		return nil, fault.New(fault.Usage, "frame %d: the input has frames 0 to %d", n, p.Frames()-1)
	}
	source, err := openRange(ctx, p.clip, p.scan.stamps, int(n), int(n))
	if err != nil {
		return nil, err
	}
	defer source.Close()
	return source.Read()
}

// Frame returns the frame of the output that stands for frame n of the input or, with inserted from 1 on, one of those
// that are inserted after it, if all of damage is restored; with a reference, and with the sample values of Run.
func (p *Preview) Frame(ctx context.Context, damage []Finding, n int64, inserted int) (*frame.Frame, error) {
	if p.scan.fields != nil {
		return nil, fault.New(fault.Usage, "the input is interlaced: made fields are not shown before they are restored")
	}
	scan := *p.scan
	scan.findings = append([]Finding(nil), damage...)
	plan, err := scan.planRepairs(&Options{MaxRun: p.max})
	if err != nil {
		return nil, err
	}
	r := &restoration{p.clip, &plan.repairs}
	if err := plan.repairs.check(p.Video()); err != nil {
		return nil, err
	}
	first, last := plan.repairs.widen(scan.stamps, int(n), int(n), margin+1)
	before := func(n int) int64 { // number in the output
		k := int64(n)
		for _, t := range scan.stamps[:n] {
			k += int64(plan.repairs.insert[t])
		}
		return k
	}
	base := before(first)
	source, err := openRange(ctx, p.clip, scan.stamps, first, last)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	o := p.clip.Options
	o.Synthesis.Decisions = plan.decisions()
	o.Hooks = pipeline.Hooks{Log: o.Hooks.Log}
	sink := &oneFrame{left: before(int(n)) + int64(inserted) - base}
	line := o.Line(p.clip.Plan, sink, p.synth)
	line.CountFrom(int64(first))
	err = line.RunSchedule(ctx, source, &p.clip.Plan.Passes[0], r.schedule(base), stages.Whole())
	switch {
	case sink.frame != nil:
		return sink.frame, nil
	case err == nil:
		err = fault.New(fault.Usage, "frame %d is not in the output", n)
	}
	return nil, err
}

// oneFrame is a sink that keeps one frame, the one that comes after left others, and then ends the line.
type oneFrame struct {
	left  int64
	frame *frame.Frame
}

var errEnough = errors.New("the frame is there")

func (s *oneFrame) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	return frame.New(like.Format, like.Width, like.Height), nil
}

func (s *oneFrame) WriteFrame(f *frame.Frame, _, _ *big.Rat) error {
	if s.left--; s.left >= 0 {
		return nil
	}
	s.frame = f.Retain()
	return errEnough
}
