//go:build !cuda

package gpu

import "retime/cuda"

func openDriver(int) (Driver, error) { return nil, cuda.ErrNotBuilt }
