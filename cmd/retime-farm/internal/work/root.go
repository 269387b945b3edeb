package work

import (
	"fmt"
	"os"
	"path/filepath"

	"go.temporal.io/sdk/temporal"
)

// Root is the directory outside which a worker reads and writes nothing.
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

// rel returns the name from the root of the file with an absolute name, and refuses one
// outside. Methods of os.Root take it, and follow no link out of the root, either.
func (r Root) rel(name string) (string, error) {
	rel, err := filepath.Rel(r.dir, name)
	inside := err == nil && filepath.IsAbs(name) && filepath.IsLocal(rel)
	if inside && rel != "." {
		inside = !r.leadsOut(filepath.Dir(name))
	}
	if !inside {
		return "", temporal.NewNonRetryableApplicationError(fmt.Sprintf("%q does not lie in %s, the directory of this worker", name, r.dir), errGaveUp, err, 2)
	}
	return rel, nil
}

// leadsOut reports whether a directory, which exists, lies elsewhere than its name says.
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

// confine returns the flags by which retime keeps to the root.
func (r Root) confine() []string {
	if r.dir == "/" {
		return nil
	}
	return []string{"--confine=" + r.dir}
}
