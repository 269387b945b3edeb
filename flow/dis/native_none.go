//go:build !cgo || !(amd64 || arm64)

package dis

// vectorized are the kernels that use vector instructions: none in this build.
func vectorized() []variant { return nil }
