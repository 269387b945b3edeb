package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestFlagsDocument compares docs/flags.md with the flags' definitions, and writes it where
// RETIME_WRITE_DOCS is set.
func TestFlagsDocument(t *testing.T) {
	const name = "../../docs/flags.md"
	want := flagsDocument(newRootCommand())
	if os.Getenv("RETIME_WRITE_DOCS") != "" {
		if err := os.WriteFile(name, want, 0o666); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/flags.md is not current (%v); RETIME_WRITE_DOCS=1 go test ./cmd/retime -run FlagsDocument writes it", err)
	}
}

// flagsDocument returns docs/flags.md: the flags of the conversion under their headings, and of each
// other verb those that it does not share with it.
func flagsDocument(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString(`# Flags

Every flag of every verb, made from the definitions that ` + "`retime --help`" + ` and the man page also read. Do not edit
it: ` + "`RETIME_WRITE_DOCS=1 go test ./cmd/retime -run FlagsDocument`" + ` writes it.
` + "`retime completion bash|zsh|fish`" + ` prints a script that completes flags and their values.

## retime

` + "    " + useLine(root) + "\n")
	for _, g := range flagGroups(root) {
		flagTable(&b, "### "+strings.TrimSuffix(string(g.heading), " flags")+"\n\n", g.flags)
	}
	for _, g := range verbGroups(root) {
		for _, v := range g.verbs {
			verbFlags(&b, root, v)
		}
	}
	return b.Bytes()
}

// verbFlags writes the section of v, if it has flags.
func verbFlags(b *bytes.Buffer, root, v *cobra.Command) {
	var own, shared, missing []*pflag.Flag
	for _, g := range flagGroups(v) {
		for _, f := range g.flags {
			if r := root.Flags().Lookup(f.Name); r != nil && explanation(r) == explanation(f) {
				shared = append(shared, f)
			} else if definition(f) != nil {
				own = append(own, f)
			}
		}
	}
	root.Flags().VisitAll(func(r *pflag.Flag) {
		if f := v.Flags().Lookup(r.Name); definition(r) != nil && (f == nil || f.Hidden) {
			missing = append(missing, r)
		}
	})
	if len(own)+len(shared) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n    %s\n", v.CommandPath(), strings.TrimSuffix(v.Short, "."), useLine(v))
	flagTable(b, "", own)
	switch {
	case len(missing) < len(shared) && len(missing) > 0:
		fmt.Fprintf(b, "\nThe rest is as for `retime` above, without %s.\n", names(missing))
	case len(missing) < len(shared):
		b.WriteString("\nThe rest is as for `retime` above.\n")
	case len(shared) > 0:
		fmt.Fprintf(b, "\nAs for `retime` above: %s.\n", names(shared))
	}
}

// names lists flags.
func names(flags []*pflag.Flag) string {
	var list []string
	for _, f := range flags {
		list = append(list, "`--"+f.Name+"`")
	}
	return strings.Join(list, ", ")
}

// link matches the names of documents in the flags' texts.
var link = regexp.MustCompile(`docs/([a-z]+\.md)`)

// flagTable writes a table of those flags that retime defines itself.
func flagTable(b *bytes.Buffer, title string, flags []*pflag.Flag) {
	var rows bytes.Buffer
	for _, f := range flags {
		if definition(f) == nil {
			continue
		}
		text := strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;", "*", `\*`).Replace(fullExplanation(f))
		text = link.ReplaceAllString(text, "[$1]($1)")
		fmt.Fprintf(&rows, "| `%s` | %s |\n", strings.TrimSpace(synopsis(f)), text)
	}
	if rows.Len() > 0 {
		fmt.Fprintf(b, "\n%s| flag | meaning |\n|---|---|\n%s", title, rows.String())
	}
}
