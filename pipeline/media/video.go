// Package media reads and writes video files through FFmpeg's libraries: it
// decodes one video stream into frames, encodes frames into another file, and
// carries the other streams' packets across.
//
// A Reader is a demuxer, which reads packets, and a decoder, which makes pictures of the
// video's. A Writer is an Encoder, which makes packets of frames, and an Output, which
// muxes them with the streams that travel beside the video; these get their packets from
// the Reader's demuxer.
package media

import (
	"log/slog"
	"math/big"

	"retime/frame"
)

// MaxPixels and MaxSide bound the pictures that are accepted; within them no
// accumulator can overflow.
const (
	MaxPixels = 1 << 26
	MaxSide   = 1 << 15
)

// Video describes the video stream that is read.
type Video struct {
	Codec         string
	Format        frame.Format // of the frames that Read returns
	Width, Height int
	// Source is FFmpeg's name of the sample format in the file; it differs from
	// Format.Name if that is packed or semi-planar.
	Source string
	// TimeBase is the unit of PTS and Duration in seconds.
	TimeBase *big.Rat
	// Rate is the lowest frame rate whose grid holds all timestamps, as far as
	// the first seconds tell, and Average the mean rate; nil if unknown.
	Rate, Average *big.Rat
	// Start is the time that counts as 0, in seconds: where the earliest of the
	// file's streams begins.
	Start *big.Rat
	// FirstPTS is the first frame's timestamp and StreamPTS the one that the
	// stream begins with, which differ unless reading starts there.
	FirstPTS, StreamPTS int64
	// Duration is what the container states in seconds; nil if it does not.
	Duration *big.Rat
	// Frames is the count that the container states, 0 if it does not.
	Frames int64
	// Timecode is that of the first frame as the container states it, such as
	// "01:00:00:00", or with a semicolon before the frames if numbers are dropped;
	// empty if it does not.
	Timecode string
	// Interlaced is set if the first picture is called so.
	Interlaced bool
}

// Damage counts what could not be read.
type Damage struct {
	Packets int // damaged or unreadable packets, of any stream that is used
	Frames  int // frames that the decoder delivered with errors
	Errors  int // errors that FFmpeg reported while demuxing and decoding
}

// ReaderOptions say how to read.
type ReaderOptions struct {
	Format string // container name; empty to probe
	// Rate is the frames per second of what has no timestamps, such as an image
	// sequence (named by a pattern, frames/%05d.png); nil for its default.
	Rate *big.Rat
	// SequenceGaps lets the numbering of an image sequence have gaps, which are then
	// gaps in its timestamps; otherwise they are a fault.BadData error.
	SequenceGaps bool

	Threads int // decoder threads; 0 for as many as there are processors
	// From is where reading starts, in seconds after the file's start; nil for
	// the beginning. The first frame is the last one at or before it.
	From *big.Rat
	// To is where reading may stop; nil for the end. The first frame at or after
	// it is still returned.
	To *big.Rat
	// Map chooses streams by ffmpeg's rules, such as "0:v:0" and "-0:s"; empty for
	// all.
	Map []string
	// HWDec lets a device decode; HWNone by default.
	HWDec HWDec
	// Deinterlace makes progressive pictures of fields.
	Deinterlace FieldMode
	// Packets keeps the stream's packets for NextPacket, which is called in place of
	// Read.
	Packets bool
	// ProbeFields looks for interlacing in what is read and warns of it.
	ProbeFields bool
	Log         *slog.Logger
}
