package timeline

import (
	"math/big"

	"retime/frame"
)

// Video describes a source of frames: what they are, and its clock.
type Video struct {
	Codec         string
	Format        frame.Format // of the frames as they are read
	Width, Height int
	Light         frame.Light // how the frames' samples stand for light
	// Source is FFmpeg's name of the pixel format in the file. It differs from
	// Format.Name if the file's format is packed or semi-planar.
	Source string
	// TimeBase is the unit of PTS and Duration, in seconds.
	TimeBase *big.Rat
	// Rate is the rate at which the video was shot, if its timestamps are even, and Average is the
	// same then. Otherwise Rate is the lowest frame rate whose grid contains all timestamps, judging
	// by the first seconds of the file, and Average is the mean frame rate. Both are in frames per
	// second, nil if unknown.
	Rate, Average *big.Rat
	// Grid is what the timestamps are meant to lie on; nil if they vary.
	Grid *Grid
	// Start is the time that counts as 0, in seconds: the start of the file's earliest
	// stream.
	Start *big.Rat
	// FirstPTS is the first frame's timestamp. StreamPTS is the timestamp of the stream's
	// start, which differs if the reader starts later.
	FirstPTS, StreamPTS int64
	Stated
	// Interlaced is set if the frames are interlaced, as the first picture is marked.
	Interlaced bool
}

// SingleFields reports whether each frame is one field, as FFmpeg decodes interlaced HEVC.
func (v *Video) SingleFields() bool { return v.Interlaced && v.Codec == "hevc" }

// GridRate returns the rate, in frames per second, of a grid on which all timestamps lie: Grid's, or Rate if each tick is a frame,
// as in AVI and MXF. It returns nil if there is none.
func (v *Video) GridRate() *big.Rat {
	switch {
	case v.Grid != nil:
		return v.Grid.Rate
	case v.Rate != nil && v.TimeBase != nil && new(big.Rat).Mul(v.Rate, v.TimeBase).Cmp(big.NewRat(1, 1)) == 0:
		return v.Rate
	}
	return nil
}

// Stated is what a container states of its video.
type Stated struct {
	// Duration is in seconds, in whole frames if their rate is even; nil if none is stated.
	Duration *big.Rat
	Frames   int64    // their number, 0 if none is stated
	Timecode Timecode // the first frame's
}

// Timecode is a timecode of SMPTE ST 12-1 as a container states it.
type Timecode struct {
	// Text is such as "01:00:00:00"; drop-frame timecodes have a semicolon before the
	// frames. It is empty if the container states none.
	Text string
	// Rate is how many frames per second Text counts; nil if unknown. It may differ from
	// the video's.
	Rate *big.Rat
}
