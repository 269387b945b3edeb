package timeline

import (
	"errors"
	"math/big"
	"strings"

	"retime/pipeline/fault"
)

var errNumber = errors.New("not a number")

// ParseTime reads a time as "12.5", "mm:ss.frac" or "hh:mm:ss.frac" and returns it in seconds,
// exactly. Minutes and seconds after a colon must be below 60. A time has no sign. Errors are
// fault.Usage.
func ParseTime(s string) (*big.Rat, error) {
	bad := fault.New(fault.Usage, "time %q: want seconds, mm:ss.frac or hh:mm:ss.frac", s)
	parts := strings.Split(s, ":")
	if len(parts) > 3 {
		return nil, bad
	}
	total := new(big.Rat)
	for i, part := range parts {
		v, err := parseRational(part)
		if err != nil || strings.Contains(part, "/") || i < len(parts)-1 && !v.IsInt() || i > 0 && v.Cmp(big.NewRat(60, 1)) >= 0 {
			return nil, bad
		}
		total.Mul(total, big.NewRat(60, 1))
		total.Add(total, v)
	}
	return total, nil
}

// MaxSlow bounds the slow-down, and the speed-up.
const MaxSlow = 1000

// ParseSlow reads a slow-down as "4", "2.5" or "5/2", from 1 to MaxSlow. Errors are fault.Usage.
func ParseSlow(s string) (*big.Rat, error) {
	v, err := parseRational(s)
	if err != nil || v.Cmp(big.NewRat(1, 1)) < 0 || v.Cmp(big.NewRat(MaxSlow, 1)) > 0 {
		return nil, fault.New(fault.Usage, "slow-down %q: want a factor from 1 to %d, as 4, 2.5 or 5/2", s, MaxSlow)
	}
	return v, nil
}

// ParseSpeed reads a speed as "2", "1.5" or "3/2", from 1/MaxSlow to MaxSlow, and
// returns the slow-down that it is: 1/2 for 2. Errors are fault.Usage.
func ParseSpeed(s string) (*big.Rat, error) {
	v, err := parseRational(s)
	if err != nil || v.Cmp(big.NewRat(1, MaxSlow)) < 0 || v.Cmp(big.NewRat(MaxSlow, 1)) > 0 {
		return nil, fault.New(fault.Usage, "speed %q: want a factor from 1/%d to %d, as 2, 1.5 or 3/2", s, MaxSlow, MaxSlow)
	}
	return v.Inv(v), nil
}
