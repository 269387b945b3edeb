package pipeline

import (
	"context"
	"errors"
	"io"

	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
)

// Vectors are the optical flow between a source picture and the next one.
type Vectors = stages.Vectors

// Flows estimates the optical flow between each picture of the input and the next one, from Timing.From
// to Timing.To, on a device if there is one, and calls Hooks.Vectors with it, in order. It returns how many
// pictures it has read. Of o, Input, Timing's ends, Synthesis, Compute and Hooks count. Errors carry a fault.Kind.
func Flows(ctx context.Context, o Options) (pictures int64, err error) {
	if o.Hooks.Vectors == nil {
		return 0, fault.New(fault.Usage, "Hooks.Vectors is not set")
	}
	o.Output.File = ""
	clip, err := Open(ctx, o)
	if err != nil {
		return 0, err
	}
	defer clip.Close()
	if clip.Source.Video().Rate == nil {
		return 0, fault.New(fault.Usage, "Hooks.Vectors: input %q has no constant rate, by which its frames are numbered", o.Input.File)
	}
	s, err := clip.Options.Synthesizer()
	if err != nil {
		return 0, err
	}
	defer s.Close()
	e, err := clip.Options.wholeEstimator(ctx, s)
	if err != nil {
		return 0, err
	}
	defer e.Close()
	pictures, err = clip.flows(ctx, e)
	return pictures, fault.Interrupted(ctx, err)
}

// wholeEstimator opens an estimator that has all workers.
func (o *Settled) wholeEstimator(ctx context.Context, s synth.Synthesizer) (*motion.Estimator, error) {
	p := o.motionParams()
	p.Workers = o.workers()
	if devices := s.Flow(); len(devices) > 0 {
		return motion.NewDeviceEstimator(ctx, p, stages.FlowDevice(devices[0].New()))
	}
	return motion.NewEstimator(ctx, p)
}

// flows estimates the flow of the clip's pictures.
func (c *Clip) flows(ctx context.Context, e *motion.Estimator) (pictures int64, err error) {
	o, video, clock := &c.Options, c.Source.Video(), c.Plan.Clock
	scale := o.Synthesis.Preset.Scale(video.Width, video.Height)
	var last *stages.Picture
	defer func() {
		if last != nil {
			last.Release()
		}
	}()
	for ctx.Err() == nil {
		f, err := c.Source.Read()
		if errors.Is(err, io.EOF) {
			return pictures, nil
		}
		if err != nil {
			return pictures, err
		}
		at := clock.At(f.PTS)
		if o.Timing.To != nil && at.Cmp(o.Timing.To) >= 0 {
			f.Release()
			return pictures, nil
		}
		if o.Timing.From != nil && at.Cmp(o.Timing.From) < 0 {
			f.Release()
			continue
		}
		p := &stages.Picture{Frame: f, Number: pictures, Guide: stages.NumberedGuide(f, scale, clock, video)}
		pictures++
		before := last
		if last = p; before == nil {
			continue
		}
		err = o.tellFlow(e, before, p)
		before.Release()
		if err != nil {
			return pictures, err
		}
		if o.Hooks.Progress != nil {
			o.Hooks.Progress(Progress{Frames: pictures})
		}
	}
	return pictures, ctx.Err()
}

// tellFlow calls Hooks.Vectors with the flow between two pictures.
func (o *Options) tellFlow(e *motion.Estimator, a, b *stages.Picture) error {
	f, err := e.Estimate(a.Guide, b.Guide)
	if err != nil {
		return err
	}
	defer f.Release()
	v, ok, err := stages.VectorsOf(a, b, f)
	if err != nil || !ok {
		return err
	}
	return o.Hooks.Vectors(v)
}
