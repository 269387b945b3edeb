package dis

import "fmt"

// The constants of the search; the package comment has the formulas that use them.
const (
	patchSize   = 8
	patchPixels = patchSize * patchSize
	vectorBits  = 10
	vectorOne   = 1 << vectorBits // a pixel
	// fractionBits is how many bits of a position's fraction interpolation uses.
	fractionBits = 7
	fractionOne  = 1 << fractionBits
	// differenceBits is the number of fraction bits of a difference of samples.
	differenceBits = 4
	// normalBits is log2 of the number of samples in a patch.
	normalBits   = 6
	gradientGain = 4
	damping      = 1024 // added to the diagonal of the structure tensor
	stepGain     = 512
	stepLimit    = 8 * vectorOne
	// reachToll is what step 1 adds to the cost for each pixel of length.
	reachToll   = 256
	reachLevels = 2
	// borderSize is the number of samples that repeat around a picture; reads go at most 8 outside,
	// and vector loads at most 15.
	borderSize = 16
	// weightLimit is the weight of differences up to weightFloor.
	weightLimit   = 4096
	weightFloor   = 1 << differenceBits
	maxDifference = 255 << differenceBits
	// maxSide is the longest side of a picture in pixels.
	maxSide = 1<<15 - 1
)

// neighbourX and neighbourY are the candidates' offsets, in the order of steps 2 and 3.
var (
	neighbourX = [9]int{0, 1, -1, 0, 0, 1, -1, 1, -1}
	neighbourY = [9]int{0, 0, 0, 1, -1, 1, -1, -1, 1}
)

// Options are the parameters of an Estimator. Default returns a set to start from.
type Options struct {
	// Stride is the distance between patches in pixels, 1 to 8.
	Stride int
	// Candidates is the number of vectors of the coarser level that a patch tries, 5
	// or 9.
	Candidates int
	// CandidateDistance is the distance, in pixels, of the other candidates from the patch's
	// centre, 1 to 64.
	CandidateDistance int
	// Reach is how far the two coarsest levels search in every direction, in pixels, 0 to 16; 0
	// skips that step.
	Reach int
	// Rounds is the number of rounds of propagation, 0 to 16.
	Rounds int
	// Neighbours is the number of neighbours whose vectors a patch tries in each round, 4
	// or 8.
	Neighbours int
	// Iterations bounds the Gauss-Newton steps of each descent, 0 to 64.
	Iterations int
	// MeanNormalization subtracts the mean difference of a patch from its cost, so that changes of
	// brightness do no harm.
	MeanNormalization bool
}

// Default returns the options that give the best flow.
func Default() Options {
	return Options{
		Stride: 4, Candidates: 9, CandidateDistance: 16, Reach: 6,
		Rounds: 3, Neighbours: 8, Iterations: 4, MeanNormalization: true,
	}
}

// Quick returns options that take less time than Default's.
func Quick() Options {
	return Options{
		Stride: 4, Candidates: 5, CandidateDistance: 8, Reach: 4,
		Rounds: 2, Neighbours: 4, Iterations: 4, MeanNormalization: true,
	}
}

// Local returns options for small pictures: patches begin where the coarser level's flow leads
// and take two steps, so unlike pictures find no matches.
func Local() Options {
	return Options{
		Stride: 4, Candidates: 9, CandidateDistance: 16,
		Neighbours: 4, Iterations: 2, MeanNormalization: true,
	}
}

func (o Options) check() error {
	switch {
	case o.Stride < 1 || o.Stride > patchSize:
		return fmt.Errorf("stride %d is not within 1 to %d", o.Stride, patchSize)
	case o.Candidates != 5 && o.Candidates != 9:
		return fmt.Errorf("%d candidates are neither 5 nor 9", o.Candidates)
	case o.CandidateDistance < 1 || o.CandidateDistance > 64:
		return fmt.Errorf("candidate distance %d is not within 1 to 64", o.CandidateDistance)
	case o.Reach < 0 || o.Reach > 16:
		return fmt.Errorf("reach %d is not within 0 to 16", o.Reach)
	case o.Rounds < 0 || o.Rounds > 16:
		return fmt.Errorf("%d rounds are not within 0 to 16", o.Rounds)
	case o.Neighbours != 4 && o.Neighbours != 8:
		return fmt.Errorf("%d neighbours are neither 4 nor 8", o.Neighbours)
	case o.Iterations < 0 || o.Iterations > 64:
		return fmt.Errorf("%d iterations are not within 0 to 64", o.Iterations)
	}
	return nil
}
