//go:build unix

package kernels

import (
	"io/fs"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"retime/cuda"
)

var global = regexp.MustCompile(`extern "C" __global__ void\s+(?:__launch_bounds__\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s+)?(\w+)\(`)

// The emulator lists every kernel of every file.
func TestAllKernelsAreListed(t *testing.T) {
	files, err := fs.Glob(Sources, "*.cu")
	if err != nil || len(files) == 0 {
		t.Fatal("no kernels: ", err)
	}
	e := NewEmulator()
	for _, name := range files {
		// Macros define some kernels.
		text, err := exec.Command("g++", "-E", "-P", "-x", "c++", name).Output()
		if err != nil {
			t.Fatal(name, ": ", err)
		}
		found := global.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s: no kernels", name)
		}
		for _, m := range found {
			if _, err := e.Kernel(name[:len(name)-len(".cu")], m[1]); err != nil {
				t.Errorf("%s: %s: %v", name, m[1], err)
			}
		}
	}
}

// The constants equal the Go code's, and the lists name all kernels of the files.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	for _, generator := range []string{"../../internal/constants", "./generate"} {
		if out, err := exec.Command("go", "run", generator, "-check").CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// share_weights has code only for the numbers of hypotheses that a frame can have.
func TestSharesOfTooFewHypotheses(t *testing.T) {
	e := NewEmulator()
	k, err := e.Kernel("choose", "share_weights")
	if err != nil {
		t.Fatal(err)
	}
	err = e.Launch(nil, k, cuda.Dim{X: 1, Y: 1, Z: 1}, cuda.Dim{X: 32, Y: 8, Z: 1}, 2*8*36*30, make([]uint64, 8))
	if err == nil || !strings.Contains(err.Error(), "__trap") {
		t.Errorf("shares of eight hypotheses: %v", err)
	}
}
