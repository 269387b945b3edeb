//go:build !cgo || !(amd64 || arm64)

package dis

// fastest are the portable kernels: this build has no others.
var fastest = portable
