package frame

import "encoding/binary"

// LeadingZeros counts the zeros at the start of a row of a mask. It compares eight
// bytes at a time.
func LeadingZeros(row []uint8) int {
	i := 0
	for i+8 <= len(row) && binary.NativeEndian.Uint64(row[i:]) == 0 {
		i += 8
	}
	for i < len(row) && row[i] == 0 {
		i++
	}
	return i
}
