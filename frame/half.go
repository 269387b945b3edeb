package frame

import "math"

// HalfValue returns the value of a half, a binary16 of IEEE 754.
func HalfValue(bits uint16) float32 {
	sign, exponent, fraction := uint32(bits&0x8000)<<16, uint32(bits>>10&31), uint32(bits&0x3ff)
	switch exponent {
	case 0: // subnormal
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)/(1<<24)))
	case 31: // infinity and NaN
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

// HalfBits returns the bits of the half nearest to v, ties to even. Values beyond the largest half
// are infinite.
func HalfBits(v float32) uint16 {
	bits := math.Float32bits(v)
	sign := uint16(bits >> 16 & 0x8000)
	exponent, mantissa := int(bits>>23&0xff)-127+15, bits&(1<<23-1)
	switch {
	case exponent == 255-127+15 && mantissa != 0:
		return sign | 0x7e00 // NaN
	case exponent >= 31:
		return sign | 0x7c00
	case exponent < -10:
		return sign
	}
	shift := 13
	if exponent <= 0 { // subnormal
		mantissa |= 1 << 23
		shift, exponent = 14-exponent, 0
	}
	whole := uint32(exponent)<<10 + mantissa>>shift
	switch rest, tie := mantissa&(1<<shift-1), uint32(1)<<(shift-1); {
	case rest > tie, rest == tie && whole&1 == 1:
		whole++
	}
	return sign | uint16(whole)
}
