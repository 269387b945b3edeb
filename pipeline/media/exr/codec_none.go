//go:build !openexr

package exr

// Version returns the version of the OpenEXR that the program was built with, empty if with none.
func Version() string { return "" }

func decode([]byte, int, []byte) error { return ErrUnsupported }

func (*bundle) encode([]byte) ([]byte, error) { return nil, ErrUnsupported }
