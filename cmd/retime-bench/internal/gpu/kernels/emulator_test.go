//go:build unix

package kernels

import (
	"os/exec"
	"testing"
)

// The generated lists name all kernels of the files.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	const shared = "../../../../../cuda/kernels"
	out, err := exec.Command("go", "run", shared+"/generate", "-emulator", "emulator_texture.h", "-include", shared, "-check").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The emulator has the kernels of this package and the product's kernels.
func TestKernels(t *testing.T) {
	e := NewEmulator()
	for _, k := range [][2]string{{"evaluate", "separable_3_f32"}, {"prefilter", "columns_f32"}} {
		if _, err := e.Kernel(k[0], k[1]); err != nil {
			t.Errorf("%s of %s.cu: %v", k[1], k[0], err)
		}
	}
}
