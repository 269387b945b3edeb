package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline"
	"retime/pipeline/batch"
	"retime/pipeline/fault"
)

// BatchOptions holds the flags of batch.
type BatchOptions struct {
	ConvertOptions
	globs        []string
	parallel     int
	state        string
	status, json bool
	commands     bool // print the clips' commands only
}

// AddFlags declares the flags of a batch and of its clips.
func (o *BatchOptions) AddFlags(f *pflag.FlagSet) {
	o.setDefaults()
	out := &o.Output
	declare(f, []flag{
		{name: "jobs", short: "j", arg: "N", usage: "clips at a time (default one for every four threads)", heading: batchHeading, option: "Options.Parallel",
			role: roleProgram, Value: integer(&o.parallel)},
		{name: "status", usage: "print how far the batch is, and do nothing else", heading: batchHeading, role: roleProgram, Value: boolean(&o.status)},
		{name: "json", usage: "print the summary or the status as JSON", heading: batchHeading, role: roleProgram, Value: boolean(&o.json)},
		{name: "commands", usage: "print the arguments for each clip, a JSON array a line, and do nothing else", heading: batchHeading, role: roleProgram, Value: boolean(&o.commands)},
		{name: "glob", arg: "PATTERN", usage: "files of the directory to convert; repeatable", heading: batchHeading, role: roleFiles, Value: texts(&o.globs)},
		{name: "state", arg: "DIR", usage: "state and logs (default jobs.retime next to jobs.yaml, or OUTDIR/.retime)", heading: batchHeading,
			option: "Options.Dir", role: roleProgram, Value: word(&o.state)},
		{name: "resume", usage: "continue: skip clips that are done and have not changed", heading: batchHeading, option: "Options.Resume", role: roleProgram, Value: boolean(&o.resume)},
		{name: "output", short: "o", arg: "DIR", usage: "output, for a directory of clips", heading: commonHeading, option: "Output.File", role: roleFiles, use: outputFile, path: &out.File,
			Value: word(&out.File)},
		{name: "threads", arg: "N", usage: "worker threads of all clips together (default all processors)", heading: machineHeading, option: "Options.Threads",
			role: roleProgram, Value: integer(&o.Compute.Threads)},
		{name: "progress", arg: "HOW", usage: "progress display: auto, bar, lines, json, none", heading: displayHeading, role: roleProgram,
			values: []string{"auto", "bar", "lines", "json", "none"}, Value: word(&o.progress)},
		{name: "overwrite", short: "y", usage: "overwrite outputs, and start over if the batch was started before", heading: commonHeading, option: "Options.Overwrite",
			role: roleProgram, Value: boolean(&out.Overwrite)},
	})
	o.addFlags(f, batchVerb)
}

func newBatchCommand() *cobra.Command {
	var o BatchOptions
	cmd := &cobra.Command{
		Use:   "batch JOBS.yaml | DIR --glob PATTERN -o OUTDIR",
		Short: "Convert many clips, several at a time, and resume after a stop",
		Long: `batch converts the clips of a job file, or those in a directory that match a
pattern. A clip that fails does not stop the others. Finished clips are kept:
after Ctrl-C, a kill or a full disk, --resume continues.

A job file names clips with settings, which are the flags of the conversion:

  defaults:
    slow: 4
    output: slow/{name}.mp4
  clips:
    - input: a.mp4
    - input: b.mp4
      preset: best

In a directory, every clip gets the flags of the command line.`,
		Example: `  retime batch jobs.yaml --jobs 2
  retime batch jobs.yaml --status
  retime batch clips --glob '*.mp4' --slow 4 -o slow --resume`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.New(fault.Usage, "want a job file or a directory, not %d; see retime batch --help", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runBatch(cmd.Context(), o, args[0], cmd.Flags(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

// clips reads the clips to convert, from a job file or a directory, and returns the
// default directory for the batch's state.
func (o *BatchOptions) clips(name string, flags *pflag.FlagSet) (clips []*batchClip, jobs []batch.Job, state string, err error) {
	in, err := o.confinement()
	if err != nil {
		return nil, nil, "", err
	}
	if err := in.Check(name); err != nil {
		return nil, nil, "", fault.New(fault.Usage, "batch: --confine: %w", err)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, "", fault.New(fault.NoInput, "batch: %q: %w", name, fault.Plain(err))
	}
	if info.IsDir() {
		switch {
		case len(o.globs) == 0:
			return nil, nil, "", fault.New(fault.Usage, "which files of %q? give --glob '*.mp4'", name)
		case o.Output.File == "":
			return nil, nil, "", fault.New(fault.Usage, "no output; name a directory with -o")
		}
		c := o.ConvertOptions
		c.Compute.Threads, c.resume = 0, false // the batch decides these
		clips, jobs, err = readDir(name, o.globs, c, flags)
		return clips, jobs, filepath.Join(o.Output.File, ".retime"), err
	}
	flags.Visit(func(f *pflag.Flag) {
		if d := definition(f); err == nil && d != nil && d.role != roleProgram {
			err = fault.New(fault.Usage, "--%s does not go with a job file; write it into its defaults", f.Name)
		}
	})
	if err != nil {
		return nil, nil, "", err
	}
	clips, jobs, err = readJobFile(name, o.Compute.Confine)
	return clips, jobs, strings.TrimSuffix(name, filepath.Ext(name)) + ".retime", err
}

func runBatch(ctx context.Context, o BatchOptions, name string, flags *pflag.FlagSet, stdout, stderr io.Writer) error {
	clips, jobs, state, err := o.clips(name, flags)
	if err != nil {
		return err
	}
	if o.commands {
		return printCommands(stdout, clips)
	}
	if o.dryRun {
		return dryRunBatch(ctx, stdout, clips, o.Output.Overwrite)
	}
	if o.state != "" {
		state = o.state
	}
	if in, err := o.confinement(); err != nil {
		return err
	} else if err := in.CheckTree(state); err != nil {
		return fault.New(fault.Usage, "state of the batch: --confine: %w", err)
	}
	b := batch.Options{Jobs: jobs, Dir: state, Parallel: o.parallel, Threads: o.Compute.Threads, Resume: o.resume, Overwrite: o.Output.Overwrite}
	if o.status {
		status, err := batch.ReadStatus(b)
		if err != nil {
			return err
		}
		return printBatchStatus(stdout, jobs, status, o.json)
	}
	whyCPU := ""
	for _, backend := range []pipeline.Backend{pipeline.CUDA, pipeline.Auto} {
		if !slices.ContainsFunc(clips, func(c *batchClip) bool { return c.Compute.Backend == backend }) {
			continue
		}
		if whyCPU, err = chooseProgram(backend); err != nil {
			return err
		}
	}
	for _, c := range clips {
		c.verbose, c.whyCPU = o.verbose, whyCPU
	}
	display, err := newBatchProgress(o.progress, o.quiet, jobs, stderr)
	if err != nil {
		return err
	}
	b.Event = display.event
	summary, err := batch.Run(ctx, b)
	display.done()
	if summary == nil {
		if fault.KindOf(err) == fault.TryAgain {
			return fmt.Errorf("%w; --status shows it", err)
		}
		return err
	}
	if o.json {
		if e := printBatchJSON(stdout, jobs, summary); err == nil {
			err = e
		}
	} else if !o.quiet {
		printBatch(stdout, jobs, summary)
	}
	if err == nil && summary.Failed > 0 {
		err = failure(summary)
	}
	return err
}

// dryRunBatch previews each clip, and prints how long they take together.
func dryRunBatch(ctx context.Context, w io.Writer, clips []*batchClip, overwrite bool) error {
	var sum time.Duration
	for _, c := range clips {
		p, err := c.options(c.input)
		if err == nil {
			p.Output.Overwrite = overwrite
			var took time.Duration
			took, err = previewed(ctx, w, c.Output.File, p)
			sum += took
		}
		if err != nil {
			return c.inFlags(fmt.Errorf("%s: %w", c.input, err))
		}
	}
	fmt.Fprintf(w, "%s, about %s one after another\n", counted(int64(len(clips)), "clip"), roughly(sum))
	return nil
}

// printCommands prints the arguments with which retime converts each clip, a JSON array a
// line: the input, the output, and the settings.
func printCommands(w io.Writer, clips []*batchClip) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for _, c := range clips {
		if err := lines.Encode(c.arguments()); err != nil {
			return fault.New(fault.CannotWrite, "%w", err)
		}
	}
	return nil
}

// failure returns the error of a batch with failed clips. Its kind comes from the first
// failure.
func failure(s *batch.Summary) error {
	i := slices.IndexFunc(s.Outcomes, func(o batch.Outcome) bool { return o.State == batch.Failed })
	return fault.New(fault.KindOf(s.Outcomes[i].Err), "%d of %d clips failed", s.Failed, len(s.Outcomes))
}

// printBatch prints the failures and the numbers of clips.
func printBatch(w io.Writer, jobs []batch.Job, s *batch.Summary) {
	for i, o := range s.Outcomes {
		if o.State == batch.Failed {
			fmt.Fprintf(w, "failed: %s: %s\n  log: %s\n", jobs[i].Input, said(o.Err, nil), o.Log)
		}
	}
	fmt.Fprintf(w, "%d of %d clips done in %s", s.Done, len(jobs), clock(s.Elapsed))
	for _, n := range []struct {
		count int
		what  string
	}{{s.Skipped, "done before"}, {s.Failed, "failed"}, {s.Pending, "left to do"}} {
		if n.count > 0 {
			fmt.Fprintf(w, ", %d %s", n.count, n.what)
		}
	}
	fmt.Fprintln(w)
}

// clipJSON is a clip in a summary, a status and progress, as docs/batch.md describes
// it.
type clipJSON struct {
	Input   string  `json:"input"`
	Output  string  `json:"output"`
	State   string  `json:"state"`
	Skipped bool    `json:"skipped,omitempty"`
	Changed bool    `json:"changed,omitempty"`
	Frames  int64   `json:"frames"`
	Made    int64   `json:"made"`
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error,omitempty"`
	Code    int     `json:"code,omitempty"`
	Log     string  `json:"log,omitempty"`
}

func (c *clipJSON) fail(err error) {
	if err != nil {
		c.Error, c.Code = said(err, nil), int(fault.KindOf(err))
	}
}

type batchJSON struct {
	Clips   int        `json:"clips"`
	Done    int        `json:"done"`
	Failed  int        `json:"failed"`
	Pending int        `json:"pending"`
	Running int        `json:"running"`
	Active  bool       `json:"active"`
	List    []clipJSON `json:"list"`
}

func (b *batchJSON) add(c clipJSON) {
	b.Clips++
	switch batch.State(c.State) {
	case batch.Done:
		b.Done++
	case batch.Failed:
		b.Failed++
	case batch.Running:
		b.Running++
	default:
		b.Pending++
	}
	b.List = append(b.List, c)
}

func printBatchJSON(w io.Writer, jobs []batch.Job, s *batch.Summary) error {
	var b batchJSON
	for i, o := range s.Outcomes {
		c := clipJSON{
			Input: jobs[i].Input, Output: jobs[i].Output, State: string(o.State), Skipped: o.Skipped,
			Frames: o.Frames, Made: o.Made, Seconds: o.Elapsed.Seconds(), Log: o.Log,
		}
		c.fail(o.Err)
		b.add(c)
	}
	return indented(w, b)
}

func printBatchStatus(w io.Writer, jobs []batch.Job, s *batch.Status, asJSON bool) error {
	b := batchJSON{Active: s.Active}
	for i, j := range s.Jobs {
		c := clipJSON{
			Input: jobs[i].Input, Output: jobs[i].Output, State: string(j.State), Changed: j.Changed,
			Frames: j.Frames, Made: j.Made, Seconds: j.Seconds, Log: j.Log,
		}
		c.fail(j.Err)
		b.add(c)
	}
	if asJSON {
		return indented(w, b)
	}
	for _, c := range b.List {
		fmt.Fprintf(w, "%-8s %s", c.State, c.Output)
		switch {
		case c.Changed:
			fmt.Fprint(w, " (changed since, to be done again)")
		case c.Error != "":
			fmt.Fprintf(w, ": %s\n         log: %s", c.Error, c.Log)
		case c.State == string(batch.Done):
			fmt.Fprintf(w, " (%d frames, %s)", c.Frames, clock(time.Duration(c.Seconds*float64(time.Second))))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%d clips: %d done, %d failed, %d running, %d pending", b.Clips, b.Done, b.Failed, b.Running, b.Pending)
	if !s.Active {
		fmt.Fprint(w, "; no process works on it")
	}
	fmt.Fprintln(w)
	return nil
}

func indented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
