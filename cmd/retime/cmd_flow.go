package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// FlowOptions holds the flags of flow, which it shares with the conversion.
type FlowOptions struct{ ConvertOptions }

// AddFlags declares the flags of flow.
func (o *FlowOptions) AddFlags(f *pflag.FlagSet) {
	declare(f, o.own())
	o.addFlags(f, flowVerb)
	f.Lookup("overwrite").Usage = "overwrite files of flow"
}

// own defines the flags that a conversion does not have.
func (o *FlowOptions) own() []flag {
	to := &o.vectors
	return []flag{{name: "output", short: "o", arg: "NAME", usage: "write flow/%05d.flo, or flow.####.exr with layers forward and backward", heading: commonHeading,
		use: writesFile, path: &to.File, files: to.Files, Value: word(&to.File)}}
}

// all defines the flags of flow.
func (o *FlowOptions) all() []flag {
	return append(o.own(), slices.DeleteFunc(o.flags(), func(d flag) bool { return d.verbs&flowVerb == 0 })...)
}

func newFlowCommand() *cobra.Command {
	var o FlowOptions
	cmd := &cobra.Command{
		Use:   "flow INPUT -o NAME",
		Short: "Write the optical flow between the frames of a clip",
		Long: `flow estimates how the picture moves from each frame to the next, and back, and
writes the vectors at full size: as .flo files, which --flow files= reads, or as
.exr files with layers forward and backward, which compositors read.`,
		Example: `  retime flow in.mp4 -o 'flow/%05d.flo'
  retime flow 'shot/p.####.exr' -o 'vectors/p.####.exr' --flow-format half --write-confidence`,
		Args: oneInput,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runFlow(cmd.Context(), o, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

func runFlow(ctx context.Context, o FlowOptions, input string, stdout, stderr io.Writer) error {
	to := &o.vectors
	if to.File == "" {
		return fault.New(fault.Usage, "want -o NAME, such as -o flow/%%05d.flo; see retime flow --help")
	}
	p, err := o.options(input)
	if err != nil {
		return err
	}
	if err := checkWritten(o.all(), p.Input.File, o.Output.Overwrite); err != nil {
		return err
	}
	if _, err := chooseProgram(p.Compute.Backend); err != nil {
		return err
	}
	p.Hooks.Log = slog.New(o.logTo(stderr))
	progress, err := newProgress(o.progress, o.quiet, stderr)
	if err != nil {
		return err
	}
	p.Hooks.Progress = progress.update
	w, err := to.open(&p)
	if err != nil {
		return err
	}
	pictures, err := pipeline.Flows(ctx, p)
	progress.done()
	if e := w.close(); err == nil {
		err = e
	}
	if err == nil && w.Count() == 0 {
		err = fault.New(fault.BadData, "input %q has %s: flow is between two", input, counted(pictures, "frame"))
	}
	if err == nil && !o.quiet {
		fmt.Fprintf(stdout, "%s: flow between %s\n", to.File, counted(pictures, "frame"))
	}
	return err
}
