//go:build !openexr

package exr

// Linked reports whether the program was built with OpenEXR.
const Linked = false

func decode([]byte, int, []byte) error { return ErrUnsupported }

func (*bundle) encode([]byte) ([]byte, error) { return nil, ErrUnsupported }
