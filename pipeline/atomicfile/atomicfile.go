// Package atomicfile writes files that exist whole and on disk, or not at all.
//
// It writes a file beside its final name, as .NAME.NUMBER.part, and renames it. A link that a
// user names stays one: Follow tells the name of its file. Other hard links to a file keep what
// they had. A file that
// is there is replaced only by those who ask for it, even if it came in the meantime. The
// writing process holds a lock on the file, so that Sweep can tell which files a killed
// process of the same machine has left behind. A directory for unfinished files goes by the same rules.
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
	"syscall"
)

// File is a file that is being written. Commit or Discard ends it.
type File struct {
	*os.File
	forget func()
}

const suffix = ".part"

// Create opens a new file beside name, with the permissions of os.Create. If name exists,
// it must be a regular file that can be replaced.
func Create(name string) (File, error) {
	if info, err := os.Stat(name); err == nil {
		if err = replaceable(name, info); !info.Mode().IsRegular() {
			err = errors.New("exists, and is not a regular file")
		}
		if err != nil {
			return File{}, &fs.PathError{Op: "create", Path: name, Err: err}
		}
	}
	f, forget, err := create(name, func(part string) (*os.File, error) {
		f, err := createPart(part)
		if err == nil {
			lockPart(f)
		}
		return f, err
	})
	return File{f, forget}, err
}

// Part returns a new name for an unfinished file that is to become name.
func Part(name string) string {
	dir, base := filepath.Split(name)
	m := here()
	return fmt.Sprintf("%s.%s.%s%s%08x%s", dir, base, m.host, m.boot, rand.Uint32(), suffix)
}

// create opens a new part of name, which open locks. Abandon removes it until forget is called.
func create(name string, open func(part string) (*os.File, error)) (f *os.File, forget func(), err error) {
	for {
		part := Part(name)
		forget := OnAbandon(func() { removeAll(part) })
		f, err := open(part)
		if err != nil {
			forget()
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			return nil, nil, err
		}
		// Before this file was locked, another process may have swept it.
		if _, err := os.Lstat(f.Name()); errors.Is(err, fs.ErrNotExist) {
			f.Close()
			forget()
			continue
		}
		return f, forget, nil
	}
}

// removeAll removes a file or a directory, into which others may still be writing.
func removeAll(name string) {
	for range 10 {
		if os.RemoveAll(name) == nil {
			return
		}
	}
}

// ErrNotOnDisk says that a file has its content and its name, but that a power failure may yet
// undo that, because the file could not be closed or its directory could not be put on disk.
var ErrNotOnDisk = errors.New("the file is written, but a power failure may yet undo that")

// Commit closes the file, puts it on disk and gives it name, which must be in the
// directory given to Create. If name exists and overwrite is not set, the error wraps
// fs.ErrExist, and the file waits for another Commit or for Discard. After any other error
// the unfinished file is gone, and name is as it was unless the error wraps ErrNotOnDisk.
func (f File) Commit(name string, overwrite bool) error {
	err := f.Sync()
	if err == nil {
		err = Move(f.Name(), name, overwrite)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	} else if err != nil {
		f.Discard()
		return err
	}
	f.forget()
	syncErr := syncDir(name)
	if err := f.Close(); err != nil {
		return fmt.Errorf("%w: %w", ErrNotOnDisk, err)
	}
	return syncErr
}

// Discard closes and removes the file.
func (f File) Discard() {
	os.Remove(f.Name())
	f.Close()
	f.forget()
}

// Dir is a directory for unfinished files. Only the user who creates it may enter it.
type Dir struct {
	lock   *os.File
	forget func()
}

// CreateDir makes a new directory beside name.
func CreateDir(name string) (Dir, error) {
	f, forget, err := create(name, func(part string) (*os.File, error) {
		if err := os.Mkdir(part, 0o700); err != nil {
			return nil, err
		}
		f, err := openDir(part, true)
		if errors.Is(err, fs.ErrNotExist) {
			err = fs.ErrExist // another process has swept it: take another name
		}
		return f, err
	})
	return Dir{f, forget}, err
}

// Name returns the directory's name.
func (d Dir) Name() string { return d.lock.Name() }

// Remove removes the directory with all that is in it.
func (d Dir) Remove() error {
	err := os.RemoveAll(d.Name())
	d.lock.Close()
	d.forget()
	return err
}

// Write creates the file called name with the content that write writes. If name exists
// and overwrite is not set, the error wraps fs.ErrExist. After an error an existing file is
// as it was, unless the error wraps ErrNotOnDisk. Write follows links, and writes to a device or
// a pipe directly.
func Write(name string, overwrite bool, write func(io.Writer) error) error {
	name, err := Follow(name)
	if err != nil {
		return err
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return writeDirectly(name, write)
	}
	return put(name, overwrite, write)
}

// Replace is Write for a file whose name nobody chose: it overwrites a file or a link, and
// refuses a device or a pipe.
func Replace(name string, write func(io.Writer) error) error { return put(name, true, write) }

func put(name string, overwrite bool, write func(io.Writer) error) error {
	f, err := Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Commit(name, overwrite)
	}
	if err != nil {
		f.Discard()
	}
	return err
}

func writeDirectly(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	if err = write(b); err == nil {
		err = b.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// WriteFile is Write with the given content.
func WriteFile(name string, overwrite bool, content []byte) error {
	return Write(name, overwrite, all(content))
}

// ReplaceFile is Replace with the given content.
func ReplaceFile(name string, content []byte) error { return Replace(name, all(content)) }

func all(content []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(content); return err }
}

// Rename puts the file from on disk and renames it to to, in the same file system. If to
// exists and overwrite is not set, the error wraps fs.ErrExist. After an error from keeps its
// name, unless the error wraps ErrNotOnDisk.
func Rename(from, to string, overwrite bool) error {
	f, err := openToSync(from)
	if err != nil {
		return err
	}
	err = f.Sync()
	f.Close()
	if err == nil {
		err = Move(from, to, overwrite)
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
		return fmt.Errorf("%w: %w", ErrNotOnDisk, err)
	}
	defer d.Close()
	if err := syncOpen(d); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%w: %w", ErrNotOnDisk, err)
	}
	return nil
}

// syncOpen puts an open directory on disk. Tests have it fail.
var syncOpen = syncDirectory
