package media

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/media/sequence"
)

// sequenceFiles are the files of an image sequence, which are in a temporary directory
// until commit gives them their names.
type sequenceFiles struct {
	name     string
	dir      atomicfile.Dir
	done     bool
	sequence sequence.Pattern
	number   func(k int) int // of the k-th file; nil to keep FFmpeg's
	partials partials
	old      []int // numbers of the files that were there before, ascending
	log      *slog.Logger
}

// planSequence is planTarget for an image sequence.
func planSequence(name string, s sequence.Pattern, source string, opt *WriterOptions) (begin func() (target, error), err error) {
	there, err := s.Numbers()
	if err != nil {
		return nil, fault.New(fault.CannotWrite, "output %q: %w", name, err)
	}
	if len(there) > 0 && overlap(filesWith(s, there), Files(source)) {
		return nil, fault.New(fault.Usage, "output %q has pictures of the input; choose another name", name)
	}
	if len(there) > 0 && !opt.Overwrite {
		return nil, fault.New(fault.CannotWrite, "output %q: %d such files exist; Output.Overwrite overwrites them", name, len(there))
	}
	for _, file := range filesWith(s, there) {
		if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
			return nil, fault.New(fault.CannotWrite, "output %q: picture %q is a link or no file, and cannot be overwritten; remove it", name, file)
		}
	}
	if opt.Number != nil {
		if err := s.CheckFirst(opt.Number(0)); err != nil {
			return nil, fault.New(fault.Usage, "output %q: %w", name, err)
		}
	}
	if strings.Contains(s.Dir, "%") {
		return nil, fault.New(fault.CannotWrite, "output %q: the directory's name must not contain %%", name)
	}
	base, ok := s.Printf()
	if !ok {
		return nil, fault.New(fault.CannotWrite, "output %q: a name with a number must not contain %%", name)
	}
	return func() (target, error) {
		part := filepath.Join(s.Dir, "sequence") // FFmpeg would take the name's own % for a number
		_ = atomicfile.Sweep(part)
		dir, err := atomicfile.CreateDir(part)
		if err != nil {
			return target{}, fault.New(fault.CannotWrite, "output %q: %w", name, fault.Plain(err))
		}
		return target{name, "file:" + filepath.Join(dir.Name(), base), &sequenceFiles{
			name: name, dir: dir, sequence: s, number: opt.Number, partials: partials{opt.Overwrite, append([]string{source}, opt.Keep...)}, old: there, log: opt.Log,
		}}, nil
	}, nil
}

// commit moves the files to their directory and renames them to their numbers.
func (q *sequenceFiles) commit(partial bool) (string, error) {
	entries, err := os.ReadDir(q.dir.Name())
	if err != nil {
		return "", err
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int {
		m, _ := q.sequence.Number(a.Name())
		n, _ := q.sequence.Number(b.Name())
		return cmp.Compare(m, n)
	})
	files := func(n int) (names []string) {
		for k, e := range entries {
			to := e.Name()
			if q.number != nil {
				to = q.sequence.Base(q.number(k))
			}
			names = append(names, filepath.Join(q.sequence.Dir, nameOf(to, n)))
		}
		return names
	}
	name, err := q.partials.commit(q.name, partial, files, func(names []string) error { return q.place(entries, names) })
	if err != nil && fault.KindOf(err) != fault.CannotWrite {
		return "", err
	}
	q.done = true
	if e := q.dir.Remove(); err == nil {
		err = e
	}
	if err == nil && name == q.name {
		q.warn(files(0))
	}
	return name, err
}

// place moves files to names. If one of these exists and is not to be overwritten, it moves
// none.
func (q *sequenceFiles) place(files []os.DirEntry, names []string) error {
	made := func(k int) string { return filepath.Join(q.dir.Name(), files[k].Name()) }
	for i, to := range names {
		err := atomicfile.Move(made(i), to, q.partials.overwrite)
		if errors.Is(err, fs.ErrExist) {
			for k := range i {
				if e := atomicfile.Move(names[k], made(k), false); e != nil {
					return e
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// warn tells of files of an earlier sequence that are not among names.
func (q *sequenceFiles) warn(names []string) {
	written := map[int]bool{}
	for _, name := range names {
		if n, ok := q.sequence.Number(filepath.Base(name)); ok {
			written[n] = true
		}
	}
	if left := slices.DeleteFunc(q.old, func(n int) bool { return written[n] }); len(left) > 0 {
		q.log.Warn("pictures of an earlier output stay and go by the same pattern as the new ones; remove them",
			"output", q.name, "pictures", len(left), "numbers", fmt.Sprintf("%d-%d", left[0], left[len(left)-1]))
	}
}

func (q *sequenceFiles) discard() {
	if !q.done {
		q.done = true
		_ = q.dir.Remove()
	}
}

func (*sequenceFiles) reread() bool { return false }
