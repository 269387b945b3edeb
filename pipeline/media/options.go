package media

import (
	"log/slog"
	"math/big"

	"retime/frame"
	"retime/pipeline/curve"
	"retime/pipeline/media/streams"
)

// WriterOptions say what to write.
type WriterOptions struct {
	Format    string // container name; empty to tell from the output's name
	Encoder   EncoderOptions
	Memory    frame.Memory // of the frames that NewFrame returns; nil for FFmpeg's own
	Overwrite bool         // replace an existing file
	// Verify reads a file again once it is written; what is not as it should be is a
	// fault.Mismatch error, and the file is named as a partial one.
	Verify bool
	// Numbers are those of the files of an image sequence; nil to count from 1.
	Numbers []int

	Rate  *big.Rat // frames per second; frame k stands at k/Rate after Start
	Start *big.Rat // seconds from the output's zero to its first frame
	// Unit is the unit of time, in seconds, of frames that are written by
	// WriteFrameAt; nil if they come by WriteFrame, at Rate. Numerator and
	// denominator are below 2^31.
	Unit *big.Rat
	// Curve says which moment of the source, in seconds after its Start, the output
	// shows when. Sound and subtitles before its begin, or at or after End, are left
	// out.
	Curve *curve.Curve
	End   *big.Rat
	// Passes is set if Follow says which reader each run of the curve has; else
	// the source is read for the one run.
	Passes bool
	Sound  SoundOptions
	Log    *slog.Logger
}

// EncoderOptions say how frames are encoded.
type EncoderOptions struct {
	Codec       string            // encoder name; empty for libx264, or the container's own if it takes no H.264
	CRF         int               // constant rate factor; negative for the encoder's own default
	Options     map[string]string // further encoder options
	PixelFormat string            // FFmpeg's name; empty for the source's, or what the encoder has nearest to it
	Threads     int               // encoder threads; 0 for the encoder's choice
	// GlobalHeader puts parameter sets beside the packets, whatever the container.
	GlobalHeader bool
}

// SoundOptions say how sound is written.
type SoundOptions = streams.SoundOptions

// Audio says what becomes of sound if the time changes.
type Audio = streams.Audio

// What becomes of it.
const (
	StretchAudio = streams.StretchAudio // it lasts as long as the picture, at its pitch
	KeepAudio    = streams.KeepAudio    // it is copied as it is and ends when it ends
	DropAudio    = streams.DropAudio    // it is left out, whether the time changes or not
)

// DefaultCRF is used if EncoderOptions.CRF is negative and the encoder is
// libx264, whose own default is coarser.
const DefaultCRF = 16
