package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"retime/internal/cliptest"
)

// reachable returns the files of the package at a path below the module's root, and of all of the module that it imports.
func reachable(t *testing.T, at string) (files []string) {
	t.Helper()
	seen := map[string]bool{}
	var visit func(at string)
	visit = func(at string) {
		if seen[at] {
			return
		}
		seen[at] = true
		names, err := filepath.Glob(filepath.Join("../..", at, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", at, len(names), err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			files = append(files, name)
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range file.Imports {
				if path, own := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "retime/"); own {
					visit(path)
				}
			}
		}
	}
	visit(at)
	return files
}

// Messages that a verb may print name only flags that it takes. A message about a flag, which begins with it, comes only if it
// was given.
func TestRestoreNamesItsOwnFlags(t *testing.T) {
	named := regexp.MustCompile(`--([a-z][a-z0-9-]+)`)
	// unreached are messages that come for a reason that the verb does not have: words of each, and the reason.
	const conversions, confined = "a conversion alone prints it", "--confine is not given"
	unreached := map[string]string{
		"Input.Deinterlace telecine finds":     conversions,
		"the frame rate varies, and most":      conversions,
		"many frames repeat the one before":    conversions,
		"without Timing.Rate, all are":         conversions,
		"with Timing.Rate ":                    conversions,
		"states no frame rate; give one":       "timestamps stay as they are, and more than one frame is needed, which have a rate",
		"Output.AudioCodec encodes sound, and": "Timing.Audio is not given",
		"Compute.Confine":                      confined,
	}
	met := map[string]bool{}
	messages := 0
	for verb, at := range map[string]string{"restore": "pipeline/restore/record"} {
		cmd, _, err := newRootCommand().Find([]string{verb})
		if err != nil {
			t.Fatal(err)
		}
		flags := cmd.Flags()
		for _, name := range reachable(t, at) {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				literal, is := n.(*ast.BasicLit)
				if !is || literal.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil || !optionNames.MatchString(text) && !named.MatchString(text) {
					return true
				}
				messages++
				words := inFlags(text, flags)
				for i, m := range named.FindAllStringSubmatch(words, -1) {
					if flags.Lookup(m[1]) != nil {
						continue
					}
					if i == 0 && strings.HasPrefix(words, m[0]) {
						break
					}
					for part := range unreached {
						if strings.Contains(text, part) {
							met[part] = true
							return true
						}
					}
					t.Errorf("%s: %q: %s has no --%s", name, words, verb, m[1])
				}
				return true
			})
		}
	}
	for part := range unreached {
		if !met[part] {
			t.Errorf("no message has the words %q", part)
		}
	}
	if messages < 100 {
		t.Errorf("%d messages", messages)
	}
}

// A message never advises what the verb then refuses: debug and restore take the flags that their refusals name.
func TestAdviceIsTaken(t *testing.T) {
	dir := t.TempDir()
	woven := filepath.Join(dir, "woven.mkv")
	cliptest.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=50:duration=0.6", "-vf", "format=yuv422p10le,tinterlace=mode=interleave_top,setfield=tff", "-c:v", "ffv1", woven)
	fast := filepath.Join(dir, "fast.mkv")
	cliptest.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=120:duration=0.2", "-c:v", "ffv1", fast)
	list := filepath.Join(dir, "list.txt")
	if err := os.WriteFile(list, []byte("5 black method=interpolated\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	for _, c := range []struct {
		args []string
		want string // the message, or a part of it; empty for none
	}{
		{[]string{"debug", woven, "--at", "0.23", "-o", out}, "--deinterlace makes a picture of each field"},
		{[]string{"debug", woven, "--at", "0.23", "-o", out, "--deinterlace"}, ""},
		{[]string{"debug", woven, "--at", "0.23", "-o", out, "--inverse-telecine"}, "filters for --inverse-telecine take yuv422p, not yuv422p10le\n"},
		{[]string{"restore", woven, "-o", out + ".mkv", "--frames", "3.t", "--deinterlace=off"}, "3.t: --deinterlace=off restores frames as they are, not their fields; leave it out\n"},
		{[]string{"restore", fast, "-o", out + ".gif", "--frames", "3"}, "the timestamps that are kept have 120.000; choose another format\n"},
		{[]string{"restore", fast, "-o", out + ".mkv", "--list", list, "--mode", "blend"}, "5: method interpolated: --mode blend makes no such frames; leave out one of them\n"},
		{[]string{"review", fast, "--list", list, "--no-open", "--light", "coded"}, "restorations have no --light; leave it out, or leave out --list\n"}, // its command would be refused
	} {
		_, stderr, code := run(t, c.args...)
		if (code == 0) != (c.want == "") || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit code %d\n%swant %s", c.args, code, stderr, c.want)
		}
	}
}
