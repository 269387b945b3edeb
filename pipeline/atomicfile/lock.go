package atomicfile

import (
	"errors"
	"io"
	"os"
)

// ErrLocked says that somebody else holds a lock: another process, or another part of this one.
var ErrLocked = errors.New("somebody else holds the lock")

// LockDir locks a directory until the lock is closed or the process ends. If somebody else has
// locked it, LockDir waits, or returns ErrLocked unless wait is set. Where the file system has no
// locks, every lock is granted.
func LockDir(dir string, wait bool) (io.Closer, error) { return openDir(dir, wait) }

// LockFile locks an open file until it is closed. It returns ErrLocked if somebody else has locked
// it. Nothing is kept from reading or writing it.
func LockFile(f *os.File) error { return lockFile(f) }

// Locked reports whether somebody else has locked f by LockFile.
func Locked(f *os.File) bool { return locked(f) }
