package flow

// Estimator estimates the optical flow from a to b, pictures of one size, into dst. P
// is a picture and F what it fills in: frame.Image[uint8] and *Field in the host's
// memory, cuda.Image[byte] and cuda.Image[Vec] in a device's. Fields are canonical;
// see Quantize. An estimator is used by one goroutine at a time.
type Estimator[P, F any] interface {
	Estimate(a, b P, dst F) error
	Close() error
}
