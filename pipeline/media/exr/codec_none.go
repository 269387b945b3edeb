//go:build !openexr

package exr

// Version returns the version of the OpenEXR that the program was built with, empty if with none.
func Version() string { return "" }

func decode([]byte, int, []byte, int) error { return ErrUnsupported }

func (*bundle) encode([]byte, int) ([]byte, error) { return nil, ErrUnsupported }
