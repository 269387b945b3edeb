package debug

import (
	"context"
	"math/big"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
	"retime/warp"
)

// Dissection holds one synthesized frame with everything that went into it. Release
// releases its frames.
type Dissection struct {
	Video         media.Video
	At            *big.Rat // seconds of the input
	First, Second Neighbour
	Made          *frame.Frame
	Phase         warp.Phase
	Record        pipeline.Record // its Sources are not numbers in the input
	Interval      warp.Interval   // the input of the synthesis
	Inspection    warp.Inspection
	Confidence    frame.Image[uint8]    // on the guides' grid
	Holes         [2]frame.Image[uint8] // of the flows from the first and the second frame: 255 in a hole
	CutFrom       float64               // the score from which the synthesis would have made nothing
	Outer         int                   // how many further frames it used, 0 to 2
	frames        []*frame.Frame
}

// Neighbour is a source frame beside the synthesized one. At is in seconds of the
// input.
type Neighbour struct {
	*frame.Frame
	At *big.Rat
}

// Release releases the frames.
func (d *Dissection) Release() {
	for _, f := range d.frames {
		f.Release()
	}
}

// keep takes a reference to f, which may be nil, that lasts as long as d.
func (d *Dissection) keep(f *frame.Frame) {
	if f != nil {
		d.frames = append(d.frames, f.Retain())
	}
}

// Dissect synthesizes the frame of o.Input at the time at, in seconds, in mode Project
// on the CPU, even across a scene cut. It returns a fault.Usage error if a source frame
// lies at that time, or if the time lies outside the input.
func Dissect(ctx context.Context, o pipeline.Options, at *big.Rat) (*Dissection, error) {
	d, err := dissect(ctx, o, at)
	return d, fault.Interrupted(ctx, err)
}

func dissect(ctx context.Context, o pipeline.Options, at *big.Rat) (_ *Dissection, err error) {
	d := &Dissection{At: at, CutFrom: pipeline.DefaultSceneThreshold}
	if t := o.Synthesis.SceneThreshold; t != nil {
		d.CutFrom = *t
	}
	defer func() {
		if err != nil {
			d.Release()
		}
	}()
	never, s := 2.0, &o.Synthesis
	s.Mode, s.SceneThreshold, s.Scenes, s.Decisions = warp.Project, &never, nil, nil
	if o.Timing.Rate.Value == nil {
		o.Timing.Rate.Value = big.NewRat(1, 1) // the input may state none, and none is needed
	}
	clip, err := pipeline.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer clip.Close()
	d.Video = clip.Source.Video()
	clock := clip.Plan.Clock
	seen := &watched{clock: clock, at: at}
	if err := d.make(ctx, clip, seen); err != nil {
		return nil, err
	}
	switch {
	case seen.on:
		return nil, fault.New(fault.Usage, "moment %s: there is a source frame at this time, so nothing is made; choose a moment between two frames", seconds(at))
	case !seen.before || !seen.after:
		return nil, fault.New(fault.Usage, "moment %s: %q has no frames on both sides of it", seconds(at), o.Input.File)
	case d.Interval.A == nil:
		return nil, fault.New(fault.Usage, "moment %s: the frames around it are equal; nothing is made between them", seconds(at))
	}
	d.First, d.Second = Neighbour{d.Interval.A, clock.At(d.Interval.A.PTS)}, Neighbour{d.Interval.B, clock.At(d.Interval.B.PTS)}
	a := warp.Assessor{Workers: clip.Options.Compute.Workers()}
	a.Begin(d.Interval)
	d.Confidence = a.Confidence(d.Phase)
	d.Holes = a.Holes()
	return d, nil
}

// make synthesizes the frame, and keeps it with its input.
func (d *Dissection) make(ctx context.Context, clip *pipeline.Clip, seen *watched) error {
	o := &clip.Options
	s, err := synth.NewObservedCPU(o.WarpParams(), func(in warp.Interval, phase warp.Phase, inside warp.Inspection) {
		d.Interval, d.Phase, d.Inspection = in, phase, inside
		d.keep(in.A)
		d.keep(in.B)
		for _, outer := range []*warp.Outer{in.Before, in.After} {
			if outer != nil {
				d.Outer++
				d.keep(outer.Frame)
			}
		}
	})
	if err != nil {
		return err
	}
	defer s.Close()
	o.Hooks.Record = func(r pipeline.Record) { d.Record = r }
	moments, target := around(d.At, clip.Period())
	plan := &timeline.Plan{Clock: clip.Plan.Clock, Total: 1, Passes: []timeline.Pass{{Layout: moments, Stop: moments[len(moments)-1]}}}
	part := pipeline.Part{Pass: &plan.Passes[0], First: target, End: target + 1}
	return clip.Frames(ctx, part, clip.Pictures(), func(source pipeline.Source, want stages.Range) error {
		seen.Source = source
		return o.Line(plan, &keeper{d: d}, s).Run(ctx, seen, part.Pass, want)
	})
}

// around returns moments so close around one that some lie in each interval of pictures, and the number
// of that one. The motion of an interval without any is not estimated, and that beside the frame's
// interval shows how its own bends.
func around(at, period *big.Rat) (moments timeline.Given, target int64) {
	const each, reach = 16, 64 // moments in a period, and periods on either side
	for i := range int64(2*each*reach + 1) {
		off := big.NewRat(i-each*reach, each)
		moments = append(moments, off.Add(at, off.Mul(off, period)))
	}
	return moments, each * reach
}

func seconds(t *big.Rat) string { return t.FloatString(3) + " s" }

// watched is a source that tells where its pictures stand.
type watched struct {
	pipeline.Source
	clock             *timeline.Clock
	at                *big.Rat
	before, on, after bool // there is a picture before at, there, and after it
}

func (w *watched) Read() (*frame.Frame, error) {
	f, err := w.Source.Read()
	if err == nil {
		side := w.clock.At(f.PTS).Cmp(w.at)
		w.before, w.on, w.after = w.before || side < 0, w.on || side == 0, w.after || side > 0
	}
	return f, err
}

// keeper is a sink that keeps a frame.
type keeper struct {
	media.Discard
	d *Dissection
}

func (k *keeper) WriteFrame(f *frame.Frame, _, _ *big.Rat) error {
	k.d.Made = f
	k.d.keep(f)
	return nil
}
