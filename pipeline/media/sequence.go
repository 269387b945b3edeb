package media

import (
	"cmp"
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
	"retime/pipeline/media/av"
)

// DefaultSequenceRate is the frame rate of image sequences, in frames per second, if
// ReaderOptions.Rate is nil. It is FFmpeg's default, too.
const DefaultSequenceRate = 25

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

// number returns the number in a file's base name; ok is false if the name does not match
// s.
func (s sequence) number(file string) (n int, ok bool) {
	m := s.match.FindStringSubmatch(file)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

// SequenceNumbers returns the numbers of an image sequence's files in ascending order. It
// returns nil if name is not a pattern such as frames/%05d.png.
func SequenceNumbers(name string) []int {
	s, ok := newSequence(name)
	if !ok || exists(name) {
		return nil
	}
	numbers, _ := s.numbers() // opening the sequence reports the error
	return numbers
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

// numbering restores the gaps in the numbers of an image sequence that FFmpeg reads
// without gaps.
type numbering struct {
	list  []int  // the files' numbers; nil if there are no gaps
	links string // directory of the links that FFmpeg reads; empty if there are no gaps
}

// closeGaps links the files of s into a new directory, numbered without gaps, and returns
// the pattern of the links. renumber restores the gaps in the timestamps.
func (n *numbering) closeGaps(s sequence, numbers []int) (url string, err error) {
	dir, err := filepath.Abs(s.dir)
	if err != nil {
		return "", err
	}
	if n.links, err = os.MkdirTemp("", "retime-sequence-*"); err != nil {
		return "", err
	}
	ext := filepath.Ext(s.last)
	for i, k := range numbers {
		if err := os.Symlink(filepath.Join(dir, s.file(k)), filepath.Join(n.links, fmt.Sprintf("%09d%s", i, ext))); err != nil {
			return "", err
		}
	}
	n.list = numbers
	return filepath.Join(n.links, "%09d"+ext), nil
}

// renumber sets p's timestamps to the number of its file, counted from the first file's.
func (n *numbering) renumber(p *astiav.Packet) {
	if i := p.Pts(); n.list != nil && i >= 0 && i < int64(len(n.list)) {
		t := int64(n.list[i] - n.list[0])
		p.SetPts(t)
		p.SetDts(t)
	}
}

func (n *numbering) close() {
	if n.links != "" {
		os.RemoveAll(n.links)
	}
}

// options returns the options for FFmpeg's demuxer: the first number of an image
// sequence, and the frame rate of inputs without timestamps. It changes url if the
// sequence has gaps.
func (d *demuxer) options(url *string, opt *ReaderOptions) (*astiav.Dictionary, error) {
	set := map[string]string{}
	rate := opt.Rate
	if s, ok := newSequence(d.name); ok && !exists(d.name) {
		numbers, err := s.numbers()
		if err != nil || len(numbers) == 0 {
			return nil, fault.New(fault.NoInput, "input %q: no file goes by that pattern", d.name)
		}
		first := numbers[0]
		if gap := firstGap(numbers); gap > 0 {
			if !opt.SequenceGaps {
				return nil, fault.New(fault.BadData, "input %q: number %d is missing, and %d pictures come after it", d.name, numbers[gap-1]+1, len(numbers)-gap)
			}
			if *url, err = d.numbers.closeGaps(s, numbers); err != nil {
				return nil, fault.New(fault.CannotWrite, "links to the pictures of %q: %w", d.name, err)
			}
			first = 0
		}
		set["start_number"] = strconv.Itoa(first)
		if rate == nil {
			rate = big.NewRat(DefaultSequenceRate, 1)
			opt.Log.Info("pictures have no rate; Input.Rate gives it", "input", d.name, "assumed", rate.RatString())
		}
	}
	if rate != nil {
		set["framerate"] = rate.RatString()
	}
	options := astiav.NewDictionary()
	for k, v := range set {
		if err := options.Set(k, v, 0); err != nil {
			options.Free()
			return nil, err
		}
	}
	return options, nil
}

// firstGap returns the index after the first gap in ascending numbers, 0 if there is
// none.
func firstGap(numbers []int) int {
	for i := 1; i < len(numbers); i++ {
		if numbers[i] != numbers[i-1]+1 {
			return i
		}
	}
	return 0
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

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
