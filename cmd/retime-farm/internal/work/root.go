package work

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.temporal.io/sdk/temporal"
)

// Root is the only directory in which a worker reads and writes.
type Root struct {
	dir string
	*os.Root
}

// OpenRoot opens the directory called dir.
func OpenRoot(dir string) (Root, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Root{}, err
	}
	r, err := os.OpenRoot(dir)
	return Root{dir, r}, err
}

// rel makes an absolute name relative to the root, and refuses names outside it. The result is for
// the methods of os.Root, which follow no link out of the root.
func (r Root) rel(name string) (string, error) {
	rel, err := filepath.Rel(r.dir, name)
	inside := err == nil && filepath.IsAbs(name) && filepath.IsLocal(rel)
	if inside && rel != "." {
		inside = !r.leadsOut(filepath.Dir(name))
	}
	if !inside {
		return "", temporal.NewNonRetryableApplicationError(fmt.Sprintf("%q is not inside %s, this worker's directory", name, r.dir), errGaveUp, err, 2)
	}
	return rel, nil
}

// leadsOut reports whether links take dir, an existing directory, out of the root.
func (r Root) leadsOut(dir string) bool {
	root, err := filepath.EvalSymlinks(r.dir)
	if err != nil {
		return false
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return false
	}
	rel, err := filepath.Rel(root, dir)
	return err != nil || !filepath.IsLocal(rel)
}

// confine returns the flags that keep retime inside the root.
func (r Root) confine() []string {
	if r.dir == "/" {
		return nil
	}
	return []string{"--confine=" + r.dir}
}

// move renames a file. If to exists and overwrite is not set, the error wraps fs.ErrExist.
func (r Root) move(from, to string, overwrite bool) error {
	if !overwrite {
		switch err := r.Link(from, to); {
		case err == nil:
			return r.Remove(from)
		case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
			return err
		}
		// The file system has no hard links: create the name to claim it.
		f, err := r.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		f.Close()
	}
	return r.Rename(from, to)
}
