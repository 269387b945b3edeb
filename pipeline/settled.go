package pipeline

import (
	"context"

	"retime/frame"
	"retime/pipeline/confine"
	"retime/pipeline/decision"
	"retime/pipeline/motion"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
	"retime/warp"
	"retime/warp/bspline"
)

// Settled are options that were checked, with their defaults in place. The verbs that make a part of
// a conversion, such as a range of its frames, open what they work with by its methods.
type Settled struct {
	Options
	files     confine.Dir   // where Compute.Confine lets files be
	flowCache *motion.Cache // of Synthesis.FlowCache, for all that one call starts
}

// Line returns a line that makes the frames of a plan by s.
func (o *Settled) Line(plan *timeline.Plan, sink Sink, s synth.Synthesizer) *stages.Line {
	return stages.NewLine(o.LineParams(), plan, sink, s)
}

// LineParams returns how a line makes frames.
func (o *Settled) LineParams() stages.Params {
	s := &o.Synthesis
	flows, share := o.flowShare()
	return stages.Params{
		Params: o.WarpParams(), Input: o.Input.File, Way: o.way(),
		Flow: stages.Flow{
			Method: s.Flow, Workers: flows, Share: share, Estimator: o.Estimator, DeviceEstimator: o.deviceEstimator,
		},
		SceneThreshold: *s.SceneThreshold, Scenes: s.Scenes, Fallback: stages.Fallback{BlendBelow: *s.BlendBelow, NearestBelow: *s.NearestBelow}, Animation: o.Input.Tune == Animation,
		Decisions: s.Decisions, DropRepeats: s.Duplicates == RetimeDuplicates, Masks: stages.Masks{Static: s.StaticMask, Mattes: o.mattes()},
		Light: lights[o.Timing.Light], Open: o.withPreset, Hooks: o.Hooks,
	}
}

var lights = map[Light]stages.Light{LinearLight: stages.LinearLight, CodedLight: stages.CodedLight}

// withPreset opens what makes the frames of a preset.
func (o *Settled) withPreset(preset Preset) (synth.Synthesizer, error) {
	chosen := *o
	chosen.Synthesis.Preset = preset
	return chosen.Synthesizer()
}

// Synthesizer opens what makes the frames. Errors carry a fault.Kind.
func (o *Settled) Synthesizer() (synth.Synthesizer, error) { return synth.Open(o.SynthParams()) }

// SynthParams returns where and how frames are made.
func (o *Settled) SynthParams() synth.Params {
	c := &o.Compute
	return synth.Params{
		Warp: o.WarpParams(), Flow: motion.DeviceOptions(), Backend: c.Backend, Devices: c.Devices, DeviceMemory: c.DeviceMemory, SpeedFile: c.SpeedFile, Policy: c.FaultPolicy, Log: o.Hooks.Log,
	}
}

// WarpParams returns how frames are made, by whatever makes them.
func (o *Settled) WarpParams() warp.Params {
	s := &o.Synthesis
	return warp.Params{
		Mode: s.Mode, Order: bspline.Order(*s.Order), Kernel: s.Kernel, Workers: o.workers(),
		Acceleration: s.Preset != Fast, Overlays: s.Static == StaticAuto,
	}
}

// Estimator opens one of FlowWorkers estimators of the flow that frames are made along, on
// the CPU. It works until ctx ends.
func (o *Settled) Estimator(ctx context.Context) (*motion.Estimator, error) {
	return motion.NewEstimator(ctx, o.motionParams())
}

// deviceEstimator is Estimator on a device, if the device can estimate the options' flow.
func (o *Settled) deviceEstimator(ctx context.Context, device synth.FlowSource) (*motion.Estimator, error) {
	return motion.NewDeviceEstimator(ctx, o.motionParams(), stages.FlowDevice(device.New()))
}

func (o *Settled) motionParams() motion.Params {
	_, share := o.flowShare()
	return motion.Params{Method: o.Synthesis.Flow, Workers: share, Cache: o.flowCache, Log: o.Hooks.Log, OpenCV: openCV}
}

// FlowWorkers is how many intervals' flows are estimated at once: one for every two
// threads, fewer if Compute.DeviceMemory holds no more, and one alone if a command estimates them, which
// has threads or a device of its own.
func (o *Settled) FlowWorkers() int {
	n, _ := o.flowShare()
	return n
}

// flowShare returns FlowWorkers, and what each has of the workers.
func (o *Settled) flowShare() (intervals int, share frame.Workers) {
	if _, command := o.Synthesis.Flow.Command(); command {
		return 1, frame.Workers{N: o.workers().Count()}
	}
	intervals, share = stages.ShareFlow(o.workers())
	if m := o.Compute.DeviceMemory; m > 0 {
		intervals = max(1, min(intervals, int(m/intervalMemory)))
	}
	return intervals, share
}

// intervalMemory is the device memory that an interval under way should have. At 4K it takes 80 MB
// for its pictures and flows, and the rest is for those who make its frames.
const intervalMemory = 384 << 20

func (o *Settled) workers() frame.Workers { return o.Compute.Workers() }

// Ways returns the presets and shutters that the decisions choose. Errors are fault.Usage.
func (o *Settled) Ways() (*decision.Ways, error) { return o.ways() }
