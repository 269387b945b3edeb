package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Sweep removes the unfinished files and directories that killed processes have left of
// name, which it follows if it is a link. If name ends in a separator, it removes those of all
// names in that directory.
func Sweep(name string) error {
	name, err := Follow(name)
	if err != nil {
		return err
	}
	dir, base := filepath.Split(name)
	dir = filepath.Clean(dir + ".")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var failed error
	for _, e := range entries {
		if (e.Type().IsRegular() || e.IsDir()) && isPart(e.Name(), base) {
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

// removeUnlocked removes a file or a directory that no process has locked. It skips one
// that is gone or that it cannot open.
func removeUnlocked(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0) // NFS locks only files that are open for writing
	if errors.Is(err, syscall.EISDIR) {
		f, err = os.Open(name)
	}
	if err != nil {
		return nil //nolint:nilerr // another process may have swept it
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil
	}
	return os.RemoveAll(name)
}
