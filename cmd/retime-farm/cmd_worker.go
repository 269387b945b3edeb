package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"retime/cmd/retime-farm/internal/job"
	"retime/cmd/retime-farm/internal/work"
)

// workerOptions holds the flags of worker.
type workerOptions struct {
	connection
	retime, root, flowCache, name string
	slots, threads                int
	devices                       []string
}

func (o *workerOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.retime, "retime", "", "the program retime (default next to this one, or in PATH)")
	f.StringVar(&o.root, "root", "/", "read and write nothing outside this directory")
	f.IntVar(&o.slots, "slots", 0, "segments to make at a time on processors (default 1, or 0 with --device)")
	f.IntVar(&o.threads, "threads", 0, "threads for each of these (default an even share of all)")
	f.StringSliceVar(&o.devices, "device", nil, "CUDA devices, such as 0,1, each with a slot of its own")
	f.StringVar(&o.flowCache, "flow-cache", "", "keep optical flow here; workers may share the directory")
	f.StringVar(&o.name, "name", "", "the worker's name in reports (default host and process)")
}

func newWorkerCommand() *cobra.Command {
	var o workerOptions
	cmd := &cobra.Command{
		Use:   "worker [--root DIR] [--slots N] [--device 0,1]",
		Short: "Work for the farm until interrupted",
		Long: `worker takes work from the farm until SIGTERM or Ctrl-C, and gives back what it has
not finished. Only those jobs come whose submitter has the same version of retime.`,
		Args: args(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return runWorker(cmd.Context(), o) },
	}
	o.connection.addFlags(cmd.Flags())
	o.addFlags(cmd.Flags())
	return cmd
}

// findRetime returns the path and the version of retime.
func findRetime(ctx context.Context, given string) (path, version string, err error) {
	if path = given; path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", "", err
		}
		if path, err = work.Find(self, "retime"); err != nil {
			return "", "", &exit{2, errors.New("no program retime next to this one or in PATH; name it with --retime")}
		}
	}
	if version, err = work.Version(ctx, path); err != nil {
		return "", "", &exit{2, err}
	}
	return path, version, nil
}

// processors returns retime's flags for each slot that uses processors.
func (o *workerOptions) processors() (slots [][]string) {
	n := o.slots
	if n == 0 && len(o.devices) == 0 {
		n = 1
	}
	threads := o.threads
	if threads == 0 && n > 0 {
		threads = max(runtime.NumCPU()/n, 1)
	}
	for range n {
		slots = append(slots, o.cached("--backend=cpu", "--threads="+strconv.Itoa(threads)))
	}
	return slots
}

// gpus returns retime's flags for each slot that uses a GPU. If a GPU fails, the slot must not
// silently become a slow processor.
func (o *workerOptions) gpus() (slots [][]string) {
	for _, d := range o.devices {
		slots = append(slots, o.cached("--backend=cuda", "--device="+d, "--gpu-fault=fail"))
	}
	return slots
}

func (o *workerOptions) cached(flags ...string) []string {
	if o.flowCache != "" {
		flags = append(flags, "--flow-cache="+o.flowCache)
	}
	return flags
}

func runWorker(ctx context.Context, o workerOptions) error {
	options, err := o.options()
	if err != nil {
		return err
	}
	if o.name == "" {
		host, err := os.Hostname()
		if err != nil {
			return err
		}
		o.name = fmt.Sprintf("%s/%d", host, os.Getpid())
	}
	options.Identity = o.name
	t, err := o.dial(options)
	if err != nil {
		return err
	}
	defer t.Close()
	return o.work(ctx, t)
}

// asides is the number of activities that a worker runs in addition to its slots: joins that wait,
// and moves of files.
const asides = 100

// work runs a worker on a connection until ctx ends.
func (o *workerOptions) work(ctx context.Context, t client.Client) error {
	if o.slots < 0 || o.threads < 0 {
		return &exit{2, errors.New("--slots and --threads must not be negative")}
	}
	retime, version, err := findRetime(ctx, o.retime)
	if err != nil {
		return err
	}
	root, err := work.OpenRoot(o.root)
	if err != nil {
		return &exit{2, fmt.Errorf("--root: %w", err)}
	}
	defer root.Close()
	queue := job.Queue(o.queue, version)
	asked := ctx // the caller's context: its end is a request to stop
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	settings := worker.Options{
		OnFatalError:                       fail,
		MaxConcurrentActivityExecutionSize: asides,
		MaxHeartbeatThrottleInterval:       time.Second, // heartbeats' answers bring cancellations
		WorkerStopTimeout:                  5 * time.Second,
		DisableRegistrationAliasing:        true,
	}
	var workers []worker.Worker
	add := func(queue string, slots [][]string) worker.Worker {
		w := worker.New(t, queue, settings)
		w.RegisterActivity(&work.Worker{Name: o.name, Retime: retime, Root: root, Client: t, Machine: work.Slots(slots)})
		workers = append(workers, w)
		return w
	}
	first := add(queue, nil)
	first.RegisterWorkflowWithOptions(job.RunBatch, workflow.RegisterOptions{Name: job.BatchWorkflow})
	first.RegisterWorkflowWithOptions(job.Convert, workflow.RegisterOptions{Name: job.ConvertWorkflow})
	first.RegisterWorkflowWithOptions(job.Make, workflow.RegisterOptions{Name: job.MakeWorkflow})
	what := []string{}
	settings.DisableWorkflowWorker = true
	for _, gpu := range []bool{false, true} {
		slots, kind := o.processors(), "on processors"
		if gpu {
			slots, kind = o.gpus(), "on GPUs"
		}
		settings.Identity = job.Identity(o.name, len(slots))
		if settings.MaxConcurrentActivityExecutionSize = len(slots); len(slots) > 0 {
			add(job.SegmentQueue(queue, gpu), slots)
			what = append(what, fmt.Sprintf("%d %s", len(slots), kind))
		}
	}
	for i, w := range workers {
		if err := w.Start(); err != nil {
			stopAll(workers[:i])
			return fmt.Errorf("worker: %w", err)
		}
	}
	fmt.Fprintf(os.Stderr, "retime-farm: %s works with retime %s, segments at a time: %s\n", o.name, version, strings.Join(what, ", "))
	<-ctx.Done()
	stopAll(workers)
	if asked.Err() == nil {
		return fmt.Errorf("worker: %w", context.Cause(ctx))
	}
	return nil
}

// stopAll stops workers, all at the same time.
func stopAll(workers []worker.Worker) {
	stopped := make(chan bool)
	for _, w := range workers {
		go func() { w.Stop(); stopped <- true }()
	}
	for range workers {
		<-stopped
	}
}
