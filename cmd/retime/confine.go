package main

import (
	"os"

	"retime/pipeline/confine"
	"retime/pipeline/fault"
	"retime/pipeline/segment"
)

// confinement returns the directory of --confine.
func (o *ConvertOptions) confinement() (confine.Dir, error) {
	in, err := confine.New(o.Compute.Confine)
	if err != nil {
		return in, fault.New(fault.Usage, "--confine: %w", err)
	}
	return in, nil
}

// checkConfined refuses files outside the directory of --confine that the conversion of
// input reads or writes, before any is opened. What the library opens itself, it checks
// again.
func (o *ConvertOptions) checkConfined(input string) error {
	in, err := o.confinement()
	if err != nil || !in.On() {
		return err
	}
	trees := []string{}
	if o.resume {
		trees = append(trees, segment.StateDir(o.Output.File))
	}
	check := func(what, name string, check func(string) error) error {
		if name == "" || name == "-" {
			return nil
		}
		if err := check(name); err != nil {
			return fault.New(fault.Usage, "%s: --confine: %w", what, err)
		}
		return nil
	}
	if err := check("input", input, in.Check); err != nil {
		return err
	}
	for _, d := range o.flags() {
		if d.path == nil {
			continue
		}
		if err := check("--"+d.name, *d.path, in.Check); err != nil {
			return err
		}
		if info, err := os.Stat(*d.path); err == nil && info.IsDir() {
			trees = append(trees, *d.path)
		}
	}
	for _, name := range trees {
		if err := check("directory", name, in.CheckTree); err != nil {
			return err
		}
	}
	return nil
}
