package media

import (
	"bytes"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/nalunit"
)

// isLosslessPacket reports whether a packet of a codec that has losses or none was coded without,
// as far as it tells. header is the codec's.
func isLosslessPacket(codec astiav.CodecID, header, packet []byte) bool {
	switch codec {
	case astiav.CodecIDHevc:
		return isLosslessHEVC(header) || isLosslessHEVC(packet)
	case astiav.CodecIDVp9:
		return isLosslessVP9(packet)
	case astiav.CodecIDJpeg2000:
		return isReversibleJPEG2000(packet)
	}
	return false
}

// isLosslessHEVC reports whether data, an hvcC or units with start codes, has a picture parameter
// set with transquant_bypass_enabled_flag (ITU-T H.265, 7.3.2.3.1), which x265 sets for streams
// without losses.
func isLosslessHEVC(data []byte) bool {
	for _, unit := range unitsOfHEVC(data) {
		const pictureSet = 34
		if len(unit) < 3 || unit[0]>>1&0x3f != pictureSet {
			continue
		}
		b := bitReader{data: nalunit.Unescape(unit[2:])}
		b.number() // the set's
		b.number() // the sequence set's
		b.bits(7)  // dependent slices to cabac_init_present_flag
		b.number() // reference pictures
		b.number()
		b.number() // init_qp
		b.bits(2)
		if b.bit() == 1 { // cu_qp_delta_enabled_flag
			b.number()
		}
		b.number() // offsets of chroma
		b.number()
		b.bits(3)
		if b.bit() == 1 {
			return true
		}
	}
	return false
}

// unitsOfHEVC returns the units in an hvcC (ISO/IEC 14496-15, 8.3.3.1) or behind start codes.
func unitsOfHEVC(data []byte) (units [][]byte) {
	const head = 23
	if len(data) < head || data[0] != 1 {
		return nalunit.SplitStartCodes(data)
	}
	arrays := int(data[head-1])
	for data = data[head:]; arrays > 0 && len(data) > 3; arrays-- {
		count := int(data[1])<<8 | int(data[2])
		for data = data[3:]; count > 0 && len(data) > 2; count-- {
			n := min(int(data[0])<<8|int(data[1]), len(data)-2)
			units, data = append(units, data[2:2+n]), data[2+n:]
		}
	}
	return units
}

// isLosslessVP9 reports whether a key frame of VP9 has the quantiser 0 and no differences from it
// (VP9 bitstream specification, 6.2 and 7.2.9).
func isLosslessVP9(packet []byte) bool {
	b := bitReader{data: packet}
	if b.bits(2) != 2 {
		return false
	}
	profile := b.bit() | b.bit()<<1
	if profile == 3 {
		b.bit()
	}
	if b.bits(2) != 0 { // shows an existing frame, or is no key frame
		return false
	}
	b.bit() // show_frame
	resilient := b.bit() == 1
	b.bits(24) // sync code
	if profile >= 2 {
		b.bit() // bit depth
	}
	const rgb = 7
	if space := b.bits(3); space != rgb {
		b.bit() // range
		if profile&1 == 1 {
			b.bits(3) // subsampling
		}
	} else if profile&1 == 1 {
		b.bit()
	}
	b.bits(32) // size
	if b.bit() == 1 {
		b.bits(32) // size to show
	}
	if !resilient {
		b.bits(2)
	}
	b.bits(2 + 6 + 3)           // frame context, loop filter's level and sharpness
	differences := b.bit() == 1 // in the filter's level
	if updates := differences && b.bit() == 1; updates {
		for range 6 {
			if b.bit() == 1 {
				b.bits(7)
			}
		}
	}
	return b.bits(8) == 0 && b.bits(3) == 0 && b.at <= 8*len(packet)
}

// isReversibleJPEG2000 reports whether a codestream of JPEG 2000, alone or in a JP2, has the
// reversible transform 5-3 (ISO/IEC 15444-1, A.6.1).
func isReversibleJPEG2000(packet []byte) bool {
	i := bytes.Index(packet, []byte{0xff, 0x4f, 0xff, 0x51}) // SOC, SIZ
	if i < 0 {
		return false
	}
	for i += 2; i+4 <= len(packet) && packet[i] == 0xff; i += 2 + int(packet[i+2])<<8 + int(packet[i+3]) {
		const codingStyle, transform = 0x52, 13
		if packet[i+1] == codingStyle {
			return i+transform < len(packet) && packet[i+transform] == 1
		}
	}
	return false
}

// bits reads up to 32 bits.
func (b *bitReader) bits(n int) (v int) {
	for range n {
		v = v<<1 | b.bit()
	}
	return v
}
