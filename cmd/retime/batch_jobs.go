package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"retime/cmd/internal/settings"
	"retime/pipeline"
	"retime/pipeline/batch"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/plainfile"
)

// batchClip is the conversion of one clip of a batch.
type batchClip struct {
	ConvertOptions
	input    string
	given    *pflag.FlagSet // the flags that were given for the clip
	settings string         // the flags that decide the output, as text
	whyCPU   string
}

// newBatchClip returns the conversion of input with o, whose flags were declared in
// flags.
func newBatchClip(input string, o ConvertOptions, flags *pflag.FlagSet) *batchClip {
	c := &batchClip{ConvertOptions: o, input: input, given: flags}
	c.place()
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if d := definition(f); d != nil && f.Changed && !d.role.sameOutput() {
			fmt.Fprintf(&b, "%s=%s\n", f.Name, f.Value)
		}
	})
	c.settings = b.String()
	return c
}

// paths returns the fields of c that hold the names of files with one of the given
// uses.
func (c *batchClip) paths(uses ...fileUse) (names []*string) {
	for _, d := range c.flags() {
		if d.path != nil && slices.Contains(uses, d.use) {
			names = append(names, d.path)
		}
	}
	return names
}

// place fills the input's name into the names of the files to write.
func (c *batchClip) place() {
	base := filepath.Base(c.input)
	ext := filepath.Ext(base)
	r := strings.NewReplacer("{name}", strings.TrimSuffix(base, ext), "{ext}", strings.TrimPrefix(ext, "."))
	for _, name := range c.paths(outputFile, writesFile) {
		*name = r.Replace(*name)
	}
}

// startFrom makes relative names start from dir.
func (c *batchClip) startFrom(dir string) {
	for _, name := range append(c.paths(outputFile, readsFile, writesFile, keepsFiles), &c.input) {
		if *name != "" && *name != "-" && !filepath.IsAbs(*name) && !strings.Contains(*name, "://") {
			*name = filepath.Join(dir, *name)
		}
	}
}

// named returns the names of the files of one use.
func (c *batchClip) named(use fileUse) (names []string) {
	for _, name := range c.paths(use) {
		if *name != "" {
			names = append(names, *name)
		}
	}
	return names
}

// arguments returns the command line that converts the clip: its input, its output and
// the other flags that were given for it, each as --name=value.
func (c *batchClip) arguments() []string {
	args := []string{c.input, "--output=" + c.Output.File}
	paths := map[string]*string{} // where place and startFrom have left the names of files
	for _, d := range c.flags() {
		paths[d.name] = d.path
	}
	visitDecisive(c.given, func(d *flag, texts []string) {
		if d.role == roleEXR && !c.Output.IsEXR() {
			return
		}
		if path := paths[d.name]; path != nil {
			texts = []string{*path}
		}
		for _, text := range texts {
			args = append(args, "--"+d.name+"="+text)
		}
	})
	return args
}

// job checks the options and returns the job that converts the clip.
func (c *batchClip) job() (batch.Job, error) {
	p, err := c.options(c.input)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return batch.Job{}, c.inFlags(err)
	}
	if c.input == "-" || c.Output.File == "-" {
		return batch.Job{}, fault.New(fault.Usage, "a batch has no standard input and output; name files")
	}
	return batch.Job{
		Input: c.input, Output: c.Output.File, Settings: c.settings, Threads: c.Compute.Threads, Convert: c.run,
		Reads: c.named(readsFile), Writes: c.named(writesFile),
	}, nil
}

// inFlags puts err in terms of the flags that were given for the clip.
func (c *batchClip) inFlags(err error) error { return &flagsError{err, said(err, c.given)} }

// run converts the clip.
func (c *batchClip) run(ctx context.Context, r batch.Resources) (*pipeline.Report, error) {
	p, err := c.options(c.input)
	if err != nil {
		return nil, err
	}
	logged := c.display
	logged.quiet = false // which is about the screen
	p.Hooks.Log, p.Hooks.Progress = slog.New(newLogHandler(r.Log, logged.logLevel())), r.Progress
	p.Compute.Threads, p.Compute.Devices, p.Output.Overwrite = r.Threads, ownDevices(p.Compute.Devices, r.Slot, r.Slots), r.Overwrite
	fmt.Fprintf(r.Log, "%s -> %s, %d threads\n%s", c.input, c.Output.File, p.Compute.Threads, c.settings)
	p.Output.Keep = append(p.Output.Keep, r.Keep...)
	for _, name := range append(c.named(writesFile), c.Output.File) {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return nil, fault.New(fault.CannotWrite, "output %q: %w", name, err)
		}
	}
	report, err := c.convert(ctx, p)
	if report != nil {
		summarise(r.Log, report, c.whyCPU, true)
	}
	if err != nil {
		err = c.inFlags(err)
	}
	return report, err
}

// ownDevices returns the devices for the job in slot: its share of all if there are
// more devices than slots, and otherwise one that it shares.
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

// readJobFile returns the clips of a job file, which may name files below the directory
// confine only, unless it is empty. Names in the file start from its directory.
func readJobFile(name, confine string) ([]*batchClip, []batch.Job, error) {
	data, err := plainfile.Read(name, settings.MaxBytes)
	if err != nil {
		return nil, nil, fault.New(fault.NoInput, "job file: %w", err)
	}
	entries, err := settings.ParseJobs(data)
	if err != nil {
		return nil, nil, fault.New(fault.Usage, "job file %q: %w", name, err)
	}
	var clips []*batchClip
	var jobs []batch.Job
	for _, e := range entries {
		c, j, err := clipOf(e, filepath.Dir(name), confine)
		if err != nil {
			return nil, nil, fault.New(fault.Usage, "job file %q: %w", name, err)
		}
		for _, written := range append(j.Writes, j.Output) {
			if media.Overlap(written, name) {
				return nil, nil, fault.New(fault.Usage, "job file %q: line %d: %q is the job file; choose another name", name, e.Line, written)
			}
		}
		clips, jobs = append(clips, c), append(jobs, j)
	}
	return clips, jobs, nil
}

// placeholders stand for parts of the input's name in the output's.
var placeholders = regexp.MustCompile(`\{[a-z]+\}`)

// clipOf returns the conversion that an entry of a job file in dir describes, confined to
// the directory confine unless it is empty.
func clipOf(entry settings.Clip, dir, confine string) (*batchClip, batch.Job, error) {
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
		case f == nil && s.Name != "input" || f != nil && definition(f).role == roleProgram:
			return nil, batch.Job{}, fmt.Errorf("line %d: no setting %q; use a flag of retime without its dashes, or input", s.Line, s.Name)
		case s.List && (f == nil || !isRepeatable(f)):
			return nil, batch.Job{}, fmt.Errorf("line %d: %s: want one value", s.Line, s.Name)
		}
		if s.Default && definition(f).role == roleEXR {
			o.Output.LenientChannels = true
		}
		for _, v := range s.Values {
			if err := setFlag(flags, s.Name, v); err != nil {
				return nil, batch.Job{}, fmt.Errorf("line %d: %w", s.Line, err)
			}
		}
	}
	if err := checkExclusive(flags); err != nil {
		return nil, batch.Job{}, fmt.Errorf("line %d: %w", entry.Line, err)
	}
	if input == "" {
		return nil, batch.Job{}, fmt.Errorf("line %d: no input", entry.Line)
	}
	if o.Output.File == "" {
		return nil, batch.Job{}, fmt.Errorf("line %d: no output for %q, and none in defaults", entry.Line, input)
	}
	for _, text := range placeholders.FindAllString(o.Output.File, -1) {
		if text != "{name}" && text != "{ext}" {
			return nil, batch.Job{}, fmt.Errorf("line %d: output %q: want {name} or {ext}, not %s", entry.Line, o.Output.File, text)
		}
	}
	o.Compute.Confine = confine
	c := newBatchClip(input, o, flags)
	c.startFrom(dir)
	j, err := c.job()
	if err != nil {
		return nil, j, fmt.Errorf("line %d: %w", blame(entry, dir, confine), err)
	}
	return c, j, nil
}

// blame returns the line of the setting that is wrong by itself; if there is none, the
// line of the clip.
func blame(entry settings.Clip, dir, confine string) int {
	for _, s := range entry.Settings {
		var o ConvertOptions
		flags := pflag.NewFlagSet("clip", pflag.ContinueOnError)
		o.AddFlags(flags)
		for _, v := range s.Values {
			_ = flags.Set(s.Name, v) // clipOf has set it without error
		}
		o.Compute.Confine, o.Output.LenientChannels = confine, true // whatever the output is
		here, err := filepath.Abs(cmp.Or(confine, dir))             // a place that is permitted
		if err != nil {
			continue
		}
		c := newBatchClip(filepath.Join(here, "input"), o, flags)
		if s.Name == "input" {
			c.input = s.Values[0]
		}
		if c.Output.File == "" {
			c.Output.File = filepath.Join(here, "output")
		}
		c.startFrom(dir)
		if _, err := c.job(); err != nil {
			return s.Line
		}
	}
	return entry.Line
}

// readDir returns a clip for each file in dir that matches a glob. Its output is the
// file of the same name in o.Output.File.
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
		one.Output.File = filepath.Join(o.Output.File, e.Name())
		c := newBatchClip(name, one, flags)
		j, err := c.job()
		if err != nil {
			return nil, nil, err
		}
		clips, jobs = append(clips, c), append(jobs, j)
	}
	if err != nil {
		return nil, nil, fault.New(fault.Usage, "--glob %s: %w", quoted(globs), err)
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
