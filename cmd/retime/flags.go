package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline/fault"
)

// flag defines a flag of the command line. Help, the man page, completion, job files,
// settings files and error messages all read this one definition.
type flag struct {
	pflag.Value // writes into the options

	name, short string
	arg         string // what the value is called, such as FILE; empty for none
	usage       string // what the flag does, in a line
	heading     heading
	option      string // of the library that the flag sets, such as Timing.Slow; may be empty
	role        role
	verbs       verb     // that share the flag with the conversion
	hidden      verb     // those of them that accept it, but do not list it
	bare        string   // the value of a flag that is given without one
	values      []string // all that the flag accepts; nil if these cannot be listed
	use         fileUse
	path        *string // the file's name; nil unless use says what becomes of a file
}

// role says what a flag decides.
type role int

const (
	roleContent role = iota // what the output shows, apart from how frames are made
	roleMethod              // how frames are made
	roleMachine             // what computes them
	roleFiles               // which files there are and whether they are checked
	roleProgram             // how the program as a whole runs
)

// sameOutput says whether flags of that role leave the contents of all files alone.
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
	workVerb // segment and verify
	joinVerb
)

// conversions are the verbs that take every flag of the conversion.
const conversions = convertVerb | planVerb | batchVerb

// fileUse says what becomes of the file that a flag names.
type fileUse int

const (
	noFile     fileUse = iota
	readsFile          // it is an input beside the clip
	writesFile         // it tells of the conversion
	outputFile         // it is the output
	keepsFiles         // it is a directory that outlives the conversion
)

// heading is what a flag stands under in --help.
type heading string

// The headings, in the order of --help.
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
	resumeHeading    heading = "Going on after a kill"
	displayHeading   heading = "Messages"
	unsortedHeading  heading = "Flags"
)

var headings = []heading{
	commonHeading, transformHeading, samplingHeading, damageHeading, compareHeading, planHeading, batchHeading, unsortedHeading, timeHeading, methodHeading, inputHeading,
	outputHeading, reportHeading, machineHeading, resumeHeading, displayHeading,
}

// declare adds flags to f in their order. A flag that f has already is left out, so that
// a verb's own definition comes before the one that it shares.
func declare(f *pflag.FlagSet, list []flag) {
	f.SortFlags = false
	for _, d := range list {
		if f.Lookup(d.name) != nil {
			continue
		}
		p := f.VarPF(&d, d.name, d.short, d.usage)
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

// setDefault gives a flag another default.
func setDefault(f *pflag.FlagSet, name, text string) {
	p := f.Lookup(name)
	if err := p.Value.Set(text); err != nil {
		panic(err) // the program's own text
	}
	p.DefValue = text
}

// given says whether the command line sets f to other than its default.
func given(f *pflag.Flag) bool { return f.Changed && f.Value.String() != f.DefValue }

// checkExclusive refuses two flags that set one option of the library.
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

// flagError says what is wrong with a flag. A value that the library refuses has its
// message already.
func flagError(_ *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var refused *fault.Error
	if errors.As(err, &invalid) && errors.As(err, &refused) {
		return refused
	}
	return fault.New(fault.Usage, "%w; see retime --help", err)
}

// setFlag sets the flag of that name as text in a file says.
func setFlag(flags *pflag.FlagSet, name, text string) error {
	err := flags.Set(name, text)
	if err == nil {
		return nil
	}
	var refused *fault.Error
	if errors.As(err, &refused) {
		return refused
	}
	return fmt.Errorf("%s: %q is no value of that kind", name, text)
}

// isRepeatable says whether f may be given several times.
func isRepeatable(f *pflag.Flag) bool { return f.Value.Type() == repeatable }

// completeFlags tells the shells what the values of cmd's flags may be.
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
			return // file names, as the shell completes them
		default:
			complete = cobra.NoFileCompletions
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
			panic(err) // it has one already
		}
	})
}
