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
	// Forward is the flow from GuideA to GuideB and Backward that from GuideB to
	// GuideA, in units of 1/256 pixel of the guides.
	Forward, Backward flow.Field
}
