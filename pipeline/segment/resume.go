package segment

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/confine"
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// sweep removes the unfinished files that killed processes have left in dir.
func sweep(dir string) error { return atomicfile.Sweep(dir + string(filepath.Separator)) }

// StateDir returns the directory in which Convert keeps the finished segments of an
// output: .OUTPUT.resume beside the file, or beside what that leads to if it is a link.
func StateDir(output string) string {
	if file, err := atomicfile.Follow(output); err == nil {
		output = file
	}
	dir, base := filepath.Split(output)
	return filepath.Join(dir, "."+base+".resume")
}

// Convert makes o.Output as pipeline.Run does, in segments of equal length that it
// keeps in StateDir: if a run is killed or cancelled, the next run continues after the
// last whole segment. Convert refuses to go on if the settings or the input have
// changed. It removes the directory when the output is whole.
func Convert(ctx context.Context, o pipeline.Options, cut Options) (*pipeline.Report, error) {
	began := time.Now()
	info, err := os.Stat(o.Output.File)
	if name := o.Output.File; name == "" || name == "-" || err == nil && !info.Mode().IsRegular() && !info.IsDir() || err != nil && strings.Contains(name, "://") {
		return nil, fault.New(fault.Usage, "a conversion that can be resumed needs an output file; name one with Output.File")
	}
	// An output that exists may be whole already, by a run that was killed in its last steps; its directory is made below.
	w := media.WriterOptions{Container: media.ContainerOptions{Format: o.Output.Format}, Overwrite: true}
	if err := media.CheckOutput(o.Output.File, o.Input.File, w); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	dir := StateDir(o.Output.File)
	if in, err := confine.New(o.Compute.Confine); err != nil {
		return nil, fault.New(fault.Usage, "Compute.Confine: %w", err)
	} else if err := in.CheckTree(dir); err != nil {
		return nil, fault.New(fault.Usage, "segments: Compute.Confine: %w", err)
	}
	if err := os.Mkdir(dir, 0o755); errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.CannotWrite, "output %q: %w", o.Output.File, fault.Plain(err))
	} else if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fault.New(fault.CannotWrite, "segments: %w", err)
	}
	defer atomicfile.OnAbandon(func() { os.Remove(dir) })() // fails if the directory holds anything
	lock, err := atomicfile.LockDir(dir, false)
	if errors.Is(err, atomicfile.ErrLocked) {
		return nil, fault.New(fault.TryAgain, "another retime makes %q; wait for it", o.Output.File)
	} else if err != nil {
		return nil, fault.New(fault.CannotWrite, "segments: %w", err)
	}
	defer lock.Close()
	if plan, err := readPlan(filepath.Join(dir, wholeName), cut.Program); err == nil {
		if err := plan.continues(ctx, dir, o); err != nil {
			return nil, err
		}
		return plan.deliver(dir, o) // the last run was killed in its last steps
	}
	if _, err := os.Stat(o.Output.File); err == nil && !o.Output.Overwrite {
		os.Remove(dir) // fails if the directory holds anything
		return nil, fault.New(fault.CannotWrite, "output %q exists; Output.Overwrite overwrites it", o.Output.File)
	}
	plan, err := resumed(ctx, dir, o, cut)
	if err != nil {
		os.Remove(dir) // fails if the directory holds anything
		return nil, err
	}
	sum, err := plan.makeRun(ctx, dir, 0, len(plan.Ranges), o, func(*Manifest, bool) {})
	if err != nil {
		return nil, err
	}
	// The joined file begins beside the segments, so that a kill leaves nothing
	// elsewhere.
	local := o
	local.Output.Format, local.Hooks.Progress = plan.Settings.Output.Format, nil
	local.Output.File, local.Output.Overwrite = filepath.Join(dir, joinedPrefix+filepath.Ext(o.Output.File)), true
	report, err := plan.Join(ctx, dir, local)
	if err != nil {
		return nil, err
	}
	if err := os.Rename(filepath.Join(dir, planName), filepath.Join(dir, wholeName)); err != nil {
		return nil, fault.New(fault.CannotWrite, "segments: %w", err)
	}
	if _, err := plan.deliver(dir, o); err != nil {
		return nil, err
	}
	report.Output, report.Elapsed = o.Output.File, time.Since(began)
	report.Sources, report.Made, report.Held, report.Repeats, report.Stages = sum.Sources, sum.Made, sum.Held, sum.Repeats, sum.Stages
	report.Backend, report.Devices, report.Remade = sum.Backend, sum.Devices, sum.Remade
	return report, nil
}

// planName is the name of the plan in StateDir; wholeName is its name once the joined
// file is whole.
const (
	planName  = "plan.json"
	wholeName = "whole.json"
)

// deliver gives the joined file its final name, unless an earlier run did, and removes
// dir; it removes the plan last.
func (p *Plan) deliver(dir string, o pipeline.Options) (*pipeline.Report, error) {
	cannot := func(err error) error { return fault.New(fault.CannotWrite, "segments: %w", err) }
	joined := filepath.Join(dir, joinedPrefix+filepath.Ext(o.Output.File))
	if _, err := os.Stat(joined); err == nil {
		file, err := atomicfile.Follow(o.Output.File)
		if err == nil {
			err = atomicfile.Rename(joined, file, o.Output.Overwrite)
		}
		if errors.Is(err, fs.ErrExist) {
			return nil, fault.New(fault.CannotWrite, "output %q exists; Output.Overwrite overwrites it", o.Output.File)
		} else if err != nil {
			return nil, cannot(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, cannot(err)
	}
	for _, e := range entries {
		if e.Name() == wholeName {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return nil, cannot(err)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, cannot(err)
	}
	v := p.Whole.Parameters
	return &pipeline.Report{Output: o.Output.File, Width: v.Width, Height: v.Height, Format: v.PixelFormat, Rate: p.Whole.Rate, Result: pipeline.Result{Frames: p.Whole.Frames}}, nil
}

// joinedPrefix begins the name of the joined file.
const joinedPrefix = "joined"

// resumed returns the plan in dir if it is a plan of o, or makes one.
func resumed(ctx context.Context, dir string, o pipeline.Options, cut Options) (*Plan, error) {
	name := filepath.Join(dir, planName)
	if err := sweep(dir); err != nil {
		return nil, fault.New(fault.CannotWrite, "segments: %w", err)
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		cut.Even = true
		p, err := planRanges(ctx, o, cut)
		if err != nil {
			return nil, err
		}
		return p, p.Write(name, true)
	}
	p, err := readPlan(name, cut.Program)
	if err != nil {
		return nil, fault.New(fault.KindOf(err), "%w; remove %s to start again", err, dir)
	}
	return p, p.continues(ctx, dir, o)
}

// continues returns an error unless p, which lies in dir, is a plan of o, and the input is what it
// was.
func (p *Plan) continues(ctx context.Context, dir string, o pipeline.Options) error {
	path, err := filepath.Abs(o.Input.File)
	if err != nil {
		return fault.New(fault.NoInput, "%w", err)
	}
	if atomicfile.Fold(path) != atomicfile.Fold(p.Input.Path) {
		return fault.New(fault.Usage, "%q was started with the input %q; give that, or remove %s to start again", o.Output.File, p.Input.Path, dir)
	}
	o.Input.Rotation = o.Rotation()
	was, is := store(&p.Settings), store(&o)
	if changed := differences(&was, &is); len(changed) > 0 {
		return fault.New(fault.Usage, "%q was started with other settings (%s); give those, or remove %s to start again",
			o.Output.File, strings.Join(changed, ", "), dir)
	}
	return p.checkInput(ctx, true)
}
