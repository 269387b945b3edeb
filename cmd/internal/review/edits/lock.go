package edits

import (
	"io"
	"path/filepath"
	"slices"

	"retime/pipeline/atomicfile"
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
	var locked []io.Closer
	for _, dir := range slices.Compact(dirs) {
		if l, err := atomicfile.LockDir(dir, true); err == nil {
			locked = append(locked, l)
		}
	}
	return func() {
		for _, l := range locked {
			l.Close()
		}
	}
}
