package timestretch_test

import (
	"fmt"
	"math"
	"math/big"

	"retime/pipeline/media/timestretch"
	"retime/pipeline/timeline/curve"
)

// A second of a 440 Hz tone becomes two seconds of a 440 Hz tone.
func Example() {
	const rate = 48_000
	tone := make([]float32, rate)
	for i := range tone {
		tone[i] = float32(math.Sin(2 * math.Pi * 440 * float64(i) / rate))
	}

	twice := curve.Constant(big.NewRat(0, 1), big.NewRat(2, 1)).Runs()[0]
	s := timestretch.New(1, rate, twice, 0, 2*rate)
	s.Write([][]float32{tone}, 0)
	s.Close(2 * rate)
	var out []float32
	block := [][]float32{make([]float32, 4096)}
	for n := s.Read(block); n > 0; n = s.Read(block) {
		out = append(out, block[0][:n]...)
	}

	rises := 0 // in the middle second
	for i := rate / 2; i < rate*3/2; i++ {
		if out[i] < 0 && out[i+1] >= 0 {
			rises++
		}
	}
	fmt.Printf("%d samples, %d Hz\n", len(out), rises)
	// Output: 96000 samples, 440 Hz
}
