package media

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"retime/pipeline/fault"
	"retime/pipeline/media/sequence"
)

// isGlob reports whether name, which is no file, is a pattern of package path/filepath.
func isGlob(name string) bool {
	return strings.ContainsAny(name, "*?[") && !strings.Contains(name, "://")
}

// glob returns the files that match name, in the order of their names. Numbers in names
// order by value, so that 2.png comes before 10.png. It returns nil if name is no glob.
func glob(name string) ([]picture, error) {
	if !isGlob(name) {
		return nil, nil
	}
	files, err := filepath.Glob(name)
	if err != nil {
		return nil, fault.New(fault.Usage, "input %q: %w", name, err)
	}
	if len(files) == 0 {
		return nil, fault.New(fault.NoInput, "input %q: no file goes by that pattern", name)
	}
	slices.SortFunc(files, compareNatural)
	var list []picture
	for i, file := range files {
		if first, ext := filepath.Ext(files[0]), filepath.Ext(file); !strings.EqualFold(ext, first) {
			return nil, fault.New(fault.Usage, "input %q: %q and %q are of different kinds; name one kind, such as *%s", name, files[0], file, first)
		}
		list = append(list, picture{i + 1, file})
	}
	return list, nil
}

var runs = regexp.MustCompile(`[0-9]+|[^0-9]+`)

// compareNatural orders names as people do: digits by the number that they make.
func compareNatural(a, b string) int {
	x, y := runs.FindAllString(a, -1), runs.FindAllString(b, -1)
	byNumber := func(s, t string) int {
		if s[0] > '9' || s[0] < '0' || t[0] > '9' || t[0] < '0' {
			return cmp.Compare(s, t)
		}
		s, t = strings.TrimLeft(s, "0"), strings.TrimLeft(t, "0")
		return cmp.Or(cmp.Compare(len(s), len(t)), cmp.Compare(s, t))
	}
	return cmp.Or(slices.CompareFunc(x, y, byNumber), cmp.Compare(a, b))
}

// numbered matches the name of a numbered picture: what comes before the number, the
// number, and the extension.
var numbered = regexp.MustCompile(`(?i)^(.*?)([0-9]+)(\.(?:` + sequence.StillExtensions + `))$`)

// sequenceOf returns the pattern of the sequence that a picture called name seems to
// belong to, and how many pictures it has; 0 if name is none of a sequence.
func sequenceOf(name string) (pattern string, count int) {
	dir, base := filepath.Split(name)
	m := numbered.FindStringSubmatch(base)
	if m == nil || strings.Contains(dir+m[1], "%") {
		return "", 0
	}
	verb := "%d"
	if n := len(m[2]); n > 1 {
		verb = fmt.Sprintf("%%0%dd", n)
	}
	pattern = dir + m[1] + verb + m[3]
	return pattern, len(SequenceNumbers(pattern))
}

// SequenceIn returns the pattern of the longest sequence in a directory; empty if there
// is none.
func SequenceIn(dir string) string {
	type key struct {
		before string
		digits int // that the pattern asks for at least
		last   string
	}
	entries, _ := os.ReadDir(dir)
	own, counts := make([]key, len(entries)), map[key]int{}
	for i, e := range entries {
		m := numbered.FindStringSubmatch(e.Name())
		if m == nil || strings.Contains(m[1], "%") {
			continue
		}
		if _, err := strconv.Atoi(m[2]); err != nil {
			continue
		}
		k := key{m[1], len(m[2]), m[3]}
		own[i] = k
		counts[k]++
		for m[2][0] != '0' && k.digits > 1 { // patterns of fewer digits give this name, too
			k.digits--
			counts[k]++
		}
	}
	longest, most := "", 1
	for i, e := range entries {
		if n := counts[own[i]]; n > most {
			longest, most = e.Name(), n
		}
	}
	if longest == "" {
		return ""
	}
	if pattern, count := sequenceOf(filepath.Join(dir, longest)); count > 1 { // not of empty files
		return pattern
	}
	return ""
}
