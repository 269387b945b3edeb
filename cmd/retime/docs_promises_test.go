package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	linked   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	begins   = regexp.MustCompile(`^([-*] |\d+\. )`)
	testName = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// bare returns a text of Markdown without its links, marks and line ends.
func bare(text string) string {
	text = linked.ReplaceAllString(text, "$1")
	return strings.Join(strings.Fields(strings.NewReplacer("`", "", "**", "", `\|`, "|").Replace(text)), " ")
}

// blocks returns the paragraphs, list items and tables of a document.
func blocks(text string) (list []string) {
	var block []string
	end := func() {
		if len(block) > 0 {
			list = append(list, bare(strings.Join(block, " ")))
		}
		block = nil
	}
	table := false
	for line := range strings.Lines(fenced.ReplaceAllString(text, "")) {
		if strings.HasPrefix(line, "<!--") {
			continue
		}
		line = strings.TrimRight(line, "\n")
		row := strings.HasPrefix(line, "|")
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "    ") || begins.MatchString(line) || row != table {
			end()
		}
		if table = row; line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "    ") {
			block = append(block, line)
		}
	}
	end()
	return list
}

// docs/promises.md has a row for every part of the documents that it is about, and each row quotes
// its document and names what there is.
func TestPromises(t *testing.T) {
	const root = "../.."
	tests := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range testName.FindAllStringSubmatch(string(source), -1) {
			tests[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	sections := strings.Split(read("docs/promises.md"), "\n## ")[1:]
	if len(sections) != 5 {
		t.Errorf("%d documents", len(sections))
	}
	for _, section := range sections {
		name, rows, _ := strings.Cut(section, "\n")
		document := name
		if name != "README.md" {
			document = filepath.Join("docs", name)
		}
		parts := blocks(read(document))
		quoted := make([]bool, len(parts))
		promises := true // not the table of what is none
		for row := range strings.Lines(rows) {
			row = strings.TrimSpace(row)
			promises = promises && !strings.HasPrefix(row, "| no promise |")
			if !strings.HasPrefix(row, "| ") || strings.HasPrefix(row, "| promise |") || strings.HasPrefix(row, "| no promise |") {
				continue
			}
			last := strings.LastIndex(row[:len(row)-2], " | ")
			quotation, named := bare(row[2:last]), row[last+3:len(row)-2]
			found := false
			for i, part := range parts {
				if strings.Contains(part, quotation) {
					quoted[i], found = true, true
				}
			}
			if !found {
				t.Errorf("%s does not say %q", document, quotation)
			}
			for test := range strings.SplitSeq(named, ", ") {
				if !promises {
					break
				}
				if _, err := os.Stat(filepath.Join(root, test)); !tests[test] && (!strings.HasPrefix(test, ".ci/") || err != nil) {
					t.Errorf("%s: %q: there is no %s", document, quotation, test)
				}
			}
		}
		for i := range parts {
			if !quoted[i] {
				t.Errorf("docs/promises.md has nothing about this of %s: %.150s", document, parts[i])
			}
		}
	}
}

var (
	testRun     = regexp.MustCompile("\\bgo test [^`\n&]*-run[= ][^`\n&]*")
	testPattern = regexp.MustCompile(`-run[= ]'?([^' ]+)`)
	testPackage = regexp.MustCompile(`\./[\w/-]+`)
)

// Every test that a document or the Makefile runs by name is in the package that it names.
func TestTestsThatDocumentsRun(t *testing.T) {
	const root = "../.."
	names, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, name := range append(names, filepath.Join(root, "Makefile")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range testRun.FindAllString(strings.ReplaceAll(string(text), "$(GO) test", "go test"), -1) {
			dir, pattern := testPackage.FindString(command), testPattern.FindStringSubmatch(command)[1]
			if dir == "" || strings.HasPrefix(pattern, "^$") {
				continue // in a module of its own, or a benchmark
			}
			commands++
			run, err := regexp.Compile(pattern)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, command, err)
			}
			sources, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, source := range sources {
				code, err := os.ReadFile(source)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range testName.FindAllStringSubmatch(string(code), -1) {
					found = found || run.MatchString(m[1])
				}
			}
			if !found {
				t.Errorf("%s: %q runs no test", name, command)
			}
		}
	}
	if commands < 10 {
		t.Errorf("%d commands were found", commands)
	}
}
