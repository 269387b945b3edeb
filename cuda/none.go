//go:build !cuda

package cuda

// Devices lists the GPUs that answer.
func Devices() ([]Info, error) { return nil, ErrNotBuilt }

func openDriver(int) (Driver, error) { return nil, ErrNotBuilt }
