package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"retime/cmd/internal/settings"
	"retime/pipeline/evaluate"
	"retime/pipeline/fault"
	"retime/pipeline/plainfile"
)

// isSetting reports whether a settings file may hold f: whether f decides how and on
// which processors frames are made, rather than which files are read, written or shown.
func isSetting(f *pflag.Flag) bool {
	d := definition(f)
	return d != nil && (d.role == roleMethod || d.role == roleMachine) && d.heading != inputHeading
}

// readSetting reads a YAML file of flags by name. The setting is called after the file,
// without its extension.
func readSetting(name string) (evaluate.Setting, error) {
	data, err := plainfile.Read(name, settings.MaxBytes)
	if err != nil {
		return evaluate.Setting{}, fault.New(fault.NoInput, "settings: %w", err)
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
	given, err := settings.Parse(data)
	if err != nil {
		return s, err
	}
	var o ConvertOptions
	flags := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	o.AddFlags(flags)
	for _, g := range given {
		f := flags.Lookup(g.Name)
		switch {
		case g.List:
			return s, fmt.Errorf("line %d: %s: want a word or a number", g.Line, g.Name)
		case f == nil || !isSetting(f):
			return s, fmt.Errorf("line %d: no setting %q; choose from %s", g.Line, g.Name, strings.Join(settingNames(flags), ", "))
		case f.Changed:
			return s, fmt.Errorf("line %d: %s is given twice", g.Line, g.Name)
		}
		if err := setFlag(flags, g.Name, g.Values[0]); err != nil {
			return s, fmt.Errorf("line %d: %w", g.Line, err)
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
