// Package rational rounds rational numbers to whole ones.
package rational

import "math/big"

// Floor rounds v, which is in the range of int64, down.
func Floor(v *big.Rat) int64 { return new(big.Int).Div(v.Num(), v.Denom()).Int64() }

// Nearest rounds v, which is in the range of int64, to nearest, and up from the middle.
func Nearest(v *big.Rat) int64 { return Floor(new(big.Rat).Add(v, big.NewRat(1, 2))) }
