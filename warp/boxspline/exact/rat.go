// Package exact computes with rational numbers, small matrices and polynomials of
// several variables without rounding.
package exact

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// Rat is a rational number. The zero value is 0. A Rat is immutable. Compare Rats with [Rat.Cmp]:
// == and other operators do not.
type Rat struct {
	num, den int64    // if wide is nil; in lowest terms, where den 0 means 1
	wide     *big.Rat // the number if it does not fit in num and den
}

// Int returns n.
func Int(n int) Rat { return Rat{num: int64(n)} }

// Frac returns num/den. It panics if den is zero.
func Frac(num, den int) Rat { return Int(num).Div(Int(den)) }

// FromFloat returns x, which must be finite.
func FromFloat(x float64) Rat {
	r := new(big.Rat).SetFloat64(x)
	if r == nil {
		panic(fmt.Sprintf("exact: %v is not finite", x))
	}
	return narrow(r)
}

// FromBig returns r, which must not change afterwards.
func FromBig(r *big.Rat) Rat { return narrow(r) }

// limit bounds the numbers in the quick paths; their products and sums of products then fit into 64
// bits.
const limit = 1 << 30

func (a Rat) small() bool {
	return a.wide == nil && a.num < limit && a.num > -limit && a.den < limit
}

func (a Rat) d() int64 { return max(a.den, 1) }

// Big returns a as a new big.Rat.
func (a Rat) Big() *big.Rat {
	if a.wide != nil {
		return new(big.Rat).Set(a.wide)
	}
	return big.NewRat(a.num, a.d())
}

// narrow returns r, which it may keep.
func narrow(r *big.Rat) Rat {
	if r.Num().IsInt64() && r.Denom().IsInt64() {
		return Rat{num: r.Num().Int64(), den: r.Denom().Int64()}
	}
	return Rat{wide: r}
}

func reduced(num, den int64) Rat {
	if num == 0 {
		return Rat{}
	}
	if den == 1 {
		return Rat{num: num, den: 1}
	}
	a, b := max(num, -num), den
	for b != 0 {
		a, b = b, a%b
	}
	return Rat{num: num / a, den: den / a}
}

// Add returns a + b.
func (a Rat) Add(b Rat) Rat {
	if a.small() && b.small() {
		switch {
		case a.num == 0:
			return b
		case b.num == 0:
			return a
		case a.d() == b.d():
			return reduced(a.num+b.num, a.d())
		}
		return reduced(a.num*b.d()+b.num*a.d(), a.d()*b.d())
	}
	return narrow(new(big.Rat).Add(a.Big(), b.Big()))
}

// Sub returns a - b.
func (a Rat) Sub(b Rat) Rat { return a.Add(b.Neg()) }

// Mul returns a b.
func (a Rat) Mul(b Rat) Rat {
	if a.small() && b.small() {
		return reduced(a.num*b.num, a.d()*b.d())
	}
	return narrow(new(big.Rat).Mul(a.Big(), b.Big()))
}

// Div returns a / b. It panics if b is zero.
func (a Rat) Div(b Rat) Rat {
	if b.Sign() == 0 {
		panic("exact: division by zero")
	}
	if b.small() {
		if b.num < 0 {
			return a.Mul(Rat{num: -b.d(), den: -b.num})
		}
		return a.Mul(Rat{num: b.d(), den: b.num})
	}
	return narrow(new(big.Rat).Quo(a.Big(), b.Big()))
}

// Neg returns -a.
func (a Rat) Neg() Rat {
	if a.wide != nil || a.num == math.MinInt64 {
		return narrow(new(big.Rat).Neg(a.Big()))
	}
	return Rat{num: -a.num, den: a.den}
}

// Abs returns |a|.
func (a Rat) Abs() Rat {
	if a.Sign() < 0 {
		return a.Neg()
	}
	return a
}

// Pow returns the n-th power of a, n at least 0.
func (a Rat) Pow(n int) Rat {
	p := Int(1)
	for range n {
		p = p.Mul(a)
	}
	return p
}

// Sign returns -1, 0 or 1.
func (a Rat) Sign() int {
	switch {
	case a.wide != nil:
		return a.wide.Sign()
	case a.num > 0:
		return 1
	case a.num < 0:
		return -1
	}
	return 0
}

// Cmp returns -1 if a < b, 0 if they are equal, and 1 if a > b.
func (a Rat) Cmp(b Rat) int { return a.Sub(b).Sign() }

// Floor returns the largest integer that is not above a.
func (a Rat) Floor() int {
	if a.wide != nil {
		q := new(big.Int)
		q.Div(a.wide.Num(), a.wide.Denom())
		return int(q.Int64())
	}
	q := a.num / a.d()
	if a.num%a.d() < 0 {
		q--
	}
	return int(q)
}

// Float returns the float64 nearest to a.
func (a Rat) Float() float64 {
	f, _ := a.Big().Float64()
	return f
}

// Fraction returns the numerator and the denominator of a, which must fit.
func (a Rat) Fraction() (num, den int64) {
	if a.wide != nil {
		panic(fmt.Sprintf("exact: %v does not fit into 64 bits", a))
	}
	return a.num, a.d()
}

// String returns a in the form "-3/4".
func (a Rat) String() string {
	switch {
	case a.wide != nil:
		return a.wide.RatString()
	case a.d() == 1:
		return strconv.FormatInt(a.num, 10)
	}
	return strconv.FormatInt(a.num, 10) + "/" + strconv.FormatInt(a.den, 10)
}
