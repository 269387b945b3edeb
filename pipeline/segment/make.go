package segment

import (
	"context"
	"errors"
	"os"

	"retime/pipeline"
	"retime/pipeline/confine"
	"retime/pipeline/fault"
)

// Conversion returns the options of the whole conversion: the plan's, with those of local that may differ
// between workers.
func (p *Plan) Conversion(local pipeline.Options) pipeline.Options {
	o := p.Settings
	o.Compute, o.Synthesis.FlowCache = local.Compute, local.Synthesis.FlowCache
	o.Hooks.Log, o.Hooks.Progress = local.Hooks.Log, local.Hooks.Progress
	return o
}

// Make makes range i in dir. made is false if the range was there and whole already. Of
// local, Make heeds Compute, Synthesis.FlowCache, Hooks.Log and Hooks.Progress, and
// nothing else. Several processes may make the same range at once.
func (p *Plan) Make(ctx context.Context, dir string, i int, local pipeline.Options) (m *Manifest, made bool, err error) {
	err = p.MakeRun(ctx, dir, i, i+1, local, func(of *Manifest, new bool) { m, made = of, new })
	return m, made, err
}

// MakeRun makes the ranges from number first up to, not including, end, as Make makes each of
// them. Neighbours that are missing come from one pass over the input, which reads the pictures
// around their borders once. MakeRun calls done for each range in turn, once it is there.
func (p *Plan) MakeRun(ctx context.Context, dir string, first, end int, local pipeline.Options, done func(m *Manifest, made bool)) error {
	if first < 0 || first >= end || end > len(p.Ranges) {
		return fault.New(fault.Usage, "ranges %d to %d: the plan has ranges 0 to %d", first, end-1, len(p.Ranges)-1)
	}
	if err := p.confine(dir, local); err != nil {
		return err
	}
	if err := p.checkInput(ctx, false); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fault.New(fault.CannotWrite, "segments: %w", err)
	}
	if err := sweep(dir); err != nil {
		return fault.New(fault.CannotWrite, "segments: %w", err)
	}
	_, err := p.makeRun(ctx, dir, first, end, local, done)
	return err
}

// confine refuses an input or a directory of segments outside Compute.Confine of local, and
// links out of the directory of segments.
func (p *Plan) confine(dir string, local pipeline.Options) error {
	in, err := confine.New(local.Compute.Confine)
	if err != nil {
		return fault.New(fault.Usage, "Compute.Confine: %w", err)
	}
	if err := in.Check(p.Input.Path); err != nil {
		return fault.New(fault.Usage, "the plan's input: Compute.Confine: %w", err)
	}
	if err := in.CheckTree(dir); err != nil {
		return fault.New(fault.Usage, "segments: Compute.Confine: %w", err)
	}
	return nil
}

// makeRun is MakeRun without its preparations. It returns the sum of the reports of all passes, in which
// Made counts the frames of the ranges that were there, too.
func (p *Plan) makeRun(ctx context.Context, dir string, first, end int, local pipeline.Options, each func(m *Manifest, made bool)) (*pipeline.Report, error) {
	o := p.Conversion(local)
	sum := &pipeline.Report{}
	done := func(m *Manifest, made bool) {
		sum.Made += m.Made
		each(m, made)
	}
	id := p.ID()
	for i := first; i < end; {
		m, err := p.check(dir, id, i, true)
		if err == nil {
			done(m, false)
			i++
			continue
		}
		behind := i
		for err != nil {
			if o.Hooks.Log != nil && !errors.Is(err, errMissing) {
				o.Hooks.Log.Warn("a segment is made again", "index", behind, "reason", err)
			}
			if behind++; behind == end {
				break
			}
			_, err = p.check(dir, id, behind, false)
		}
		if show := local.Hooks.Progress; show != nil {
			before, total := p.Ranges[i].First-p.Ranges[first].First, p.Ranges[end-1].End-p.Ranges[first].First
			o.Hooks.Progress = func(at pipeline.Progress) {
				show(pipeline.Progress{Frames: before + at.Frames, Total: max(total, before+at.Frames)})
			}
		}
		report, err := p.makePass(ctx, dir, id, i, behind, o, done)
		if err != nil {
			return nil, err
		}
		sum.Sources, sum.Repeats = sum.Sources+report.Sources, sum.Repeats+report.Repeats
		sum.Held += report.Held
		sum.Stages.Add(report.Stages)
		sum.Backend, sum.Devices, sum.Remade = report.Backend, report.Devices, sum.Remade+report.Remade
		i = behind
	}
	return sum, nil
}

// makePass makes neighbouring ranges, none of which is there, in one pass over the input.
func (p *Plan) makePass(ctx context.Context, dir, id string, first, end int, o pipeline.Options, done func(m *Manifest, made bool)) (*pipeline.Report, error) {
	w := &segmentWriter{ctx: ctx, plan: p, id: id, dir: dir, first: first, end: end, done: done}
	o.Hooks.Digest = func(_ int64, d pipeline.Digest) { w.digest = Hash(d) }
	o.Hooks.Origin = func(f pipeline.Origin) { w.made = f.Method.Made() }
	r := p.Ranges[first]
	r.End = p.Ranges[end-1].End
	return runPart(ctx, o, &p.Whole, r, w)
}
