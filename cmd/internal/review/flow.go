package review

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
)

// openCache makes a directory for optical flow in dir, and removes those that killed servers of
// the same user have left there.
func openCache(dir string) (*atomicfile.Dir, error) {
	user := ""
	if id := os.Getuid(); id >= 0 { // Windows' users have directories of their own for temporary files
		user = fmt.Sprintf("-%d", id)
	}
	name := filepath.Join(dir, "retime-review"+user)
	_ = atomicfile.Sweep(name) // what stays hinders nobody
	d, err := atomicfile.CreateDir(name)
	if err != nil {
		return nil, fault.New(fault.CannotWrite, "review: %w", err)
	}
	return &d, nil
}

// flowBytes bounds the optical flow that a session keeps on disk, so that a film does not fill
// it. What goes beyond between two looks is a few seconds' work.
const flowBytes = 1 << 30

// trimFlow keeps the sessions' directories of optical flow within flowBytes.
func (s *Server) trimFlow() {
	for s.sleep(5 * time.Second) {
		for _, c := range s.open() {
			if c.cache != nil {
				trim(c.cache.Name(), flowBytes)
			}
		}
	}
}

// trim removes the oldest files of flow in dir beyond a number of bytes. Whoever wants one of
// them estimates it again.
func trim(dir string, most int64) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.flow"))
	type file struct {
		name string
		info fs.FileInfo
	}
	var files []file
	for _, name := range names {
		if info, err := os.Stat(name); err == nil { // or the session was closed meanwhile
			files = append(files, file{name, info})
			most -= info.Size()
		}
	}
	slices.SortFunc(files, func(a, b file) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	for _, f := range files {
		if most >= 0 {
			return
		}
		if os.Remove(f.name) == nil {
			most += f.info.Size()
		}
	}
}
