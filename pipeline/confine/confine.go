// Package confine keeps what a conversion reads and writes below a directory, for services
// that convert by job files and plans of people whom they do not trust.
//
// The checks resolve links when they are called. Nobody may move directories, or put links
// into them, between a check and the use of the file.
package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Dir is a directory outside which nothing may be read or written. The zero Dir permits
// everything.
type Dir struct{ path string } // without links; empty to permit everything

// New returns the Dir for the directory called name, and the zero Dir if name is empty.
func New(name string) (Dir, error) {
	if name == "" {
		return Dir{}, nil
	}
	path, err := filepath.Abs(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return Dir{}, err
	}
	if info, err := os.Stat(path); err != nil {
		return Dir{}, err
	} else if !info.IsDir() {
		return Dir{}, fmt.Errorf("%s is no directory", name)
	}
	return Dir{path}, nil
}

// On reports whether d forbids anything.
func (d Dir) On() bool { return d.path != "" }

// Check returns an error if the file called name lies outside d once all links are
// resolved. The file, and directories on the way to it, need not exist.
func (d Dir) Check(name string) error {
	if !d.On() {
		return nil
	}
	if !filepath.IsAbs(name) {
		here, err := os.Getwd()
		if err != nil {
			return err
		}
		name = here + string(filepath.Separator) + name // not Join, which would take "link/.." for "."
	}
	path, err := resolve(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if path != d.path && !strings.HasPrefix(path, strings.TrimSuffix(d.path, string(filepath.Separator))+string(filepath.Separator)) { // a root ends in one
		return fmt.Errorf("%s is outside %s", path, d.path)
	}
	return nil
}

// CheckTree is Check for a directory and every link in it, at any depth. The directory
// need not exist.
func (d Dir) CheckTree(name string) error {
	if err := d.Check(name); err != nil || !d.On() {
		return err
	}
	err := filepath.WalkDir(name+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSymlink == 0 {
			return err
		}
		return d.Check(path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// resolve returns name without links. What does not exist has none.
func resolve(name string) (string, error) {
	path, err := filepath.EvalSymlinks(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", errors.New("is a link that leads nowhere")
	}
	name = strings.TrimRight(name, string(filepath.Separator))
	above, last := filepath.Split(name)
	if last == ".." {
		return "", errors.New("leads through a directory that does not exist")
	}
	if above == "" || above == name {
		return "", err
	}
	if above, err = resolve(above); err != nil {
		return "", err
	}
	return filepath.Join(above, last), nil
}
