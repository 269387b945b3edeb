package media

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"retime/pipeline/fault"
)

// sequenceFiles are the files of an image sequence, which are in a temporary directory
// until commit gives them their names.
type sequenceFiles struct {
	name     string
	dir      string // temporary directory; empty after commit
	sequence sequence
	numbers  []int // the files' numbers; nil to keep FFmpeg's
}

// sequenceTarget returns the target for an image sequence. It creates a directory, which
// package atomicfile cannot do, and names it like the files of atomicfile.
func sequenceTarget(name string, s sequence, overwrite bool, numbers []int) (target, error) {
	there, err := s.numbers()
	if err != nil {
		return target{}, fault.New(fault.CannotWrite, "output %q: %w", name, err)
	}
	if len(there) > 0 && !overwrite {
		return target{}, fault.New(fault.CannotWrite, "output %q: %d such files exist; Output.Overwrite overwrites them", name, len(there))
	}
	dir, err := os.MkdirTemp(s.dir, ".sequence.*.part")
	if err != nil {
		return target{}, fault.New(fault.CannotWrite, "output %q: %w", name, err)
	}
	if strings.Contains(dir, "%") {
		os.Remove(dir)
		return target{}, fault.New(fault.CannotWrite, "output %q: the directory's name must not contain %%", name)
	}
	return target{name, "file:" + filepath.Join(dir, filepath.Base(name)), &sequenceFiles{name, dir, s, numbers}}, nil
}

// commit moves the files to their directory and renames them to their numbers.
func (q *sequenceFiles) commit(partial bool) (string, error) {
	entries, err := os.ReadDir(q.dir)
	if err != nil {
		return "", err
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int {
		m, _ := q.sequence.number(a.Name())
		n, _ := q.sequence.number(b.Name())
		return cmp.Compare(m, n)
	})
	for k, e := range entries {
		to := e.Name()
		if k < len(q.numbers) {
			to = q.sequence.file(q.numbers[k])
		}
		if partial {
			to = partialName(to)
		}
		if err := os.Rename(filepath.Join(q.dir, e.Name()), filepath.Join(q.sequence.dir, to)); err != nil {
			return "", err
		}
	}
	if err := os.Remove(q.dir); err != nil {
		return "", err
	}
	q.dir = ""
	if partial {
		return partialName(q.name), nil
	}
	return q.name, nil
}

func (q *sequenceFiles) discard() {
	if q.dir != "" {
		os.RemoveAll(q.dir)
		q.dir = ""
	}
}

func (*sequenceFiles) reread() bool { return false }
