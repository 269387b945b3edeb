package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/batch"
	"retime/pipeline/fault"
)

// notOfClips are the flags of the conversion that belong to a batch as a whole.
var notOfClips = []string{"progress", "overwrite", "resume", "segment-seconds", "quiet", "verbose"}

// sameResult are the flags of the conversion that do not change what it writes.
var sameResult = []string{"output", "threads", "backend", "device", "gpu-fault", "flow-cache", "no-verify"}

// batchClip is a conversion of a batch.
type batchClip struct {
	ConvertOptions
	input    string
	crfGiven bool
	settings string // the flags that decide the output
	verbose  bool
	whyCPU   string
}

// newBatchClip returns the conversion that flags, which o's were declared in, say.
func newBatchClip(input string, o ConvertOptions, flags *pflag.FlagSet) *batchClip {
	c := &batchClip{ConvertOptions: o, input: input, crfGiven: flags.Changed("crf")}
	c.place()
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(ConvertOptions).AddFlags(own)
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed && own.Lookup(f.Name) != nil && !slices.Contains(notOfClips, f.Name) && !slices.Contains(sameResult, f.Name) {
			fmt.Fprintf(&b, "%s=%s\n", f.Name, f.Value)
		}
	})
	c.settings = b.String()
	return c
}

// place puts the input's name into the names of what is written.
func (c *batchClip) place() {
	base := filepath.Base(c.input)
	ext := filepath.Ext(base)
	r := strings.NewReplacer("{name}", strings.TrimSuffix(base, ext), "{ext}", strings.TrimPrefix(ext, "."))
	for _, name := range []*string{&c.output, &c.writeScenes, &c.sidecar, &c.confidenceMaps} {
		*name = r.Replace(*name)
	}
}

// startFrom makes relative names start from dir.
func (c *batchClip) startFrom(dir string) {
	for _, name := range []*string{&c.input, &c.output, &c.curve, &c.scenes, &c.writeScenes, &c.staticMask, &c.sidecar, &c.decisions, &c.confidenceMaps, &c.flowCache} {
		if *name != "" && *name != "-" && !filepath.IsAbs(*name) && !strings.Contains(*name, "://") {
			*name = filepath.Join(dir, *name)
		}
	}
}

// job checks the settings and returns what converts the clip.
func (c *batchClip) job() (batch.Job, error) {
	p, err := c.options(c.input, c.crfGiven)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return batch.Job{}, err
	}
	if c.input == "-" || c.output == "-" {
		return batch.Job{}, fault.New(fault.Usage, "a batch has no standard input and output; name files")
	}
	named := func(names ...string) []string {
		return slices.DeleteFunc(names, func(n string) bool { return n == "" })
	}
	return batch.Job{
		Input: c.input, Output: c.output, Settings: c.settings, Threads: c.threads, Convert: c.run,
		Reads:  named(c.curve, c.scenes, c.decisions, c.staticMask),
		Writes: named(c.writeScenes, c.sidecar, c.confidenceMaps),
	}, nil
}

// run converts the clip.
func (c *batchClip) run(ctx context.Context, r batch.Resources) (*pipeline.Report, error) {
	p, err := c.options(c.input, c.crfGiven)
	if err != nil {
		return nil, err
	}
	level := slog.LevelInfo
	if c.verbose {
		level = slog.LevelDebug
	}
	p.Hooks.Log, p.Hooks.Progress = slog.New(newLogHandler(r.Log, level)), r.Progress
	p.Compute.Threads, p.Compute.Devices, p.Output.Overwrite = r.Threads, ownDevices(p.Compute.Devices, r.Slot, r.Slots), r.Overwrite
	fmt.Fprintf(r.Log, "%s -> %s, %d threads\n%s", c.input, c.output, p.Compute.Threads, c.settings)
	for _, name := range []string{c.output, c.sidecar, c.writeScenes} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return nil, fault.New(fault.CannotWrite, "output %q: %w", name, err)
		}
	}
	if r.Interrupted {
		if err := c.tidy(); err != nil {
			return nil, err
		}
	}
	report, err := c.convert(ctx, p)
	if report != nil {
		summarise(r.Log, report, c.whyCPU)
	}
	return report, err
}

// tidy removes what a killed run left unfinished.
func (c *batchClip) tidy() error {
	err := atomicfile.Sweep(c.output)
	if c.sidecar != "" && err == nil {
		err = atomicfile.Sweep(c.sidecar)
	}
	if err != nil {
		return fault.New(fault.CannotWrite, "what an interrupted run left of %q: %w", c.output, err)
	}
	return nil
}

// ownDevices are those that a job may use in one of slots: its share of several,
// or one that it shares.
func ownDevices(all []int, slot, slots int) (own []int) {
	if len(all) == 0 {
		return nil
	}
	if slots >= len(all) {
		return []int{all[slot%len(all)]}
	}
	for i, d := range all {
		if i%slots == slot {
			own = append(own, d)
		}
	}
	return own
}

// readJobFile returns the clips of a job file. Names in it start from where it
// lies.
func readJobFile(name string) ([]*batchClip, []batch.Job, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, fault.New(fault.NoInput, "job file: %w", err)
	}
	entries, err := batch.ParseFile(data)
	if err != nil {
		return nil, nil, fault.New(fault.Usage, "job file %q: %w", name, err)
	}
	var clips []*batchClip
	var jobs []batch.Job
	for _, e := range entries {
		c, j, err := clipOf(e, filepath.Dir(name))
		if err != nil {
			return nil, nil, fault.New(fault.Usage, "job file %q: %w", name, err)
		}
		clips, jobs = append(clips, c), append(jobs, j)
	}
	return clips, jobs, nil
}

// clipOf turns an entry of a job file in dir into a conversion.
func clipOf(entry batch.Clip, dir string) (*batchClip, batch.Job, error) {
	var o ConvertOptions
	flags := pflag.NewFlagSet("clip", pflag.ContinueOnError)
	o.AddFlags(flags)
	input := ""
	for _, s := range entry.Settings {
		f := flags.Lookup(s.Name)
		switch {
		case s.Name == "input" && !s.List:
			input = s.Values[0]
			continue
		case f == nil && s.Name != "input" || slices.Contains(notOfClips, s.Name):
			return nil, batch.Job{}, fmt.Errorf("line %d: no setting %q; the names are those of retime's flags, and input", s.Line, s.Name)
		case s.List && (f == nil || f.Value.Type() != "stringArray"):
			return nil, batch.Job{}, fmt.Errorf("line %d: %s: want one value", s.Line, s.Name)
		}
		for _, v := range s.Values {
			if err := flags.Set(s.Name, v); err != nil {
				return nil, batch.Job{}, fmt.Errorf("line %d: %s: %q is no value of that kind", s.Line, s.Name, v)
			}
		}
	}
	if input == "" {
		return nil, batch.Job{}, fmt.Errorf("line %d: no input", entry.Line)
	}
	if o.output == "" {
		return nil, batch.Job{}, fmt.Errorf("line %d: no output for %q, and none in defaults", entry.Line, input)
	}
	c := newBatchClip(input, o, flags)
	c.startFrom(dir)
	j, err := c.job()
	if err != nil {
		return nil, j, fmt.Errorf("line %d: %w", blame(entry, dir), err)
	}
	return c, j, nil
}

// blame returns the line of the setting that is wrong by itself, and else the
// clip's.
func blame(entry batch.Clip, dir string) int {
	for _, s := range entry.Settings {
		var o ConvertOptions
		flags := pflag.NewFlagSet("clip", pflag.ContinueOnError)
		o.AddFlags(flags)
		for _, v := range s.Values {
			_ = flags.Set(s.Name, v) // it has been set once
		}
		c := newBatchClip("input", o, flags)
		if c.output == "" {
			c.output = "output"
		}
		c.startFrom(dir)
		if _, err := c.job(); err != nil {
			return s.Line
		}
	}
	return entry.Line
}

// readDir returns a clip for each file in dir that a glob matches, to be written
// under its name into o.output.
func readDir(dir string, globs []string, o ConvertOptions, flags *pflag.FlagSet) ([]*batchClip, []batch.Job, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fault.New(fault.NoInput, "clips: %w", err)
	}
	var clips []*batchClip
	var jobs []batch.Job
	for _, e := range entries {
		matches := func(glob string) bool {
			ok, e := filepath.Match(glob, e.Name())
			if err == nil {
				err = e
			}
			return ok
		}
		if !slices.ContainsFunc(globs, matches) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := filepath.Join(dir, e.Name())
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, nil, fault.New(fault.NoInput, "clips: %w", err)
			}
			continue
		}
		one := o
		one.output = filepath.Join(o.output, e.Name())
		c := newBatchClip(name, one, flags)
		j, err := c.job()
		if err != nil {
			return nil, nil, err
		}
		clips, jobs = append(clips, c), append(jobs, j)
	}
	if err != nil {
		return nil, nil, fault.New(fault.Usage, "--glob %q: %w", globs, err)
	}
	if len(jobs) == 0 {
		return nil, nil, fault.New(fault.NoInput, "no file in %q matches %s", dir, quoted(globs))
	}
	return clips, jobs, nil
}

func quoted(names []string) string {
	var b bytes.Buffer
	for i, n := range names {
		if i > 0 {
			b.WriteString(" or ")
		}
		fmt.Fprintf(&b, "%q", n)
	}
	return b.String()
}
