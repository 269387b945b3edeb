package warp

import (
	"retime/flow"
	"retime/frame"
)

// MaxLevel is how often guides may be halved.
const MaxLevel = 2

// Interval is two neighbouring frames and the motion between them.
type Interval struct {
	A, B *frame.Frame // of one format and size
	// GuideA and GuideB are 8-bit luma pictures of A and B, halved Level times, at
	// most MaxLevel.
	GuideA, GuideB frame.Image[uint8]
	Level          int
	// Flows are one or two estimates of the motion. Acceleration is taken from the
	// first.
	Flows []FlowPair
	// Before and After tell how the motion changes, from a frame before A and one after
	// B; nil where there are none.
	Before, After *Outer
	// Static says how surely a pixel of the guides' grid belongs to something that
	// lies still over the picture, from 0 to 255; empty for nowhere. Project mode makes
	// such pixels without motion. Params.Overlays adds to them.
	Static frame.Image[uint8]
}

// FlowPair is an estimate of the motion between two frames: Forward from GuideA
// to GuideB and Backward from GuideB to GuideA, in units of 1/256 pixel of the
// guides.
type FlowPair struct{ Forward, Backward flow.Field }

// Outer is a frame beyond an interval and the flow to it from the nearer of the
// interval's frames.
type Outer struct {
	Guide frame.Image[uint8]
	Flow  flow.Field
	// Frame is what the guide may share samples with; nil where it shares none.
	Frame *frame.Frame
	// Span is how far off it is, PhaseOne for as far as the interval's frames are from
	// each other; 0 stands for that too.
	Span Phase
}

// Bending says how an interval's flows tell of acceleration, for frame A and for B.
type Bending struct {
	// Inner and Outer scale the flow within the interval and the one beyond it, in
	// 1/PhaseOne; their sum is the acceleration, in pixels per interval squared.
	Inner, Outer [2]int32
	// Limit is the acceleration, in 1/256 pixel of the guides, from which it is taken
	// for an error.
	Limit [2]int32
	near  bool // both frames beyond are nearer than the interval's are to each other
}

// Bending returns it for an interval that has Before and After.
//
// The flows within the interval and beyond it, over a span of r intervals, are the
// means of the speed half an interval and half a span off the frame, so that the
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

// maxSpans is how many times the distance beyond the interval's frames that between
// them may be; of longer intervals less is told.
const maxSpans = 64

// nearDispute is what counts of the accelerations' difference where the frames
// beyond are near: it is mostly true then.
const nearDispute = 1.0 / 16

// Weights are what the accelerations of A and of B count for at a phase, and how
// much their difference speaks against them.
func (b *Bending) Weights(phase Phase) (a, other, dispute float32) {
	if !b.near {
		return 0.5, 0.5, 1
	}
	t := float32(phase) / PhaseOne
	return 1 - t, t, nearDispute
}
