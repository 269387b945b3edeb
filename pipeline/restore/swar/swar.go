// Package swar compares rows of bytes, eight bytes at a time: SIMD within a register. The bytes at the even places of a
// word of 64 bits, and those at the odd ones, are four lanes of 16 bits each.
package swar

import (
	"encoding/binary"
	"math/bits"
)

// Even has the bytes of a word at even places set, from the lowest on; those at odd places are moved there by a shift of 8.
const (
	Even = 0xff * ones
	ones = 0x0001000100010001
)

// Differences returns the absolute differences of two words of four lanes that hold a byte each.
func Differences(a, b uint64) uint64 {
	d := a + 256*ones - b
	below := ^d >> 8 & ones // 1 where a is below b
	return (d^(below<<8-below))&Even + below
}

// sum returns the sum of four lanes, which must be below 1<<16.
func sum(v uint64) int { return int(v * ones >> 48) }

// SumDifferences returns the sum of the absolute differences of two rows, as far as the shorter one goes.
func SumDifferences(a, b []uint8) (total int) {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	x := 0
	for ; x <= n-8; x += 8 {
		p, q := binary.LittleEndian.Uint64(a[x:]), binary.LittleEndian.Uint64(b[x:])
		total += sum(Differences(p&Even, q&Even) + Differences(p>>8&Even, q>>8&Even))
	}
	if x < n {
		p, q := last(a, n-x), last(b, n-x)
		total += sum(Differences(p&Even, q&Even) + Differences(p>>8&Even, q>>8&Even))
	}
	return total
}

// SumEverySecond returns the sum of the absolute differences of every second byte of two rows, from the first on, as far as the shorter
// one goes.
func SumEverySecond(a, b []uint8) (total int) {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	x := 0
	for ; x <= n-8; x += 8 {
		p, q := binary.LittleEndian.Uint64(a[x:]), binary.LittleEndian.Uint64(b[x:])
		total += sum(Differences(p&Even, q&Even))
	}
	if x < n {
		total += sum(Differences(last(a, n-x)&Even, last(b, n-x)&Even))
	}
	return total
}

// Outside returns how many bytes of row lie outside the range of those of a and b by more than step, at most 255. The three are equally
// long.
func Outside(row, a, b []uint8, step int) (count int) {
	n := len(row)
	a, b = a[:n], b[:n]
	above := uint64(511-step) * ones // the ninth bit of u+above-v is set if u is more than step above v
	out := func(v, p, q uint64) int {
		v, p, q = v&Even, p&Even, q&Even
		return bits.OnesCount64(((v+above-p)&(v+above-q) | (p+above-v)&(q+above-v)) & (512 * ones))
	}
	x := 0
	for ; x <= n-8; x += 8 {
		v, p, q := binary.LittleEndian.Uint64(row[x:]), binary.LittleEndian.Uint64(a[x:]), binary.LittleEndian.Uint64(b[x:])
		count += out(v, p, q) + out(v>>8, p>>8, q>>8)
	}
	if x < n {
		v, p, q := last(row, n-x), last(a, n-x), last(b, n-x)
		count += out(v, p, q) + out(v>>8, p>>8, q>>8)
	}
	return count
}

// last returns the last n bytes of a row, fewer than eight, as a word.
func last(a []uint8, n int) (v uint64) {
	if len(a) >= 8 {
		return binary.LittleEndian.Uint64(a[len(a)-8:]) >> (64 - 8*n)
	}
	for i, b := range a {
		v |= uint64(b) << (8 * i)
	}
	return v
}
