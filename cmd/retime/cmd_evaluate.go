package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/big"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline/evaluate"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
)

// EvaluateOptions are the flags of evaluate, as given.
type EvaluateOptions struct {
	report, inputFormat     string
	peers, settings         []string
	every, maxFrames, worst int
	from, to                string
	noVIF                   bool
	threads                 int
	progress                string
	overwrite               bool
	quiet, verbose          bool
}

// AddFlags declares the flags.
func (o *EvaluateOptions) AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.report, "report", "", "write report.html and report.json into `DIR`")
	f.StringSliceVar(&o.settings, "settings", nil, "compare the settings in these YAML `FILES` (default the balanced preset)")
	f.StringArrayVar(&o.peers, "peer", []string{"blend", "nearest", "minterpolate"}, "compare with `PEER`: blend, nearest, minterpolate,\n"+
		"minterpolate=OPTIONS as FFmpeg writes them, or none; may be repeated")
	f.IntVar(&o.every, "every", 2, "hold out every `N`-th frame")
	f.StringVar(&o.from, "from", "", "begin at `TIME`: seconds, mm:ss.frac or hh:mm:ss.frac")
	f.StringVar(&o.to, "to", "", "end before `TIME`")
	f.IntVar(&o.maxFrames, "max-frames", 0, "end after `N` frames (default all)")
	f.IntVar(&o.worst, "worst", 6, "show the `N` worst frames")
	f.BoolVar(&o.noVIF, "no-vif", false, "leave out visual information fidelity, which takes longest to measure")
	f.StringVar(&o.inputFormat, "input-format", "", "input container `NAME` (default probed)")
	f.IntVar(&o.threads, "threads", 0, "worker threads (default all processors)")
	f.StringVar(&o.progress, "progress", "auto", "progress display: auto, bar, json, none")
	f.BoolVarP(&o.overwrite, "overwrite", "y", false, "overwrite the report")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "only errors")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "details")
}

func newEvaluateCommand() *cobra.Command {
	var o EvaluateOptions
	cmd := &cobra.Command{
		Use:   "evaluate INPUT --report DIR [--settings FILES] [--peer PEER]",
		Short: "Tell how well frames are made on a clip, by leaving some out",
		Long: `evaluate holds out every other frame of a clip, makes it again from the two
frames around it, and compares it with the truth: PSNR, SSIM and VIF for each
frame and each shot, beside peers and with the seconds that each method takes.
It writes a page to look at, which shows the worst frames, and the numbers as
JSON. The gap around a held-out frame is twice as long as in use, so the figures
are pessimistic.

A settings file holds flags of the conversion by name, one a line, such as
"preset: best" or "mode: splat"; the file's name is the setting's.`,
		Example: `  retime evaluate in.mp4 --report report
  retime evaluate in.mp4 --report report --settings fast.yaml,best.yaml --from 10 --to 15
  retime evaluate in.mp4 --report report --peer minterpolate=mc_mode=aobmc:vsbmc=1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.New(fault.Usage, "%d inputs: want one; see retime evaluate --help", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runEvaluate(cmd.Context(), o, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

// options translates the flags.
func (o *EvaluateOptions) options(input string) (evaluate.Options, error) {
	e := evaluate.Options{
		Input: input, InputFormat: o.inputFormat, Every: o.every, MaxFrames: o.maxFrames, Worst: o.worst, NoVIF: o.noVIF,
		Threads: o.threads, Dir: o.report, Overwrite: o.overwrite,
	}
	if o.report == "" {
		return e, fault.New(fault.Usage, "no report; name a directory with --report")
	}
	if o.every < 2 { // to the library, 0 is the default
		return e, fault.New(fault.Usage, "--every %d: want 2 or more, so that frames remain to make others from", o.every)
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
	for _, t := range []struct {
		text string
		to   **big.Rat
	}{{o.from, &e.From}, {o.to, &e.To}} {
		if t.text == "" {
			continue
		}
		var err error
		if *t.to, err = timeline.ParseTime(t.text); err != nil {
			return e, err
		}
	}
	return e, nil
}

func runEvaluate(ctx context.Context, o EvaluateOptions, input string, stdout, stderr io.Writer) error {
	e, err := o.options(input)
	if err != nil {
		return err
	}
	e.Log = slog.New(newLogHandler(stderr, (&ConvertOptions{quiet: o.quiet, verbose: o.verbose}).logLevel()))
	progress, err := newProgress(o.progress, o.quiet, stderr)
	if err != nil {
		return err
	}
	e.Progress = progress.update
	report, err := evaluate.Run(ctx, e)
	progress.done()
	if report != nil && !o.quiet {
		printReport(stdout, report)
		fmt.Fprintln(stdout, "report:", filepath.Join(o.report, "report.html"))
	}
	return err
}

// printReport prints a table of the methods and the verdict.
func printReport(w io.Writer, r *evaluate.Report) {
	wide := len("method")
	for _, m := range r.Methods {
		wide = max(wide, len(m.Name))
	}
	const row = "%-*s  %10s  %8s  %10s  %8s  %6s  %7s\n"
	fmt.Fprintf(w, row, wide, "method", "PSNR "+r.Clip.Plane, "PSNR all", "SSIM "+r.Clip.Plane, "SSIM all", "VIF", "s/frame")
	number := func(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
	for _, m := range r.Methods {
		s, vif := m.Total, "-"
		if v := float64(s.VIF); !math.IsNaN(v) {
			vif = number(v, 4)
		}
		fmt.Fprintf(w, row, wide, m.Name, number(float64(s.PSNRY), 2), number(float64(s.PSNR), 2),
			number(float64(s.SSIMY), 4), number(float64(s.SSIM), 4), vif, number(m.SecondsPerFrame, 3))
	}
	for _, line := range r.Verdict {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "%d frames held out; the doubled gap around each makes these figures pessimistic.\n", len(r.Frames))
}
