package batch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// stamp distinguishes versions of a file.
type stamp struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

// stampOf returns the stamp of a file; zero if the file does not exist.
func stampOf(name string) stamp {
	info, err := os.Stat(name)
	if err != nil {
		if info, err = os.Lstat(name); err != nil { // a dangling link exists as well
			return stamp{}
		}
	}
	return stamp{info.Size(), info.ModTime().UTC()}
}

// written returns the stamps of j.Writes; zero for devices, pipes and empty directories, which hold
// nothing.
func (j *Job) written() (list []stamp) {
	for _, name := range j.Writes {
		s := stampOf(name)
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			if within, err := os.ReadDir(name); err != nil || len(within) == 0 {
				s = stamp{}
			}
		}
		list = append(list, s)
	}
	return list
}

func (s stamp) exists() bool { return !s.Modified.IsZero() }

func (s stamp) equal(t stamp) bool { return s.Size == t.Size && s.Modified.Equal(t.Modified) }

// inputs returns a hash of the sizes and times of the files that j reads, including every picture
// of an image sequence or a glob.
func (j *Job) inputs() string {
	h := sha256.New()
	add := func(name string) {
		s := stampOf(name)
		if full, err := canonical(name); err == nil {
			name = full
		}
		fmt.Fprintf(h, "%q %d %d\n", name, s.Size, s.Modified.UnixNano())
	}
	for _, name := range append([]string{j.Input}, j.Reads...) {
		add(name)
		for _, file := range media.Files(name) {
			if file != name {
				add(file)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// InputSize returns how many bytes the input has, with every picture of an image sequence or a glob.
func (j *Job) InputSize() (sum int64) {
	for _, file := range media.Files(j.Input) {
		sum += stampOf(file).Size
	}
	return sum
}

func (j *Job) settings() string {
	h := sha256.Sum256([]byte(j.Settings))
	return hex.EncodeToString(h[:])
}

// canonical returns one name for a file, whatever links lead to it. The file need not
// exist.
func canonical(name string) (string, error) {
	full, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	rest := ""
	for at := full; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest), nil
		}
		if at == filepath.Dir(at) {
			return full, nil
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// fileID identifies a file whichever hard link names it.
type fileID struct{ device, inode uint64 }

func identify(name string) (fileID, bool) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return fileID{}, false
	}
	device, inode, ok := atomicfile.Identity(name, info)
	return fileID{device, inode}, ok
}

// checkFiles returns the canonical names of the outputs. It returns a fault.Usage error
// if two jobs write the same file, or one writes a file that any of them reads.
func checkFiles(jobs []Job) ([]string, error) {
	read, readIDs := map[string]int{}, map[fileID]int{}
	for i := range jobs {
		for _, name := range append([]string{jobs[i].Input}, jobs[i].Reads...) {
			full, err := canonical(name)
			if err != nil {
				return nil, fault.New(fault.NoInput, "input %q: %w", name, err)
			}
			read[atomicfile.Fold(full)] = i
			if id, ok := identify(name); ok {
				readIDs[id] = i
			}
		}
	}
	keys, written := make([]string, len(jobs)), map[string]int{}
	for i := range jobs {
		for n, name := range append([]string{jobs[i].Output}, jobs[i].Writes...) {
			if name == "" {
				return nil, fault.New(fault.Usage, "no output for %q", jobs[i].Input)
			}
			full, err := canonical(name)
			if err != nil {
				return nil, fault.New(fault.CannotWrite, "output %q: %w", name, err)
			}
			if n == 0 {
				keys[i] = full
			}
			other, clash := read[atomicfile.Fold(full)]
			if id, ok := identify(name); !clash && ok {
				other, clash = readIDs[id]
			}
			if clash {
				return nil, fault.New(fault.Usage, "%q, which is made from %q, is what %q is made from; choose another name", name, jobs[i].Input, jobs[other].Output)
			}
			if other, clash = written[atomicfile.Fold(full)]; clash {
				return nil, fault.New(fault.Usage, "%q would be written twice, from %q and from %q; choose different names", name, jobs[other].Input, jobs[i].Input)
			}
			written[atomicfile.Fold(full)] = i
		}
	}
	return keys, nil
}
