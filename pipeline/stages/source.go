package stages

import (
	"math/big"

	"retime/frame"
	"retime/pipeline/timeline"
)

// Source delivers the frames of a video, of one size and format, in presentation order. One
// goroutine at a time calls it.
//
// Video describes the frames. pipeline.Convert needs its Width, Height, TimeBase and Start, the
// time in seconds that counts as 0; if the Rate is known, too, timestamps that the time base has
// rounded are put right by it, from FirstPTS on.
//
// Read returns the next frame with one reference, which the caller releases. The frame's PTS,
// which is larger than that of the frame before, and its Duration are in units of TimeBase.
// After the last frame Read returns io.EOF. If the rest of the input is lost, it returns a
// fault.BadData error, and the frames before that count; any other error ends the conversion.
type Source interface {
	Video() timeline.Video
	Read() (*frame.Frame, error)
}

// Sink takes the frames of an output.
//
// NewFrame returns a frame of like's format and size with one reference, whose samples the
// synthesis sets. Several goroutines may call NewFrame at once, also while WriteFrame runs.
//
// One goroutine calls WriteFrame for the frames in order. A frame comes from NewFrame or, as it
// is, from the Source; one of the Source's may come several times. The caller keeps its
// reference, so a Sink retains a frame that it needs for longer than the call. The frame is
// shown from one time of the output to another, in seconds; both are nil if the output has a
// constant rate, and in pipeline.Convert.
type Sink interface {
	NewFrame(like *frame.Frame) (*frame.Frame, error)
	WriteFrame(f *frame.Frame, from, to *big.Rat) error
}
