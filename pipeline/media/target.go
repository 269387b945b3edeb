package media

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
)

// target is where an output goes: a file that is written beside its name and
// then renamed, or a pipe or device that is written as it is.
type target struct {
	name string // as the user gave it
	url  string // as FFmpeg opens it
	temp string // the file behind url, "" where url is final
	// sequence is set where files are numbered; temp is then a directory.
	sequence *sequence
	numbers  []int // of the sequence's files; nil as FFmpeg numbers them
}

func newTarget(name, source string, overwrite bool) (target, error) {
	if name == "" {
		return target{}, fault.New(fault.Usage, "no output; name one with -o")
	}
	if name == "-" {
		return target{name: "standard output", url: "pipe:1"}, nil
	}
	info, err := os.Stat(name)
	if s, ok := newSequence(name); ok && err != nil {
		return sequenceTarget(name, s, overwrite)
	}
	switch {
	case err == nil && info.IsDir():
		return target{}, fault.New(fault.CannotWrite, "output %q is a directory; name a file in it", name)
	case err == nil && sameFile(info, source):
		return target{}, fault.New(fault.Usage, "output %q is the input; choose another name", name)
	case err == nil && !info.Mode().IsRegular():
		return target{name: name, url: "file:" + name}, nil
	case err == nil && !overwrite:
		return target{}, fault.New(fault.CannotWrite, "output %q exists; -y overwrites it", name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return target{}, fault.New(fault.CannotWrite, "output %w", err)
	case strings.Contains(name, "://"):
		return target{name: name, url: name}, nil
	}
	dir, base := filepath.Split(name)
	if info, err := os.Stat(filepath.Clean(dir + ".")); err != nil {
		return target{}, fault.New(fault.CannotWrite, "output %q: %w", name, err)
	} else if !info.IsDir() {
		return target{}, fault.New(fault.CannotWrite, "output %q: %s is not a directory", name, dir)
	}
	temp := filepath.Join(dir, unfinished(base, rand.Text()[:markLength]))
	return target{name: name, url: "file:" + temp, temp: temp}, nil
}

// markLength is how many letters and digits tell unfinished files apart.
const markLength = 10

// unfinished is what a file is called while it is being written.
func unfinished(base, mark string) string {
	ext := filepath.Ext(base)
	return "." + strings.TrimSuffix(base, ext) + "." + mark + ".part" + ext
}

// RemoveUnfinished removes what killed runs have left of a file that they would
// have called name. No other run may be writing it.
func RemoveUnfinished(name string) error {
	dir, base := filepath.Split(name)
	dir = filepath.Clean(dir + ".")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	first := len("." + strings.TrimSuffix(base, filepath.Ext(base)) + ".")
	for _, e := range entries {
		n := e.Name()
		if len(n) < first+markLength || n != unfinished(base, n[first:first+markLength]) || !isMark(n[first:first+markLength]) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// isMark says whether text is of the letters and digits of rand.Text.
func isMark(text string) bool {
	return strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

func sameFile(info fs.FileInfo, source string) bool {
	other, err := os.Stat(source)
	return err == nil && info.Mode().IsRegular() && os.SameFile(info, other)
}

// commit gives the written file its name, on disk.
func (t *target) commit(partial bool) (string, error) {
	switch {
	case t.temp == "":
		return t.name, nil
	case t.sequence != nil:
		return t.commitSequence(partial)
	}
	name := t.name
	if partial {
		name = partialName(name)
	}
	if err := atomicfile.Rename(t.temp, name); err != nil {
		return "", err
	}
	t.temp = ""
	return name, nil
}

// partialName is the name of what could be made of name.
func partialName(name string) string {
	ext := filepath.Ext(name)
	return strings.TrimSuffix(name, ext) + ".partial" + ext
}

// discard removes a file that was not committed.
func (t *target) discard() {
	if t.temp != "" {
		os.RemoveAll(t.temp)
		t.temp = ""
	}
}
