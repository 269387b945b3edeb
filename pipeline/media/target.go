package media

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
)

// target is where an output goes.
type target struct {
	name string // as the user gave it
	url  string // as FFmpeg opens it
	destination
}

// destination is what becomes of what is written to a target's URL.
type destination interface {
	// commit gives it its name, on disk, or with partial set that of what could be made.
	commit(partial bool) (name string, err error)
	// discard removes what was not committed.
	discard()
	// reread says whether it can be read before it is committed.
	reread() bool
}

// newTarget returns where an output called name goes. numbers are those of the files of
// an image sequence, nil to count from 1.
func newTarget(name, source string, overwrite bool, numbers []int) (target, error) {
	if name == "" {
		return target{}, fault.New(fault.Usage, "no output; name one with -o")
	}
	if name == "-" {
		return target{"standard output", "pipe:1", direct("standard output")}, nil
	}
	info, err := os.Stat(name)
	if s, ok := newSequence(name); ok && err != nil {
		return sequenceTarget(name, s, overwrite, numbers)
	}
	switch {
	case err == nil && info.IsDir():
		return target{}, fault.New(fault.CannotWrite, "output %q is a directory; name a file in it", name)
	case err == nil && sameFile(info, source):
		return target{}, fault.New(fault.Usage, "output %q is the input; choose another name", name)
	case err == nil && !info.Mode().IsRegular():
		return target{name, "file:" + name, direct(name)}, nil
	case err == nil && !overwrite:
		return target{}, fault.New(fault.CannotWrite, "output %q exists; -y overwrites it", name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return target{}, fault.New(fault.CannotWrite, "output %w", err)
	case strings.Contains(name, "://"):
		return target{name, name, direct(name)}, nil
	}
	return fileTarget(name)
}

// direct is a pipe, a device or a URL that is written as it is.
type direct string

func (d direct) commit(bool) (string, error) { return string(d), nil }
func (direct) discard()                      {}
func (direct) reread() bool                  { return false }

// namedFile is a file that is written beside its name and then renamed.
type namedFile struct {
	name string
	atomicfile.File
	done bool
}

func fileTarget(name string) (target, error) {
	dir, _ := filepath.Split(name)
	if info, err := os.Stat(filepath.Clean(dir + ".")); err != nil {
		return target{}, fault.New(fault.CannotWrite, "output %q: %w", name, err)
	} else if !info.IsDir() {
		return target{}, fault.New(fault.CannotWrite, "output %q: %s is not a directory", name, dir)
	}
	f, err := atomicfile.Create(name)
	if err != nil {
		return target{}, fault.New(fault.CannotWrite, "write %q: %w", name, errors.Unwrap(err))
	}
	return target{name, "file:" + f.Name(), &namedFile{name: name, File: f}}, nil
}

func (f *namedFile) commit(partial bool) (string, error) {
	name := f.name
	if partial {
		name = partialName(name)
	}
	f.done = true // also after an error, which leaves nothing
	return name, f.Commit(name)
}

func (f *namedFile) discard() {
	if !f.done {
		f.done = true
		f.Discard()
	}
}

func (*namedFile) reread() bool { return true }

func sameFile(info fs.FileInfo, source string) bool {
	other, err := os.Stat(source)
	return err == nil && info.Mode().IsRegular() && os.SameFile(info, other)
}

// partialName is the name of what could be made of name.
func partialName(name string) string {
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + ".partial" + ext
}
