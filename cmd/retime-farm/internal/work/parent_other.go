//go:build !linux

package work

import (
	"os"
	"os/exec"
)

// DieWithParent does nothing: a program outlives its killed worker, and what it makes is used or
// made again.
func DieWithParent(*exec.Cmd) {}

// Terminate asks cmd to end, as SIGTERM does.
func Terminate(cmd *exec.Cmd) error { return cmd.Process.Signal(os.Interrupt) }
