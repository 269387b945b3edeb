//go:build unix

package av

import (
	"syscall"

	"github.com/asticode/go-astiav"
)

// Errno returns the system's error of which FFmpeg's e is the negative.
func Errno(e astiav.Error) syscall.Errno { return syscall.Errno(-e) }
