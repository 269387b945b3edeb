package main

import (
	"os/exec"
	"testing"
)

// What the compiler wrote is current. A program of its own has no race detector, with which
// compiling takes four times as long.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	if out, err := exec.Command("go", "run", ".", "-root", "../../..", "-check").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
