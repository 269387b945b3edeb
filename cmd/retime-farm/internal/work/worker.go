// Package work implements the activities of the farm: what a worker does for a conversion, by
// running retime and by moving files.
package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"retime/cmd/retime-farm/internal/job"
)

// Worker implements the activities: each exported method that takes a context is one.
type Worker struct {
	Name   string // in messages
	Retime string // path of the program
	Root   Root
	Client client.Client
	// Machine holds, for each free slot, the flags by which retime uses that slot's share of the
	// machine.
	Machine chan []string
}

// Slots returns a Machine with a slot for each list of flags.
func Slots(flags [][]string) chan []string {
	slots := make(chan []string, len(flags))
	for _, f := range flags {
		slots <- f
	}
	return slots
}

// evenly sets the length of a range, in seconds of the output, unless the user chooses another.
// Ranges of equal length need no search for scenes, for which one machine would have to decode the
// whole input.
var evenly = []string{"--segment-seconds=5", "--even"}

// PlanArguments returns the arguments with which retime plans a clip. The clip's own arguments
// follow them: they take precedence, and none of them can take one of these as its value.
func PlanArguments(c job.Clip) []string {
	args := append([]string{"plan", "--progress=json", "-q", "--overwrite", "--output=" + c.Plan()}, evenly...)
	if f := c.Container(); f != "" {
		args = append(args, "--format="+f)
	}
	return args
}

// OutputIsRead reports whether one of the clip's arguments names its output.
func OutputIsRead(c job.Clip) bool {
	output, err := os.Stat(c.Output)
	return err == nil && slices.ContainsFunc(c.Arguments, func(a string) bool {
		_, value, ok := strings.Cut(a, "=")
		if !ok || !strings.HasPrefix(a, "-") {
			value = a
		}
		if !filepath.IsAbs(value) {
			value = filepath.Join(c.Dir, value)
		}
		named, err := os.Stat(value)
		return err == nil && os.SameFile(named, output)
	})
}

// Plan plans the conversion of a clip.
func (w *Worker) Plan(ctx context.Context, c job.Clip) (p job.Planned, err error) {
	output, err := w.Root.rel(c.Output)
	if err != nil {
		return p, err
	}
	if _, err := w.Root.rel(c.Dir); err != nil {
		return p, err
	}
	_, err = w.Root.Stat(output)
	exists := err == nil
	switch {
	case exists && c.Before != nil && w.unchanged(c):
		return job.Planned{Done: true, Mark: *c.Before}, nil
	case exists && !c.Overwrite:
		return p, temporal.NewNonRetryableApplicationError(fmt.Sprintf("output %q exists; -y overwrites it", c.Output), errGaveUp, nil, 73)
	case OutputIsRead(c):
		return p, temporal.NewNonRetryableApplicationError(fmt.Sprintf("output %q is what the conversion reads; choose another name", c.Output), errGaveUp, nil, 2)
	case slices.ContainsFunc(c.Arguments, func(a string) bool { return strings.HasPrefix(a, "--confine") }):
		return p, temporal.NewNonRetryableApplicationError("--confine is the worker's; leave it out", errGaveUp, nil, 2)
	}
	work, err := w.Root.rel(c.Work())
	if err != nil {
		return p, err
	}
	if err := w.Root.MkdirAll(work, 0o777); err != nil {
		return p, err
	}
	args := slices.Concat(PlanArguments(c), w.Root.confine(), c.Arguments)
	if _, err := w.run(ctx, program{args: args, dir: c.Dir}); err != nil {
		return p, err
	}
	if p, err = w.readPlan(filepath.Join(work, "plan.json"), c.Output); err == nil {
		p.Slots = w.slots(ctx)
	}
	return p, err
}

// slots returns the number of slots of each worker that polls this activity's queue, by name; nil
// if the server does not tell.
func (w *Worker) slots(ctx context.Context) map[string]int {
	d, err := w.Client.DescribeTaskQueue(ctx, activity.GetInfo(ctx).TaskQueue, enums.TASK_QUEUE_TYPE_ACTIVITY)
	if err != nil {
		return nil // shares are single ranges until workers are known
	}
	all := map[string]int{}
	for _, p := range d.GetPollers() {
		if name, n := job.SlotsOf(p.GetIdentity()); n > 0 {
			all[name] = n
		}
	}
	return all
}

// unchanged reports whether the clip's input is the same as when it was converted.
func (w *Worker) unchanged(c job.Clip) bool {
	input := c.Input
	if !filepath.IsAbs(input) {
		input = filepath.Join(c.Dir, input)
	}
	rel, err := w.Root.rel(input)
	if err != nil {
		return false
	}
	info, err := w.Root.Stat(rel)
	return err == nil && info.Size() == c.Before.Size && info.ModTime().Equal(c.Before.Modified)
}

// readPlan reads what the farm needs to know about the plan in a file.
func (w *Worker) readPlan(name, output string) (p job.Planned, err error) {
	f, err := w.Root.Open(name)
	if err != nil {
		return p, err
	}
	defer f.Close()
	sum := sha256.New()
	var plan struct {
		Input job.Mark `json:"input"`
		Whole struct {
			Frames int64 `json:"frames"`
		} `json:"whole"`
		Ranges []struct{} `json:"ranges"`
	}
	if err := json.NewDecoder(io.TeeReader(f, sum)).Decode(&plan); err != nil {
		return p, fmt.Errorf("plan: %w", err)
	}
	fmt.Fprintf(sum, "\n%s", output)
	return job.Planned{ID: "retime-" + hex.EncodeToString(sum.Sum(nil))[:32], Ranges: len(plan.Ranges), Frames: plan.Whole.Frames, Mark: plan.Input}, nil
}

// Make makes a share of a conversion's segments.
func (w *Worker) Make(ctx context.Context, s job.Share) (made job.Made, err error) {
	if err := w.seesPlan(s.Clip); err != nil {
		return made, err
	}
	slot := <-w.Machine // Temporal runs no more activities than there are slots
	defer func() { w.Machine <- slot }()
	f, err := w.follow(s)
	if err != nil {
		return made, err
	}
	args := []string{"segment", "--plan=" + s.Clip.Plan(), "--index=" + strconv.Itoa(s.First), "--stride=1", "--count=" + strconv.Itoa(s.Count), "--progress=json", "-q"}
	log, err := w.run(ctx, program{args: slices.Concat(args, w.Root.confine(), slot), stall: s.Stall, made: f.look})
	made = job.Made{Worker: w.Name, Slots: cap(w.Machine), Seconds: time.Since(f.began).Seconds(), Count: s.Count, Log: log}
	if errors.Is(err, errEnough) {
		made.Count, err = f.done, nil
		made.Log = strings.TrimSpace(log[:strings.LastIndexByte(log, '\n')+1]) // the last line reports the stop
	}
	made.New = f.fresh(made.Count)
	if err != nil && w.seesPlan(s.Clip) != nil {
		_ = w.Clean(ctx, s.Clip) // the job has ended without this worker's notice
	}
	return made, err
}

// seesPlan returns an error if the clip's plan does not exist: the shared directory is not mounted
// on this machine, or the job has ended.
func (w *Worker) seesPlan(c job.Clip) error {
	plan, err := w.Root.rel(c.Plan())
	if err != nil {
		return err
	}
	if _, err := w.Root.Stat(plan); err != nil {
		return fmt.Errorf("%s does not see the plan; is the shared directory mounted there? %w", w.Name, err)
	}
	return nil
}

// Verify makes a sample of the frames again and compares them. All segments have been made, so
// waiting for a missing one is useless.
func (w *Worker) Verify(ctx context.Context, c *job.Conversion) (log string, err error) {
	if err := w.seesPlan(c.Clip); err != nil {
		return "", err
	}
	slot := <-w.Machine
	defer func() { w.Machine <- slot }()
	args := []string{"verify", "--plan=" + c.Clip.Plan(), "--sample=" + strconv.Itoa(job.Sample(c.Settings.Sample, c.Planned.Frames)), "--progress=json", "-q"}
	return w.run(ctx, program{args: slices.Concat(args, w.Root.confine(), slot), final: []int{75}})
}

// Join joins the segments while others are still being made.
func (w *Worker) Join(ctx context.Context, c *job.Conversion) (log string, err error) {
	if err := w.seesPlan(c.Clip); err != nil {
		return "", err
	}
	args := []string{"join", "--wait", "--plan=" + c.Clip.Plan(), "--output=" + c.Clip.Joined(), "--overwrite", "--progress=json", "-q"}
	if c.Clip.Format != "" {
		args = append(args, "--format="+c.Clip.Format)
	}
	return w.run(ctx, program{args: append(args, w.Root.confine()...)})
}

// Deliver gives the joined file the output's name, and removes everything else. It may run again at
// any point.
func (w *Worker) Deliver(ctx context.Context, c job.Clip) error {
	joined, err := w.Root.rel(c.Joined())
	if err != nil {
		return err
	}
	output, err := w.Root.rel(c.Output)
	if err != nil {
		return err
	}
	if made, err := w.Root.Stat(joined); err == nil {
		err := w.Root.move(joined, output, c.Overwrite)
		if there, e := w.Root.Stat(output); errors.Is(err, fs.ErrExist) && (e != nil || !os.SameFile(made, there)) { // unless an earlier attempt moved it
			return temporal.NewNonRetryableApplicationError(fmt.Sprintf("output %q exists; -y overwrites it", c.Output), errGaveUp, nil, 73)
		} else if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	} else if _, there := w.Root.Stat(output); there != nil { // neither exists
		return fmt.Errorf("%s does not see the joined file; is the shared directory mounted there? %w", w.Name, err)
	}
	return w.Clean(ctx, c)
}

// Clean removes everything that was made for a clip. It removes the plan first: without it, no
// worker makes anything.
func (w *Worker) Clean(_ context.Context, c job.Clip) error {
	work, err := w.Root.rel(c.Work())
	if err != nil {
		return err
	}
	if err := w.Root.Remove(filepath.Join(work, "plan.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return w.Root.RemoveAll(work)
}

// Follow waits for a conversion that another batch started.
func (w *Worker) Follow(ctx context.Context, id string) error {
	ended := make(chan error, 1)
	go func() { ended <- w.Client.GetWorkflow(ctx, id, "").Get(ctx, nil) }()
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			activity.RecordHeartbeat(ctx)
		case err := <-ended:
			if err != nil && ctx.Err() == nil {
				return temporal.NewNonRetryableApplicationError("another batch converts this clip: "+err.Error(), errGaveUp, nil, 1)
			}
			return err
		}
	}
}
