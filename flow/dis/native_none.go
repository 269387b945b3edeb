//go:build !cgo || !(amd64 || arm64)

package dis

// variants are the kernels that this build can run.
func variants() []variant { return []variant{{"Go", portable}} }
