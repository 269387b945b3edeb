package atomicfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Move renames a file to to, in the same file system, and puts nothing on disk. If to exists
// and overwrite is not set, the error wraps fs.ErrExist and nothing has changed.
func Move(from, to string, overwrite bool) error {
	if overwrite {
		return os.Rename(from, to)
	}
	err := renameNew(from, to)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP): // as on NFS
		return linkNew(from, to)
	case err != nil:
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// linkNew is Move for a file system that cannot rename to a new name only.
func linkNew(from, to string) error {
	err := link(from, to)
	switch {
	case err == nil:
		_ = os.Remove(from) // a second name hinders nobody
		return nil
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return err
	}
	// Nor are there links: whoever creates the name owns it.
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	f.Close()
	if err := os.Rename(from, to); err != nil {
		_ = os.Remove(to)
		return err
	}
	return nil
}

// Tests have these fail as some file systems do.
var (
	renameNew = func(from, to string) error {
		return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	}
	link = os.Link
)
