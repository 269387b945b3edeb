// Package media reads and writes video files through FFmpeg's libraries: it decodes one
// video stream to frames, encodes frames to another file, and carries the packets of the
// other streams across.
//
// A Reader consists of a demuxer, which reads packets, and a decoder, which turns the
// video's packets into pictures. A Writer consists of an Encoder, which encodes frames to
// packets, and an Output, which muxes them with the other streams. The Output receives
// these streams' packets from the Reader's demuxer.
package media

import (
	"log/slog"
	"math/big"

	"retime/pipeline/confine"
	"retime/pipeline/timeline"
)

// MaxPixels and MaxSide limit the size of pictures, in pixels. Within these limits no
// accumulator can overflow.
const (
	MaxPixels = 1 << 26
	MaxSide   = 1 << 15
)

// The types of package timeline by which a Reader describes its video.
type (
	// Video describes the video stream of a Reader.
	Video = timeline.Video
	// Timecode is a timecode of SMPTE ST 12-1 as a container states it.
	Timecode = timeline.Timecode
)

// Start is where a reader begins.
type Start struct {
	// At is a time in seconds after the file's start; nil for the beginning. The first
	// frame is the last one at or before it.
	At *big.Rat
	// Onward makes the first frame the first one that does not miss At, if there is one.
	Onward bool
	// Subtitles makes the reader pass on the subtitles that began up to a minute before At and
	// last longer, too. It reads that minute for them.
	Subtitles bool
}

// Misses reports whether a frame at a time lies before Start.At by half a millisecond or
// more. People and containers round times to milliseconds.
func Misses(at, from *big.Rat) bool {
	return new(big.Rat).Sub(from, at).Cmp(big.NewRat(1, 2000)) >= 0
}

// Damage counts the parts of an input that could not be read.
type Damage struct {
	Packets int // unreadable packets, and damaged packets of the video
	Frames  int // frames that the decoder delivered with errors
	Errors  int // errors that FFmpeg reported while demuxing and decoding
}

// ReaderOptions say how to read a file.
type ReaderOptions struct {
	Format string // container name; empty to detect it
	// Rate is the frame rate, in frames per second, of inputs without timestamps, such as
	// an image sequence (named by a pattern, frames/%05d.png); nil for the default.
	Rate *big.Rat
	// SequenceGaps allows gaps in the numbers of an image sequence, which become gaps in
	// its timestamps. Otherwise a gap is a fault.BadData error.
	SequenceGaps bool

	Threads int // decoder threads; 0 for one per processor
	From    Start
	// To is the time at which the reader may stop, in seconds after the file's start; nil
	// for the end. The reader still returns the first frame at or after it.
	To *big.Rat
	// Map selects streams by the rules of ffmpeg's -map, such as "0:v:0" and "-0:s";
	// empty for all.
	Map []string
	Decoding
	// Deinterlace selects how to make interlaced pictures progressive.
	Deinterlace FieldMode
	// Upright turns the frames as the input's display matrix says, if it turns by right
	// angles. Otherwise the matrix goes to the writer, for outputs that can hold it.
	Upright bool
	// Packets keeps the video's packets for NextPacket. Call NextPacket instead of Read.
	Packets bool
	// Measured is what another reader of the same file has found; nil to measure.
	Measured *Measured
	// ProbeFields examines pictures that are not marked as interlaced and logs a warning
	// if they look interlaced.
	ProbeFields bool
	// Confine refuses files outside a directory, and whatever lets an input name others.
	Confine confine.Dir
	Log     *slog.Logger
}
