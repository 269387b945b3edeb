package media

import (
	"math/big"

	"retime/frame"
	"retime/pipeline/confine"
	"retime/pipeline/media/streams"
)

// WriterOptions say what to write and how.
type WriterOptions struct {
	Container ContainerOptions
	Encoder   EncoderOptions
	Memory    frame.Memory // allocates NewFrame's samples; nil for FFmpeg's own allocator
	Overwrite bool         // replace an existing file
	Keep      []string     // further files, beside the source, whose name no partial output takes
	// Verify reads the finished file again. If it differs from what was written, the
	// error is a fault.Mismatch error, and the file gets the name of a partial file.
	Verify bool
	// Number returns the number of an image sequence's k-th file, from 0; nil to count
	// from 1. Numbers must rise.
	Number func(k int) int

	Rate  *big.Rat // frames per second; frame k is shown k/Rate seconds after Start
	Start *big.Rat // seconds from the output's 0 to its first frame
	// Unit is the time base, in seconds, for frames that come with times; nil if they come
	// at Rate. Numerator and denominator must be below 2^31.
	Unit *big.Rat
	StreamOptions
	// Complete turns the picture that the encoder has made of each frame, in order, into the one that is
	// written, if it is not nil. It has what the decoder leaves out of the source. An error ends the writing.
	Complete func(encoded []byte) ([]byte, error)
	// Confine refuses files outside a directory, and containers and options of encoders
	// that write further files.
	Confine confine.Dir
}

// keepsGrid reports whether the frames of a source come at whole multiples of 1/Rate if their times are kept.
func (o *WriterOptions) keepsGrid(v *Video) bool {
	rate := v.GridRate()
	if rate == nil || o.Curve == nil || o.Curve.Line() == nil {
		return false
	}
	steps := new(big.Rat).Mul(o.Curve.Line(), o.Rate)
	return steps.Quo(steps, rate).IsInt()
}

// ContainerOptions say what container to write.
type ContainerOptions struct {
	Format  string            // FFmpeg's name; empty to choose by the output's name
	Options map[string]string // further options of its muxer
}

// EncoderOptions say how to encode frames.
type EncoderOptions struct {
	Codec       string            // encoder name; empty for one that suits the container and the source, mostly libx264
	Chosen      bool              // Codec is what an empty Codec has come to before
	CRF         int               // constant rate factor; negative for the encoder's default, or DefaultCRF for libx264
	Options     map[string]string // further encoder options
	PixelFormat string            // FFmpeg's name; empty for the source's, or the nearest that the encoder takes
	Threads     int               // encoder threads; 0 for the encoder's choice
	// GlobalHeader puts parameter sets into the codec's header instead of the packets,
	// even if the container does not require it.
	GlobalHeader bool
}

// StreamOptions say how to write the other streams, along which curve, and where to log. A Writer begins
// the curve's runs by Follow.
type StreamOptions = streams.Options

// SoundOptions say how to write sound.
type SoundOptions = streams.SoundOptions

// Fate is what becomes of a stream of the source.
type Fate = streams.Fate

// Audio says what happens to sound if the output plays at another speed.
type Audio = streams.Audio

// The choices for sound.
const (
	StretchAudio = streams.StretchAudio // stretch sound to the length of the picture and keep its pitch
	KeepAudio    = streams.KeepAudio    // copy sound unchanged; it may end before or after the picture
	DropAudio    = streams.DropAudio    // leave sound out, even if the speed does not change
)

// DefaultCRF is libx264's constant rate factor if EncoderOptions.CRF is negative.
// libx264's own default is coarser.
const DefaultCRF = 16
