package evaluate

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"retime/pipeline/atomicfile"
	"retime/pipeline/evaluate/report"
	"retime/pipeline/fault"
)

// The files of a report.
const (
	pageName = "report.html"
	dataName = "report.json"
)

// Files lists the names of a report's files.
var Files = []string{pageName, dataName}

// output is the directory for the reports; its zero value writes nothing.
type output struct {
	dir       string
	overwrite bool
	abandon   func() // removes the directory if newOutput has made it and nothing is in it
}

// newOutput makes sure, before the work begins, that dir can hold a report.
func newOutput(dir string, overwrite bool) (output, error) {
	if dir == "" {
		return output{abandon: func() {}}, nil
	}
	abandon, err := atomicfile.MakeDir(dir)
	if err != nil {
		abandon()
		return output{}, fault.New(fault.CannotWrite, "report: %w", err)
	}
	for _, name := range Files {
		_, err := os.Lstat(filepath.Join(dir, name))
		if err == nil && !overwrite {
			return output{}, fault.New(fault.CannotWrite, "report %q exists; Options.Overwrite overwrites it", filepath.Join(dir, name))
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return output{}, fault.New(fault.CannotWrite, "report: %w", err)
		}
	}
	_ = atomicfile.Sweep(dir + string(filepath.Separator))
	f, err := atomicfile.Create(filepath.Join(dir, pageName))
	if err != nil {
		return output{}, fault.New(fault.CannotWrite, "report: %w", err)
	}
	f.Discard()
	return output{dir, overwrite, abandon}, nil
}

// write writes both files atomically.
func (o output) write(r *report.Report) error {
	if o.dir == "" {
		return nil
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{dataName, r.WriteJSON}, {pageName, r.WriteHTML}} {
		if err := atomicfile.Write(filepath.Join(o.dir, f.name), o.overwrite, f.write); err != nil {
			return fault.New(fault.CannotWrite, "report: %w", err)
		}
	}
	return nil
}
