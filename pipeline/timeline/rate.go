package timeline

import (
	"math/big"
	"strings"

	"retime/pipeline/fault"
)

// Rate is a frame rate, or a multiple of the source's.
type Rate struct {
	Value    *big.Rat // frames per second, or the factor; nil for the source's rate
	Multiple bool
}

// MaxRate bounds rates, in frames per second, and MaxPeriod their inverses, in seconds: a day's
// length is within it.
const (
	MaxRate   = 10_000
	MaxPeriod = 100_000
)

// IsRate reports whether v lies between these bounds.
func IsRate(v *big.Rat) bool {
	return v.Cmp(big.NewRat(1, MaxPeriod)) >= 0 && v.Cmp(big.NewRat(MaxRate, 1)) <= 0
}

// ParseRate reads a rate in frames per second, as "60", "60000/1001" or "59.94", or a multiple of
// the source's rate, as "2x"; IsRate holds for both. Decimals that round one of the
// NTSC rates n*1000/1001, n a multiple of 12 or 15, mean that rate: 59.94 is 60000/1001. Errors
// are fault.Usage.
func ParseRate(s string) (Rate, error) {
	text, multiple := strings.CutSuffix(strings.TrimSpace(s), "x")
	v, err := parseRational(text)
	switch {
	case err != nil:
		return Rate{}, fault.New(fault.Usage, "rate %q: want frames per second as 60, 59.94 or 60000/1001, or 2x", s)
	case !IsRate(v):
		return Rate{}, fault.New(fault.Usage, "rate %q: want 1/%d to %d", s, MaxPeriod, MaxRate)
	case !multiple && strings.Contains(text, "."):
		v = ntsc(v, len(text)-strings.Index(text, ".")-1)
	}
	return Rate{v, multiple}, nil
}

// ParseShutter reads the angle of a shutter from 0 to 360 degrees and returns its share of the
// circle, from 0 to 1. Errors are fault.Usage.
func ParseShutter(s string) (*big.Rat, error) {
	v, err := parseRational(s)
	if err != nil || v.Cmp(big.NewRat(MaxAngle, 1)) > 0 {
		return nil, fault.New(fault.Usage, "shutter %q: want an angle from 0 to %d", s, MaxAngle)
	}
	return v.Quo(v, big.NewRat(MaxAngle, 1)), nil
}

// ParseShutterPhase reads an angle from -360 to 360 degrees and returns its share of the circle, from
// -1 to 1. Errors are fault.Usage.
func ParseShutterPhase(s string) (*big.Rat, error) {
	size, negative := strings.CutPrefix(s, "-")
	v, err := ParseShutter(size)
	if err != nil {
		return nil, fault.New(fault.Usage, "shutter phase %q: want an angle from -%d to %[2]d", s, MaxAngle)
	}
	if negative {
		v.Neg(v)
	}
	return v, nil
}

// maxDigits bounds numbers on the command line, so that none takes long to
// read or compute with.
const maxDigits = 18

// parseRational reads a decimal or a fraction of two integers, without sign or
// exponent.
func parseRational(s string) (*big.Rat, error) {
	num, den, fraction := strings.Cut(s, "/")
	for _, part := range []string{num, den} {
		digits := strings.ReplaceAll(part, ".", "")
		if strings.Count(part, ".") > 1 || len(part) > maxDigits || strings.Trim(part, "0123456789.") != "" {
			return nil, errNumber
		}
		if digits == "" && (part != "" || !fraction && part == num || fraction) {
			return nil, errNumber
		}
	}
	if fraction && strings.Contains(s, ".") {
		return nil, errNumber
	}
	v, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, errNumber
	}
	return v, nil
}

// ntsc returns the NTSC rate that v, given with that many decimals, rounds.
func ntsc(v *big.Rat, decimals int) *big.Rat {
	if decimals < 2 || v.IsInt() {
		return v
	}
	up := new(big.Rat).Mul(v, big.NewRat(1001, 1000))
	f, _ := up.Float64()
	n := int64(f + 0.5)
	if n == 0 || n%12 != 0 && n%15 != 0 {
		return v
	}
	exact := big.NewRat(n*1000, 1001)
	off := new(big.Rat).Sub(exact, v)
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(big.NewInt(2), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)))
	if off.Abs(off).Cmp(half) > 0 {
		return v
	}
	return exact
}
