package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline/evaluate"
	"retime/pipeline/evaluate/report"
	"retime/pipeline/fault"
)

// EvaluateOptions holds the flags of evaluate, some of which it shares with the conversion.
type EvaluateOptions struct {
	ConvertOptions
	evaluate        evaluate.Options
	peers, settings []string
}

// AddFlags declares the flags of evaluate.
func (o *EvaluateOptions) AddFlags(f *pflag.FlagSet) {
	e := &o.evaluate
	e.Every, e.Worst, e.Regions = 2, 6, 10
	o.peers = []string{"blend", "nearest", "minterpolate"}
	declare(f, o.own())
	o.addFlags(f, evaluateVerb)
	declare(f, []flag{
		{name: "max-frames", arg: "N", usage: "end after N frames (default all)", heading: compareHeading, option: "Options.MaxFrames", Value: integer(&e.MaxFrames)},
		{name: "worst", arg: "N", usage: "show the N worst frames", heading: compareHeading, option: "Options.Worst", Value: integer(&e.Worst)},
		{name: "regions", arg: "N", usage: "show the N worst regions", heading: compareHeading, option: "Options.Regions", Value: integer(&e.Regions)},
		{name: "lpips", arg: "FILE", usage: "measure LPIPS with the weights of AlexNet in this .npz file", heading: compareHeading, option: "Options.LPIPS",
			use: readsFile, path: &e.LPIPS, Value: word(&e.LPIPS)},
		{name: "no-vif", usage: "leave out visual information fidelity, which takes longest", heading: compareHeading, Value: boolean(&e.NoVIF)},
		{name: "dry-run", usage: "write nothing; report what would be written, and roughly how long that takes", heading: displayHeading, role: roleProgram,
			Value: boolean(&o.dryRun)},
	})
	f.Lookup("overwrite").Usage = "overwrite the report"
}

// own defines the flags about what is compared.
func (o *EvaluateOptions) own() []flag {
	e := &o.evaluate
	return []flag{
		{name: "report", arg: "DIR", usage: "write report.html and report.json", heading: commonHeading, option: "Options.Dir", use: writesFile, path: &e.Dir,
			files: func() []string { return below(e.Dir, evaluate.Files...) }, Value: word(&e.Dir)},
		{name: "settings", arg: "FILES", usage: "YAML files of settings to compare (default the balanced preset)", heading: compareHeading, use: readsFile,
			files: func() []string { return o.settings }, Value: commaSeparated(&o.settings)},
		{name: "peer", arg: "PEER", usage: "blend, nearest, minterpolate[=OPTIONS] (default), NAME=COMMAND, none; repeatable", heading: compareHeading,
			values: []string{"blend", "nearest", "minterpolate", "none"}, Value: texts(&o.peers)},
		{name: "every", arg: "N", usage: "hold out every N-th frame", heading: compareHeading, option: "Options.Every", Value: integer(&e.Every)},
	}
}

func newEvaluateCommand() *cobra.Command {
	var o EvaluateOptions
	cmd := &cobra.Command{
		Use:   "evaluate INPUT --report DIR [--settings FILES] [--peer PEER]",
		Short: "Measure how good made frames are, by leaving some out and making them again",
		Long: `evaluate holds out every other frame of a clip, makes it again from the two
frames around it, and compares it with the truth: PSNR, PSNR_DIV, SSIM, VIF,
LPIPS, fine detail and false speckle for each frame and each shot, beside peers and with the seconds
that each method takes. It writes a page to look at, which shows the worst frames and
regions, and the numbers as JSON. The gap around a held-out frame is twice as
long as in use, so the figures are pessimistic.

A settings file holds flags of the conversion by name, one a line, such as
"preset: best" or "mode: splat"; the file's name is the setting's.

A peer's COMMAND reads the source frames from the video "$IN" and writes a video
of $FRAMES frames at $RATE to its standard output, in a form that FFmpeg reads.`,
		Example: `  retime evaluate in.mp4 --report report
  retime evaluate in.mp4 --report report --settings fast.yaml,best.yaml --from 10 --to 15
  retime evaluate in.mp4 --report report --peer minterpolate=mc_mode=aobmc:vsbmc=1
  retime evaluate in.mp4 --report report --peer 'mine=my-program "$IN" --rate $RATE'`,
		Args: oneInput,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runEvaluate(cmd.Context(), o, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

// options returns the library's options for an evaluation of input.
func (o *EvaluateOptions) options(input string) (evaluate.Options, error) {
	e := o.evaluate
	e.Input, e.Threads, e.Overwrite, e.From, e.To = o.Input, o.Compute.Threads, o.Output.Overwrite, o.Timing.From, o.Timing.To
	e.Input.File = input
	if e.Dir == "" {
		return e, fault.New(fault.Usage, "no report; name a directory with --report")
	}
	if e.Every < 2 { // for the library, 0 is the default
		return e, fault.New(fault.Usage, "--every %d: want 2 or more, so that frames remain to make others from", e.Every)
	}
	for _, name := range o.settings {
		s, err := readSetting(name)
		if err != nil {
			return e, err
		}
		e.Settings = append(e.Settings, s)
	}
	if len(o.peers) != 1 || o.peers[0] != "none" {
		for _, text := range o.peers {
			p, err := evaluate.ParsePeer(text)
			if err != nil {
				return e, err
			}
			e.Peers = append(e.Peers, p)
		}
	}
	return e, nil
}

func runEvaluate(ctx context.Context, o EvaluateOptions, input string, stdout, stderr io.Writer) error {
	e, err := o.options(input)
	if err != nil {
		return err
	}
	if err := checkWritten(append(o.flags(), o.own()...), input, e.Overwrite); err != nil {
		return err
	}
	e.Log = slog.New(o.logTo(stderr))
	if o.dryRun {
		return dryRunEvaluate(ctx, stdout, e)
	}
	progress, err := newProgress(o.progress, o.quiet, stderr)
	if err != nil {
		return err
	}
	e.Progress = progress.update
	r, err := evaluate.Run(ctx, e)
	progress.done()
	if r != nil && !o.quiet {
		printReport(stdout, r)
		fmt.Fprintln(stdout, "report:", filepath.Join(e.Dir, "report.html"))
	}
	return err
}

// printReport prints a table of the methods and the verdict.
func printReport(w io.Writer, r *report.Report) {
	wide := len("method")
	for _, m := range r.Methods {
		wide = max(wide, len(m.Name))
	}
	const row = "%-*s  %10s  %8s  %7s  %7s  %8s  %10s  %8s  %6s  %6s  %6s  %7s  %7s\n"
	fmt.Fprintf(w, row, wide, "method",
		"PSNR "+r.Clip.Plane, "PSNR all", "worst", "change", "PSNR_DIV", "SSIM "+r.Clip.Plane, "SSIM all", "VIF", "LPIPS", "detail", "speckle", "s/frame")
	figure := func(v float64, decimals int) string {
		if math.IsNaN(v) {
			return "-"
		}
		return strconv.FormatFloat(v, 'f', decimals, 64)
	}
	for _, m := range r.Methods {
		s := m.Total
		fmt.Fprintf(w, row, wide, m.Name,
			figure(float64(s.PSNRY), 2), figure(float64(s.PSNR), 2), figure(float64(s.PSNRYWorst), 2), figure(float64(s.PSNRYChange), 2), figure(float64(s.PSNRDiv), 2),
			figure(float64(s.SSIMY), 4), figure(float64(s.SSIM), 4), figure(float64(s.VIF), 4), figure(float64(s.LPIPS), 4), figure(float64(s.Detail), 2), figure(float64(s.Speckle), 0), figure(m.SecondsPerFrame, 3))
	}
	for _, line := range r.Verdict {
		fmt.Fprintln(w, line)
	}
	if places := r.WorstPlaces(); len(places) > 0 {
		var list []string
		for _, p := range places {
			list = append(list, p.Where)
		}
		fmt.Fprintf(w, "worst: %s\n", strings.Join(list, ", "))
	}
	fmt.Fprintf(w, "%d frames held out; the doubled gap around each makes these figures pessimistic.\n", len(r.Frames))
}
