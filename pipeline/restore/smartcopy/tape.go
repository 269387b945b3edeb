package smartcopy

import (
	"github.com/asticode/go-astiav"

	"retime/pipeline/media"
)

// Keep has the encoder's packet say what the packet that it replaces says beside the picture, where a codec's packets hold more, as those
// of DV do.
func (s *Splicer) Keep(encoded, replaced []byte) {
	if s.codec.ID() == astiav.CodecIDDvvideo {
		media.KeepTape(encoded, replaced)
	}
}
