package simd

import (
	"os"
	"os/exec"
	"testing"
)

// For processors without C loops, the Go functions build with cgo and without it.
func TestBuildsWithoutLoops(t *testing.T) {
	for _, cgo := range []string{"0", "1"} {
		list := exec.Command("go", "list", "-deps", "../../flow/dis", "../../warp/...")
		list.Env = append(os.Environ(), "GOARCH=riscv64", "CGO_ENABLED="+cgo)
		if out, err := list.CombinedOutput(); err != nil {
			t.Errorf("CGO_ENABLED=%s: %v\n%s", cgo, err, out)
		}
	}
}
