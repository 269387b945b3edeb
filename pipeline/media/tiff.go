package media

import (
	"encoding/binary"
)

// Tags of TIFF ("TIFF", revision 6.0, Adobe 1992) and the value of one of them.
const (
	tiffTileWidth     = 322
	tiffExtraSamples  = 338
	tiffPremultiplied = 1
)

// tiffTag returns the first value of a tag of the first picture in a TIFF file, of a type of 16 bits; 0 for another
// type. ok is false if there is no such tag, or the file is none of TIFF.
func tiffTag(file []byte, tag uint16) (value uint16, ok bool) {
	const entry, short = 12, 3
	if len(file) < 8 {
		return 0, false
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(file[:4]) {
	case "II*\x00":
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 0, false
	}
	at := int64(order.Uint32(file[4:]))
	if at+2 > int64(len(file)) {
		return 0, false
	}
	list := file[at+2:]
	for range order.Uint16(file[at:]) {
		if len(list) < entry {
			break
		}
		if order.Uint16(list) == tag {
			if order.Uint16(list[2:]) == short && order.Uint32(list[4:]) <= 2 { // otherwise they lie elsewhere
				value = order.Uint16(list[8:])
			}
			return value, true
		}
		list = list[entry:]
	}
	return 0, false
}
