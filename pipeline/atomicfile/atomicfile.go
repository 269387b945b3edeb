// Package atomicfile writes files that exist whole and on disk, or not at all.
//
// It writes a file beside its final name, as .NAME.NUMBER.part, and renames it. The
// writing process holds a lock on the file, so that Sweep can tell which files a killed
// process has left behind.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// File is a file that is being written. Commit or Discard ends it.
type File struct{ *os.File }

const suffix = ".part"

// Create opens a new file beside name, with the permissions of os.Create.
func Create(name string) (File, error) {
	dir, base := filepath.Split(name)
	for {
		part := fmt.Sprintf("%s.%s.%d%s", dir, base, rand.Uint32(), suffix)
		f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return File{}, err
		}
		// If the file system has no locks, Sweep removes nothing. Before this file is
		// locked, another process may sweep it.
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if _, err := os.Lstat(f.Name()); errors.Is(err, fs.ErrNotExist) {
			f.Close()
			continue
		}
		return File{f}, nil
	}
}

// Commit closes the file, puts it on disk and gives it name, which must lie in the
// directory given to Create; it replaces an existing file. After an error the
// unfinished file is gone.
func (f File) Commit(name string) error {
	err := f.Sync()
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		f.Discard()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return syncDir(name)
}

// Discard closes and removes the file.
func (f File) Discard() {
	os.Remove(f.Name())
	f.Close()
}

// Write creates the file called name with the content that write writes. After an error
// of write, an existing file stays as it was.
func Write(name string, write func(io.Writer) error) error {
	f, err := Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if err != nil {
		f.Discard()
		return err
	}
	return f.Commit(name)
}

// WriteFile creates the file called name with the given content.
func WriteFile(name string, content []byte) error {
	return Write(name, func(w io.Writer) error { _, err := w.Write(content); return err })
}

// Rename puts the file from on disk and renames it to to, in the same file system; it
// replaces an existing file.
func Rename(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	err = f.Sync()
	f.Close()
	if err == nil {
		err = os.Rename(from, to)
	}
	if err != nil {
		return err
	}
	return syncDir(to)
}

// syncDir puts the directory of name on disk if the file system and its rights allow
// that.
func syncDir(name string) error {
	d, err := os.Open(filepath.Dir(name))
	if errors.Is(err, fs.ErrPermission) {
		return nil
	} else if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// Sweep removes the unfinished files that killed processes have left of name. If name
// ends in a separator, it removes those of all names in that directory.
func Sweep(name string) error {
	dir, base := filepath.Split(name)
	dir = filepath.Clean(dir + ".")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var failed error
	for _, e := range entries {
		if e.Type().IsRegular() && isPart(e.Name(), base) {
			if err := removeUnlocked(filepath.Join(dir, e.Name())); err != nil {
				failed = err
			}
		}
	}
	return failed
}

// isPart reports whether Create may have given that name to a file for base or, if base
// is empty, for any file.
func isPart(name, base string) bool {
	name, first := strings.CutPrefix(name, ".")
	name, last := strings.CutSuffix(name, suffix)
	dot := strings.LastIndexByte(name, '.')
	if !first || !last || dot < 0 || base != "" && name[:dot] != base {
		return false
	}
	number := name[dot+1:]
	return number != "" && strings.Trim(number, "0123456789") == ""
}

// removeUnlocked removes a file that no process has locked. It skips a file that is
// gone or that it cannot open.
func removeUnlocked(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0) // NFS locks only files that are open for writing
	if err != nil {
		return nil //nolint:nilerr // another process may have swept it
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
