package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/restore"
)

// RestoreOptions are the flags of restore, as given.
type RestoreOptions struct {
	frames, list, writeList, log string
	inserts, regions, masks      []string
	detect, dryRun, smartCopy    bool
	missingFromNumbering         bool
	maxRun                       int
	convert                      ConvertOptions
}

// restoreShares are the flags that restore has in common with the conversion.
var restoreShares = []string{
	"output", "mode", "flow", "flow-cache", "preset", "order", "scene-threshold", "scenes", "blend-below", "nearest-below", "in-fps", "no-verify", "static", "static-mask", "deinterlace", "map",
	"vcodec", "crf", "vopt", "acodec", "aopt", "pix-fmt", "format", "input-format", "threads", "backend", "device", "gpu-fault",
	"progress", "overwrite", "quiet", "verbose",
}

// AddFlags declares the flags.
func (o *RestoreOptions) AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&o.frames, "frames", "", "replace `FRAMES`: 120,133-135; numbers from 0, times, or timecodes")
	f.StringVar(&o.list, "list", "", "replace the frames in the list `FILE`: docs/restoration.md")
	f.BoolVar(&o.detect, "detect", false, "look for damage and replace what is found")
	f.BoolVar(&o.missingFromNumbering, "missing-from-numbering", false, "put in the frames whose numbers an image sequence lacks")
	f.StringVar(&o.writeList, "write-list", "", "write all damage to the list `FILE`")
	f.BoolVar(&o.dryRun, "dry-run", false, "say what is damaged, and write nothing else")
	f.StringArrayVar(&o.inserts, "insert", nil, "put in frames missing in a gap: `FRAME:COUNT` behind that frame; may be repeated")
	f.StringArrayVar(&o.regions, "region", nil, "replace a part only: `x,y,w,h@FRAMES`; may be repeated")
	f.StringArrayVar(&o.masks, "mask", nil, "replace only what is white in a picture: `FILE@FRAMES`; may be repeated")
	f.BoolVar(&o.smartCopy, "smart-copy", false, "copy the packets that can stay, encode only around what is made")
	f.IntVar(&o.maxRun, "max-run", restore.DefaultMaxRun, "leave runs of more than `N` frames as they are")
	f.StringVar(&o.log, "log", "", "write where each made frame came from to `FILE`, a JSON object a line")
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.convert.AddFlags(all)
	for _, name := range restoreShares {
		f.AddFlag(all.Lookup(name))
	}
	o.convert.preset = string(pipeline.Best) // few frames are made
	f.Lookup("preset").DefValue = o.convert.preset
	f.Lookup("deinterlace").Usage = "interlaced input is refused unless `off` takes pictures as they are"
	f.Lookup("deinterlace").NoOptDefVal = ""
}

func newRestoreCommand() *cobra.Command {
	var o RestoreOptions
	cmd := &cobra.Command{
		Use:   "restore INPUT -o OUTPUT --frames LIST | --list FILE | --detect",
		Short: "Make missing and damaged frames anew from the sound ones around them",
		Long: `restore replaces frames that are damaged by frames made from the nearest sound
ones on either side, at their own time, and puts in frames that are missing. All
others enter the encoder bit for bit and keep their timestamps; sound, subtitles
and the rest are copied. To keep them bit for bit in the output as well, choose a
lossless encoder: --vcodec ffv1, or --vopt qp=0 with libx264.`,
		Example: `  retime restore in.mp4 -o out.mp4 --frames 120,133-135
  retime restore in.mp4 --detect --dry-run --write-list damage.txt
  retime restore in.mp4 -o out.mkv --list damage.txt --vcodec ffv1 --log made.jsonl
  retime restore in.mp4 -o out.mp4 --region 10,20,100,50@120`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fault.New(fault.Usage, "%d inputs: want one; see retime restore --help", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRestore(cmd.Context(), o, args[0], cmd.Flags().Changed("crf"), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

// options translates the flags.
func (o *RestoreOptions) options(input string, crfGiven bool) (r restore.Options, err error) {
	if r.Convert, err = o.convert.options(input, crfGiven); err != nil {
		return r, err
	}
	r.MissingFromNumbering = o.missingFromNumbering
	r.Detect, r.DryRun, r.MaxRun, r.SmartCopy = o.detect, o.dryRun, o.maxRun, o.smartCopy
	if o.maxRun < 1 { // to the library, 0 is the default
		return r, fault.New(fault.Usage, "--max-run %d: want 1 or more", o.maxRun)
	}
	if r.Convert.Output.File == "" && !o.dryRun {
		return r, fault.New(fault.Usage, "no output; name one with -o, or say --dry-run")
	}
	if o.frames != "" {
		found, err := restore.ParseFrames(o.frames)
		if err != nil {
			return r, fault.New(fault.Usage, "--frames: %w", err)
		}
		r.Damage = append(r.Damage, found...)
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
		found, err := readList("--list", o.list, restore.ParseList)
		if err != nil {
			return r, err
		}
		r.Damage = append(r.Damage, found...)
	}
	return r, nil
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
		found[i].Region = &restore.Region{Mask: m}
	}
	return found, err
}

// writeDamage writes what --list reads.
func writeDamage(name string, found []restore.Finding) error {
	var b strings.Builder
	if err := restore.WriteList(&b, found); err != nil {
		return err
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
		return fault.New(fault.CannotWrite, "--write-list: %w", err)
	}
	return nil
}

func runRestore(ctx context.Context, o RestoreOptions, input string, crfGiven bool, stdout, stderr io.Writer) error {
	r, err := o.options(input, crfGiven)
	if err != nil {
		return err
	}
	whyCPU, err := chooseProgram(r.Convert.Compute.Backend)
	if err != nil {
		return err
	}
	r.Convert.Hooks.Log = slog.New(newLogHandler(stderr, o.convert.logLevel()))
	progress, err := newProgress(o.convert.progress, o.convert.quiet, stderr)
	if err != nil {
		return err
	}
	r.Convert.Hooks.Progress = progress.update
	log, err := newSidecar("--log", o.log)
	if err != nil {
		return err
	}
	r.Log = func(e restore.Entry) { log.write(e) }
	out := stdout
	if o.convert.output == "-" {
		out = stderr
	}
	r.Found = func(found []restore.Finding) error {
		if o.dryRun && !o.convert.quiet {
			if err := restore.WriteList(out, found); err != nil {
				return fault.New(fault.CannotWrite, "write the findings: %w", err)
			}
		}
		if o.writeList == "" {
			return nil
		}
		return writeDamage(o.writeList, found)
	}
	report, err := restore.Run(ctx, r)
	progress.done()
	written := report != nil && report.Conversion != nil
	if e := log.close(written); err == nil {
		err = e
	}
	if report != nil && !o.convert.quiet && (err == nil || written) {
		fmt.Fprintf(out, "%s, %s, %s made anew, %s too long and left\n", counted(report.Frames, "frame"),
			counted(int64(len(report.Findings)), "finding"), counted(report.Made, "frame"), counted(int64(len(report.Left)), "run"))
		if written && o.smartCopy {
			fmt.Fprintf(out, "%d packets copied, %d encoded\n", report.Conversion.Copied, report.Conversion.Encoded)
		}
		if written {
			summarise(out, report.Conversion, whyCPU)
		}
	}
	return err
}

// counted is a number of things.
func counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
