package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"retime/cmd/internal/review"
	"retime/internal/cliptest"
	"retime/pipeline/restore"
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

// printer is a verb whose messages are checked.
type printer struct {
	verb, at string                 // the package that it calls, below the module's root
	chosenBy string                 // the verb whose flags have chosen the options; empty for none
	holds    func(*pflag.Flag) bool // which of the conversion's flags come in a file; nil for none
	never    *regexp.Regexp         // files that it does not come to; nil for none
}

// flagSets holds the flags of verbs, and of the conversion for "".
type flagSets map[string]*pflag.FlagSet

func (v flagSets) of(t *testing.T, verb string) *pflag.FlagSet {
	t.Helper()
	if v[verb] == nil {
		cmd := newRootCommand()
		if verb != "" {
			var err error
			if cmd, _, err = cmd.Find([]string{verb}); err != nil {
				t.Fatal(err)
			}
		}
		v[verb] = cmd.Flags()
	}
	return v[verb]
}

// has returns whether the user of a verb can give a flag.
func (v flagSets) has(t *testing.T, p *printer, name string) bool {
	t.Helper()
	if v.of(t, p.verb).Lookup(name) != nil || p.chosenBy != "" && v.of(t, p.chosenBy).Lookup(name) != nil {
		return true
	}
	f := v.of(t, "").Lookup(name)
	return f != nil && p.holds != nil && p.holds(f)
}

// Messages that a verb may print name only flags that it takes, or call another verb by name. A message about a flag, which begins
// with it, comes only if it was given.
func TestVerbsNameTheirOwnFlags(t *testing.T) {
	named := regexp.MustCompile(`(?:retime ([a-z]+)[^;:]*?)?--([a-z][a-z0-9-]+)`)
	// unreached are messages that come for a reason that the verb does not have: words of each, and the reason.
	const conversions, confined = "a conversion alone prints it", "--confine is not given"
	unreached := map[string]map[string]string{
		"restore": {
			"Input.Deinterlace telecine finds":     conversions,
			"the frame rate varies, and most":      conversions,
			"many frames repeat the one before":    conversions,
			"without Timing.Rate, all are":         conversions,
			"with Timing.Rate ":                    conversions,
			"states no frame rate; give one":       "timestamps stay as they are, and more than one frame is needed, which have a rate",
			"Output.AudioCodec encodes sound, and": "Timing.Audio is not given",
			"Compute.Confine":                      confined,
		},
		"evaluate": {
			"states no frame rate; give one":  "the rate is the mean of the part's",
			"the frame rate varies, and most": conversions,
			"without Timing.Rate, all are":    conversions,
			"with Timing.Rate ":               conversions,
			"Compute.Confine":                 confined,
		},
	}
	met, verbs := map[string]bool{}, flagSets{}
	for _, p := range []printer{
		{verb: "restore", at: "pipeline/restore/record"},
		// Not the parts of media that write files or confine it.
		{verb: "evaluate", at: "pipeline/evaluate", holds: isSetting, never: regexp.MustCompile(`media/(confined|encoder|muxer|output|streams/|verify)`)},
		{verb: "review", at: "cmd/internal/review"},
		{verb: "segment", at: "pipeline/segment", chosenBy: "plan"},
	} {
		flags, messages := verbs.of(t, p.verb), 0
		for _, name := range reachable(t, p.at) {
			if p.never != nil && p.never.MatchString(filepath.ToSlash(name)) {
				continue
			}
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
				called := ""
				for i, m := range named.FindAllStringSubmatch(words, -1) {
					if called = cmp.Or(m[1], called); called != "" {
						if verbs.of(t, called).Lookup(m[2]) == nil {
							t.Errorf("%s: %q: %s has no --%s", name, words, called, m[2])
						}
						continue
					}
					if verbs.has(t, &p, m[2]) {
						continue
					}
					if i == 0 && strings.HasPrefix(words, m[0]) {
						break
					}
					for part := range unreached[p.verb] {
						if strings.Contains(text, part) {
							met[p.verb+part] = true
							return true
						}
					}
					t.Errorf("%s: %q: %s has no --%s", name, words, p.verb, m[2])
				}
				return true
			})
		}
		if messages < 120 {
			t.Errorf("%s: only %d messages were found", p.verb, messages)
		}
	}
	for verb, parts := range unreached {
		for part := range parts {
			if !met[verb+part] {
				t.Errorf("no message of %s has the words %q", verb, part)
			}
		}
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

// review takes what a restoration of unmarked fields needs, shows it in its command, and refuses it for conversions.
func TestReviewOfUnmarkedFields(t *testing.T) {
	var o ReviewOptions
	flags := pflag.NewFlagSet("review", pflag.ContinueOnError)
	o.AddFlags(flags)
	if err := flags.Parse([]string{"--list", filepath.Join(t.TempDir(), "damage.txt"), "--field-order", "top", "--max-run", "3"}); err != nil {
		t.Fatal(err)
	}
	r, err := o.restoration([]string{"tape.avi"}, flags)
	if err != nil {
		t.Fatal(err)
	}
	if r.Options.FieldOrder != restore.TopField || r.Options.MaxRun != 3 || !slices.Contains(r.Flags, review.Flag{Name: "field-order", Value: "top"}) {
		t.Errorf("%s first, runs of %d, flags %v", r.Options.FieldOrder, r.Options.MaxRun, r.Flags)
	}
	if _, stderr, code := run(t, "review", "a.avi", "--field-order", "top", "--no-open"); code == 0 || !strings.Contains(stderr, "give its list with --list") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}
