package media

import (
	"os"
	"path/filepath"
	"slices"

	"retime/pipeline/atomicfile"
)

// Overlap reports whether a and b, which are written, name a file together: one file by whatever
// links, which need not exist, or one of the pictures of an image sequence that exist. Devices and
// pipes, which hold nothing that could be overwritten, do not count.
func Overlap(a, b string) bool { return overlap(writtenTo(a), writtenTo(b)) }

// Overwrites reports whether name, which is written, and input name a file together, as Overlap
// says. The input may also be a glob, or "-", which is the file that standard input is read from.
func Overwrites(name, input string) bool { return overlap(writtenTo(name), Files(input)) }

// writtenTo returns the pictures that exist of the image sequence called name, or else name.
func writtenTo(name string) []string {
	if !IsSequence(name) {
		return []string{name}
	}
	return Files(name)
}

// Files returns the pictures of the image sequence or the glob called name, or else name; for
// "-" what standard input is.
func Files(name string) (files []string) {
	if name == "-" {
		if name = atomicfile.StandardInput(); name == "" {
			return nil
		}
		return []string{name}
	}
	list, _ := pictures(name) // opening the input reports the error
	for _, p := range list {
		files = append(files, p.file)
	}
	if files == nil {
		return []string{name}
	}
	return files
}

func overlap(a, b []string) bool {
	of := map[identity]bool{}
	for _, name := range a {
		of[identify(name)] = true
	}
	delete(of, identity{})
	return slices.ContainsFunc(b, func(name string) bool { return of[identify(name)] })
}

// identity tells regular files apart: by their inode, or before they exist by their path.
type identity struct {
	device, inode uint64
	path          string
}

// identify returns the zero identity for what is no regular file.
func identify(name string) identity {
	info, err := os.Stat(name)
	if err != nil {
		path, err := filepath.Abs(name)
		if dir, e := filepath.EvalSymlinks(filepath.Dir(path)); e == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		if err != nil {
			return identity{}
		}
		return identity{path: atomicfile.Fold(path)}
	}
	if device, inode, ok := atomicfile.Identity(name, info); ok {
		return identity{device: device, inode: inode}
	}
	return identity{}
}
