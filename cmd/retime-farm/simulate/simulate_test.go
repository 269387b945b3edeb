package main

import (
	"math/rand/v2"
	"testing"
)

// On 64 machines, a film of two hours loses less than a tenth to shares, stragglers and failures.
func TestEfficiency(t *testing.T) {
	times, err := read("../testdata/segments.txt")
	if err != nil {
		t.Fatal(err)
	}
	f := film{ranges: 1440, length: 5, times: times, spread: 1, start: 0.3, dead: 30, restart: 60, between: 4 * 3600}
	one := f.run(1, rand.New(rand.NewPCG(1, 1)))
	if one.efficiency < 0.95 || one.efficiency > 1 {
		t.Errorf("one machine: %+v", one)
	}
	many := f.run(64, rand.New(rand.NewPCG(1, 64)))
	if many.efficiency < 0.9 || many.efficiency > 1 || many.failures == 0 {
		t.Errorf("64 machines: %+v", many)
	}
}
