package media

import (
	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/pixel"
	"retime/pipeline/media/streams"
)

// Source is what a writer must know of the file that its frames come from.
type Source struct {
	Name    string
	Video   Video
	Pixels  pixel.Source    // how pictures are decoded, and how frames present them
	Streams streams.Source  // what travels beside the video
	Aspect  astiav.Rational // width to height of a sample
	// Side is what is said of all pictures, by the container or else with the first, and
	// Dynamic names what changes with each picture; it is empty for nothing.
	Side    map[av.PacketSideKind][]byte
	Dynamic string
}

// Stream is the video as the container states it. It is there until the reader is closed.
func (s *Source) Stream() *astiav.Stream { return s.Streams.Video }

// Codec is what the container states of the video's packets. It is there until the reader
// is closed.
func (s *Source) Codec() *astiav.CodecParameters { return s.Stream().CodecParameters() }
