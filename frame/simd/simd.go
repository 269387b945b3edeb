// Package simd reports which vector instructions the processor has, and which of them the inner
// loops use.
//
// A Go function defines each loop; its variants, in C, give the same bits. The program chooses
// among them once, when it starts: it takes the highest level that the processor has, or the one
// that the environment variable RETIME_SIMD names.
package simd

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Variable is the environment variable that names the level to use.
const Variable = "RETIME_SIMD"

// Level is a set of instructions.
type Level int

// The levels, in ascending order within each processor architecture.
const (
	Go     Level = iota // none: the functions in Go
	SSE2                // every amd64
	AVX2                // x86-64-v3
	AVX512              // x86-64-v4
	NEON                // every arm64
)

var names = [...]string{Go: "go", SSE2: "sse2", AVX2: "avx2", AVX512: "avx512", NEON: "neon"}

// String returns the name by which RETIME_SIMD knows the level.
func (l Level) String() string { return names[l] }

// Levels returns the levels that this build can use on this processor, the fastest last. The first
// is Go.
func Levels() []Level { return slices.Clone(available) }

var available = append([]Level{Go}, detect()...)

// Chosen returns the level that the loops use.
func Chosen() Level { return chosen }

// Check returns an error if RETIME_SIMD names no level that can be used here. The loops then use
// the fastest level.
func Check() error { return wrong }

var chosen, wrong = choose(os.Getenv(Variable), available)

// choose returns the level of the given name, or the last of levels if the name is empty
// or an error.
func choose(name string, levels []Level) (Level, error) {
	last := levels[len(levels)-1]
	if name == "" {
		return last, nil
	}
	var known []string
	for _, l := range levels {
		if strings.EqualFold(name, l.String()) {
			return l, nil
		}
		known = append(known, l.String())
	}
	return last, fmt.Errorf("%s=%s: this program can use %s here", Variable, name, strings.Join(known, ", "))
}
