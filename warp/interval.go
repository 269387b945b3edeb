package warp

import (
	"retime/flow"
	"retime/pipeline/frame"
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
	// Before and After tell how the motion changes, where the frames before A and
	// after B are as far from them as B is from A; nil otherwise.
	Before, After *Outer
	// Static says how surely a pixel of the guides' grid belongs to something that
	// lies still over the picture, from 0 to 255; empty for nowhere. Project mode makes
	// such pixels without motion.
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
}
