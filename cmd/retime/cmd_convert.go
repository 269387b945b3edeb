package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"retime/frame/simd"
	"retime/pipeline"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/segment"
)

func newRootCommand() *cobra.Command {
	var o ConvertOptions
	cmd := &cobra.Command{
		Use:   "retime INPUT [-o OUTPUT] [--fps RATE] [--slow N]",
		Short: "Change the time of a video: make the frames that were never shot",
		Long: `retime converts a clip to another frame rate, or slows it down. It makes the
frames that the camera never shot from their neighbours, along the optical flow.
Shot frames reach the encoder untouched.`,
		Example: `  retime in.mp4 -o out.mp4 --fps 60
  retime in.mp4 -o slow.mp4 --slow 4 --from 10 --to 12.5`,
		Version:       version(),
		Args:          convertArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runConvert(cmd.Context(), o, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	cmd.Flags().Lookup("output").Usage += " (default next to the input: clip-60fps.mp4)"
	cmd.SetFlagErrorFunc(flagError)
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := simd.Check(); err != nil {
			return fault.New(fault.Usage, "%w", err)
		}
		return checkExclusive(cmd.Flags())
	}
	cmd.SetUsageFunc(printUsage)
	cmd.SetHelpTemplate(cmd.HelpTemplate() + exitCodes)
	cmd.CompletionOptions.DisableDefaultCmd = true
	cobra.EnableCommandSorting = false // under a heading, verbs come in order of use
	addVerbs(cmd, convertGroup, newBatchCommand(), newResampleCommand())
	addVerbs(cmd, restoreGroup, newRestoreCommand())
	addVerbs(cmd, inspectGroup, newReviewCommand(), newEvaluateCommand(), newDebugCommand(), newFlowCommand(), newInfoCommand())
	addVerbs(cmd, machinesGroup, newPlanCommand(), newSegmentCommand(), newStatusCommand(), newVerifyCommand(), newJoinCommand())
	addVerbs(cmd, shellGroup, newCompletionCommand(), newManCommand(), newVersionCommand())
	cmd.SetHelpCommandGroupID(shellGroup.ID)
	completeFlags(cmd)
	return cmd
}

// These are the headings of the verbs in --help.
var (
	convertGroup  = &cobra.Group{ID: "convert", Title: "Convert"}
	restoreGroup  = &cobra.Group{ID: "restore", Title: "Repair"}
	inspectGroup  = &cobra.Group{ID: "inspect", Title: "Compare and inspect"}
	machinesGroup = &cobra.Group{ID: "machines", Title: "One conversion on many machines"}
	shellGroup    = &cobra.Group{ID: "shell", Title: "Help"}
)

// addVerbs adds verbs to the root command under a heading.
func addVerbs(root *cobra.Command, group *cobra.Group, verbs ...*cobra.Command) {
	root.AddGroup(group)
	for _, v := range verbs {
		v.GroupID = group.ID
		completeFlags(v)
		root.AddCommand(v)
	}
}

const exitCodes = `
Exit codes:
  0 done, 1 internal error, 2 usage, 65 bad data, 66 no input,
  73 cannot write, 75 try again, 76 output fails its check,
  130 cancelled
`

func convertArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		if hint := suggestVerb(cmd, args[0]); hint != "" {
			return fault.New(fault.Usage, "no file %q%s", args[0], hint)
		}
	}
	switch len(args) {
	case 0:
		return fault.New(fault.Usage, "no input; retime INPUT -o OUTPUT --fps RATE, or see retime --help")
	case 1:
		return nil
	case 2:
		_, in := os.Stat(args[0])
		_, out := os.Stat(args[1])
		if in == nil && errors.Is(out, fs.ErrNotExist) && !cmd.Flags().Changed("output") {
			return fault.New(fault.Usage, "two names: name the output with -o %s", args[1])
		}
	}
	return fault.New(fault.Usage, "one input at a time, not %s; see retime --help", strings.ReplaceAll(strings.Trim(fmt.Sprintf("%q", args), "[]"), `" "`, `", "`))
}

// oneInput refuses arguments other than one input.
func oneInput(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fault.New(fault.Usage, "%d inputs: want one; see %s --help", len(args), cmd.CommandPath())
	}
	return nil
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fault.New(fault.Usage, "unexpected argument %q; see %s --help", args[0], cmd.CommandPath())
	}
	return nil
}

// options returns the library's options for a conversion of input, with the contents of
// the files that o names.
func (o *ConvertOptions) options(input string) (pipeline.Options, error) {
	p := o.Options
	p.Input.File, p.Output.Keep = input, beside(o.flags())
	if err := o.checkConfined(input); err != nil {
		return p, err
	}
	if info, err := os.Stat(input); err == nil && info.IsDir() {
		p.Input.File = cmp.Or(media.SequenceIn(input), input)
	}
	if dir, err := os.UserCacheDir(); err == nil && o.Compute.Confine == "" {
		p.Compute.SpeedFile = filepath.Join(dir, "retime", "speed.json")
	}
	err := o.read(&p)
	return p, err
}

// read reads the contents of the files into p.
func (f *files) read(p *pipeline.Options) (err error) {
	if f.curve != "" {
		if p.Timing.Curve, err = readCurve(f.curve); err != nil {
			return err
		}
	}
	if f.scenes != "" {
		if p.Synthesis.Scenes, err = readScenes(f.scenes); err != nil {
			return err
		}
	}
	if f.decisions != "" {
		if p.Synthesis.Decisions, err = readList("--decisions", f.decisions, maxDecisions, decision.Read); err != nil {
			return err
		}
	}
	if f.staticMask != "" {
		p.Synthesis.StaticMask, err = readMask("--static-mask", f.staticMask)
	}
	return err
}

func runConvert(ctx context.Context, o ConvertOptions, input string, stdout, stderr io.Writer) error {
	if o.Output.File == "" {
		o.Output.File = o.defaultOutput(input)
	}
	if o.resume {
		if err := o.checkParts(); err != nil {
			return err
		}
	}
	p, err := o.options(input)
	if err != nil {
		return err
	}
	if o.resume && media.IsSequence(p.Output.File) {
		return fault.New(fault.Usage, "output %q: pictures cannot be joined from parts; leave out --resume", p.Output.File)
	}
	whyCPU, err := chooseProgram(p.Compute.Backend)
	if err != nil {
		return err
	}
	var warned []message
	log := o.logTo(stderr)
	log.warned = &warned
	p.Hooks.Log = slog.New(log)
	progress, err := newProgress(o.progress, o.quiet, stderr)
	if err != nil {
		return err
	}
	if o.dryRun {
		if err := checkWritten(o.flags(), input, o.Output.Overwrite); err != nil {
			return err
		}
		_, err := previewed(ctx, stdout, o.Output.File, p)
		return err
	}
	p.Hooks.Progress = progress.update
	report, err := o.convert(ctx, p)
	progress.done()
	if o.progress == "json" {
		printOutcome(stderr, report, warned, err)
	}
	if report != nil && !o.quiet {
		out := stdout
		if o.Output.File == "-" {
			out = stderr
		}
		summarise(out, report, whyCPU, o.verbose)
	}
	return err
}

// run converts in one piece, or in segments if o.resume is set.
func (o *ConvertOptions) run(ctx context.Context, p pipeline.Options) (*pipeline.Report, error) {
	if !o.resume {
		return pipeline.Run(ctx, p)
	}
	return segment.Convert(ctx, p, segment.Options{Length: o.segmentLength, Program: version()})
}

// convert runs p and writes the files that o names beside the output.
func (o *ConvertOptions) convert(ctx context.Context, p pipeline.Options) (*pipeline.Report, error) {
	if err := checkWritten(o.flags(), p.Input.File, p.Output.Overwrite); err != nil {
		return nil, err
	}
	sidecar, err := newSidecar("--sidecar", o.sidecar, p.Output.Overwrite)
	if err != nil {
		return nil, err
	}
	p.Hooks.Record, p.Hooks.Rate = sidecar.record, o.sidecar != "" || o.verbose
	maps, err := newConfidenceMaps(o.confidenceMaps, p.Output.Overwrite)
	if err != nil {
		_ = sidecar.close(false)
		return nil, err
	}
	if maps != nil {
		defer maps.tidy()
		p.Hooks.ConfidenceMap = maps.write
	}
	flow, err := o.vectors.open(&p)
	if err != nil {
		_ = sidecar.close(false)
		return nil, err
	}
	report, err := o.run(ctx, p)
	if e := flow.close(); err == nil {
		err = e
	}
	if e := sidecar.close(report != nil); err == nil {
		err = e
	}
	if err == nil && o.writeScenes != "" {
		err = writeScenes(o.writeScenes, report.Cuts, p.Output.Overwrite)
	}
	return report, err
}

func (d *display) logLevel() slog.Level {
	switch {
	case d.noWarn:
		return slog.LevelError
	case d.quiet:
		return slog.LevelWarn
	case d.verbose:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}
