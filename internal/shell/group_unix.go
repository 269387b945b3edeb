//go:build unix

package shell

import (
	"os/exec"
	"regexp"
	"strings"
	"syscall"
)

// plain matches words that need no quotes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./=:,%+@-]+$`)

func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

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
