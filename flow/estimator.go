package flow

// Estimator estimates the optical flow from a to b, two pictures of one size, into dst.
// P is the type of a picture and F the type of a field to fill, such as
// frame.Image[uint8] and *Field. The vectors are canonical; see Quantize. Only one
// goroutine at a time may use an estimator.
type Estimator[P, F any] interface {
	Estimate(a, b P, dst F) error
	Close() error
}
