package main

import (
	"os/exec"
	"testing"
)

// The generated files are current. The compiler runs as a separate program, without the race
// detector, which would make it four times slower.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	if out, err := exec.Command("go", "run", ".", "-root", "../../..", "-check").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
