package streams

import (
	"bytes"

	"github.com/asticode/go-astiav"
)

// framing is a family of sound codecs whose packets begin with a header of their own.
type framing int

const (
	unframed  framing = iota // no header, or another codec's
	adts                     // AAC with headers, as in transport streams and .aac files
	mpegAudio                // MPEG audio, layers 1 to 3
	ac3                      // AC-3 and E-AC-3
)

var framingNames = [...]string{adts: "AAC", mpegAudio: "MPEG audio", ac3: "AC-3"}

// framingOf returns the framing whose header data begins with.
func framingOf(data []byte) framing {
	if len(data) < 2 {
		return unframed
	}
	switch a, b := data[0], data[1]; {
	case a == 0xff && b&0xf6 == 0xf0:
		return adts
	case a == 0xff && b&0xe0 == 0xe0 && b&0x06 != 0: // a layer
		return mpegAudio
	case a == 0x0b && b == 0x77 || a == 0x77 && b == 0x0b:
		return ac3
	}
	return unframed
}

// framingOfCodec returns the framing of a codec's packets. AAC has it only in streams without extradata.
func framingOfCodec(id astiav.CodecID) framing {
	switch id {
	case astiav.CodecIDAac:
		return adts
	case astiav.CodecIDMp1, astiav.CodecIDMp2, astiav.CodecIDMp3:
		return mpegAudio
	case astiav.CodecIDAc3, astiav.CodecIDEac3:
		return ac3
	}
	return unframed
}

// framingCheck finds the packets that are not of their stream's codec. A stream may change
// its codec in the middle, as joined transport streams do, and FFmpeg goes on with one of
// the two.
type framingCheck struct {
	codec  framing
	framed bool // packets have the codec's header; MPEG audio shows it by its first one
}

// newFramingCheck returns the check of a stream with these parameters.
func newFramingCheck(p *astiav.CodecParameters) framingCheck {
	codec := framingOfCodec(p.CodecID())
	if codec == adts && len(p.ExtraData()) > 0 {
		return framingCheck{} // the extradata take the headers' place
	}
	return framingCheck{codec: codec, framed: codec == adts || codec == ac3}
}

// reject says why a packet is not the codec's, and returns "" if it may be.
func (c *framingCheck) reject(data []byte) string {
	if len(data) == 0 || c.codec == unframed {
		return ""
	}
	if c.codec == mpegAudio {
		data = bytes.TrimLeft(data, "\x00") // stuffing, which decoders skip
	}
	switch found := framingOf(data); {
	case found == c.codec:
		c.framed = true
	case found != unframed:
		return "it is " + framingNames[found]
	case c.framed:
		return "it has no header of " + framingNames[c.codec]
	}
	return ""
}
