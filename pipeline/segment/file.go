package segment

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// temporary is a file on its way to its name, locked as long as its process
// lives, so that others can tell it from one that was left behind.
type temporary struct{ *os.File }

// partSuffix ends the names of temporary files.
const partSuffix = ".part"

func newTemporary(name string) (temporary, error) {
	dir, base := filepath.Split(name)
	for {
		f, err := os.CreateTemp(filepath.Clean(dir+"."), "."+base+".*"+partSuffix)
		if err != nil {
			return temporary{}, err
		}
		// Where files cannot be locked nobody takes them for left behind. Before it
		// is locked another process may sweep it.
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if _, err := os.Lstat(f.Name()); errors.Is(err, fs.ErrNotExist) {
			f.Close()
			continue
		}
		return temporary{f}, nil
	}
}

// commit gives the file its name, on disk.
func (t temporary) commit(name string) error {
	err := t.Chmod(0o644)
	if err == nil {
		err = t.Sync()
	}
	if err == nil {
		err = os.Rename(t.Name(), name)
	}
	if err != nil {
		t.discard()
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// discard removes the file.
func (t temporary) discard() {
	os.Remove(t.Name())
	t.Close()
}

// syncDir puts the names in a directory on disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// writeWhole writes a file that is there whole or not at all.
func writeWhole(name string, content []byte) error {
	t, err := newTemporary(name)
	if err != nil {
		return err
	}
	if _, err := t.Write(content); err != nil {
		t.discard()
		return err
	}
	return t.commit(name)
}

// sweep removes the temporary files in dir that killed processes have left.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if !strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), partSuffix) || !e.Type().IsRegular() {
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.Remove(name)
		}
		f.Close()
	}
}
