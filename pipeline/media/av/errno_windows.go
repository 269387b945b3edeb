package av

import (
	"syscall"

	"github.com/asticode/go-astiav"
)

// errnos are the numbers of the C library, which are none of Windows' own error codes.
var errnos = map[astiav.Error]syscall.Errno{
	1: syscall.EPERM, 2: syscall.ENOENT, 4: syscall.EINTR, 5: syscall.EIO, 6: syscall.ENXIO, 9: syscall.EBADF,
	11: syscall.EAGAIN, 12: syscall.ENOMEM, 13: syscall.EACCES, 14: syscall.EFAULT, 16: syscall.EBUSY,
	17: syscall.EEXIST, 18: syscall.EXDEV, 19: syscall.ENODEV, 20: syscall.ENOTDIR, 21: syscall.EISDIR,
	22: syscall.EINVAL, 23: syscall.ENFILE, 24: syscall.EMFILE, 27: syscall.EFBIG, 28: syscall.ENOSPC,
	29: syscall.ESPIPE, 30: syscall.EROFS, 32: syscall.EPIPE, 33: syscall.EDOM, 34: syscall.ERANGE,
	38: syscall.ENAMETOOLONG, 40: syscall.ENOSYS, 42: syscall.EILSEQ,
}

// Errno returns the system's error of which FFmpeg's e is the negative; EIO for one that the C
// library does not number.
func Errno(e astiav.Error) syscall.Errno {
	if n, ok := errnos[-e]; ok {
		return n
	}
	return syscall.EIO
}
