package warp

import "encoding/binary"

// A word holds eight pixels of 8 bits, the first in the lowest bits.
const (
	lanes    = 8
	eachLane = 0x0101010101010101 // times a value: the value in all eight lanes
	laneTops = 0x80 * eachLane
)

// loadLanes returns the pixels of row from x on, with zeros beyond the end of row.
func loadLanes(row []uint8, x int) uint64 {
	if row = row[x:]; len(row) >= lanes {
		return binary.LittleEndian.Uint64(row)
	}
	var end [lanes]uint8
	copy(end[:], row)
	return binary.LittleEndian.Uint64(end[:])
}

// atLeast sets the top bit of each pixel of a that is at least as large as b's, and
// clears all other bits.
func atLeast(a, b uint64) uint64 {
	rest := a | laneTops - b&^laneTops // top bits: whether the lower seven bits are
	return (a&^b | ^(a^b)&rest) & laneTops
}

// order returns the smaller and the larger of each pixel of a and b.
func order(a, b uint64) (less, more uint64) {
	top := atLeast(a, b)
	swap := (a ^ b) & (top<<1 - top>>7)
	return a ^ swap, b ^ swap
}
