package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/cmd/retime-farm/internal/job"
	"retime/cmd/retime-farm/internal/work"
)

// planned holds the flags of the verbs that plan a conversion here and leave the rest to another
// scheduler.
type planned struct {
	request
	output, format string
	tasks, sample  int
}

// command completes cmd with flags, and with run for what follows the plan.
func (o *planned) command(cmd *cobra.Command, more func(*pflag.FlagSet), run func(ctx context.Context, retime string, c job.Clip, ranges int) error) *cobra.Command {
	f := cmd.Flags()
	addOutput(f, &o.output, &o.format)
	f.BoolVarP(&o.overwrite, "overwrite", "y", false, "overwrite the output")
	f.IntVar(&o.tasks, "tasks", 16, "tasks of the array, at most")
	addSample(f, &o.sample)
	f.StringVar(&o.retime, "retime", "", "the program retime (default next to this one, or in PATH)")
	more(f)
	cmd.DisableFlagParsing = true // retime parses the flags of a conversion
	cmd.RunE = func(cmd *cobra.Command, all []string) error {
		own, others := split(f, all)
		if err := f.Parse(own); err != nil {
			return &exit{2, err}
		}
		if help, _ := f.GetBool("help"); help {
			return cmd.Help()
		}
		if o.tasks < 1 || o.sample < 0 && o.sample != job.Thousandth {
			return &exit{2, errors.New("--tasks must be 1 or more, --sample 0 or more")}
		}
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		c, err := o.clip(dir, others, o.output, o.format)
		if err != nil {
			return err
		}
		retime, _, err := findRetime(cmd.Context(), o.retime)
		if err != nil {
			return err
		}
		ranges, err := o.plan(cmd.Context(), retime, c)
		if err != nil {
			return err
		}
		return run(cmd.Context(), retime, c, ranges)
	}
	return cmd
}

// plan plans the conversion, and returns the number of its ranges. It leaves no directory behind if
// it fails.
func (o *planned) plan(ctx context.Context, retime string, c job.Clip) (int, error) {
	if _, err := os.Stat(c.Output); err == nil && !c.Overwrite {
		return 0, &exit{73, fmt.Errorf("output %q exists; -y overwrites it", c.Output)}
	}
	if work.OutputIsRead(c) {
		return 0, &exit{2, fmt.Errorf("output %q is what the conversion reads; choose another name", c.Output)}
	}
	if err := os.MkdirAll(c.Work(), 0o777); err != nil {
		return 0, &exit{73, err}
	}
	if _, err := runRetime(ctx, retime, append(work.PlanArguments(c), c.Arguments...)...); err != nil {
		os.Remove(c.Work()) // fails if segments exist, which the next plan uses
		return 0, err
	}
	b, err := os.ReadFile(c.Plan())
	if err != nil {
		return 0, err
	}
	var p struct {
		Whole  struct{ Frames int64 }
		Ranges []struct{}
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return 0, fmt.Errorf("plan: %w", err)
	}
	o.sample = job.Sample(o.sample, p.Whole.Frames)
	return len(p.Ranges), nil
}
