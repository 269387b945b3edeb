//go:build !cuda

package cuda

// Devices returns ErrNotBuilt.
func Devices() ([]Info, error) { return nil, ErrNotBuilt }

// Built reports whether this program was built with CUDA.
const Built = false

func openDriver(int) (Driver, error) { return nil, ErrNotBuilt }

// Architectures returns the architectures that this program's kernels were compiled
// for: none.
func Architectures() string { return "" }
