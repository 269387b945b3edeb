package settings

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// What is too deep or too wide is refused before the parser takes memory that grows with
// the square of it: 15 GB for 100 kB of brackets.
func TestHostileShapes(t *testing.T) {
	const size = 100_000
	var keys strings.Builder
	for i := 0; keys.Len() < size; i++ {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	var nested strings.Builder
	for i := range 40 {
		fmt.Fprintf(&nested, "%sa:\n", strings.Repeat(" ", i))
	}
	for name, c := range map[string]struct{ text, want string }{
		"brackets":         {strings.Repeat("[", size), "line 1: more than 16 lists"},
		"braces":           {strings.Repeat("{", size), "line 1: more than 16 lists"},
		"mixed":            {strings.Repeat("[{a: ", size/5), "line 1: more than 16 lists"},
		"in a clip":        {"clips:\n  - map: " + strings.Repeat("[", size), "line 2: more than 16 lists"},
		"dashes":           {strings.Repeat("- ", size/2), "line 1: more than 16 lists"},
		"mappings":         {strings.Repeat("a: ", size/3), "line 1: more than 16 lists"},
		"indentation":      {nested.String(), "line 17: more than 16 lists"},
		"keys":             {keys.String(), "line 257: more than 256 names"},
		"keys in braces":   {"{" + strings.ReplaceAll(keys.String(), "\n", ",") + "}", "line 1: more than 256 names"},
		"anchors":          {strings.Repeat("&a ", size/3), `line 1: "&": anchors`},
		"aliases":          {"a: *b", `line 1: "*": anchors, aliases`},
		"tags":             {strings.Repeat("!a ", size/3), `line 1: "!a": anchors`},
		"an explicit key":  {"? a\n: b", `line 1: "?"`},
		"closing brackets": {strings.Repeat("]", size), "line 1:"},
		"size":             {strings.Repeat("#", MaxBytes+1), "line 1: 2097153 bytes; at most 2097152"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, errJobs := ParseJobs([]byte(c.text))
		_, err := Parse([]byte(c.text))
		runtime.ReadMemStats(&after)
		if err == nil || errJobs == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %q", name, err, errJobs, c.want)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 200<<20 {
			t.Errorf("%s: %d bytes take %d MB", name, len(c.text), took>>20)
		}
	}
}

// Lists of any length, and as many names as there are flags, are no such shapes.
func TestLargeJobFiles(t *testing.T) {
	var text strings.Builder
	text.WriteString("{\"clips\": [\n")
	const clips = 3000
	for i := range clips {
		fmt.Fprintf(&text, "\t{\"input\": \"a [%d.mp4\", \"map\": [\"0:v\", \"0:a\"]},\n", i)
	}
	text.WriteString("]}")
	if list, err := ParseJobs([]byte(text.String())); err != nil || len(list) != clips {
		t.Errorf("JSON: %d clips, %v", len(list), err)
	}
	text.Reset()
	text.WriteString("clips:\n")
	for i := range clips {
		fmt.Fprintf(&text, "- input: 'a [{%d.mp4'\n  map:\n  - 0:v\n  - 0:a\n", i)
	}
	text.WriteString("- input: last\n")
	for i := range 200 {
		fmt.Fprintf(&text, "  k%d: 1\n", i)
	}
	if list, err := ParseJobs([]byte(text.String())); err != nil || len(list) != clips+1 {
		t.Errorf("YAML: %d clips, %v", len(list), err)
	}
}
