package media

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"retime/pipeline/fault"
	"retime/pipeline/media/sequence"
)

// parseSequence parses the name of an image sequence; ok is false if name is that of a file.
func parseSequence(name string) (s sequence.Pattern, ok bool) {
	if s, ok = sequence.Parse(name); !ok || exists(name) {
		return sequence.Pattern{}, false
	}
	return s, true
}

// outputSequence parses the pattern of an output in a format, empty for the name's. ok is
// false if name is not a pattern, is a file that exists, or names a format that is not
// written to numbered files: out%d.mp4 is one file.
func outputSequence(name, format string) (s sequence.Pattern, ok bool) {
	if s, ok = parseSequence(name); !ok {
		return s, false
	}
	if format == "" {
		format = muxerOf(name)
	}
	return s, slices.Contains(numberedFormats, format)
}

// numberedFormats are FFmpeg's names of the formats that write numbered files.
var numberedFormats = []string{"image2", "segment", "stream_segment", "ssegment"}

// checkView refuses a name with a place for a view. what is "input" or "output".
func checkView(what, name string) error {
	if !sequence.HasView(name) || exists(name) {
		return nil
	}
	return fault.New(fault.Usage, "%s %q: %%V stands for a view, such as left or right; retime converts one view at a time, so write its name", what, name)
}

// filesWith returns the paths of the files with these numbers.
func filesWith(s sequence.Pattern, numbers []int) (paths []string) {
	for _, n := range numbers {
		paths = append(paths, s.File(n))
	}
	return paths
}

// forFFmpeg returns the pattern as FFmpeg reads it; ok is false if FFmpeg has no such pattern.
func forFFmpeg(s sequence.Pattern) (url string, ok bool) {
	base, ok := s.Printf()
	_, _, ranged := s.Range()
	url = filepath.Join(s.Dir, base)
	return url, ok && !ranged && !strings.Contains(s.Dir, "%")
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
