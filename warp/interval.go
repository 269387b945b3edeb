package warp

import (
	"retime/flow"
	"retime/frame"
)

// MaxLevel is the largest number of times that guides may be halved.
const MaxLevel = 2

// Interval is a pair of neighbouring frames and the motion between them.
type Interval struct {
	A, B *frame.Frame // of one format and size
	// GuideA and GuideB are 8-bit luma pictures of A and B, halved Level times, which
	// is at most MaxLevel.
	GuideA, GuideB frame.Image[uint8]
	Level          int
	// Flows are one or two estimates of the motion. The first one determines the
	// acceleration.
	Flows []FlowPair
	// Before and After show how the motion changes, from a frame before A and one after
	// B; each is nil if there is no such frame.
	Before, After *Outer
	// Static is the certainty, from 0 to 255, that a pixel of the guides' grid belongs
	// to something that lies still over the picture. It is empty if there is no such
	// thing. Project mode makes such pixels without motion. Params.Overlays adds to
	// them.
	Static frame.Image[uint8]
}

// FlowPair is an estimate of the motion between two frames: Forward from GuideA to
// GuideB and Backward from GuideB to GuideA, in 1/256 pixel of the guides.
type FlowPair struct{ Forward, Backward flow.Field }

// Outer is a frame beyond an interval and the flow to it from the nearer of the
// interval's frames.
type Outer struct {
	Guide frame.Image[uint8]
	Flow  flow.Field
	// Frame is the frame that the guide may share samples with, or nil if it shares
	// none.
	Frame *frame.Frame
	// Span is the distance in time to the nearer of the interval's frames, PhaseOne for
	// the length of the interval; 0 means the same as PhaseOne.
	Span Phase
}

// Steady reports whether the interval has Before and After, both as far away as A and B
// are from each other, so that the flows to them lead through the interval as well.
func (in *Interval) Steady() bool {
	return in.Before != nil && in.After != nil && in.Before.unit() && in.After.unit()
}

func (o *Outer) unit() bool { return o.Span == 0 || o.Span == PhaseOne }

// Bending holds the factors that turn an interval's flows into accelerations, for frame
// A and for B.
type Bending struct {
	// Inner and Outer scale the flow within the interval and the flow beyond it, in
	// 1/PhaseOne. The scaled flows sum to the acceleration, in pixels per interval
	// squared.
	Inner, Outer [2]int32
	// Limit is the acceleration, in 1/256 pixel of the guides, from which on it counts
	// as an error.
	Limit [2]int32
	near  bool // whether both outer frames are nearer than the interval's frames are to each other
}

// Bending returns the factors for an interval that has Before and After.
//
// The flow u within the interval and the flow v beyond it, over a span of r intervals,
// are the mean speeds half an interval and half a span away from the frame, so the
// acceleration is 2 (u + v/r) / (1 + r).
func (in *Interval) Bending() Bending {
	b := Bending{near: true}
	for i, o := range []*Outer{in.Before, in.After} {
		r := max(int64(o.Span), PhaseOne/maxSpans)
		if o.Span == 0 {
			r = PhaseOne
		}
		b.near = b.near && r < PhaseOne
		inner := 2 * PhaseOne * PhaseOne / (PhaseOne + r)
		outer := inner * PhaseOne / r
		b.Inner[i], b.Outer[i] = int32(inner), int32(outer)
		b.Limit[i] = int32(int64(largestChange<<positionBits) >> in.Level * outer / PhaseOne)
	}
	return b
}

// maxSpans limits the ratio of the interval's length to the distance of an outer frame:
// nearer frames count as if they were that far away.
const maxSpans = 64

// nearDispute is the weight of the difference between the two accelerations if the
// outer frames are near: in that case most of the difference is real.
const nearDispute = 1.0 / 16

// Weights returns the weights of the accelerations of A and of B at a phase, and the
// weight with which their difference speaks against them.
func (b *Bending) Weights(phase Phase) (a, other, dispute float32) {
	if !b.near {
		return 0.5, 0.5, 1
	}
	t := float32(phase) / PhaseOne
	return 1 - t, t, nearDispute
}
