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
	if p.clip, err = openClip(ctx, o.Convert, pipeline.Open); err != nil {
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

// Interlaced reports whether the input is restored as fields, which Source and Frame return woven.
func (p *Preview) Interlaced() bool { return p.scan.parts() > 1 }

// Resolve returns a finding with numbers for its places, and its time. It refuses what Run would refuse of it.
func (p *Preview) Resolve(f Finding) (Finding, error) {
	_, _, err := p.scan.span(&f)
	return f, err
}

// Source returns frame n of the input as it is, with a reference.
func (p *Preview) Source(ctx context.Context, n int64) (f *frame.Frame, err error) {
	if err := p.check(n); err != nil {
		return nil, err
	}
	source, err := openRange(ctx, p.clip, p.scan.stamps, int(n), int(n))
	if err != nil {
		return nil, err
	}
	defer source.Close()
	return source.Read()
}

// check refuses numbers that no frame of the input has.
func (p *Preview) check(n int64) error {
	if n < 0 || n >= p.Frames() {
		return fault.New(fault.Usage, "frame %d: the input has frames 0 to %d", n, p.Frames()-1)
	}
	return nil
}

// Frame returns the frame of the output that stands for frame n of the input or, with inserted from 1 on, one of those
// that are inserted after it, if all of damage is restored; with a reference, and with the sample values of Run. Fields
// are woven, as in the output.
func (p *Preview) Frame(ctx context.Context, damage []Finding, n int64, inserted int) (*frame.Frame, error) {
	if err := p.check(n); err != nil {
		return nil, err
	}
	scan := *p.scan
	scan.findings = append([]Finding(nil), damage...)
	o := Options{MaxRun: p.max}
	o.Convert.Synthesis.Mode = p.clip.Options.Synthesis.Mode
	plan, err := scan.planRepairs(&o)
	if err != nil {
		return nil, err
	}
	if err := plan.repairs.check(p.Video()); err != nil {
		return nil, err
	}
	if most := plan.repairs.inserted(int(n)); inserted < 0 || inserted > most {
		return nil, fault.New(fault.Usage, "inserted frame %d: %d are inserted after frame %d", inserted, most, n)
	}
	e := plan.repairs.excerpt(n)
	source, err := openRange(ctx, p.clip, scan.stamps, int(e.frame), int(e.last))
	if err != nil {
		return nil, err
	}
	defer source.Close()
	sink := &oneFrame{left: e.left + int64(inserted)}
	if err := p.make(ctx, plan, e, source, sink); sink.frame == nil {
		if err == nil {
			err = fault.New(fault.Usage, "frame %d is not in the output", n)
		}
		return nil, err
	}
	return sink.frame, nil
}

// excerpt is the part of a restoration that has all that the picture of a frame depends on.
type excerpt struct {
	beginning
	last int64 // frame of the input
	left int64 // frames of the output before the one in question
}

func (r *repairs) excerpt(n int64) excerpt {
	all := r.pictures
	own, from := r.of(n)
	from, to := widen(len(all), func(i int) bool { return all[i].lost }, from, from+len(own)-1, margin+1)
	reach := int64(r.reach())
	e := excerpt{beginning{frame: max(all[from].frame-reach, 0)}, min(all[to].frame+reach, all[len(all)-1].frame), 0}
	for i, q := range all {
		if q.frame < e.frame {
			e.pictures, e.made = e.pictures+1, e.made+1+int64(q.insert)
		} else if q.frame < n && (i == 0 || all[i-1].frame != q.frame) {
			e.left += 1 + int64(r.inserted(int(q.frame)))
		}
	}
	return e
}

// make passes the frames of an excerpt to sink, until it has enough.
func (p *Preview) make(ctx context.Context, plan *repairPlan, e excerpt, source stages.Source, sink stages.Sink) error {
	o := p.clip.Options
	o.Synthesis.Decisions = plan.decisions()
	o.Hooks = pipeline.Hooks{Log: o.Hooks.Log}
	_, err := (&restoration{p.clip, &plan.repairs}).runFrom(ctx, &o, e.beginning, source, sink, p.synth)
	return err
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
