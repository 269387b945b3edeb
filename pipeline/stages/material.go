package stages

import (
	"retime/frame"
	"retime/pipeline/motion"
	"retime/pipeline/synth"
	"retime/warp"
)

// material is what the frames of an interval are made from. Its guides and flows may lie on
// a device.
type material struct {
	a, b   *Picture
	level  int
	guided bool // whether the guides are wanted
	flows  []motion.Flow
	outer  [2]*outer // before a and after b; nil for none
	static frame.Image[uint8]
}

// outer is a picture beyond an interval, with the flow to it.
type outer struct {
	guide motion.Guide
	frame *frame.Frame
	flow  motion.Flow
	back  bool // whether the backward one of the flows leads to the picture
	span  warp.Phase
}

// Host implements synth.Interval.
func (m *material) Host() (warp.Interval, error) {
	return m.interval(motion.Guide.Picture, motion.Flow.Fields)
}

// On implements synth.Interval.
func (m *material) On(e *synth.FlowEstimator) (warp.Interval, error) {
	d := FlowDevice(e)
	return m.interval(func(g motion.Guide) frame.Image[uint8] { return g.OnDevice().Image }, func(f motion.Flow) (warp.FlowPair, error) { return f.On(d) })
}

// FlowDevice returns a synthesizer's estimator for package motion.
func FlowDevice(e *synth.FlowEstimator) motion.Device {
	return motion.Device{
		Estimate: func(a, b warp.Guide) (motion.DeviceFlow, bool, error) { return e.Estimate(a, b) }, Has: e.Has, Close: e.Close,
	}
}

// interval returns the material with the pictures of guides and the fields of flows.
func (m *material) interval(picture func(motion.Guide) frame.Image[uint8], fields func(motion.Flow) (warp.FlowPair, error)) (warp.Interval, error) {
	in := warp.Interval{A: m.a.Frame, B: m.b.Frame, Level: m.level, Static: m.static}
	if m.guided {
		in.GuideA, in.GuideB = picture(m.a.Guide), picture(m.b.Guide)
	}
	for _, f := range m.flows {
		p, err := fields(f)
		if err != nil {
			return in, err
		}
		in.Flows = append(in.Flows, p)
	}
	for i, to := range []**warp.Outer{&in.Before, &in.After} {
		o := m.outer[i]
		if o == nil {
			continue
		}
		p, err := fields(o.flow)
		if err != nil {
			return in, err
		}
		*to = &warp.Outer{Guide: picture(o.guide), Flow: p.Forward, Frame: o.frame, Span: o.span}
		if o.back {
			(*to).Flow = p.Backward
		}
	}
	return in, nil
}
