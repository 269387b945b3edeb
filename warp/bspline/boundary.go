package bspline

import "fmt"

// Boundary is a rule for continuing a picture beyond its edges (Briand and Davy, table 2).
type Boundary int

// The comments show how the samples abcde continue.
const (
	HalfSymmetric  Boundary = iota // cba|abcde|edc
	WholeSymmetric                 // dcb|abcde|dcb
	Periodic                       // cde|abcde|abc
	Constant                       // aaa|abcde|eee
)

var boundaryNames = [...]string{"half", "whole", "periodic", "constant"}

// Check returns an error unless b is one of the constants above.
func (b Boundary) Check() error {
	if b < 0 || int(b) >= len(boundaryNames) {
		return fmt.Errorf("bspline: boundary %d: want half, whole, periodic or constant", int(b))
	}
	return nil
}

// String returns "half", "whole", "periodic" or "constant".
func (b Boundary) String() string {
	if b.Check() != nil {
		return fmt.Sprintf("Boundary(%d)", int(b))
	}
	return boundaryNames[b]
}

// ParseBoundary returns the boundary with the name s; see String.
func ParseBoundary(s string) (Boundary, error) {
	for i, name := range boundaryNames {
		if s == name {
			return Boundary(i), nil
		}
	}
	return 0, fmt.Errorf("bspline: boundary %q: want half, whole, periodic or constant", s)
}

// Index returns the index in [0, n) of the sample at position i of a boundary-extended signal of n
// samples, n at least 1. It repeats the extension as often as needed.
func (b Boundary) Index(i, n int) int {
	if uint(i) < uint(n) {
		return i
	}
	// Positions beyond the edges are mostly near them, so divisions come last.
	switch b {
	case Constant:
		return min(max(i, 0), n-1)
	case Periodic:
		switch {
		case i < 0 && i >= -n:
			return i + n
		case i >= n && i < 2*n:
			return i - n
		}
		return mod(i, n)
	case WholeSymmetric:
		if n == 1 {
			return 0
		}
		i = max(i, -i)
		if i >= 2*n-1 {
			i %= 2*n - 2
		}
		return min(i, 2*n-2-i)
	default:
		i = max(i, -1-i)
		if i >= 2*n {
			i %= 2 * n
		}
		return min(i, 2*n-1-i)
	}
}

// index4 returns the results of Index for i to i+3.
func (b Boundary) index4(i, n int) (i0, i1, i2, i3 int) {
	i0, i3 = b.Index(i, n), b.Index(i+3, n)
	switch {
	case i3-i0 == 3:
		return i0, i0 + 1, i0 + 2, i3
	case i0-i3 == 3 && b != Periodic:
		return i0, i0 - 1, i0 - 2, i3
	}
	return i0, b.Index(i+1, n), b.Index(i+2, n), i3
}

// mod returns i modulo n in [0, n).
func mod(i, n int) int {
	if i %= n; i < 0 {
		i += n
	}
	return i
}
