package media

import (
	"bytes"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/nalunit"
)

// HDR10+ metadata describes the light of each picture. FFmpeg reads it but does not pass
// it to libx265, so this file writes it into HEVC's packets.

// writesHDR10Plus reports whether retime writes HDR10+ metadata of a source into the
// encoder's packets.
func writesHDR10Plus(source *Source, encoder string) bool {
	return source.Dynamic == nameHDR10Plus && encoder == "libx265"
}

// keepsHDR10Plus reports whether the encoder's packets have the HDR10+ metadata of a
// source, whoever writes it.
func keepsHDR10Plus(source *Source, encoder string) bool {
	return writesHDR10Plus(source, encoder) || source.Dynamic == nameHDR10Plus && av.WritesHDR10Plus(encoder)
}

// hdr10Plus maps the timestamps of the pictures in the encoder to their HDR10+ user data.
type hdr10Plus map[int64][]byte

// note stores the HDR10+ metadata of a picture that goes to the encoder.
func (h hdr10Plus) note(picture *astiav.Frame, pts int64) {
	if data := av.HDR10PlusUserData(picture); data != nil {
		h[pts] = data
	}
}

// add inserts the metadata of its picture into a packet.
func (h hdr10Plus) add(p *astiav.Packet) error {
	pts := p.Pts()
	data, ok := h[pts]
	if !ok {
		return nil
	}
	delete(h, pts)
	access := withUnit(p.Data(), seiUnit(data))
	if access == nil {
		return nil
	}
	return withData(p, access).fill(p)
}

// Types of NAL units (ITU-T H.265, table 7-1). Types below firstNonVCL contain parts of
// pictures.
const (
	firstNonVCL = 32
	prefixSEI   = 39
)

// seiUserData is the payload type of registered user data (ITU-T H.265, section D.2.1).
const seiUserData = 4

// seiUnit returns user data as a NAL unit with a start code.
func seiUnit(data []byte) []byte {
	message := []byte{prefixSEI << 1, 1, seiUserData}
	n := len(data)
	for ; n >= 255; n -= 255 {
		message = append(message, 255)
	}
	message = append(append(append(message, byte(n)), data...), 0x80)
	return nalunit.Join([][]byte{nalunit.Escape(message)}, 0)
}

// withUnit returns an access unit with start codes, in which unit precedes the first NAL
// unit of the picture; nil if access contains no picture.
func withUnit(access, unit []byte) []byte {
	for at := 0; ; {
		i := bytes.Index(access[at:], []byte{0, 0, 1})
		if i < 0 || at+i+3 >= len(access) {
			return nil
		}
		begin := at + i
		if access[begin+3]>>1&63 < firstNonVCL {
			if begin > 0 && access[begin-1] == 0 {
				begin--
			}
			out := append([]byte(nil), access[:begin]...)
			return append(append(out, unit...), access[begin:]...)
		}
		at = begin + 3
	}
}
