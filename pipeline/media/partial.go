package media

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"retime/pipeline/fault"
)

// partials names outputs that cannot have their own name: those of damaged input, those that
// fail their check, and those whose name has been taken.
type partials struct {
	overwrite bool
	keep      []string // files of the run, whose names they never take
}

// commit gives an output its name or, if partial is set, the first of the partial ones that is
// free, and returns that. files returns the names of the output's files: its own for n = 0, and
// the n-th partial ones. place gives the files these names, all or, if one of them exists and
// must stay, none, and then its error wraps fs.ErrExist.
func (p *partials) commit(name string, partial bool, files func(n int) []string, place func(names []string) error) (string, error) {
	var taken error
	if !partial {
		if taken = place(files(0)); !errors.Is(taken, fs.ErrExist) {
			return name, taken
		}
	}
	for n := 1; ; n++ {
		names := files(n)
		if !p.free(names) {
			continue
		}
		err := place(names)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		kept := nameOf(name, n)
		if err == nil && taken != nil {
			err = fault.New(fault.CannotWrite, "output %q came to exist during the run, and stays; what was made is %q; Output.Overwrite overwrites", name, kept)
		}
		return kept, err
	}
}

// free reports whether the names are those of no file of the run, nor of anything that could
// not be replaced.
func (p *partials) free(names []string) bool {
	var kept []string
	for _, k := range p.keep {
		kept = append(kept, Files(k)...)
	}
	for _, name := range names {
		if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
			return false
		}
	}
	return !overlap(names, kept)
}

// nameOf returns name for n = 0, and else the n-th name of a partial output: NAME.partial.EXT,
// NAME.partial-2.EXT and so on.
func nameOf(name string, n int) string {
	ext := filepath.Ext(name)
	switch base := strings.TrimSuffix(name, ext); n {
	case 0:
		return name
	case 1:
		return base + ".partial" + ext
	default:
		return fmt.Sprintf("%s.partial-%d%s", base, n, ext)
	}
}
