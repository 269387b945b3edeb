package timestretch

import (
	"math"
	"math/big"
	"testing"

	"retime/pipeline/timeline/curve"
)

// within plays the seconds from from on, num/den times as long as they last.
func within(from *big.Rat, num, den int64) curve.Run {
	return curve.Constant(from, big.NewRat(num, den)).Runs()[0]
}

// Nothing is heard of attacks and tones that end before the run begins.
func TestSoundBeforeTheRunIsSilent(t *testing.T) {
	const rate = 16000
	for _, slow := range [][2]int64{{1, 1}, {2, 1}, {1, 2}, {5, 2}, {10, 1}} {
		for _, from := range []*big.Rat{big.NewRat(1, 1), big.NewRat(30001, 24000)} {
			begin := int(round(new(big.Rat).Mul(from, big.NewRat(rate, 1))))
			for name, early := range map[string][]int{
				"far": {rate / 5}, "half a window": {begin - rate/25}, "close": {begin - rate/500},
				"many": {rate / 9, rate / 4, rate / 2, begin - rate/10},
			} {
				source := clicks(rate, 2*rate, early)
				for i := begin; i < len(source[0]); i++ {
					source[0][i] = 0
				}
				for i, v := range stretched(source, rate, within(from, slow[0], slow[1]), rate/2, 1000)[0] {
					if math.Abs(float64(v)) > 1e-6 {
						t.Errorf("slow %v from %s, %s: sample %d is %v, want silence", slow, from.RatString(), name, i, v)
						break
					}
				}
			}
		}
	}
}

// A run that begins in the midst of a sound begins with the samples of its first moment.
func TestTheRunBeginsAsRecorded(t *testing.T) {
	const rate = 48000
	source := clicks(rate, 2*rate, []int{rate/2 - 100, rate/2 + 300, rate})[0]
	for _, slow := range [][2]int64{{1, 1}, {2, 1}, {1, 2}, {5, 2}} {
		out := stretched([][]float32{source}, rate, within(big.NewRat(1, 2), slow[0], slow[1]), rate/2, 4096)[0]
		for i := range rate / 100 {
			if want := source[rate/2+i]; math.Abs(float64(out[i]-want)) > 1e-4 {
				t.Fatalf("slow %v: sample %d is %v, want %v", slow, i, out[i], want)
			}
		}
	}
}
