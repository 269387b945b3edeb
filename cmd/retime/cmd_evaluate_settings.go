package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/spf13/pflag"

	"retime/pipeline/evaluate"
	"retime/pipeline/fault"
)

// isSetting says whether a settings file may hold f: how frames are made and by what,
// rather than what is read, written or shown.
func isSetting(f *pflag.Flag) bool {
	d := definition(f)
	return d != nil && (d.role == roleMethod || d.role == roleMachine)
}

// readSetting reads a YAML file of flags by their names. The file's name
// without its extension is the setting's.
func readSetting(name string) (evaluate.Setting, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return evaluate.Setting{}, fault.New(fault.NoInput, "settings %w", err)
	}
	base := filepath.Base(name)
	s, err := parseSetting(data)
	if err != nil {
		return s, fault.New(fault.Usage, "settings %q: %w", name, err)
	}
	s.Name = strings.TrimSuffix(base, filepath.Ext(base))
	return s, nil
}

func parseSetting(data []byte) (evaluate.Setting, error) {
	var s evaluate.Setting
	entries, err := yamlEntries(data)
	if err != nil {
		return s, err
	}
	var o ConvertOptions
	flags := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	o.AddFlags(flags)
	for _, e := range entries {
		f := flags.Lookup(e.key)
		switch {
		case f == nil || !isSetting(f):
			return s, fmt.Errorf("line %d: no setting %q; choose from %s", e.line, e.key, strings.Join(settingNames(flags), ", "))
		case f.Changed:
			return s, fmt.Errorf("line %d: %s is given twice", e.line, e.key)
		}
		if err := setFlag(flags, e.key, e.value); err != nil {
			return s, fmt.Errorf("line %d: %w", e.line, err)
		}
	}
	if err := checkExclusive(flags); err != nil {
		return s, err
	}
	if s.Convert, err = o.options(""); err != nil {
		return s, err
	}
	s.Values = map[string]string{}
	for _, name := range settingNames(flags) {
		if v := flags.Lookup(name).Value.String(); v != "" {
			s.Values[name] = v
		}
	}
	return s, nil
}

func settingNames(flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if isSetting(f) {
			names = append(names, f.Name)
		}
	})
	return names
}

type yamlEntry struct {
	key, value string
	line       int
}

// yamlEntries reads a mapping of scalars.
func yamlEntries(data []byte) (entries []yamlEntry, err error) {
	file, err := parser.ParseBytes(data, 0)
	if e := (yaml.Error)(nil); errors.As(err, &e) {
		return nil, fmt.Errorf("line %d: %s", e.GetToken().Position.Line, e.GetMessage())
	} else if err != nil {
		return nil, err
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, nil
	}
	if len(file.Docs) > 1 {
		return nil, fmt.Errorf("%d documents: want one", len(file.Docs))
	}
	var values []*ast.MappingValueNode
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		values = body.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{body}
	default:
		return nil, fmt.Errorf("line %d: want settings as name: value", body.GetToken().Position.Line)
	}
	for _, v := range values {
		key := v.Key.GetToken()
		switch v.Value.(type) {
		case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
			entries = append(entries, yamlEntry{key.Value, v.Value.GetToken().Value, key.Position.Line})
		default:
			return nil, fmt.Errorf("line %d: %s: want a word or a number", key.Position.Line, key.Value)
		}
	}
	return entries, nil
}
