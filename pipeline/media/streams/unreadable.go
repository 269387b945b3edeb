package streams

import (
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// headed are the codecs whose packets nobody can decode without the stream's header.
var headed = []astiav.CodecID{astiav.CodecIDVorbis, astiav.CodecIDTheora, astiav.CodecIDFlac, astiav.CodecIDAlac}

// unreadable returns why nobody could decode a stream from the output; empty if that is not known.
func (s *Set) unreadable(in *astiav.Stream) string {
	p := in.CodecParameters()
	switch {
	case av.StatesEncryption(s.source.Input, in):
		return "it is encrypted"
	case s.source.Scrambled[in.Index()]:
		return "it is scrambled"
	case slices.Contains(headed, p.CodecID()) && len(p.ExtraData()) == 0:
		return "its header is missing, as the input is damaged or cut"
	}
	return ""
}

// locked reports whether a packet is encrypted. It logs the first of each stream.
func (s *Set) locked(p *astiav.Packet) bool {
	if !av.HasPacketSide(p, av.PacketEncryption) {
		return false
	}
	if i := p.StreamIndex(); !s.secret[i] {
		s.secret[i] = true
		in := s.source.Input.Streams()[i].CodecParameters()
		s.log.Warn("packets left out: they are encrypted", "stream", i, "kind", in.MediaType(), "codec", in.CodecID())
	}
	return true
}
