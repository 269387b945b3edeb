package restore

import (
	"context"
	"errors"
	"math/big"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/restore/fields"
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
func (p *Preview) Interlaced() bool { return p.scan.fields != nil }

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
	pictures := scan.pictures(plan.repairs.weave, n)
	if most := plan.repairs.insert[pictures[len(pictures)-1].stamp] / len(pictures); inserted < 0 || inserted > most {
		return nil, fault.New(fault.Usage, "inserted frame %d: %d are inserted after frame %d", inserted, most, n)
	}
	e := p.excerpt(&scan, plan, n)
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

func (p *Preview) excerpt(scan *inputScan, plan *repairPlan, n int64) excerpt {
	var stamps []int64 // of the input's pictures
	var frames []int64 // their frames
	from, to := -1, -1 // the pictures of n
	for k := range int64(len(scan.stamps)) {
		for _, q := range scan.pictures(plan.repairs.weave, k) {
			if k == n {
				if to = len(stamps); from < 0 {
					from = to
				}
			}
			stamps, frames = append(stamps, q.stamp), append(frames, k)
		}
	}
	from, to = widen(stamps, plan.repairs.bad, from, to, margin+1)
	e := excerpt{beginning{frame: frames[from]}, frames[to], 0}
	if plan.repairs.weave != nil {
		e.frame, e.last = max(e.frame-fields.Reach, 0), min(e.last+fields.Reach, int64(len(scan.stamps))-1)
	}
	for i, stamp := range stamps {
		split := int64(1)
		if w := plan.repairs.weave; w != nil {
			split = int64(len(scan.pictures(w, frames[i])))
		}
		inserts := int64(plan.repairs.insert[stamp])
		if frames[i] < e.frame {
			e.pictures, e.made = e.pictures+1, e.made+1+inserts
		} else if frames[i] < n {
			e.left += inserts / split
			if i == 0 || frames[i-1] != frames[i] {
				e.left++
			}
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
