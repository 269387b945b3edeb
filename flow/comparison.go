package flow

// Comparison holds sums over every third pixel of every third row of a guide. Still pairs each with the
// sample of the other guide in the same place.
type Comparison struct {
	Still Sums
	// Along pairs each with the sample where the flow leads, rounded to the nearest pixel, ties up;
	// it leaves out pixels whose flow leads outside.
	Along Sums
	// Lost counts the pixels whose flow leads inside, but there and back ends more than a pixel
	// away in x or y.
	Lost int64
}

// Sums are over N pairs of samples a and b, of their squares and of their products.
type Sums struct{ N, A, B, AA, BB, AB int64 }
