package media

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"retime/pipeline/media/av"
)

// sequence is a numbered series of picture files, named by a pattern such as
// frames/%05d.png.
type sequence struct {
	dir          string
	match        *regexp.Regexp // matches base names; group 1 is the number
	before, last string         // the parts of the base name around the number
	width        int            // least number of digits; zeros fill it
}

var numberVerb = regexp.MustCompile(`%(0\d+)?d`)

// newSequence parses a pattern; ok is false if name is not a pattern.
func newSequence(name string) (s sequence, ok bool) {
	dir, base := filepath.Split(name)
	at := numberVerb.FindStringIndex(base)
	if at == nil || strings.Contains(dir, "%") || strings.Contains(base[:at[0]]+base[at[1]:], "%") {
		return s, false
	}
	s = sequence{dir: filepath.Clean(dir + "."), before: base[:at[0]], last: base[at[1]:]}
	digits := "[0-9]+"
	if width := strings.Trim(base[at[0]:at[1]], "%d"); width != "" {
		s.width, _ = strconv.Atoi(width)
		digits = fmt.Sprintf("[0-9]{%d,}", min(s.width, 9))
	}
	s.match = regexp.MustCompile("^" + regexp.QuoteMeta(s.before) + "(" + digits + ")" + regexp.QuoteMeta(s.last) + "$")
	return s, true
}

// outputSequence parses the pattern of an output in a format, empty for the name's. ok is
// false if name is not a pattern, is a file that exists, or names a format that is not
// written to numbered files: out%d.mp4 is one file.
func outputSequence(name, format string) (s sequence, ok bool) {
	if s, ok = newSequence(name); !ok || exists(name) {
		return s, false
	}
	if format == "" {
		format = av.GuessMuxer(name)
	}
	return s, slices.Contains(numberedFormats, format)
}

// numberedFormats are FFmpeg's names of the formats that write numbered files.
var numberedFormats = []string{"image2", "segment", "stream_segment", "ssegment"}

// file returns the base name of the file with number n.
func (s sequence) file(n int) string { return fmt.Sprintf("%s%0*d%s", s.before, s.width, n, s.last) }

// files returns the paths of the files with these numbers.
func (s sequence) files(numbers []int) (paths []string) {
	for _, n := range numbers {
		paths = append(paths, filepath.Join(s.dir, s.file(n)))
	}
	return paths
}

// number returns the number in a file's base name; ok is false if the name is not
// one that s gives.
func (s sequence) number(file string) (n int, ok bool) {
	m := s.match.FindStringSubmatch(file)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil && s.file(n) == file
}

// numbers returns the numbers of the existing files in ascending order.
func (s sequence) numbers() ([]int, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, e := range entries {
		if n, ok := s.number(e.Name()); ok {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
