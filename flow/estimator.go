package flow

// Estimator estimates the optical flow from a to b, two pictures of one size, into dst.
// P is the type of a picture and F the type of a field to fill: frame.Image[uint8] and
// *Field in the host's memory, cuda.Image[byte] and cuda.Image[Vec] in a device's. The
// vectors are canonical; see Quantize. Only one goroutine at a time may use an
// estimator.
type Estimator[P, F any] interface {
	Estimate(a, b P, dst F) error
	Close() error
}
