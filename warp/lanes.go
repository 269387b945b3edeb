package warp

import "encoding/binary"

// Eight pixels of 8 bits in a word, the first in the lowest bits.
const (
	lanes    = 8
	eachLane = 0x0101010101010101 // times a value: all eight of it
	laneTops = 0x80 * eachLane
)

// loadLanes returns the pixels of row from x on, with zeros beyond its end.
func loadLanes(row []uint8, x int) uint64 {
	if row = row[x:]; len(row) >= lanes {
		return binary.LittleEndian.Uint64(row)
	}
	var end [lanes]uint8
	copy(end[:], row)
	return binary.LittleEndian.Uint64(end[:])
}

// atLeast sets the top bit of each pixel of a that is at least b's, and no other.
func atLeast(a, b uint64) uint64 {
	rest := a | laneTops - b&^laneTops // the top bits: whether the other seven are
	return (a&^b | ^(a^b)&rest) & laneTops
}

// order returns the lesser and the larger of each pixel of a and b.
func order(a, b uint64) (less, more uint64) {
	top := atLeast(a, b)
	swap := (a ^ b) & (top<<1 - top>>7)
	return a ^ swap, b ^ swap
}
