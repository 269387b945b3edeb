package stages

import (
	"crypto/sha256"
	"fmt"

	"retime/frame"
)

// Digest is the SHA-256 of a frame's size, sample format and samples, plane by
// plane and row by row without padding.
type Digest [sha256.Size]byte

// digest hashes the frame that goes to the encoder.
func digest(f *frame.Frame) (d Digest) {
	h := sha256.New()
	fmt.Fprintf(h, "%dx%d %s\n", f.Width, f.Height, f.Format.Name)
	for _, p := range f.Planes {
		n := p.Width * f.Format.Bytes()
		for y := range p.Height {
			h.Write(p.Pix[y*p.Stride:][:n])
		}
	}
	h.Sum(d[:0])
	return d
}
