package main

import (
	"os/exec"
	"testing"
)

// What the compiler writes is what the repository holds.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	// A program of its own runs without the race detector, several times as fast.
	if out, err := exec.Command("go", "run", ".", "-root", "../../..", "-check").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
