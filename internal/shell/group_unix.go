//go:build unix

package shell

import (
	"os/exec"
	"syscall"
)

func command(line string) *exec.Cmd {
	c := exec.Command("/bin/sh", "-c", line)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// group is the number of a process group.
type group int

func start(c *exec.Cmd) (group, error) {
	if err := c.Start(); err != nil {
		return 0, err
	}
	return group(c.Process.Pid), nil
}

func (g group) kill() { _ = syscall.Kill(-int(g), syscall.SIGKILL) }
