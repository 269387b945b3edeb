// Package nalunit divides the data of H.264 and HEVC into their units, and joins units (ITU-T H.264 and H.265,
// clause 7.3.1 and annex B; ISO/IEC 14496-15).
package nalunit

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// ErrCut is the error for units that are not whole.
var ErrCut = errors.New("a NAL unit is cut short or not understood")

// Split returns the units of a packet. Each is preceded by its length in length bytes or, if length
// is 0, by a start code. If the error is ErrCut, they are those before the one that is cut short.
func Split(b []byte, length int) (units [][]byte, err error) {
	if length == 0 {
		return SplitStartCodes(b), nil
	}
	for len(b) > 0 {
		if len(b) < length {
			return units, ErrCut
		}
		n := 0
		for _, v := range b[:length] {
			n = n<<8 | int(v)
		}
		if b = b[length:]; n > len(b) {
			return units, ErrCut
		}
		units, b = append(units, b[:n]), b[n:]
	}
	return units, nil
}

// SplitStartCodes returns the units behind start codes.
func SplitStartCodes(b []byte) (units [][]byte) {
	code := []byte{0, 0, 1}
	i := bytes.Index(b, code)
	for i >= 0 {
		b = b[i+len(code):]
		unit := b
		if i = bytes.Index(b, code); i >= 0 {
			unit = b[:i]
		}
		if unit = bytes.TrimRight(unit, "\x00"); len(unit) > 0 {
			units = append(units, unit)
		}
	}
	return units
}

// Join is the inverse of Split.
func Join(units [][]byte, length int) []byte {
	var out []byte
	for _, unit := range units {
		if length == 0 {
			out = append(out, 0, 0, 0, 1)
		} else {
			var size [4]byte
			binary.BigEndian.PutUint32(size[:], uint32(len(unit)))
			out = append(out, size[4-length:]...)
		}
		out = append(out, unit...)
	}
	return out
}

// Unescape removes the emulation prevention bytes, which keep start codes from appearing.
func Unescape(unit []byte) []byte {
	out := make([]byte, 0, len(unit))
	zeros := 0
	for _, v := range unit {
		if zeros >= 2 && v == 3 {
			zeros = 0
			continue
		}
		if zeros++; v != 0 {
			zeros = 0
		}
		out = append(out, v)
	}
	return out
}

// Escape inserts emulation prevention bytes.
func Escape(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/64+8)
	zeros := 0
	for _, v := range b {
		if zeros >= 2 && v <= 3 {
			out, zeros = append(out, 3), 0
		}
		if zeros++; v != 0 {
			zeros = 0
		}
		out = append(out, v)
	}
	if zeros > 0 {
		out = append(out, 3)
	}
	return out
}
