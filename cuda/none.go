//go:build !cuda

package cuda

// Devices lists the GPUs that answer.
func Devices() ([]Info, error) { return nil, ErrNotBuilt }

// Built says whether this program is built with CUDA.
const Built = false

func openDriver(int) (Driver, error) { return nil, ErrNotBuilt }

// Architectures says what the kernels in this program are compiled for.
func Architectures() string { return "" }
