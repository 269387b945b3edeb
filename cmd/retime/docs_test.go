package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/library.md shows the program that .ci/run builds.
func TestLibraryShowsTheProgramThatImports(t *testing.T) {
	library, err := os.ReadFile("../../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("../../testdata/convert/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(library), "\n```go\n"+string(program)+"```\n") {
		t.Error("docs/library.md does not show testdata/convert/main.go as it is")
	}
}

// docs/exit-codes.md and --help list the same codes.
func TestExitCodesDocument(t *testing.T) {
	table, err := os.ReadFile("../../docs/exit-codes.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`(?m)^\| (\d+) \| ([^|]+) \|`)
	listed := code.FindAllStringSubmatch(string(table), -1)
	for _, c := range listed {
		if !strings.Contains(strings.Join(strings.Fields(exitCodes), " "), c[1]+" "+c[2]) {
			t.Errorf("--help has no %s %s", c[1], c[2])
		}
	}
	if n := len(regexp.MustCompile(`\b\d+ `).FindAllString(exitCodes, -1)); n != len(listed) {
		t.Errorf("%d codes, --help has %d", len(listed), n)
	}
}

var (
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	code     = regexp.MustCompile("`[^`\n]*`")
	target   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headline = regexp.MustCompile(`(?m)^#+ (.*)$`)
	dropped  = regexp.MustCompile(`[^\p{L}\p{N} _-]`) // from a headline, for its anchor
)

// docs/README.md lists every document, and every relative link of every
// Markdown file names a file, and a headline in it.
func TestLinks(t *testing.T) {
	const root = "../.."
	text := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch name := e.Name(); {
		case err != nil:
			return err
		case e.IsDir() && path != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"bin", "build", "dist", "shared"}, name)):
			return filepath.SkipDir
		case filepath.Ext(name) != ".md":
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		text[name] = fenced.ReplaceAllString(string(data), "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for name, source := range text {
		for _, m := range target.FindAllStringSubmatch(code.ReplaceAllString(source, ""), -1) {
			if strings.Contains(m[1], ":") { // another site
				continue
			}
			links++
			file, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = filepath.Join(filepath.Dir(name), file)
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			} else if anchor != "" && !hasAnchor(text[to], anchor) {
				t.Errorf("%s links to %s, a headline that %s lacks", name, m[1], to)
			}
		}
		if dir, base := filepath.Split(name); dir == "docs/" && base != "README.md" && !strings.Contains(text["docs/README.md"], "]("+base+")") {
			t.Errorf("docs/README.md does not list %s", base)
		}
	}
	if links < 100 {
		t.Errorf("only %d links", links)
	}
}

// hasAnchor reports whether a headline of text has the anchor that GitHub makes for it.
func hasAnchor(text, anchor string) bool {
	for _, m := range headline.FindAllStringSubmatch(text, -1) {
		if strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}
