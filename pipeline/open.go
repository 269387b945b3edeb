package pipeline

import (
	"context"

	"retime/frame"
	"retime/pipeline/motion"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
	"retime/warp"
	"retime/warp/bspline"
)

// These methods open what a conversion works with, for options that are settled.

// NewLine returns a line that makes frames by s as o says. o's defaults must be in place; see
// Options.Settle.
func NewLine(o *Options, plan *timeline.Plan, sink Sink, s synth.Synthesizer) *stages.Line {
	return stages.NewLine(o.lineParams(), plan, sink, s)
}

// lineParams describes how a line makes frames.
func (o *Options) lineParams() stages.Params {
	s := &o.Synthesis
	flows, share := o.flowShare()
	return stages.Params{
		Input: o.Input.File, Mode: s.Mode, Way: o.way(), Workers: o.workers(),
		Flow: stages.Flow{
			Method: s.Flow, Workers: flows, Share: share, Estimator: o.Estimator, DeviceEstimator: o.deviceEstimator,
		},
		SceneThreshold: *s.SceneThreshold, Scenes: s.Scenes, BlendBelow: *s.BlendBelow, NearestBelow: *s.NearestBelow,
		Decisions: s.Decisions, DropRepeats: s.Duplicates == RetimeDuplicates, StaticMask: s.StaticMask, Coded: s.Light == CodedLight,
		Open: o.withPreset, Hooks: o.Hooks,
	}
}

// withPreset opens what makes the frames of a preset.
func (o *Options) withPreset(preset Preset) (synth.Synthesizer, error) {
	chosen := *o
	chosen.Synthesis.Preset = preset
	return chosen.Synthesizer()
}

// Synthesizer opens what makes the frames. Errors carry a fault.Kind.
func (o *Options) Synthesizer() (synth.Synthesizer, error) { return synth.Open(o.SynthParams()) }

// SynthParams returns where and how frames are made.
func (o *Options) SynthParams() synth.Params {
	c := &o.Compute
	return synth.Params{
		Warp: o.WarpParams(), Flow: motion.DeviceOptions(), Backend: c.Backend, Devices: c.Devices, Policy: c.FaultPolicy, Log: o.Hooks.Log,
	}
}

// WarpParams returns how frames are made, by whatever makes them.
func (o *Options) WarpParams() warp.Params {
	s := &o.Synthesis
	return warp.Params{
		Mode: s.Mode, Order: bspline.Order(*s.Order), Kernel: s.Kernel, Workers: o.workers(),
		Acceleration: s.Preset != Fast, Overlays: s.Static == StaticAuto,
	}
}

// Estimator opens one of FlowWorkers estimators of the flow that frames are made along, on
// the CPU. It works until ctx ends.
func (o *Options) Estimator(ctx context.Context) (*motion.Estimator, error) {
	return motion.NewEstimator(ctx, o.motionParams())
}

// deviceEstimator is Estimator on a device, if the device can estimate the options' flow.
func (o *Options) deviceEstimator(ctx context.Context, device synth.FlowSource) (*motion.Estimator, error) {
	return motion.NewDeviceEstimator(ctx, o.motionParams(), stages.FlowDevice(device.New()))
}

func (o *Options) motionParams() motion.Params {
	_, share := o.flowShare()
	return motion.Params{Method: o.Synthesis.Flow, Workers: share, Cache: o.flowCache, Log: o.Hooks.Log, OpenCV: openCV}
}

// FlowWorkers is how many intervals' flows are estimated at once: one for every two
// threads, and one alone if a command estimates them, which has threads or a device of its
// own.
func (o *Options) FlowWorkers() int {
	n, _ := o.flowShare()
	return n
}

// flowShare returns FlowWorkers, and what each has of the workers.
func (o *Options) flowShare() (intervals int, share frame.Workers) {
	if _, command := o.Synthesis.Flow.Command(); command {
		return 1, frame.Workers{N: o.workers().Count()}
	}
	return stages.ShareFlow(o.workers())
}

func (o *Options) workers() frame.Workers { return o.Compute.Workers() }
