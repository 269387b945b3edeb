package still

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
)

// Output is a file to write.
type Output struct {
	name      string
	format    *format
	overwrite bool
	regular   bool // a regular or new file, which Write replaces by renaming
}

// NewOutput makes sure, before the work begins, that a picture can be written to the
// file called name. The extension of name decides the format. source, the file that the
// picture is made from, must be another file. overwrite permits name to exist.
func NewOutput(name, source string, overwrite bool) (*Output, error) {
	if name == "" {
		return nil, fault.New(fault.Usage, "no output; name one with -o")
	}
	f, err := formatOf(name)
	if err != nil {
		return nil, err
	}
	o := &Output{name, f, overwrite, true}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return nil, fault.New(fault.CannotWrite, "output %q is a directory; name a file in it", name)
	case err == nil && sameFile(info, source):
		return nil, fault.New(fault.Usage, "output %q is the input; choose another name", name)
	case err == nil && !info.Mode().IsRegular():
		o.regular = false
		return o, nil
	case err == nil && !overwrite:
		return nil, fault.New(fault.CannotWrite, "output %q exists; -y overwrites it", name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.CannotWrite, "output %w", err)
	}
	dir := filepath.Dir(name)
	if info, err := os.Stat(dir); err != nil {
		return nil, fault.New(fault.CannotWrite, "output %q: %w", name, err)
	} else if !info.IsDir() {
		return nil, fault.New(fault.CannotWrite, "output %q: %s is not a directory", name, dir)
	}
	return o, nil
}

func sameFile(info fs.FileInfo, source string) bool {
	other, err := os.Stat(source)
	return err == nil && os.SameFile(info, other)
}

// Check returns a fault.Usage error if the format cannot hold a picture with the
// channels and samples of p.
func (o *Output) Check(p *Picture) error {
	if err := o.format.holds(p); err != nil {
		return fault.New(fault.Usage, "output %q: %w", o.name, err)
	}
	return nil
}

// Dropped returns the names of the PNG chunks about p's colour space, density,
// orientation and text that the output cannot hold. Decode reads no such data from
// other formats.
func (o *Output) Dropped(p *Picture) []string {
	if o.format.name == "PNG" {
		return nil
	}
	var names []string
	for _, c := range p.chunks {
		names = append(names, c.kind())
	}
	return names
}

// Write writes p under another name and renames the file once it is whole and on disk. A
// file that came in the meantime is an error unless overwrite was set.
// It writes to devices and pipes directly.
//
// Write rounds whole samples to the nearest, ties upwards, and clamps them to the range
// of the format: 0 to Max in PGM and PPM, and to 255 or 65535 in PNG and TIFF, to which
// it scales up a Max in between. It keeps floating-point samples, rounded to float32 if
// the format or the picture has that type; a sample that is not finite then is an
// error.
func (o *Output) Write(p *Picture) error {
	if err := o.Check(p); err != nil {
		return err
	}
	if err := o.write(p); err != nil {
		return fault.New(fault.CannotWrite, "write %q: %w", o.name, err)
	}
	return nil
}

func (o *Output) write(p *Picture) error {
	if o.regular {
		_ = atomicfile.Sweep(o.name) // the remains of a killed run hinder nobody
		return atomicfile.Write(o.name, o.overwrite, func(w io.Writer) error { return o.format.encode(w, p) })
	}
	f, err := os.OpenFile(o.name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = o.format.encode(f, p)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
