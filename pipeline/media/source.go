package media

import (
	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/pixel"
	"retime/pipeline/media/streams"
)

// Source describes the input to a writer.
type Source struct {
	Name    string
	Video   Video
	Pixels  pixel.Source    // the decoded pictures, and the frames that present them
	Streams streams.Source  // the streams beside the video
	Aspect  astiav.Rational // pixel aspect ratio, width to height
	Turned  bool            // the frames are turned upright
	// Lossless is set if the video was compressed without losses. Pictures, GIF and raw
	// video do not count.
	Lossless bool
	Fields   av.FieldOrder // of the first frame
	// allFields is set if no frame is marked as interlaced, although all are, as Fields says.
	allFields bool
	// Side is the side data that holds for all pictures, from the container or else from
	// the first picture. Dynamic names the HDR metadata that changes with each picture;
	// it is empty if there is none.
	Side    map[av.PacketSideKind][]byte
	Dynamic string

	captions  *captions
	undecoded undecoded
}

// Stream returns the video stream of the container. It is valid until the reader is
// closed.
func (s *Source) Stream() *astiav.Stream { return s.Streams.Video }

// Codec returns the container's parameters of the video stream. It is valid until the
// reader is closed.
func (s *Source) Codec() *astiav.CodecParameters { return s.Stream().CodecParameters() }
