package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline/fault"
)

// flag defines a flag of the command line. Help, the man page, completion, job files,
// settings files and error messages all read this one definition.
type flag struct {
	pflag.Value // stores the value in the options

	name, short string
	arg         string // name of the value in help, such as FILE; empty for none
	usage       string // the effect of the flag, in a line; more lines are for the man page and docs/flags.md
	heading     heading
	option      string // the library's option that the flag sets, such as Timing.Slow; may be empty
	role        role
	verbs       verb     // the verbs that share the flag with the conversion
	hidden      verb     // the verbs that accept the flag but do not list it
	bare        string   // the value if the flag is given without one
	values      []string // all values that the flag accepts; nil if they cannot be listed
	use         fileUse
	path        *string         // the file's name; nil if use is noFile, or only files tells it
	files       func() []string // the names of the files, if it is not the one at path
}

// line returns the effect of the flag, in a line.
func (d *flag) line() string {
	line, _, _ := strings.Cut(d.usage, "\n")
	return line
}

// detail returns what else there is to know; it may be empty.
func (d *flag) detail() string {
	_, rest, _ := strings.Cut(d.usage, "\n")
	return rest
}

// role tells what a flag decides.
type role int

const (
	roleContent role = iota // the content of the output, except how frames are made
	roleEXR                 // the content of a sequence of OpenEXR; no other clip heeds it among a job file's defaults
	roleMethod              // the way of making frames
	roleMachine             // the processors and threads
	roleFiles               // which files are written, and whether they are checked
	roleProgram             // how the program as a whole runs
)

// sameOutput reports whether flags of role r leave the contents of all files the same.
func (r role) sameOutput() bool { return r == roleMachine || r == roleFiles || r == roleProgram }

// verb is a set of the program's verbs.
type verb uint

const (
	convertVerb verb = 1 << iota
	planVerb
	batchVerb
	restoreVerb
	evaluateVerb
	debugVerb
	flowVerb
	workVerb // segment and verify
	joinVerb
	reviewVerb
)

// conversions is the set of the verbs that take every flag of the conversion.
const conversions = convertVerb | planVerb | batchVerb | reviewVerb

// fileUse tells what a flag's file is for.
type fileUse int

const (
	noFile     fileUse = iota
	readsFile          // an input beside the clip
	writesFile         // a description of the conversion, which it writes
	outputFile         // the output
	keepsFiles         // a directory that outlives the conversion
)

// heading is a heading of flags in --help.
type heading string

// These are the headings, in the order of --help.
const (
	commonHeading    heading = "Common flags"
	transformHeading heading = "Transform"
	samplingHeading  heading = "Sampling"
	damageHeading    heading = "Damage"
	compareHeading   heading = "Comparison"
	planHeading      heading = "Plan"
	batchHeading     heading = "Batch"
	timeHeading      heading = "Speed and time"
	methodHeading    heading = "How frames are made"
	inputHeading     heading = "Input"
	outputHeading    heading = "Output and encoding"
	reportHeading    heading = "Reports"
	machineHeading   heading = "Processors and GPUs"
	resumeHeading    heading = "Resuming after a kill"
	displayHeading   heading = "Messages"
	unsortedHeading  heading = "Flags"
)

var headings = []heading{
	commonHeading, transformHeading, samplingHeading, damageHeading, compareHeading, planHeading, batchHeading, unsortedHeading, timeHeading, methodHeading, inputHeading,
	outputHeading, reportHeading, machineHeading, resumeHeading, displayHeading,
}

// declare adds flags to f in order. It skips a flag that f already has, so that a
// verb's own definition takes precedence over a shared one.
func declare(f *pflag.FlagSet, list []flag) {
	f.SortFlags = false
	for _, d := range list {
		if f.Lookup(d.name) != nil {
			continue
		}
		p := f.VarPF(&d, d.name, d.short, d.line())
		p.NoOptDefVal = d.bare
		if d.Type() == "bool" {
			p.NoOptDefVal = "true"
		}
	}
}

// definition returns the definition of f, or nil for one of cobra's own flags.
func definition(f *pflag.Flag) *flag {
	d, _ := f.Value.(*flag)
	return d
}

// visitDecisive calls visit for each flag that the command line sets and that decides the output, but
// for its name, with a text for each time that the flag is to be given.
func visitDecisive(flags *pflag.FlagSet, visit func(d *flag, texts []string)) {
	flags.Visit(func(f *pflag.Flag) {
		d := definition(f)
		if d == nil || d.role == roleProgram || d.name == "output" || d.name == "glob" {
			return
		}
		if v, ok := d.Value.(interface{ all() []string }); ok {
			visit(d, v.all())
		} else {
			visit(d, []string{d.String()})
		}
	})
}

// setDefault changes the default of a flag.
func setDefault(f *pflag.FlagSet, name, text string) {
	p := f.Lookup(name)
	if err := p.Value.Set(text); err != nil {
		panic(err) // the program chose the text
	}
	p.DefValue = text
}

// given reports whether the command line sets f to a value other than its default.
func given(f *pflag.Flag) bool { return f.Changed && f.Value.String() != f.DefValue }

// checkExclusive refuses two flags that set the same option of the library.
func checkExclusive(flags *pflag.FlagSet) error {
	setBy := map[string]string{}
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		d := definition(f)
		if d == nil || d.option == "" || !given(f) {
			return
		}
		if first, ok := setBy[d.option]; ok && err == nil {
			err = fault.New(fault.Usage, "--%s and --%s exclude each other", first, f.Name)
		}
		setBy[d.option] = f.Name
	})
	return err
}

// flagError returns the message for a wrong flag. If the library refused the value, its
// message is enough.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var refused *fault.Error
	if errors.As(err, &invalid) && errors.As(err, &refused) {
		return refused
	}
	if hint := suggestFlag(cmd, err); hint != "" {
		return fault.New(fault.Usage, "%w%s", err, hint)
	}
	return fault.New(fault.Usage, "%w; see %s --help", err, cmd.CommandPath())
}

// setFlag sets the flag called name to the text in a file.
func setFlag(flags *pflag.FlagSet, name, text string) error {
	err := flags.Set(name, text)
	if err == nil {
		return nil
	}
	var refused *fault.Error
	if errors.As(err, &refused) {
		return refused
	}
	return fmt.Errorf("%s: %q is not a valid value", name, text)
}

// isRepeatable reports whether f may be given several times.
func isRepeatable(f *pflag.Flag) bool { return f.Value.Type() == repeatable }

// completeFlags tells the shells the values of cmd's flags.
func completeFlags(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		d := definition(f)
		if d == nil || d.Type() == "bool" {
			return
		}
		var complete cobra.CompletionFunc
		switch {
		case d.values != nil:
			complete = cobra.FixedCompletions(slices.Clone(d.values), cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveKeepOrder)
		case d.arg == "DIR":
			complete = cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
		case d.arg == "FILE" || d.arg == "FILES" || d.arg == "LIST":
			return // the shell completes file names itself
		default:
			complete = cobra.NoFileCompletions
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
			panic(err) // the flag has a function already
		}
	})
}
