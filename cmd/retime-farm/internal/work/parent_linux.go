package work

import (
	"os/exec"
	"syscall"
)

// DieWithParent has cmd terminated by SIGTERM when this process dies, even by SIGKILL. Linux sends
// the signal when the thread that started cmd ends; Go ends a thread only if a goroutine locked to
// it ends, and this program locks none.
func DieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}

// Terminate asks cmd to end, as SIGTERM does.
func Terminate(cmd *exec.Cmd) error { return cmd.Process.Signal(syscall.SIGTERM) }
