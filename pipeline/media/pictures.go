package media

import (
	"cmp"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/media/sequence"
)

// DefaultSequenceRate is the frame rate of image sequences, in frames per second, if
// ReaderOptions.Rate is nil. It is FFmpeg's default, too.
const DefaultSequenceRate = 25

// picture is a file of an image sequence that is read.
type picture struct {
	number int
	file   string
}

// IsSequence reports whether an output called name is an image sequence.
func IsSequence(name string) bool {
	_, ok := parseSequence(name)
	return ok
}

// pictures returns the files of the image sequence called name, ascending by number. It
// returns nil if name is neither a pattern such as frames/%05d.png nor a glob such as
// frames/*.png, whose files are numbered from 1.
func pictures(name string) (list []picture, err error) {
	if exists(name) {
		return nil, nil
	}
	if err := checkView("input", name); err != nil {
		return nil, err
	}
	s, ok := sequence.Parse(name)
	if !ok {
		return glob(name)
	}
	numbers, err := s.Numbers()
	if err != nil || len(numbers) == 0 {
		return nil, fault.New(fault.NoInput, "input %q: no file goes by that pattern", name)
	}
	for _, n := range numbers {
		list = append(list, picture{n, s.File(n)})
	}
	return list, nil
}

// SequenceNumbers returns the numbers of an image sequence's files in ascending order,
// without those of files that hold nothing. It returns nil if name is not a pattern such
// as frames/%05d.png.
func SequenceNumbers(name string) (numbers []int) {
	list, _ := pictures(name) // opening the sequence reports the error
	for _, p := range list {
		if p.flaw() == "" {
			numbers = append(numbers, p.number)
		}
	}
	return numbers
}

// FirstNumber returns the number that the first picture of an output sequence has from its own
// range or, without one, from an input that is a numbered sequence; ok is false if neither has one, or the
// output is no sequence.
func FirstNumber(output, input string) (n int, ok bool) {
	s, ok := parseSequence(output)
	if !ok {
		return 0, false
	}
	if first, _, ranged := s.Range(); ranged {
		return first, true
	}
	if s, ok := parseSequence(input); ok {
		if numbers, _ := s.Numbers(); len(numbers) > 0 { // opening the input reports the error
			return numbers[0], true
		}
	}
	return 0, false
}

// Picture returns the name of the file with picture n of an image sequence, from 0 for the first that there
// is, where missing numbers count; ok is false if there is none, or the input is no sequence.
func (r *Reader) Picture(n int64) (name string, ok bool) {
	list := r.demuxer.numbers.list
	if len(list) == 0 {
		return "", false
	}
	i, ok := slices.BinarySearchFunc(list, int64(list[0].number)+n, func(p picture, n int64) int { return cmp.Compare(int64(p.number), n) })
	if !ok {
		return "", false
	}
	return list[i].file, true
}

// flaw says why p cannot hold a picture, empty if it can. FFmpeg takes such a file for
// the end of the sequence.
func (p picture) flaw() string {
	switch info, err := os.Stat(p.file); {
	case err != nil:
		return fmt.Sprintf("cannot be read (%v)", reason(err))
	case info.IsDir():
		return "is a directory"
	case !info.Mode().IsRegular():
		return "is not a regular file"
	case info.Size() == 0:
		return "is empty"
	}
	return ""
}

// reason returns err without the name of the file.
func reason(err error) error {
	if e, ok := err.(*fs.PathError); ok { //nolint:errorlint // os.Stat's own
		return e.Err
	}
	return err
}

// numbering relates the packets of an image sequence to its pictures. FFmpeg numbers the
// packets without gaps.
type numbering struct {
	list   []picture      // nil for other input
	linked bool           // links is there
	links  atomicfile.Dir // the links that FFmpeg reads
	next   int            // index of the picture to be read next
}

// link links the pictures into a new directory, numbered without gaps, and returns the
// pattern of the links. renumber restores the gaps in the timestamps.
func (n *numbering) link() (url string, err error) {
	name := filepath.Join(os.TempDir(), "retime-sequence")
	_ = atomicfile.Sweep(name)
	if n.links, err = atomicfile.CreateDir(name); err != nil {
		return "", err
	}
	n.linked = true
	ext := filepath.Ext(n.list[0].file)
	for i, p := range n.list {
		file, err := filepath.Abs(p.file)
		if err == nil {
			err = atomicfile.Lend(file, filepath.Join(n.links.Name(), fmt.Sprintf("%09d%s", i, ext)))
		}
		if err != nil {
			return "", err
		}
	}
	return filepath.Join(n.links.Name(), "%09d"+ext), nil
}

// renumber sets p's timestamps to the number of its file, counted from the first file's.
func (n *numbering) renumber(p *astiav.Packet) {
	if i := p.Pts(); i >= 0 && i < int64(len(n.list)) {
		t := int64(n.list[i].number - n.list[0].number)
		p.SetPts(t)
		p.SetDts(t)
		n.next = int(i) + 1
	}
}

// span returns the number of pictures with those that are missing in between.
func (n *numbering) span() int64 {
	return int64(n.list[len(n.list)-1].number - n.list[0].number + 1)
}

// unread returns an error if pictures are left at the end of the input.
func (n *numbering) unread() error {
	if n.next >= len(n.list) {
		return nil
	}
	p := n.list[n.next]
	return fmt.Errorf("%s %s, and %d pictures come after it", p.file, cmp.Or(p.flaw(), "cannot be read"), len(n.list)-n.next-1)
}

func (n *numbering) close() {
	if n.linked {
		_ = n.links.Remove()
	}
}

// options returns the options for FFmpeg's demuxer: the first number of an image
// sequence, and the frame rate of inputs without timestamps. It changes url if the
// sequence has gaps.
func (d *demuxer) options(url *string, opt *ReaderOptions) (*astiav.Dictionary, error) {
	set := map[string]string{}
	rate := opt.Rate
	list, err := pictures(d.name)
	if err != nil {
		return nil, err
	}
	if pattern, count := sequenceOf(d.name); count > 1 {
		opt.Log.Warn("the input is one picture of a sequence; its pattern names them all", "input", d.name, "pattern", pattern, "pictures", count)
	}
	if len(list) > 0 {
		start, err := d.list(list, url, opt)
		if err != nil {
			return nil, err
		}
		set["start_number"] = strconv.Itoa(start)
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

// list keeps the pictures that can be read in d.numbers, and returns the number that
// FFmpeg starts at. It changes url if the numbers have gaps.
func (d *demuxer) list(all []picture, url *string, opt *ReaderOptions) (start int, err error) {
	flawed := 0
	var first string // the first flawed picture
	for i, p := range all {
		flaw := p.flaw()
		switch {
		case flaw == "":
			d.numbers.list = append(d.numbers.list, p)
		case !opt.SequenceGaps:
			return 0, fault.New(fault.BadData, "input %q: %s %s, and %d pictures come after it; a restoration with Options.MissingFromNumbering makes it", d.name, p.file, flaw, len(all)-i-1)
		default:
			if flawed++; flawed == 1 {
				first = p.file + " " + flaw
			}
		}
	}
	s, ok := parseSequence(d.name)
	if err := d.gaps(s, all, opt); err != nil {
		return 0, err
	}
	list := d.numbers.list
	switch {
	case len(list) == 0:
		return 0, fault.New(fault.BadData, "input %q: no file holds a picture; %s", d.name, first)
	case flawed > 0:
		opt.Log.Warn("files that hold no picture count as missing", "input", d.name, "files", flawed, "first", first)
	}
	if own, taken := forFFmpeg(s); ok && taken && d.numbers.span() == int64(len(list)) && list[0].number >= 0 { // FFmpeg fills numbers below 0 otherwise
		*url = own
		return list[0].number, nil
	}
	if *url, err = d.numbers.link(); err != nil {
		return 0, fault.New(fault.CannotWrite, "links to the pictures of %q: %w", d.name, err)
	}
	return 0, nil
}

// gaps refuses a sequence of which pictures are missing and are not to be made, and names their
// numbers. A sequence without gaps in its numbers may still lack what its range names.
func (d *demuxer) gaps(s sequence.Pattern, all []picture, opt *ReaderOptions) error {
	from, to := all[0].number, all[len(all)-1].number
	first, last, ranged := s.Range()
	if !ranged {
		first, last = from, to
	}
	var missing []string
	count, next := 0, first
	gap := func(end int) {
		if end > next {
			missing = append(missing, sequence.Span(next, end-1))
			count += end - next
		}
		next = end + 1
	}
	for _, p := range all {
		gap(p.number)
	}
	gap(last + 1)
	list := strings.Join(missing, ",")
	switch {
	case count == 0:
	case opt.SequenceGaps && (first < from || last > to):
		opt.Log.Warn("pictures before the first and after the last that there is are not made", "input", d.name, "missing", list)
	case opt.SequenceGaps:
	case count == 1:
		return fault.New(fault.BadData, "input %q: number %s is missing; a restoration with Options.MissingFromNumbering makes it", d.name, list)
	default:
		return fault.New(fault.BadData, "input %q: numbers %s are missing, %d in all; a restoration with Options.MissingFromNumbering makes them", d.name, list, count)
	}
	return nil
}
