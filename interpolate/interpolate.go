// Package interpolate makes the pictures between the pictures of a video, for programs that have
// their pictures in memory: players, editors, filters. It makes them by the code, and so with the
// samples, of retime's own conversions, and links neither FFmpeg nor OpenCV.
//
// A Clip gives any frame in any order, each from the one to four pictures around it, for hosts that
// seek. A Stream takes pictures one after the other and returns the frames in order, for hosts that
// read through; it alone can leave out repeats of pictures, which needs all pictures before.
package interpolate

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"math/big"
	"slices"
	"strings"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
	"retime/warp"
	"retime/warp/bspline"
)

// Options describe the pictures and what becomes of them. Format, Width, Height and Rate must be
// set; the zero value of every other field means what its comment says.
type Options struct {
	Format        frame.Format
	Width, Height int
	Light         frame.Light // how samples stand for light; SDR by default
	Rate          *big.Rat    // pictures per second

	Timing    Timing
	Synthesis Synthesis
	// Threads is how many threads work at once; 0 for as many as there are processors.
	Threads int
	// Backend makes a Stream's frames, with the same samples: synth.CPU by default; in builds with the
	// tag cuda, the first CUDA device, too. A Clip's frames are made on the CPU.
	Backend synth.Backend
	// Log receives warnings; nil for none.
	Log *slog.Logger

	open func(synth.Params) (synth.Synthesizer, error) // synth.Open
}

// Timing chooses which moments are shown.
type Timing struct {
	Rate *big.Rat // frames per second; nil for the pictures' rate
	Slow *big.Rat // how many times longer it lasts, below 1 shorter; nil for 1
	// Times are the moments of all frames in place of a rate, in seconds after the first picture, in
	// ascending order; nil for none.
	Times []*big.Rat
}

// Synthesis describes how frames are made. Its fields are those of pipeline.Synthesis.
type Synthesis struct {
	Preset motion.Preset // cost against quality; motion.Balanced by default
	Mode   warp.Mode     // how frames are made; warp.Project by default
	// SceneThreshold is the score from 0 to 1 from which two pictures belong to different scenes,
	// between which the nearer one is shown; nil for motion.CutThreshold, above 1 for never.
	SceneThreshold *float64
	// BlendBelow is the confidence below which a frame is cross-faded where it cannot be trusted, and
	// NearestBelow the one below which the nearer picture takes its place; nil for the defaults of
	// package stages.
	BlendBelow, NearestBelow *float64
	// CarryOverlays leaves out the search for overlays that lie still over a moving picture, which
	// then are carried along.
	CarryOverlays bool
	// Animation says that the pictures are drawn or rendered: nothing is cross-faded for want of confidence,
	// and counters show the nearer picture's number. With DropRepeats, what repeats in parts of pictures is retimed,
	// too.
	Animation bool
	// DropRepeats leaves out pictures that repeat the one before, as in animation on twos. Only a
	// Stream can.
	DropRepeats bool
}

// Kind says what a frame is.
type Kind string

// The kinds.
const (
	AsShot  Kind = "as shot" // a picture, at its time
	Made    Kind = "made"    // made along the motion
	Blended Kind = "blended" // the same, cross-faded where motion cannot be trusted; or in mode Blend
	Held    Kind = "held"    // the nearer picture, as nothing moves or no frame could be trusted
	Cut     Kind = "cut"     // the nearer picture, as a scene begins between the two
)

// Info describes a frame.
type Info struct {
	Kind       Kind
	Confidence float64 // from 0 to 1: 1 for a picture at its time, 0 for one in place of a frame
	Sources    []int64 // numbers of the one or two pictures that it is or lies between
	Phase      float64 // from 0 at the first of them to 1 at the second
}

// infoOf describes a frame of a layout.
func (o *Options) infoOf(r *stages.Record, layout timeline.Layout) Info {
	i := Info{Confidence: r.Confidence, Sources: r.Sources, Phase: r.Phase}
	switch {
	case r.Method == decision.Blended:
		i.Kind = Blended
	case r.Method.Made():
		i.Kind = Made
	case r.Method == decision.Nearest && r.Cut:
		i.Kind = Cut
	case r.Method == decision.FromSource && o.at(r.Sources[0]).Cmp(layout.Moment(r.Frame)) == 0:
		i.Kind = AsShot
	default:
		i.Kind = Held
	}
	return i
}

// at returns the time of picture n.
func (o *Options) at(n int64) *big.Rat { return new(big.Rat).Quo(big.NewRat(n, 1), o.Rate) }

// These bound pictures, as for files.
const (
	maxPixels = 1 << 26
	maxSide   = 1 << 15
)

// settle checks o and replaces what was left zero.
func (o *Options) settle() error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.open == nil {
		o.open = synth.Open
	}
	o.Backend = cmp.Or(o.Backend, synth.CPU)
	s := &o.Synthesis
	s.Preset = cmp.Or(s.Preset, motion.Balanced)
	s.Mode = cmp.Or(s.Mode, warp.Project)
	s.SceneThreshold = cmp.Or(s.SceneThreshold, new(motion.CutThreshold))
	s.BlendBelow = cmp.Or(s.BlendBelow, new(stages.DefaultBlendBelow))
	s.NearestBelow = cmp.Or(s.NearestBelow, new(stages.DefaultNearestBelow))
	share := func(v *float64) bool { return *v >= 0 && *v <= 1 }
	positive := func(v *big.Rat) bool {
		return v == nil || v.Sign() > 0 && v.Num().BitLen() < 63 && v.Denom().BitLen() < 63
	}
	f := o.Format
	switch t := &o.Timing; {
	case f.Depth < 8 || f.Depth > 16 || f.Planes < 1 || f.Planes > 4 || f.ChromaX < 0 || f.ChromaX > 2 || f.ChromaY < 0 || f.ChromaY > 2:
		return fault.New(fault.Usage, "format %s: want 1 to 4 planes of 8 to 16 bits, chroma halved at most twice", f)
	case o.Light.Floats && (f.Depth != 16 || f.ChromaX+f.ChromaY > 0 || o.Light.Transfer != frame.PQ):
		return fault.New(fault.Usage, "Light.Floats: format %s: want 16 bits of PQ, and all planes of one size", f)
	case o.Width < 1 || o.Height < 1 || o.Width > maxSide || o.Height > maxSide || o.Width*o.Height > maxPixels:
		return fault.New(fault.Usage, "pictures of %dx%d: want 1 to %d pixels a side, %d in all", o.Width, o.Height, maxSide, maxPixels)
	case o.Rate == nil || !positive(o.Rate):
		return fault.New(fault.Usage, "the pictures have no rate; give one above 0")
	case !positive(t.Rate) || !positive(t.Slow):
		return fault.New(fault.Usage, "a rate and a factor of time must be above 0")
	case t.Times != nil && (t.Rate != nil || t.Slow != nil):
		return fault.New(fault.Usage, "times say when frames are shown; give no rate and no factor beside them")
	case t.Times != nil && (len(t.Times) == 0 || t.Times[0].Sign() < 0 || !slices.IsSortedFunc(t.Times, (*big.Rat).Cmp)):
		return fault.New(fault.Usage, "times must be at least one, not below 0, and ascend")
	case !slices.Contains([]motion.Preset{motion.Fast, motion.Balanced, motion.Best}, s.Preset):
		return fault.New(fault.Usage, "no preset %q; choose from %s, %s, %s", s.Preset, motion.Fast, motion.Balanced, motion.Best)
	case !slices.Contains([]warp.Mode{warp.Project, warp.Splat, warp.Blend, warp.Nearest}, s.Mode):
		return fault.New(fault.Usage, "no mode %q; choose from %s, %s, %s, %s", s.Mode, warp.Project, warp.Splat, warp.Blend, warp.Nearest)
	case math.IsNaN(*s.SceneThreshold) || *s.SceneThreshold < 0:
		return fault.New(fault.Usage, "scene threshold %v: want a number from 0 to 1, above 1 for never", *s.SceneThreshold)
	case !share(s.BlendBelow) || !share(s.NearestBelow):
		return fault.New(fault.Usage, "confidences %v and %v: want numbers from 0 to 1", *s.BlendBelow, *s.NearestBelow)
	case s.Animation && !s.Mode.UsesFlow():
		return fault.New(fault.Usage, "animation: mode %s uses no optical flow", s.Mode)
	case !slices.Contains([]synth.Backend{synth.Auto, synth.CPU, synth.CUDA}, o.Backend):
		return fault.New(fault.Usage, "no backend %q; choose from %s, %s, %s", o.Backend, synth.Auto, synth.CPU, synth.CUDA)
	case o.Threads < 0 || o.Threads > 1024:
		return fault.New(fault.Usage, "%d threads: want 0 (all processors) to 1024", o.Threads)
	}
	return nil
}

func (o *Options) workers() frame.Workers { return frame.Workers{N: o.Threads} }

// synthesizer opens what makes the frames.
func (o *Options) synthesizer() (synth.Synthesizer, error) {
	made, err := o.open(synth.Params{
		Warp: o.warp(),
		Flow: motion.DeviceOptions(), Backend: o.Backend, Policy: synth.RemakeOnCPU, Log: o.Log,
	})
	if err != nil { // it names the options of package pipeline
		own := strings.NewReplacer("Compute.Backend", "backend")
		return nil, fault.New(fault.KindOf(err), "%s", fault.Text(err, own.Replace))
	}
	return made, nil
}

// warp describes how frames are made between others.
func (o *Options) warp() warp.Params {
	s := &o.Synthesis
	return warp.Params{
		Mode: s.Mode, Order: bspline.Cubic, Kernel: warp.BSpline, Workers: o.workers(),
		Acceleration: s.Preset != motion.Fast, Overlays: !s.CarryOverlays,
	}
}

// params describe how frames are made.
func (o *Options) params() stages.Params {
	s := &o.Synthesis
	flows, share := stages.ShareFlow(o.workers())
	estimates := motion.Params{Method: motion.DIS, Workers: share, Log: o.Log}
	return stages.Params{
		Params: o.warp(), Input: "pictures", Way: decision.Way{Preset: s.Preset, Shutter: "0"},
		Flow: stages.Flow{
			Method: motion.DIS, Workers: flows, Share: share,
			Estimator: func(ctx context.Context) (*motion.Estimator, error) { return motion.NewEstimator(ctx, estimates) },
			DeviceEstimator: func(ctx context.Context, device synth.FlowSource) (*motion.Estimator, error) {
				return motion.NewDeviceEstimator(ctx, estimates, stages.FlowDevice(device.New()))
			},
		},
		SceneThreshold: *s.SceneThreshold, Fallback: stages.Fallback{BlendBelow: *s.BlendBelow, NearestBelow: *s.NearestBelow},
		Animation: s.Animation, DropRepeats: s.DropRepeats, Hooks: stages.Hooks{Log: o.Log},
	}
}

// video describes the pictures, whose timestamps are their numbers.
func (o *Options) video() timeline.Video {
	return timeline.Video{
		Format: o.Format, Width: o.Width, Height: o.Height, Light: o.Light,
		TimeBase: new(big.Rat).Inv(o.Rate), Rate: o.Rate, Average: o.Rate, Start: new(big.Rat),
	}
}

// plan lays the frames.
func (o *Options) plan() *timeline.Plan {
	v, t := o.video(), &o.Timing
	p := &timeline.Plan{Clock: timeline.NewClock(v), Rate: cmp.Or(t.Rate, o.Rate)}
	if t.Times != nil {
		p.Passes = []timeline.Pass{{Layout: timeline.Given(t.Times)}}
		return p
	}
	p.Curve = curve.Constant(new(big.Rat), cmp.Or(t.Slow, big.NewRat(1, 1)))
	p.Lay(timeline.Spacing{Origin: new(big.Rat), Source: o.Rate, TimeBase: v.TimeBase})
	return p
}
