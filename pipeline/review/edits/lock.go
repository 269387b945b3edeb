package edits

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// lock keeps other stores of the same files, in other processes, too, from comparing and saving
// until unlock is called. It locks the files' directories, one after another in the order of their
// names; where the file system has no locks, it does nothing.
func (s *Store) lock() (unlock func()) {
	var dirs []string
	for _, name := range s.names() {
		if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	var locked []*os.File
	for _, dir := range slices.Compact(dirs) {
		f, err := os.Open(dir)
		if err != nil {
			continue
		}
		locked = append(locked, f)
		for syscall.Flock(int(f.Fd()), syscall.LOCK_EX) == syscall.EINTR {
		}
	}
	return func() {
		for _, f := range locked {
			f.Close()
		}
	}
}
