package main

import (
	"os"
	"path/filepath"

	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// checkWritten refuses, before any work, to write a file that a flag names in the place of the
// input or of another one that is written, or unless overwrite is set, of any file. The library
// checks the output itself.
func checkWritten(flags []flag, input string, overwrite bool) error {
	type file struct{ flag, name string }
	var written []file
	for _, d := range flags {
		if d.use != outputFile && d.use != writesFile || *d.path == "" || d.use == outputFile && *d.path == "-" {
			continue
		}
		f := file{"--" + d.name, *d.path}
		if d.arg == "DIR" {
			f.name = filepath.Join(f.name, mapPattern)
		}
		if d.use == writesFile {
			switch info, err := os.Stat(f.name); {
			case media.Overwrites(f.name, input):
				return fault.New(fault.Usage, "%s %q is the input; choose another name", f.flag, *d.path)
			case err == nil && info.Mode().IsRegular() && !overwrite:
				return fault.New(fault.CannotWrite, "%s %q exists; -y overwrites it", f.flag, *d.path)
			}
		}
		for _, other := range written {
			if media.Overlap(f.name, other.name) {
				return fault.New(fault.Usage, "%s and %s would both write %q; choose different names", other.flag, f.flag, *d.path)
			}
		}
		written = append(written, f)
	}
	return nil
}
