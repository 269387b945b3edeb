package main

import (
	"os"
	"path/filepath"
	"slices"

	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// names returns the names of the flag's files, or patterns of such.
func (d *flag) names() []string {
	switch {
	case d.files != nil:
		return d.files()
	case d.path != nil && *d.path != "":
		return []string{*d.path}
	}
	return nil
}

// below returns the names of files in a directory; none for no directory.
func below(dir string, names ...string) (list []string) {
	if dir == "" {
		return nil
	}
	for _, name := range names {
		list = append(list, filepath.Join(dir, name))
	}
	return list
}

// checkWritten refuses, before any work, to write a file that the command reads or writes for
// another flag, too, or unless overwrite is set, any file that exists. Whether a file is read or
// written, the flags' definitions say; input is read in any case. The library looks at what is in
// the output's own place, and in directories.
func checkWritten(flags []flag, input string, overwrite bool) error {
	written := map[string]string{} // flags by the files
	for i := range flags {
		d := &flags[i]
		if d.use != outputFile && d.use != writesFile {
			continue
		}
		for _, name := range d.names() {
			switch {
			case name == "-" && d.use == outputFile:
				continue
			case name == "-":
				return fault.New(fault.Usage, "--%s -: want a file's name; standard output is for the video alone", d.name)
			}
			if err := checkRead(flags, input, d, name); err != nil {
				return err
			}
			if info, err := os.Stat(name); d.use == writesFile && d.files == nil && err == nil && info.Mode().IsRegular() && !overwrite {
				return fault.New(fault.CannotWrite, "--%s %q exists; -y overwrites it", d.name, name)
			}
			for other, by := range written {
				if media.Overlap(name, other) {
					return fault.New(fault.Usage, "--%s and --%s would both write %q; choose different names", by, d.name, name)
				}
			}
			written[name] = d.name
		}
	}
	return nil
}

// checkRead refuses a name for what d writes that is one of what the command reads.
func checkRead(flags []flag, input string, d *flag, name string) error {
	if input != "" && media.Overwrites(name, input) {
		return fault.New(fault.Usage, "--%s %q is the input; choose another name", d.name, name)
	}
	for i := range flags {
		if r := &flags[i]; r.use == readsFile && slices.ContainsFunc(r.names(), func(read string) bool { return media.Overwrites(name, read) }) {
			return fault.New(fault.Usage, "--%s %q is what --%s reads; choose another name", d.name, name, r.name)
		}
	}
	return nil
}

// beside returns the names of all files that flags name, except for the output.
func beside(flags []flag) (names []string) {
	for i := range flags {
		if d := &flags[i]; d.use == readsFile || d.use == writesFile {
			names = append(names, d.names()...)
		}
	}
	return names
}

// reading returns those of flags that name what is read.
func reading(flags []flag) []flag {
	return slices.DeleteFunc(flags, func(d flag) bool { return d.use != readsFile })
}
