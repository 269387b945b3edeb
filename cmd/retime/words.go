package main

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"retime/pipeline/fault"
)

// optionNames matches the options that the library's messages name.
var optionNames = regexp.MustCompile(`\b(Input|Timing|Synthesis|Output|Compute|Hooks|Options)\.[A-Z][A-Za-z]+\b`)

// flagsOf returns the names of the flags that set each option of the library.
var flagsOf = sync.OnceValue(func() map[string][]string {
	names := map[string][]string{}
	add := func(option, name string) {
		if !slices.Contains(names[option], name) {
			names[option] = append(names[option], name)
		}
	}
	for _, declare := range []func(*pflag.FlagSet){
		new(ConvertOptions).AddFlags, new(BatchOptions).AddFlags, new(RestoreOptions).AddFlags, new(EvaluateOptions).AddFlags,
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		declare(flags)
		flags.VisitAll(func(f *pflag.Flag) {
			if d := definition(f); d.option != "" {
				add(d.option, d.name)
			}
		})
	}
	return names
})

// flagOf returns the flag that sets an option, preferably one that was given. Several
// packages call their own options Options; a flag of a group of pipeline.Options may
// set one of those as well.
func flagOf(option string, given *pflag.FlagSet) (name string, ok bool) {
	names := flagsOf()[option]
	if own, is := strings.CutPrefix(option, "Options."); is && names == nil {
		for _, group := range []string{"Input.", "Timing.", "Synthesis.", "Output.", "Compute."} {
			if names = flagsOf()[group+own]; names != nil {
				break
			}
		}
	}
	if names == nil {
		return "", false
	}
	if given != nil {
		for _, name := range names {
			if given.Changed(name) {
				return name, true
			}
		}
	}
	return names[0], true
}

// advice replaces options whose flags take no value after a space, or are known by a letter.
var advice = strings.NewReplacer(
	"Output.File", "-o", "Output.Overwrite", "-y", "Options.Overwrite", "-y",
	"a restoration with Options.Detect", "retime restore --detect",
	"a restoration with Options.MissingFromNumbering", "retime restore --missing-from-numbering",
	"Input.Deinterlace telecine", "--inverse-telecine", "Input.Deinterlace off", "--deinterlace=off",
)

// inFlags returns the library's words with flags for options, preferably ones in given, which may be nil.
func inFlags(words string, given *pflag.FlagSet) string {
	return optionNames.ReplaceAllStringFunc(advice.Replace(words), func(option string) string {
		if name, ok := flagOf(option, given); ok {
			return "--" + name
		}
		return option
	})
}

// said returns err's message in terms of flags, preferably ones in given, which may be nil.
func said(err error, given *pflag.FlagSet) string {
	return shown(fault.Text(err, func(words string) string { return inFlags(words, given) }))
}

// flagsError is an error of the library whose text is in terms of flags.
type flagsError struct {
	error
	text string
}

func (e *flagsError) Error() string { return e.text }
func (e *flagsError) Unwrap() error { return e.error }
