package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/restore"
	"retime/pipeline/restore/record"
)

// RestoreOptions holds the flags of restore, some of which it shares with the conversion.
type RestoreOptions struct {
	ConvertOptions
	restore                      restore.Options
	frames, list, writeList, log string
	report, find                 string
	inserts, regions, masks      []string
}

// AddFlags declares the flags of restore.
func (o *RestoreOptions) AddFlags(f *pflag.FlagSet) {
	o.restore.MaxRun, o.restore.Sensitivity = restore.DefaultMaxRun, restore.Normal
	declare(f, o.own())
	o.addFlags(f, restoreVerb)
	f.Lookup("output").Usage += " (default next to the input: clip-restored.mp4)"
	setDefault(f, "preset", string(pipeline.Best)) // few frames are made
	fields := f.Lookup("deinterlace")
	fields.Usage, fields.NoOptDefVal = "off restores interlaced frames as they are, not as fields", ""
	definition(fields).values = []string{"off"}
}

// own defines the flags that a conversion does not have.
func (o *RestoreOptions) own() []flag {
	r := &o.restore
	return []flag{
		{name: "frames", arg: "FRAMES", usage: "replace frames: 120,133-135 (from 0), times or timecodes; 120.t is one field", heading: damageHeading, Value: numbers(&o.frames)},
		{name: "list", arg: "FILE", usage: "replace the frames in this list: docs/restoration.md", heading: damageHeading, use: readsFile, path: &o.list, Value: word(&o.list)},
		{name: "detect", usage: "find damaged frames and replace them", heading: damageHeading, option: "Options.Detect", Value: boolean(&r.Detect)},
		{name: "sensitivity", arg: "LEVEL", usage: "how little --detect takes for damage", heading: damageHeading, option: "Options.Sensitivity",
			values: []string{string(restore.Low), string(restore.Normal), string(restore.High)}, Value: word(&r.Sensitivity)},
		{name: "find", arg: "KINDS", usage: "what --detect looks for: whole, parts, black,dropout,... (default whole)", heading: damageHeading, Value: word(&o.find)},
		{name: "missing-from-numbering", usage: "fill the gaps in the numbers of an image sequence", heading: damageHeading,
			option: "Options.MissingFromNumbering", Value: boolean(&r.MissingFromNumbering)},
		{name: "write-list", arg: "FILE", usage: "write all damage to this list", heading: damageHeading, use: writesFile, path: &o.writeList, Value: word(&o.writeList)},
		{name: "dry-run", usage: "list the damage, report what would be written, and write nothing else", heading: damageHeading, Value: boolean(&r.DryRun)},
		{name: "insert", arg: "FRAME:COUNT", usage: "insert COUNT frames after FRAME; repeatable", heading: damageHeading, Value: texts(&o.inserts)},
		{name: "region", arg: "x,y,w,h@FRAMES", usage: "replace a rectangle of frames only; repeatable", heading: damageHeading, Value: texts(&o.regions)},
		{name: "mask", arg: "FILE@FRAMES", usage: "replace only the white parts of a picture; repeatable", heading: damageHeading, use: readsFile,
			files: o.maskFiles, Value: texts(&o.masks)},
		{name: "smart-copy", usage: "copy packets where possible, and encode only around new frames", heading: damageHeading,
			option: "Options.SmartCopy", Value: boolean(&r.SmartCopy)},
		{name: "field-order", arg: "FIELD", usage: "take the input as interlaced, with this field first, whatever it says", heading: inputHeading,
			option: "Options.FieldOrder", values: []string{"top", "bottom"}, Value: word(&r.FieldOrder)},
		{name: "max-run", arg: "N", usage: "leave runs of more than N damaged frames alone", heading: damageHeading, option: "Options.MaxRun", Value: integer(&r.MaxRun)},
		{name: "log", arg: "FILE", usage: "write the sources of each new frame, a JSON object a line", heading: reportHeading, use: writesFile, path: &o.log, Value: word(&o.log)},
		{name: "report", arg: "DIR", usage: "write a page, JSON, PREMIS, and the hashes of all frames", heading: reportHeading, use: writesFile, path: &o.report,
			files: func() []string { return below(o.report, record.Files...) }, Value: word(&o.report)},
	}
}

func newRestoreCommand() *cobra.Command {
	var o RestoreOptions
	cmd := &cobra.Command{
		Use:   "restore INPUT [-o OUTPUT] --frames LIST | --list FILE | --detect",
		Short: "Rebuild missing and damaged frames from the good ones around them",
		Long: `restore replaces damaged frames with new ones, made from the nearest good frames
on either side for the same time, and inserts missing frames. All other frames
enter the encoder bit for bit and keep their timestamps; sound, subtitles
and the rest are copied. To keep them bit for bit in the output as well, choose a
lossless encoder: --vcodec ffv1, or --vopt qp=0 with libx264.`,
		Example: `  retime restore in.mp4 -o out.mp4 --frames 120,133-135
  retime restore in.mp4 --detect --dry-run --write-list damage.txt
  retime restore in.mp4 -o out.mkv --list damage.txt --vcodec ffv1 --log made.jsonl
  retime restore in.mp4 -o out.mp4 --region 10,20,100,50@120`,
		Args: oneInput,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRestore(cmd.Context(), o, args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

// options returns the library's options for a restoration of input.
func (o *RestoreOptions) options(input string) (r restore.Options, err error) {
	r = o.restore
	if r.Convert, err = o.ConvertOptions.options(input); err != nil {
		return r, err
	}
	if r.MaxRun < 1 { // for the library, 0 is the default
		return r, fault.New(fault.Usage, "--max-run %d: want 1 or more", r.MaxRun)
	}
	if r.Convert.Output.File == "" && !r.DryRun {
		return r, fault.New(fault.Usage, "no output; name one with -o, or give --dry-run")
	}
	if o.frames != "" {
		found, err := restore.ParseFrames(o.frames)
		if err != nil {
			return r, fault.New(fault.Usage, "--frames: %w", err)
		}
		r.Damage = append(r.Damage, found...)
	}
	if o.find != "" {
		if r.Find, err = restore.ParseKinds(o.find); err != nil {
			return r, fault.New(fault.Usage, "--find: %w", err)
		}
	}
	if !r.Detect && (o.find != "" || r.Sensitivity != restore.Normal) {
		return r, fault.New(fault.Usage, "--sensitivity and --find say how --detect looks for damage; give --detect, too")
	}
	for _, text := range o.inserts {
		found, err := restore.ParseInsert(text)
		if err != nil {
			return r, fault.New(fault.Usage, "--insert: %w", err)
		}
		r.Damage = append(r.Damage, found...)
	}
	for _, text := range o.regions {
		found, err := restore.ParseRegion(text)
		if err != nil {
			return r, fault.New(fault.Usage, "--region: %w", err)
		}
		r.Damage = append(r.Damage, found)
	}
	for _, text := range o.masks {
		found, err := parseMask(text)
		if err != nil {
			return r, err
		}
		r.Damage = append(r.Damage, found...)
	}
	if o.list != "" {
		found, err := readList("--list", o.list, maxList, restore.ParseList)
		if err != nil {
			return r, err
		}
		if r.Damage = append(r.Damage, found...); len(r.Damage) == 0 && !r.Detect && !r.MissingFromNumbering {
			return r, fault.New(fault.Usage, "--list %q names no frames, so there is nothing to restore", o.list)
		}
	}
	return r, nil
}

// maskFiles returns the names of the files of --mask.
func (o *RestoreOptions) maskFiles() (names []string) {
	for _, text := range o.masks {
		names = append(names, text[:max(strings.LastIndex(text, "@"), 0)])
	}
	return names
}

// parseMask reads "FILE@FRAMES".
func parseMask(text string) ([]restore.Finding, error) {
	at := strings.LastIndex(text, "@")
	if at < 0 {
		return nil, fault.New(fault.Usage, "--mask %q: want FILE@FRAMES, as scratch.png@120", text)
	}
	found, err := restore.ParseFrames(text[at+1:])
	if err != nil {
		return nil, fault.New(fault.Usage, "--mask: %w", err)
	}
	m, err := readMask("--mask", text[:at])
	for i := range found {
		found[i].Regions = []*restore.Region{{Mask: m}}
	}
	return found, err
}

// writeDamage writes a list that --list reads.
func writeDamage(name string, found []restore.Finding, overwrite bool) error {
	var b strings.Builder
	if err := restore.WriteList(&b, found); err != nil {
		return err
	}
	_ = atomicfile.Sweep(name)
	if err := atomicfile.WriteFile(name, overwrite, []byte(b.String())); err != nil {
		return fault.New(fault.CannotWrite, "--write-list: %w", err)
	}
	return nil
}

// prepareReport makes the report's directory, or refuses a report that could not be made. tidy removes the directory if it is empty.
func (o *RestoreOptions) prepareReport(input string) (tidy func(), err error) {
	if o.report == "" || o.restore.DryRun {
		return func() {}, nil
	}
	if input == "-" || o.Output.File == "-" {
		return nil, fault.New(fault.Usage, "--report reads the input and the output again; name files")
	}
	if tidy, err = record.Prepare(o.report, o.Output.Overwrite); err != nil {
		return nil, fault.New(fault.KindOf(err), "--report: %w", err)
	}
	return tidy, nil
}

// found prints and writes what was found.
func (o *RestoreOptions) found(out io.Writer, found []restore.Finding) error {
	if o.restore.DryRun && !o.quiet {
		if err := restore.WriteList(out, found); err != nil {
			return fault.New(fault.CannotWrite, "write the findings: %w", err)
		}
	}
	if o.writeList == "" {
		return nil
	}
	return writeDamage(o.writeList, found, o.Output.Overwrite)
}

func runRestore(ctx context.Context, o RestoreOptions, input string, stdout, stderr io.Writer) error {
	if o.Output.File == "" && !o.restore.DryRun {
		o.Output.File = nextTo(input, "-restored")
	}
	r, err := o.options(input)
	if err != nil {
		return err
	}
	all := append(o.flags(), o.own()...)
	if err := checkWritten(all, input, o.Output.Overwrite); err != nil {
		return err
	}
	tidy, err := o.prepareReport(input)
	if err != nil {
		return err
	}
	defer tidy()
	r.Convert.Output.Keep = beside(all)
	whyCPU, err := chooseProgram(r.Convert.Compute.Backend)
	if err != nil {
		return err
	}
	r.Convert.Hooks.Log = slog.New(o.logTo(stderr))
	progress, err := newProgress(o.progress, o.quiet, stderr)
	if err != nil {
		return err
	}
	r.Convert.Hooks.Progress = progress.update
	log, err := newSidecar("--log", o.log, o.Output.Overwrite)
	if err != nil {
		return err
	}
	var made []restore.Entry
	r.Log = func(e restore.Entry) {
		log.write(e)
		if o.report != "" {
			made = append(made, e)
		}
	}
	out := stdout
	if o.Output.File == "-" {
		out = stderr
	}
	r.Found = func(found []restore.Finding) error { return o.found(out, found) }
	report, err := restore.Run(ctx, r)
	progress.done()
	written := report != nil && report.Conversion != nil
	if e := log.close(written); err == nil {
		err = e
	}
	if report != nil && !o.quiet && (err == nil || written) {
		summariseRestoration(out, report, &r, whyCPU, o.verbose)
	}
	switch {
	case err != nil:
		return err
	case written && o.report != "":
		return record.Write(ctx, o.report, record.Job{
			Options: r, Output: report.Conversion.Output, Entries: made, Command: append([]string{"retime"}, os.Args[1:]...), Version: version(), Ended: time.Now().UTC(),
		}, o.Output.Overwrite)
	case r.DryRun && !r.SmartCopy && o.Output.File != "" && input != "-":
		return dryRunRestore(ctx, out, report, r.Convert)
	}
	return nil
}

// summariseRestoration prints what was found and rebuilt, and what was written, if anything was.
func summariseRestoration(w io.Writer, report *restore.Report, r *restore.Options, whyCPU string, verbose bool) {
	rebuilt, left := "rebuilt", "left as too long"
	if r.DryRun {
		rebuilt, left = "to rebuild", "too long"
	}
	fmt.Fprintf(w, "%s: %s, %s %s, %s %s\n", counted(report.Frames, "frame"), counted(int64(len(report.Findings)), "finding"),
		counted(report.Made, "frame"), rebuilt, counted(int64(len(report.TooLong)), "run"), left)
	if report.Conversion == nil {
		return
	}
	if r.SmartCopy {
		fmt.Fprintf(w, "%d packets copied, %d encoded\n", report.Conversion.Copied, report.Conversion.Encoded)
	}
	summarise(w, report.Conversion, whyCPU, verbose)
}

// counted returns n with the singular or plural of thing.
func counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
