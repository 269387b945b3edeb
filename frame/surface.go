package frame

// Surface is a picture in device memory as video decoders leave it there (NV12, P010, P016): a
// plane of luma, and a plane of chroma pairs at half the width and height, rounded up.
type Surface struct {
	Width, Height int // of luma
	// Bytes is the size of a sample: 1, or 2 if the sample fills the high bits of a 16-bit word and
	// the low bits do not count.
	Bytes        int
	Luma, Chroma SurfacePlane
}

// SurfacePlane is a plane of a Surface. Stride is the distance between rows in bytes.
type SurfacePlane struct {
	Address uintptr
	Stride  int
}
