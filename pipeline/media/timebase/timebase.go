// Package timebase converts times between seconds and ticks of a stream's time base.
package timebase

import (
	"math"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/timeline/rational"
)

// Rat returns r as a fraction, or nil for 0/x and x/0, FFmpeg's values for unknown.
func Rat(r astiav.Rational) *big.Rat {
	if r.Num() <= 0 || r.Den() <= 0 {
		return nil
	}
	return big.NewRat(int64(r.Num()), int64(r.Den()))
}

// Rate returns r as a fraction, or nil if it is unknown. FFmpeg's reader of Matroska reduces rates to
// terms of 30000 at most, such as 60000/1001 to 19001/317: a rate so near to a multiple of 1000/1001
// becomes that.
func Rate(r astiav.Rational) *big.Rat {
	rate := Rat(r)
	if rate == nil {
		return nil
	}
	ntsc := big.NewRat(rational.Nearest(new(big.Rat).Mul(rate, big.NewRat(1001, 1000)))*1000, 1001)
	off := new(big.Rat).Sub(rate, ntsc)
	if off.Abs(off).Cmp(new(big.Rat).Mul(ntsc, big.NewRat(1, 1e6))) < 0 {
		return ntsc
	}
	return rate
}

// Seconds converts t from ticks of tb to seconds. tb must be known: its denominator is
// not 0.
func Seconds(t int64, tb astiav.Rational) *big.Rat {
	return new(big.Rat).Mul(big.NewRat(t, 1), big.NewRat(int64(tb.Num()), int64(tb.Den())))
}

// Ticks converts t from seconds to ticks of tb and rounds to nearest; nil counts as 0.
func Ticks(t *big.Rat, tb astiav.Rational) int64 {
	if t == nil {
		return 0
	}
	half := big.NewRat(int64(tb.Num()), 2*int64(tb.Den()))
	return TicksBefore(half.Add(half, t), tb)
}

// TicksBefore converts t from seconds to ticks of tb and rounds down.
func TicksBefore(t *big.Rat, tb astiav.Rational) int64 {
	return rational.Floor(new(big.Rat).Mul(t, big.NewRat(int64(tb.Den()), int64(tb.Num()))))
}

// Microseconds converts t from ticks of tb to microseconds, rounds to nearest and clamps
// to the range of int64. It returns 0 if tb's denominator is 0.
func Microseconds(t int64, tb astiav.Rational) int64 {
	if tb.Den() == 0 {
		return 0
	}
	v := new(big.Int).Mul(big.NewInt(t), big.NewInt(int64(tb.Num())*1_000_000))
	v.Div(v.Add(v, big.NewInt(int64(tb.Den())/2)), big.NewInt(int64(tb.Den())))
	switch {
	case v.IsInt64():
		return v.Int64()
	case v.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// Shift adds d, in ticks, to p's timestamps. A missing timestamp stays missing.
func Shift(p *astiav.Packet, d int64) {
	if t := p.Pts(); t != av.NoTimestamp {
		p.SetPts(t + d)
	}
	if t := p.Dts(); t != av.NoTimestamp {
		p.SetDts(t + d)
	}
}
