// Package batch converts many clips on one machine, several at a time. It keeps a
// record of each clip, so that a batch that was stopped or killed goes on from
// there.
package batch

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"syscall"
	"time"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/internal/heap"
)

// Job is one clip of a batch.
type Job struct {
	Input, Output string   // file names
	Reads         []string // further files that decide the output
	Writes        []string // further files and directories that Convert writes
	Settings      string   // all else that decides the output, as text
	Threads       int      // the most worker threads that the job takes; 0 for its share
	// Convert makes the output. If it returns nil the output is whole, and otherwise
	// absent. Its errors carry a fault.Kind. Run calls it from one goroutine, at most
	// once.
	Convert func(context.Context, Resources) (*pipeline.Report, error)
}

// Resources are what a job may use while it runs.
type Resources struct {
	Threads     int                     // worker threads, 1 or more
	Slot, Slots int                     // the job's place among the jobs at a time, from 0, and their number
	Overwrite   bool                    // replace an output that exists
	Interrupted bool                    // a killed run may have left unfinished files
	Log         io.Writer               // receives the job's messages
	Progress    func(pipeline.Progress) // receives how far the job is
}

// Options say what Run does.
type Options struct {
	Jobs     []Job
	Dir      string // keeps the state and the logs; Run makes it if it does not exist
	Parallel int    // jobs at a time, to 1024; 0 for one for each four threads
	Threads  int    // worker threads of all jobs together, to 1024; 0 for as many as there are processors
	Resume   bool   // go on with the state in Dir, passing over what is done
	// Overwrite replaces outputs that exist. Without Resume it also begins again if Dir
	// holds the state of a batch.
	Overwrite bool
	// Run calls Event for what happens, one call at a time, unless it is nil.
	Event func(Event)
}

// State is how far a job is.
type State string

// The states.
const (
	Pending State = "pending" // to be done
	Running State = "running" // under way or, if nothing runs, interrupted by a kill
	Done    State = "done"
	Failed  State = "failed"
)

// Event is something that happened to a job.
type Event struct {
	Job      int   // index in Options.Jobs
	State    State // Pending if the job was stopped
	Skipped  bool  // the job was Done before this run
	Progress pipeline.Progress
	Outcome  *Outcome // set once the job has ended
}

// Outcome is what became of a job.
type Outcome struct {
	State   State
	Skipped bool   // the job was Done before this run, which passed over it
	Err     error  // of a failed job
	Log     string // file name; the log of a skipped job may be gone
	Frames  int64  // written
	Made    int64  // of those, frames that no camera shot
	Elapsed time.Duration
}

// Summary is what became of a batch.
type Summary struct {
	Outcomes                       []Outcome // in the order of the jobs
	Done, Skipped, Failed, Pending int       // Done leaves out the skipped
	Elapsed                        time.Duration
}

// batch is one run.
type batch struct {
	o       *Options
	keys    []string
	records map[string]record // as they were found
	store   *store
	stop    context.CancelCauseFunc

	mu       sync.Mutex // for what follows, and the calls of Event
	queue    []int      // jobs that have not begun
	free     int        // threads
	running  int
	outcomes []Outcome
}

// Run does all jobs. A job that fails does not stop the others; the summary has its
// error, and Run returns none for it. A full disk stops all jobs, and so does ctx;
// both leave a state that Resume goes on from. Run does nothing if two jobs write one
// file, or one writes what another reads.
func Run(ctx context.Context, o Options) (*Summary, error) {
	began := time.Now()
	keys, err := o.settle()
	if err != nil {
		return nil, err
	}
	s, err := openStore(o.Dir)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if !o.Resume {
		if err := s.begin(o.Overwrite); err != nil {
			return nil, err
		}
	}
	records, err := readRecords(o.Dir, keys)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	b := &batch{o: &o, keys: keys, records: records, store: s, stop: stop, free: o.Threads, outcomes: make([]Outcome, len(o.Jobs))}
	b.sort()
	var workers sync.WaitGroup
	for slot := range min(o.Parallel, len(b.queue)) {
		workers.Go(func() { b.work(ctx, slot) })
	}
	workers.Wait()

	summary := b.summary(time.Since(began))
	if ctx.Err() == nil {
		return summary, nil
	}
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return summary, cause
	}
	return summary, fault.Cancel(ctx, "cancelled with %d of %d clips left to do; Options.Resume goes on", summary.Pending, len(o.Jobs))
}

// settle checks o, fills in defaults and returns the jobs' keys.
func (o *Options) settle() ([]string, error) {
	switch {
	case len(o.Jobs) == 0:
		return nil, fault.New(fault.Usage, "no clips to convert")
	case o.Parallel < 0 || o.Parallel > 1024:
		return nil, fault.New(fault.Usage, "Options.Parallel %d: want 0 (one for each four threads) to 1024", o.Parallel)
	case o.Threads < 0 || o.Threads > 1024:
		return nil, fault.New(fault.Usage, "Options.Threads %d: want 0 (all processors) to 1024", o.Threads)
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Parallel == 0 {
		o.Parallel = max(1, o.Threads/4)
	}
	return checkFiles(o.Jobs)
}

// sort passes over the jobs that are done and queues the others.
func (b *batch) sort() {
	for i := range b.o.Jobs {
		r := b.records[b.keys[i]]
		b.outcomes[i] = Outcome{State: Pending, Log: logName(b.o.Dir, b.keys[i])}
		if !r.upToDate(&b.o.Jobs[i]) {
			b.queue = append(b.queue, i)
			continue
		}
		o := &b.outcomes[i]
		o.State, o.Skipped, o.Frames, o.Made = Done, true, r.Frames, r.Made
		b.tell(Event{Job: i, State: Done, Skipped: true, Outcome: o})
	}
}

// work does jobs until none is left or ctx ends.
func (b *batch) work(ctx context.Context, slot int) {
	for ctx.Err() == nil {
		i, threads, ok := b.take()
		if !ok {
			return
		}
		b.tell(Event{Job: i, State: Running})
		outcome := b.convert(ctx, i, Resources{Threads: threads, Slot: slot, Slots: b.o.Parallel})
		b.mu.Lock()
		b.outcomes[i] = outcome
		b.free += threads
		b.running--
		b.mu.Unlock()
		b.tell(Event{Job: i, State: outcome.State, Outcome: &outcome})
	}
}

// take returns the next job with its share of the threads: the free ones are
// divided among those that may still begin beside the running ones.
func (b *batch) take() (job, threads int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return 0, 0, false
	}
	job, slots := b.queue[0], min(b.o.Parallel-b.running, len(b.queue))
	threads = max(1, (b.free+slots-1)/slots)
	if most := b.o.Jobs[job].Threads; most > 0 {
		threads = min(threads, most)
	}
	b.queue = b.queue[1:]
	b.free -= threads
	b.running++
	return job, threads, true
}

func (b *batch) tell(e Event) {
	if b.o.Event != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.o.Event(e)
	}
}

// convert runs job i and keeps its record.
func (b *batch) convert(ctx context.Context, i int, r Resources) Outcome {
	job, key := &b.o.Jobs[i], b.keys[i]
	out := Outcome{State: Pending, Log: logName(b.o.Dir, key)}
	was := b.records[key]
	exists := stampOf(job.Output).exists()
	own := was.owns(job)
	now := record{State: Running, Inputs: job.inputs(), Settings: job.settings(), Output: was.Output, Owned: !exists || own, Started: time.Now()}
	if exists && !own && !b.o.Overwrite {
		out.State, out.Err = Failed, fault.New(fault.CannotWrite, "output %q exists, and this batch did not write it as it is; Options.Overwrite replaces it", job.Output)
		now.State, now.Error, now.Code = Failed, out.Err.Error(), int(fault.CannotWrite)
		return b.keep(key, now, out)
	}
	if out := b.keep(key, now, out); out.Err != nil {
		return out
	}
	r.Overwrite, r.Interrupted = b.o.Overwrite || was.State != "", was.State == Running
	r.Progress = func(p pipeline.Progress) { b.tell(Event{Job: i, State: Running, Progress: p}) }
	log := b.store.createLog(key)
	r.Log = log
	report, err := job.Convert(ctx, r)
	heap.Trim() // or a batch of many clips keeps a little more after each
	log.finish(err)

	now.Finished = time.Now()
	out.Elapsed = now.Finished.Sub(now.Started)
	now.Seconds = out.Elapsed.Seconds()
	switch {
	case err == nil:
		now.State, now.Output = Done, stampOf(job.Output)
		if report != nil {
			now.Frames, now.Made = report.Frames, report.Made
		}
		out.Frames, out.Made = now.Frames, now.Made
	case diskFull(err):
		now.State = Pending
		b.stopFull(err)
	case ctx.Err() != nil:
		now.State = Pending
	default:
		now.State, now.Error, now.Code = Failed, err.Error(), int(fault.KindOf(err))
		out.Err = err
	}
	if now.State != Done && now.Owned {
		now.Output = stampOf(job.Output) // of a run before this one
	}
	out.State = now.State
	return b.keep(key, now, out)
}

// keep writes r. If that fails it stops the batch, whose state would no longer be true.
func (b *batch) keep(key string, r record, out Outcome) Outcome {
	err := b.store.put(key, r)
	switch {
	case err == nil:
	case diskFull(err):
		b.stopFull(err)
		out.State, out.Err = Pending, err
	default:
		b.stop(err)
		out.State, out.Err = Pending, err
	}
	return out
}

func (b *batch) stopFull(err error) {
	b.stop(fault.New(fault.CannotWrite, "the disk is full, and all clips were stopped: %w; make space, and Options.Resume goes on", err))
}

func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func (b *batch) summary(elapsed time.Duration) *Summary {
	s := &Summary{Outcomes: b.outcomes, Elapsed: elapsed}
	for _, o := range b.outcomes {
		switch {
		case o.Skipped:
			s.Skipped++
		case o.State == Done:
			s.Done++
		case o.State == Failed:
			s.Failed++
		default:
			s.Pending++
		}
	}
	return s
}
