package atomicfile

import (
	"os"
	"path/filepath"
)

// MakeDir makes a directory, with those above it, as os.MkdirAll does. tidy removes those that MakeDir has made if
// nothing is in them, and Abandon does so before tidy is called.
func MakeDir(dir string) (tidy func(), err error) {
	var made []string // the innermost first
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		made = append(made, d)
	}
	remove := func() {
		for _, d := range made {
			if os.Remove(d) != nil { // something is in it
				return
			}
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return remove, err
	}
	forget := OnAbandon(remove)
	return func() { forget(); remove() }, nil
}
