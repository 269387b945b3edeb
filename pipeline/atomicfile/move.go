package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Move renames a file to to, in the same file system, and puts nothing on disk. If to exists
// and overwrite is not set, the error wraps fs.ErrExist and nothing has changed.
func Move(from, to string, overwrite bool) error {
	if overwrite {
		return rename(from, to)
	}
	err := renameNew(from, to)
	switch {
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EOPNOTSUPP): // as on NFS
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
	renameNew = renameNoReplace
	link      = os.Link
)

// Follow returns the name of the file that name leads to if that is a symbolic link, whether
// the file exists or not, and name itself otherwise, as for a device. Call it for names that a user chose; in a
// directory that others may write to, a link is no reason to write elsewhere.
func Follow(name string) (string, error) {
	const most = 40 // as Linux
	at := name
	for range most {
		to, err := os.Readlink(at)
		if err != nil { // no link, or nothing
			return ending(name, at)
		}
		if !filepath.IsAbs(to) {
			dir, _ := filepath.Split(at)
			to = dir + to // not Join, which would take "link/.." for "."
		}
		at = to
	}
	return "", &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
}

// ending returns at, to which the link called name leads, unless that is the text of a
// descriptor's link in /proc and not a name.
func ending(name, at string) (string, error) {
	info, err := os.Stat(name)
	switch {
	case at == name || err != nil:
		return at, nil
	case !info.Mode().IsRegular():
		return name, nil // which nobody renames
	}
	if _, err := os.Stat(at); err != nil {
		return "", &fs.PathError{Op: "open", Path: name, Err: errors.New("leads to a file that has no name any more")}
	}
	return at, nil
}
