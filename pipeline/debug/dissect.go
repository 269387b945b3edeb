package debug

import (
	"context"
	"errors"
	"io"
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
	if d.Made != nil {
		d.Made.Release()
	}
}

// seekBack is how many seconds before the wanted time reading begins, so that two
// frames lie before it.
const seekBack = 2

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
	s.Mode, s.SceneThreshold, s.Scenes, s.Decisions, s.Duplicates = warp.Project, &never, nil, nil, pipeline.KeepDuplicates
	from := new(big.Rat).Sub(at, big.NewRat(seekBack, 1))
	if from.Sign() < 0 {
		from.SetInt64(0)
	}
	// The source's frames at their own times; the rate does not matter.
	o.Timing = pipeline.Timing{From: from, Rate: pipeline.Rate{Value: big.NewRat(1, 1)}}
	clip, err := pipeline.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	o, d.Video = clip.Options, clip.Source.Video()
	clock := clip.Plan.Clock
	first, err := d.read(clip.Source, clock, o.Input.File)
	clip.Close()
	if err != nil {
		return nil, err
	}
	// A time in each interval has its flow estimated: the outer intervals show how the
	// motion bends.
	var moments timeline.Given
	target := 0
	for i := 0; i+1 < len(d.frames); i++ {
		a, b := clock.At(d.frames[i].PTS), clock.At(d.frames[i+1].PTS)
		if i == first {
			target = i
			d.First, d.Second = Neighbour{d.frames[i], a}, Neighbour{d.frames[i+1], b}
			moments = append(moments, at)
			continue
		}
		middle := new(big.Rat).Add(a, b)
		moments = append(moments, middle.Quo(middle, big.NewRat(2, 1)))
	}
	d.Outer = len(d.frames) - 2
	o.Hooks.Record = func(r pipeline.Record) {
		if r.Frame == int64(target) {
			d.Record = r
		}
	}
	if err := d.make(ctx, &o, clock, moments, target); err != nil {
		return nil, err
	}
	if d.Interval.A == nil {
		return nil, fault.New(fault.Usage, "moment %s: the frames around it, at %s and %s, are equal; nothing is made between them",
			seconds(at), seconds(d.First.At), seconds(d.Second.At))
	}
	a := warp.Assessor{Workers: o.Compute.Workers()}
	a.Begin(d.Interval)
	d.Confidence = a.Confidence(d.Phase)
	d.Holes = a.Holes()
	return d, nil
}

// make synthesizes a frame at each of the moments and keeps target with its input.
func (d *Dissection) make(ctx context.Context, o *pipeline.Options, clock *timeline.Clock, moments timeline.Given, target int) error {
	s, err := synth.NewObservedCPU(o.WarpParams(), func(in warp.Interval, phase warp.Phase, inside warp.Inspection) {
		if in.A == d.First.Frame {
			d.Interval, d.Phase, d.Inspection = in, phase, inside
		}
	})
	if err != nil {
		return err
	}
	defer s.Close()
	plan := &timeline.Plan{Clock: clock, Total: int64(len(moments)), Passes: []timeline.Pass{{Layout: moments}}}
	line := pipeline.NewLine(o, plan, &keeper{d: d, target: target}, s)
	return line.Run(ctx, &frameSource{d.Video, d.frames, 0}, &plan.Passes[0], stages.Whole())
}

func seconds(t *big.Rat) string { return t.FloatString(3) + " s" }

// read keeps up to two frames on either side of d.At and returns the index of the last
// one before it.
func (d *Dissection) read(r *media.Reader, clock *timeline.Clock, input string) (first int, err error) {
	beyond := 0 // frames after d.At
	for beyond < 2 {
		f, err := r.Read()
		if errors.Is(err, io.EOF) || err != nil && fault.KindOf(err) == fault.BadData && beyond > 0 {
			break
		} else if err != nil {
			return 0, err
		}
		t := clock.At(f.PTS)
		switch t.Cmp(d.At) {
		case 0:
			f.Release()
			return 0, fault.New(fault.Usage, "moment %s: there is a source frame at this time, so nothing is made; choose a moment between two frames", seconds(d.At))
		case 1:
			beyond++
		}
		d.frames = append(d.frames, f)
		if beyond == 0 && len(d.frames) > 2 {
			d.frames[0].Release()
			d.frames = d.frames[1:]
		}
	}
	if first = len(d.frames) - beyond - 1; first < 0 || beyond == 0 {
		return 0, fault.New(fault.Usage, "moment %s: %q has no frames on both sides of it", seconds(d.At), input)
	}
	return first, nil
}

// frameSource delivers frames from memory.
type frameSource struct {
	video  media.Video
	frames []*frame.Frame
	next   int
}

func (s *frameSource) Video() media.Video { return s.video }

func (s *frameSource) Read() (*frame.Frame, error) {
	if s.next == len(s.frames) {
		return nil, io.EOF
	}
	s.next++
	return s.frames[s.next-1].Retain(), nil
}

// keeper is a sink that keeps one frame.
type keeper struct {
	d               *Dissection
	target, written int
}

func (k *keeper) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	return frame.New(like.Format, like.Width, like.Height), nil
}

func (k *keeper) WriteFrame(f *frame.Frame, _, _ *big.Rat) error {
	if k.written == k.target {
		k.d.Made = f.Retain()
	}
	k.written++
	return nil
}
