package synth

import (
	"errors"

	"retime/cuda"
)

// OpenSurfaces returns memory for the pictures of a video decoder, on the device that makes
// the first frames of a Synthesizer with p: it need not bring such pictures there again. The
// error is errors.ErrUnsupported if the CPU makes the frames.
func OpenSurfaces(p Params) (*cuda.Mirror, error) {
	if p.onCPU() {
		return nil, errors.ErrUnsupported
	}
	d, err := cuda.Open(p.FirstDevice())
	if err != nil {
		return nil, err
	}
	return cuda.NewMirror(d)
}
