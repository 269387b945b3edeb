// Package atomicfile writes files that are there whole, and on disk, or not at all.
//
// A file is written beside its name, as .NAME.NUMBER.part, and renamed. While its
// process lives it is locked, so that Sweep can tell what a kill has left behind.
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

// File is a file on its way to its name. Commit or Discard ends it.
type File struct{ *os.File }

const suffix = ".part"

// Create makes a file beside name, with the permissions that os.Create gives.
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
		// If files cannot be locked, Sweep takes none for left behind. Before this one
		// is locked, another process may sweep it.
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if _, err := os.Lstat(f.Name()); errors.Is(err, fs.ErrNotExist) {
			f.Close()
			continue
		}
		return File{f}, nil
	}
}

// Commit gives the file its name, in the directory that it was made in, in place of
// a file that has it. After an error nothing is left of it.
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

// Discard removes the file.
func (f File) Discard() {
	os.Remove(f.Name())
	f.Close()
}

// Write writes a file by a function.
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

// WriteFile writes a file of that content.
func WriteFile(name string, content []byte) error {
	return Write(name, func(w io.Writer) error { _, err := w.Write(content); return err })
}

// Rename gives a file that something else has written another name in its file
// system, in place of a file that has it.
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

// syncDir puts a name on disk, if the file system and its rights allow for that.
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

// Sweep removes what killed processes have left of files that they would have called
// name, or of all in the directory of a name that ends in a separator.
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

// isPart says whether Create gave that name to a file for base, or, if base is empty,
// for any.
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

// removeUnlocked removes a file that no process has locked. One that is gone, or
// cannot be looked at, is none.
func removeUnlocked(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0) // NFS locks only what may be written
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
