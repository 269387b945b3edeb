package simd

import (
	"os"
	"os/exec"
	"testing"
)

// Processors without loops in C build the functions in Go, with cgo and without.
func TestBuildsWithoutLoops(t *testing.T) {
	for _, cgo := range []string{"0", "1"} {
		list := exec.Command("go", "list", "-deps", "../../flow/dis", "../../warp/...")
		list.Env = append(os.Environ(), "GOARCH=riscv64", "CGO_ENABLED="+cgo)
		if out, err := list.CombinedOutput(); err != nil {
			t.Errorf("CGO_ENABLED=%s: %v\n%s", cgo, err, out)
		}
	}
}
