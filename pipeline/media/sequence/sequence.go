// Package sequence reads the names of numbered files as programs of the trade spell them.
package sequence

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pattern names files that differ in one number. The zero Pattern names none.
type Pattern struct {
	Dir           string
	before, after string         // the parts of the base name around the number
	width         int            // least number of digits; zeros fill it
	first, last   int            // the numbers of the files
	match         *regexp.Regexp // matches base names; group 1 is the number
	ranged        bool
	signed        bool // a sign before a number counts
}

var (
	// printf is C's spelling, in any name.
	printf = regexp.MustCompile(`%(0\d+)?d`)
	// others are spellings that count in names of pictures and of flow only: Nuke's ####, @@@@ of
	// Shake and RV, Houdini's $F4 and ${F4}, and a range. Its numbers have several digits, because
	// [1-8] is a glob, or the first is below 0.
	others = regexp.MustCompile(`#+|@+|\$F([1-9][0-9]?)?|\$\{F([1-9][0-9]?)?\}|\[(\d+)-(\d\d+)\]|\[(-\d+)-(-?\d+)\]`)
	still  = regexp.MustCompile(`(?i)\.(?:` + StillExtensions + `|flo)$`)
	view   = regexp.MustCompile(`%[Vv]`)
)

// StillExtensions are the extensions of files with one picture, as alternatives of a regular
// expression.
const StillExtensions = `png|tiff?|dpx|exr|jpe?g|bmp|webp|tga|p[afghnp]m|jp2|j2[ck]|jxl|sgi|hdr|qoi|pcx`

// maxDigits is the largest width of a number.
const maxDigits = 18

// Parse parses a name whose last part has a number in one of these spellings; ok is false if it
// has none.
//
//	%04d  ####  @@@@  $F4  ${F4}   at least as many digits
//	%d    #     @     $F   ${F}    no leading zeros
//	[1001-1008]                    these numbers, with the digits of the first
//
// A number below 0 has its sign for one of the digits, as in C: -012. It counts as such unless a letter or a digit comes
// before it, as in shot-12.png.
//
// In a name with %d or %04d, nothing else is special, and there may be no other %. Of several other
// spellings in a name, the last is the number.
func Parse(name string) (p Pattern, ok bool) {
	dir, base := filepath.Split(name)
	p = Pattern{Dir: filepath.Clean(dir + "."), first: math.MinInt, last: math.MaxInt}
	at := printf.FindStringIndex(base)
	switch {
	case at != nil:
		if strings.Contains(dir, "%") || strings.Contains(base[:at[0]]+base[at[1]:], "%") {
			return Pattern{}, false
		}
		p.width, _ = strconv.Atoi(strings.Trim(base[at[0]:at[1]], "%d"))
	case still.MatchString(base):
		if at = p.number(base); at == nil {
			return Pattern{}, false
		}
	default:
		return Pattern{}, false
	}
	if p.width > maxDigits {
		return Pattern{}, false
	}
	p.before, p.after = base[:at[0]], base[at[1]:]
	before, _ := utf8.DecodeLastRuneInString(p.before)
	sign := ""
	if p.signed = !unicode.IsLetter(before) && !unicode.IsDigit(before); p.signed {
		sign = "-?"
	}
	p.match = regexp.MustCompile("^" + regexp.QuoteMeta(p.before) + "(" + sign + "[0-9]+)" + regexp.QuoteMeta(p.after) + "$")
	return p, true
}

// number returns where in a base name the number is spelt, by others, and sets what the spelling
// says; nil if there is none.
func (p *Pattern) number(base string) []int {
	all := others.FindAllStringSubmatchIndex(base, -1)
	for _, m := range slices.Backward(all) {
		text := base[m[0]:m[1]]
		group := func(k int) string {
			if m[2*k] < 0 {
				return ""
			}
			return base[m[2*k]:m[2*k+1]]
		}
		switch text[0] {
		case '#', '@':
			p.width = len(text)
			if p.width == 1 {
				p.width = 0
			}
		case '$':
			if rest := base[m[1]:]; text[1] == 'F' && rest != "" && strings.ContainsAny(rest[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
				continue // $FF, $FEND and others are no whole numbers of frames
			}
			p.width, _ = strconv.Atoi(group(1) + group(2))
		case '[':
			from, to := group(3)+group(5), group(4)+group(6)
			first, err := strconv.Atoi(from)
			last, e := strconv.Atoi(to)
			if err != nil || e != nil || first > last {
				continue
			}
			p.first, p.last, p.ranged = first, last, true
			if digits := strings.TrimPrefix(from, "-"); first >= 0 && len(from) == len(to) || digits[0] == '0' && len(digits) > 1 {
				p.width = len(from)
			}
		}
		return m[:2]
	}
	return nil
}

// HasView reports whether name, of pictures or of flow, has a place for the name of a view, as
// Nuke's %V and %v.
func HasView(name string) bool { return still.MatchString(name) && view.MatchString(name) }

// Range returns the numbers that the pattern begins and ends with; ok is false if it states none.
func (p Pattern) Range() (first, last int, ok bool) { return p.first, p.last, p.ranged }

// CheckFirst returns an error if files with numbers from n on would not be read as such: after a letter or a digit, a sign
// counts for nothing.
func (p Pattern) CheckFirst(n int) error {
	if n >= 0 || p.signed {
		return nil
	}
	return fmt.Errorf("it begins with number %d, and - is no sign after a letter or a digit; put a dot before the number", n)
}

// Base returns the last part of the name of the file with number n.
func (p Pattern) Base(n int) string { return fmt.Sprintf("%s%0*d%s", p.before, p.width, n, p.after) }

// File returns the name of the file with number n.
func (p Pattern) File(n int) string { return filepath.Join(p.Dir, p.Base(n)) }

// Printf returns the last part of the pattern in C's spelling, without a range; ok is false if C
// would find a second number there.
func (p Pattern) Printf() (base string, ok bool) {
	verb := "%d"
	if p.width > 0 {
		verb = fmt.Sprintf("%%0%dd", p.width)
	}
	return p.before + verb + p.after, !strings.Contains(p.before+p.after, "%")
}

// Number returns the number in the last part of a file's name; ok is false if the pattern does not
// give that name.
func (p Pattern) Number(base string) (n int, ok bool) {
	if p.match == nil {
		return 0, false
	}
	m := p.match.FindStringSubmatch(base)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil && p.first <= n && n <= p.last && p.Base(n) == base
}

// Numbers returns the numbers of the existing files in ascending order.
func (p Pattern) Numbers() (numbers []int, err error) {
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if n, ok := p.Number(e.Name()); ok {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// Spans writes ascending numbers briefly, as in "12,15-17".
func Spans[N int | int64](numbers []N) string {
	var parts []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		parts = append(parts, Span(numbers[i], numbers[j]))
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// Span writes the numbers from first to last, as in "15-17", or "12" for one.
func Span[N int | int64](first, last N) string {
	if first == last {
		return strconv.FormatInt(int64(first), 10)
	}
	return fmt.Sprintf("%d-%d", first, last)
}
