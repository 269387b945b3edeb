package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Messages of a restoration name only flags that restore takes.
func TestRestoreNamesItsOwnFlags(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(RestoreOptions).AddFlags(flags)
	named := regexp.MustCompile(`--([a-z][a-z0-9-]+)`)
	messages := 0
	err := filepath.WalkDir("../../pipeline/restore", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
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
			for _, m := range named.FindAllStringSubmatch(words, -1) {
				if flags.Lookup(m[1]) == nil {
					t.Errorf("%s: %q: restore has no --%s", name, words, m[1])
				}
			}
			if option := optionNames.FindString(words); option != "" {
				t.Errorf("%s: %q names %s", name, words, option)
			}
			return true
		})
		return nil
	})
	if err != nil || messages == 0 {
		t.Errorf("%d messages: %v", messages, err)
	}
}
