package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"retime/cmd/retime-farm/internal/job"
	"retime/cmd/retime-farm/internal/work"
)

// request holds the flags of the verbs that submit clips.
type request struct {
	connection
	settings                 job.Settings
	retime, version          string
	overwrite, detach, quiet bool
}

func (r *request) addFlags(f *pflag.FlagSet) {
	f.BoolVarP(&r.overwrite, "overwrite", "y", false, "overwrite outputs, and convert finished clips again")
	f.BoolVar(&r.settings.GPU, "gpu", false, "make frames on GPUs, by workers with --device")
	f.BoolVar(&r.detach, "detach", false, "print the job's name and do not wait for its end")
	addSample(f, &r.settings.Sample)
	f.DurationVar(&r.settings.Share, "share", time.Minute, "time that a worker should take for its share of a clip")
	f.DurationVar(&r.settings.Stall, "stall", 10*time.Minute, "make a segment elsewhere if it finishes no frame for this long; 0 for no limit")
	f.DurationVar(&r.settings.Heartbeat, "heartbeat", 30*time.Second, "treat a worker as dead if it is silent for this long")
	f.StringVar(&r.retime, "retime", "", "the program retime (default next to this one, or in PATH)")
	f.StringVar(&r.version, "retime-version", "", "version of the workers' retime (default the program's)")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "print errors only")
	r.connection.addFlags(f)
}

// addSample declares --sample.
func addSample(f *pflag.FlagSet, sample *int) {
	f.IntVar(sample, "sample", job.Thousandth, "frames of each clip to make again and compare")
	f.Lookup("sample").DefValue = "one in 1000, 16 at most" // in the help
}

func (r *request) check() error {
	switch {
	case r.settings.Sample < 0 && r.settings.Sample != job.Thousandth:
		return &exit{2, errors.New("--sample must not be negative")}
	case r.settings.Heartbeat < 5*time.Second:
		return &exit{2, errors.New("--heartbeat must be 5s or more: workers report every second")}
	case r.settings.Stall < 0 || r.settings.Share < 0:
		return &exit{2, errors.New("--stall and --share must not be negative")}
	}
	return nil
}

// clip returns the clip that the arguments of a conversion ask for: first the input, then flags.
// Relative names in them start from dir.
func (r *request) clip(dir string, arguments []string, output, format string) (job.Clip, error) {
	if len(arguments) == 0 || strings.HasPrefix(arguments[0], "-") {
		return job.Clip{}, &exit{2, errors.New("no input; it comes before the flags")}
	}
	if output == "" {
		return job.Clip{}, &exit{2, fmt.Errorf("no output for %q; name one with -o", arguments[0])}
	}
	if !filepath.IsAbs(output) {
		output = filepath.Join(dir, output)
	}
	return job.Clip{Input: arguments[0], Output: filepath.Clean(output), Dir: dir, Arguments: arguments, Format: format, Overwrite: r.overwrite}, nil
}

// submit has the farm convert clips, and waits for the end unless r.detach is set.
func (r *request) submit(ctx context.Context, title string, clips []job.Clip) error {
	if len(clips) > job.MaxClips {
		return &exit{2, fmt.Errorf("%d clips; a batch has at most %d, so split the job file", len(clips), job.MaxClips)}
	}
	if r.version == "" {
		var err error
		if _, r.version, err = findRetime(ctx, r.retime); err != nil {
			return fmt.Errorf("%w, or give --retime-version", err)
		}
	}
	t, err := r.connect()
	if err != nil {
		return err
	}
	defer t.Close()
	r.settings.Queue = job.Queue(r.queue, r.version)
	b := job.Batch{Clips: clips, Settings: r.settings}
	id := b.ID()
	options := client.StartWorkflowOptions{
		ID: id, TaskQueue: r.settings.Queue, Memo: map[string]any{"title": title},
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}
	if r.overwrite {
		options.WorkflowIDReusePolicy = enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
	} else if err := keepDone(ctx, t, id, clips); err != nil {
		return err
	}
	run, err := t.ExecuteWorkflow(ctx, options, job.BatchWorkflow, b)
	if err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	if r.detach {
		fmt.Println(id)
		return nil
	}
	fmt.Fprintf(os.Stderr, "retime-farm: job %s\n", id)
	warnWithoutWorkers(ctx, t, r.settings)
	return follow(ctx, t, run, r.quiet, os.Stdout, os.Stderr)
}

// keepDone marks the clips that an earlier run of the batch converted before it failed or was
// cancelled.
func keepDone(ctx context.Context, t client.Client, id string, clips []job.Clip) error {
	d, err := t.DescribeWorkflowExecution(ctx, id, "")
	if missing := (*serviceerror.NotFound)(nil); errors.As(err, &missing) {
		return nil
	} else if err != nil {
		return err
	}
	info := d.GetWorkflowExecutionInfo()
	if s := info.GetStatus(); s != enums.WORKFLOW_EXECUTION_STATUS_FAILED && s != enums.WORKFLOW_EXECUTION_STATUS_CANCELED {
		return nil
	}
	report, _ := ending(t.GetWorkflow(ctx, id, info.GetExecution().GetRunId()).Get(ctx, nil))
	for i := range clips {
		if i < len(report.Clips) && report.Clips[i].State == job.Done {
			clips[i].Before = report.Clips[i].Mark
		}
	}
	return nil
}

// ending returns the report in a batch's error, and the error with which the program ends.
func ending(err error) (report job.Report, _ error) {
	var failed *temporal.ApplicationError
	var cancelled *temporal.CanceledError
	var ended *temporal.TerminatedError
	switch {
	case errors.As(err, &failed) && failed.Type() == job.ClipsFailed:
		e := &exit{1, errors.New(failed.Message())}
		if failed.Details(&report) == nil {
			for _, c := range report.Clips {
				if c.State == job.Failed && c.Code > 0 {
					e.code = c.Code
					break
				}
			}
		}
		return report, e
	case errors.As(err, &cancelled):
		_ = cancelled.Details(&report) // a job that was cancelled at once has none
		return report, &exit{130, errors.New("the job was cancelled")}
	case errors.As(err, &ended):
		return report, &exit{130, errors.New("the job was terminated; remove the directories .OUTPUT.farm-* next to the outputs")}
	}
	return report, err
}

// follow waits for the end of a batch and prints its progress and its report.
func follow(ctx context.Context, t client.Client, run client.WorkflowRun, quiet bool, stdout, stderr io.Writer) error {
	var report job.Report
	ended := make(chan error, 1)
	go func() { ended <- run.Get(ctx, &report) }()
	began, look := time.Now(), time.After(time.Second)
	last := ""
	for {
		select {
		case <-look:
			// Each look costs the server and the workers time; long jobs change slowly.
			look = time.After(min(max(time.Since(began)/20, time.Second), 10*time.Second))
			if quiet {
				continue
			}
			if now, err := progressOf(ctx, t, run.GetID()); err == nil && now.line() != last {
				last = now.line()
				fmt.Fprintln(stderr, last)
			}
		case <-ctx.Done():
			return &exit{130, fmt.Errorf("the job continues; retime-farm cancel %s ends it", run.GetID())}
		case err := <-ended:
			if ctx.Err() != nil {
				continue
			}
			if err != nil {
				report, err = ending(err)
			}
			if !quiet {
				printReport(stdout, &report)
			}
			return err
		}
	}
}

// warnWithoutWorkers warns if no worker polls a queue that the job needs.
func warnWithoutWorkers(ctx context.Context, t client.Client, s job.Settings) {
	for queue, kind := range map[string]enums.TaskQueueType{
		s.Queue:                          enums.TASK_QUEUE_TYPE_WORKFLOW,
		job.SegmentQueue(s.Queue, s.GPU): enums.TASK_QUEUE_TYPE_ACTIVITY,
	} {
		if d, err := t.DescribeTaskQueue(ctx, queue, kind); err == nil && len(d.GetPollers()) == 0 {
			fmt.Fprintf(os.Stderr, "retime-farm: no worker asks for work from %q; the job waits for one\n", queue)
		}
	}
}

// runRetime runs retime on this machine, for verbs that need no farm, and returns its standard
// output.
func runRetime(ctx context.Context, retime string, arguments ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, retime, arguments...)
	cmd.Stderr, cmd.Cancel = os.Stderr, func() error { return work.Terminate(cmd) }
	out, err := cmd.Output()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) && ended.ExitCode() > 0 {
		return out, &exit{ended.ExitCode(), fmt.Errorf("retime %s failed", arguments[0])}
	}
	return out, err
}
