package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/cmd/internal/review"
	"retime/cmd/internal/review/edits"
	"retime/frame"
	"retime/pipeline/batch"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/restore"
)

// ReviewOptions holds the flags of review.
type ReviewOptions struct {
	ConvertOptions
	globs   []string
	list    string          // of a restoration
	restore restore.Options // its flags
	noOpen  bool
}

// AddFlags declares the flags of review and of the conversion.
func (o *ReviewOptions) AddFlags(f *pflag.FlagSet) {
	o.setDefaults()
	o.restore.MaxRun = restore.DefaultMaxRun
	declare(f, []flag{
		{name: "no-open", usage: "print the address, and open no browser", heading: commonHeading, role: roleProgram, Value: boolean(&o.noOpen)},
		{name: "list", arg: "FILE", usage: "review the findings in this list of restore, and save what you decide there", heading: commonHeading, role: roleFiles, use: writesFile, path: &o.list, Value: word(&o.list)},
		{name: "field-order", arg: "FIELD", usage: "with --list, take the input as interlaced, with this field first", heading: inputHeading,
			option: "Options.FieldOrder", values: []string{"top", "bottom"}, Value: word(&o.restore.FieldOrder)},
		{name: "max-run", arg: "N", usage: "with --list, leave runs of more than N damaged frames alone", heading: commonHeading, option: "Options.MaxRun", Value: integer(&o.restore.MaxRun)},
		{name: "glob", arg: "PATTERN", usage: "clips of the directory; repeatable (default all that look like video)", heading: commonHeading, role: roleFiles, Value: texts(&o.globs)},
	})
	o.addFlags(f, reviewVerb)
	f.Lookup("output").Usage = "file that the page renders; a directory for a directory of clips"
	f.Lookup("overwrite").Usage = "overwrite the output without asking"
	f.Lookup("segment-seconds").Usage = "length of the parts that an edit renders again"
	f.Lookup("decisions").Usage = "keep decisions about frames in this file (default OUTPUT.decisions)"
	f.Lookup("static-mask").Usage = "keep the mask of still overlays in this PNG (default OUTPUT.mask.png)"
	f.Lookup("curve").Usage = "keep the speed curve in this file (default OUTPUT.curve)"
	setDefault(f, "segment-seconds", "5")
}

func newReviewCommand() *cobra.Command {
	var o ReviewOptions
	cmd := &cobra.Command{
		Use:   "review INPUT [OUTPUT] | DIR",
		Short: "Inspect made frames in the browser, correct them and render again",
		Long: `review serves a page to this machine only: watch the retimed clip beside the
source or beside another way of making it, find doubtful frames, see how they came
about, decide otherwise, and render the changes. Decisions, the mask of
still overlays and the speed curve are saved at once, beside the output, in the
files that --decisions, --static-mask and --curve read. The page shows the command
that makes the same frames. review ends with Ctrl-C, or when the last tab has been
closed for a minute: docs/review.md.`,
		Example: `  retime review in.mp4 out.mp4 --fps 60
  retime review clips --slow 4 -o slow
  retime review tape.mkv --list damage.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fault.New(fault.Usage, "want an input and at most one output, or a directory; see retime review --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runReview(cmd.Context(), o, args, cmd.Flags(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

// closedFor is how long after its last tab was closed the server ends.
const closedFor = time.Minute

func runReview(ctx context.Context, o ReviewOptions, args []string, flags *pflag.FlagSet, stdout, stderr io.Writer) error {
	if err := o.checkParts(); err != nil {
		return err
	}
	opt := review.Options{
		Program: version(), Segment: o.segmentLength, Idle: closedFor, Log: slog.New(o.logTo(stderr)),
		Message: func(err error) string { return said(err, flags) },
	}
	info, err := os.Stat(args[0])
	switch {
	case o.list == "" && (flags.Changed("field-order") || flags.Changed("max-run")):
		return fault.New(fault.Usage, "--field-order and --max-run are about a restoration; give its list with --list")
	case o.restore.MaxRun < 1: // for the library, 0 is the default
		return fault.New(fault.Usage, "--max-run %d: want 1 or more", o.restore.MaxRun)
	case o.list != "":
		opt.Restoration, err = o.restoration(args, flags)
	case err == nil && info.IsDir():
		opt.Batch = args[0]
		opt.Clips, err = o.directory(args, flags)
	default:
		var c review.Clip
		c, err = o.clip(args, flags)
		opt.Clips = []review.Clip{c}
	}
	if err != nil {
		return err
	}
	s, err := review.New(opt)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, s.URL())
	if !o.noOpen {
		openBrowser(s.URL(), stderr)
	}
	return s.Serve(ctx)
}

// clip returns the clip that the command line names.
func (o *ReviewOptions) clip(args []string, flags *pflag.FlagSet) (review.Clip, error) {
	one := o.ConvertOptions
	switch {
	case len(args) == 2 && one.Output.File != "":
		return review.Clip{}, fault.New(fault.Usage, "two outputs, %q and %q; name one", args[1], one.Output.File)
	case len(args) == 2:
		one.Output.File = args[1]
	case one.Output.File == "":
		ext := filepath.Ext(args[0])
		one.Output.File = strings.TrimSuffix(args[0], ext) + "-retimed" + ext
	}
	if out := one.Output.File; out == "-" || args[0] == "-" || media.IsSequence(out) {
		return review.Clip{}, fault.New(fault.Usage, "a review needs files as input and output, not %q and %q", args[0], out)
	}
	return newReviewClip(one, args[0], flags)
}

// restoration returns the restoration that the command line names.
func (o *ReviewOptions) restoration(args []string, flags *pflag.FlagSet) (*review.Restoration, error) {
	restores := pflag.NewFlagSet("restore", pflag.ContinueOnError)
	new(RestoreOptions).AddFlags(restores)
	for _, f := range givenFlags(flags) {
		if restores.Lookup(f.Name) == nil {
			return nil, fault.New(fault.Usage, "review: restorations have no --%s; leave it out, or leave out --list", f.Name)
		}
	}
	one := o.ConvertOptions
	if len(args) == 2 {
		one.Output.File = args[1]
	} else if one.Output.File == "" {
		one.Output.File = nextTo(args[0], "-restored")
	}
	if !flags.Changed("preset") {
		one.Synthesis.Preset = "" // as restore has it
	}
	in, err := one.confinement()
	if err != nil {
		return nil, err
	}
	if err := in.Check(o.list); err != nil {
		return nil, fault.New(fault.Usage, "review: --confine: %w", err)
	}
	written := []flag{{name: "output", use: writesFile, path: &one.Output.File}, {name: "list", use: writesFile, path: &o.list}}
	if err := checkWritten(append(reading(one.flags()), written...), args[0], true); err != nil {
		return nil, err
	}
	r := &review.Restoration{List: o.list, Flags: givenFlags(flags), Options: o.restore}
	r.Options.Convert, err = one.options(args[0])
	return r, err
}

// newReviewClip returns the clip of a conversion. The page reads and writes the files of edits
// itself.
func newReviewClip(o ConvertOptions, input string, flags *pflag.FlagSet) (review.Clip, error) {
	out := o.Output.File
	base := strings.TrimSuffix(out, filepath.Ext(out))
	name := func(given *string, ending string) string {
		file := *given
		if *given = ""; file == "" {
			return base + ending
		}
		return file
	}
	c := review.Clip{Flags: givenFlags(flags)}
	c.Files = edits.Files{
		Decisions: name(&o.decisions, ".decisions"), Mask: name(&o.staticMask, ".mask.png"), Curve: name(&o.curve, ".curve"),
		ReadMask: func(name string) (frame.Image[uint8], error) { return readMask("--static-mask", name) },
	}
	var err error
	if c.Conversion, err = o.options(input); err != nil {
		return c, err
	}
	if in, err := o.confinement(); err != nil {
		return c, err
	} else if in.On() {
		for _, file := range []string{c.Files.Decisions, c.Files.Mask, c.Files.Curve} {
			if err := in.Check(file); err != nil {
				return c, fault.New(fault.Usage, "review: --confine: %w", err)
			}
		}
	}
	written := []flag{
		{name: "output", use: writesFile, path: &out}, {name: "decisions", use: writesFile, path: &c.Files.Decisions},
		{name: "static-mask", use: writesFile, path: &c.Files.Mask}, {name: "curve", use: writesFile, path: &c.Files.Curve},
	}
	if err := checkWritten(append(reading(o.flags()), written...), input, true); err != nil { // an earlier review has left files there
		return c, err
	}
	return c, c.Conversion.Check()
}

// givenFlags returns the flags that the command line sets and that decide the output.
func givenFlags(flags *pflag.FlagSet) (list []review.Flag) {
	visitDecisive(flags, func(d *flag, texts []string) {
		for _, text := range texts {
			list = append(list, review.Flag{Name: d.name, Value: text})
		}
	})
	slices.SortStableFunc(list, func(a, b review.Flag) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// videoGlobs match the names of what looks like video.
var videoGlobs = []string{"*.mp4", "*.mkv", "*.mov", "*.webm", "*.avi", "*.m4v", "*.mpg", "*.mpeg", "*.ts", "*.m2ts", "*.mxf", "*.y4m"}

// directory returns the clips of a directory, with their states in a batch of the same flags.
func (o *ReviewOptions) directory(args []string, flags *pflag.FlagSet) ([]review.Clip, error) {
	one := o.ConvertOptions
	switch {
	case len(args) == 2 && one.Output.File == "":
		one.Output.File = args[1]
	case one.Output.File == "":
		one.Output.File = filepath.Join(args[0], "retimed")
	}
	for name, file := range map[string]string{"decisions": one.decisions, "static-mask": one.staticMask, "curve": one.curve} {
		if file != "" {
			return nil, fault.New(fault.Usage, "--%s is about one clip; review it alone", name)
		}
	}
	globs := o.globs
	if len(globs) == 0 {
		globs = videoGlobs
	}
	found, jobs, err := readDir(args[0], globs, one, flags)
	if err != nil {
		return nil, err
	}
	status, err := batch.ReadStatus(batch.Options{Jobs: jobs, Dir: filepath.Join(one.Output.File, ".retime")})
	if err != nil {
		return nil, err
	}
	var clips []review.Clip
	for i, f := range found {
		c, err := newReviewClip(f.ConvertOptions, f.input, flags)
		if err != nil {
			return nil, err
		}
		c.State = string(status.Jobs[i].State)
		if e := status.Jobs[i].Err; e != nil {
			c.Problem = said(e, flags)
		}
		clips = append(clips, c)
	}
	if err := os.MkdirAll(one.Output.File, 0o777); err != nil {
		return nil, fault.New(fault.CannotWrite, "output %q: %w", one.Output.File, err)
	}
	return clips, nil
}

// openBrowser opens the address in the user's browser. The address is also printed, so that a
// failure is only told.
func openBrowser(url string, stderr io.Writer) {
	if err := openAddress(url); err != nil {
		fmt.Fprintf(stderr, "retime: no browser was opened (%v); open the address yourself\n", err)
	}
}
