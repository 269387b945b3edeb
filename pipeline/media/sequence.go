package media

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
)

// DefaultSequenceRate is the rate of image sequences where ReaderOptions.Rate is
// nil, as FFmpeg's.
const DefaultSequenceRate = 25

// sequence is a numbered run of picture files, named by a pattern such as
// frames/%05d.png.
type sequence struct {
	dir   string
	match *regexp.Regexp // of base names; the number is group 1
}

var numberVerb = regexp.MustCompile(`%(0\d+)?d`)

// newSequence reads a pattern; ok is false where name is none.
func newSequence(name string) (s sequence, ok bool) {
	dir, base := filepath.Split(name)
	at := numberVerb.FindStringIndex(base)
	if at == nil || strings.Contains(dir, "%") || strings.Contains(base[:at[0]]+base[at[1]:], "%") {
		return s, false
	}
	digits := "[0-9]+"
	if width := strings.Trim(base[at[0]:at[1]], "%d"); width != "" {
		n, _ := strconv.Atoi(width)
		digits = fmt.Sprintf("[0-9]{%d,}", min(n, 9))
	}
	return sequence{
		dir:   filepath.Clean(dir + "."),
		match: regexp.MustCompile("^" + regexp.QuoteMeta(base[:at[0]]) + "(" + digits + ")" + regexp.QuoteMeta(base[at[1]:]) + "$"),
	}, true
}

// numbers returns the numbers of the files there are, ascending.
func (s sequence) numbers() ([]int, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, e := range entries {
		if m := s.match.FindStringSubmatch(e.Name()); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return out, nil
}

// inputOptions returns the demuxer's options: an image sequence begins at its
// lowest number, and what has no timestamps goes by the rate given.
func (r *Reader) inputOptions() (*astiav.Dictionary, error) {
	options := astiav.NewDictionary()
	set := map[string]string{}
	rate := r.opt.Rate
	if s, ok := newSequence(r.name); ok && !exists(r.name) {
		numbers, err := s.numbers()
		if err != nil || len(numbers) == 0 {
			options.Free()
			return nil, fault.New(fault.NoInput, "input %q: no file goes by that pattern", r.name)
		}
		set["start_number"] = strconv.Itoa(numbers[0])
		for i, n := range numbers[1:] {
			if n > numbers[i]+1 {
				options.Free()
				return nil, fault.New(fault.BadData, "input %q: number %d is missing, and %d pictures come after it", r.name, numbers[i]+1, len(numbers)-1-i)
			}
		}
		if rate == nil {
			rate = big.NewRat(DefaultSequenceRate, 1)
			r.log.Info("pictures have no rate; --in-fps gives it", "input", r.name, "assumed", rate.RatString())
		}
	}
	if rate != nil {
		set["framerate"] = rate.RatString()
	}
	for k, v := range set {
		if err := options.Set(k, v, 0); err != nil {
			options.Free()
			return nil, err
		}
	}
	return options, nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// checkRate fails where a rate was given to an input that has timestamps.
func (r *Reader) checkRate(left *astiav.Dictionary) error {
	if r.opt.Rate != nil && left.Get("framerate", nil, 0) != nil {
		return fault.New(fault.Usage, "input %q has timestamps of its own; --in-fps is for image sequences and raw streams", r.name)
	}
	return nil
}

// sequenceTarget is the target of an image sequence: a directory of its own until
// the files get their names.
func sequenceTarget(name string, s sequence, overwrite bool) (target, error) {
	there, err := s.numbers()
	if err != nil {
		return target{}, fault.New(fault.CannotWrite, "output %q: %w", name, err)
	}
	if len(there) > 0 && !overwrite {
		return target{}, fault.New(fault.CannotWrite, "output %q: %d such files exist; -y overwrites them", name, len(there))
	}
	temp, err := os.MkdirTemp(s.dir, ".sequence.*.part")
	if err != nil {
		return target{}, fault.New(fault.CannotWrite, "output %q: %w", name, err)
	}
	if strings.Contains(temp, "%") {
		os.Remove(temp)
		return target{}, fault.New(fault.CannotWrite, "output %q: the directory's name must not contain %%", name)
	}
	return target{name: name, url: "file:" + filepath.Join(temp, filepath.Base(name)), temp: temp, sequence: &s}, nil
}

// commitSequence moves the files to where they belong.
func (t *target) commitSequence(partial bool) (string, error) {
	entries, err := os.ReadDir(t.temp)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		to := e.Name()
		if partial {
			to = partialName(to)
		}
		if err := os.Rename(filepath.Join(t.temp, e.Name()), filepath.Join(t.sequence.dir, to)); err != nil {
			return "", err
		}
	}
	if err := os.Remove(t.temp); err != nil {
		return "", err
	}
	t.temp = ""
	if partial {
		return partialName(t.name), nil
	}
	return t.name, nil
}
