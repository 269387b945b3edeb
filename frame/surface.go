package frame

// Surface is a picture in a device's memory as video decoders leave it there: luma, and at
// half the width and height, rounded up, pairs of the two chroma samples (NV12, P010, P016).
type Surface struct {
	Width, Height int // of luma
	// Bytes is the size of a sample: 1, or 2 if the sample is in the high bits of two bytes
	// and the others do not count.
	Bytes        int
	Luma, Chroma SurfacePlane
}

// SurfacePlane is a plane of a Surface. Stride is the distance between rows in bytes.
type SurfacePlane struct {
	Address uintptr
	Stride  int
}
