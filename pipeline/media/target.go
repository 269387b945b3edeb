package media

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/media/av"
)

// target is the place that an output is written to.
type target struct {
	name string // the name for messages
	url  string // as FFmpeg opens it
	destination
}

// destination names or discards an output after it is written to the target's URL.
type destination interface {
	// commit gives the output its name, or the first free name of a partial output if
	// partial is set, and returns that name. If a file that must stay has come to have the
	// output's name, the error names the partial one under which the output is kept.
	commit(partial bool) (name string, err error)
	// discard removes an output that was not committed.
	discard()
	// reread reports whether the output can be read before commit.
	reread() bool
}

// CheckOutput returns the error with which Create refuses the name of an output for a source of a name, and makes
// nothing. The error wraps fs.ErrNotExist if the output's directory is not there.
func CheckOutput(name, source string, opt WriterOptions) error {
	if err := confineOutput(opt.Confine, name); err != nil {
		return err
	}
	_, err := planTarget(name, source, &opt)
	return err
}

// newTarget returns the target for an output called name. source is the input's name, whose
// files the output must not have. The target warns opt.Log of files that it leaves of an
// earlier sequence.
func newTarget(name, source string, opt *WriterOptions) (target, error) {
	begin, err := planTarget(name, source, opt)
	if err != nil {
		return target{}, err
	}
	return begin()
}

// planTarget returns what makes the target of newTarget.
func planTarget(name, source string, opt *WriterOptions) (begin func() (target, error), err error) {
	there := func(t target) (func() (target, error), error) {
		return func() (target, error) { return t, nil }, nil
	}
	if name == "" {
		return nil, fault.New(fault.Usage, "no output; name one with Output.File")
	}
	if name == "-" && av.StandardOutputClosed() {
		return nil, fault.New(fault.CannotWrite, "output: standard output is closed")
	}
	if name == "-" {
		return there(target{"standard output", "pipe:1", direct("standard output")})
	}
	if err := checkView("output", name); err != nil {
		return nil, err
	}
	info, err := os.Stat(name)
	if s, ok := outputSequence(name, opt.Container.Format); ok {
		return planSequence(name, s, source, opt)
	}
	switch {
	case err == nil && info.IsDir():
		return nil, fault.New(fault.CannotWrite, "output %q is a directory; name a file in it", name)
	case err == nil && overlap([]string{name}, Files(source)):
		return nil, fault.New(fault.Usage, "output %q is the input; choose another name", name)
	case err == nil && !info.Mode().IsRegular():
		return there(target{name, "file:" + name, direct(name)})
	case err == nil && !opt.Overwrite:
		return nil, fault.New(fault.CannotWrite, "output %q exists; Output.Overwrite overwrites it", name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.CannotWrite, "output %w", err)
	case strings.Contains(name, "://"):
		return there(target{name, name, direct(name)})
	}
	return planFile(name, partials{opt.Overwrite, append([]string{source}, opt.Keep...)})
}

// direct is a pipe, a device or a URL that is written in place.
type direct string

func (d direct) commit(bool) (string, error) { return string(d), nil }
func (direct) discard()                      {}
func (direct) reread() bool                  { return false }

// namedFile is a file with a temporary name in the same directory until commit renames
// it.
type namedFile struct {
	name string // as the user gave it, which may be a link
	file string // what that leads to
	atomicfile.File
	partials partials
	done     bool
}

// planFile is planTarget for a file.
func planFile(name string, p partials) (begin func() (target, error), err error) {
	file, err := atomicfile.Follow(name)
	if err != nil {
		return nil, fault.New(fault.CannotWrite, "output %w", err)
	}
	dir, _ := filepath.Split(file)
	if info, err := os.Stat(filepath.Clean(dir + ".")); err != nil {
		return nil, fault.New(fault.CannotWrite, "output %q: %w", name, err)
	} else if !info.IsDir() {
		return nil, fault.New(fault.CannotWrite, "output %q: %s is not a directory", name, dir)
	}
	return func() (target, error) {
		_ = atomicfile.Sweep(file) // what is left of a killed run hinders nobody
		f, err := atomicfile.Create(file)
		if err != nil {
			return target{}, fault.New(fault.CannotWrite, "write %q: %w", name, errors.Unwrap(err))
		}
		return target{name, "file:" + f.Name(), &namedFile{name: name, file: file, File: f, partials: p}}, nil
	}, nil
}

func (f *namedFile) commit(partial bool) (string, error) {
	name, err := f.partials.commit(f.file, partial, func(n int) []string { return []string{nameOf(f.file, n)} }, func(names []string) error {
		err := f.Commit(names[0], f.partials.overwrite)
		f.done = !errors.Is(err, fs.ErrExist) // after other errors, too: Commit then leaves no temporary file
		return err
	})
	if name == f.file {
		name = f.name
	}
	return name, err
}

func (f *namedFile) discard() {
	if !f.done {
		f.done = true
		f.Discard()
	}
}

func (*namedFile) reread() bool { return true }
