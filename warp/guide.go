package warp

import "retime/frame"

// Guide is a picture to estimate motion on. Frame is the frame with which it may share samples, or
// nil if it shares none. If the image is frame.Absent, the device makes it from the frame: its
// luma, halved Level times.
type Guide struct {
	frame.Image[uint8]
	// Finer, if not empty, is the picture that was halved to make the guide. The motion is then
	// estimated on Finer and halved. Finer may also be frame.Absent.
	Finer frame.Image[uint8]
	Frame *frame.Frame
	Level int
}
