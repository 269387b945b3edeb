// Package batch converts many clips on one machine, several at a time. It keeps a record of each
// clip, so that a batch that was stopped or killed can be resumed.
package batch

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"time"

	"retime/internal/heap"
	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// Job is the conversion of one clip.
type Job struct {
	Input, Output string   // file names
	Reads         []string // further files whose content decides the output
	Writes        []string // further files and directories that Convert writes
	Settings      string   // everything else that decides the output, as text
	Threads       int      // the most worker threads to give the job; 0 for its share
	// Convert makes the output: whole if it returns nil, and none otherwise. Its errors
	// carry a fault.Kind. Run calls it from one goroutine, at most once.
	Convert func(context.Context, Resources) (*pipeline.Report, error)
}

// Resources tells a job what it may use.
type Resources struct {
	Threads     int                     // worker threads, 1 or more
	Slot, Slots int                     // the job's place among the jobs that run at once, from 0, and the number of places
	Overwrite   bool                    // replace an output that exists
	Keep        []string                // files of all jobs, which no partial output may replace
	Log         io.Writer               // receives the job's messages
	Progress    func(pipeline.Progress) // receives the job's progress
}

// Options configure Run.
type Options struct {
	Jobs     []Job
	Dir      string // directory of the records and the logs; Run creates it if it does not exist
	Parallel int    // jobs at a time, up to 1024; 0 for one per four threads
	Threads  int    // worker threads of all jobs together, up to 1024; 0 for one per processor
	Resume   bool   // continue with the records in Dir, and skip the jobs that are done
	// Overwrite replaces existing outputs. Without Resume it also removes the records
	// of an earlier batch in Dir.
	Overwrite bool
	// Event receives the events of the batch, one call at a time; nil for no calls. The last one of a job may
	// come after the first one of the job that takes its place.
	Event func(Event)
}

// State is the progress of a job.
type State string

// The states of a job.
const (
	Pending State = "pending" // not done yet
	Running State = "running" // running or, if no process works on the batch, interrupted by a kill
	Done    State = "done"
	Failed  State = "failed"
)

// Event reports a change of a job's state, or its progress.
type Event struct {
	Job      int   // index in Options.Jobs
	State    State // Pending if the job was stopped
	Skipped  bool  // the job was Done before this run
	Progress pipeline.Progress
	Outcome  *Outcome // set when the job ends
}

// Outcome is the result of a job.
type Outcome struct {
	State   State
	Skipped bool   // the job was Done before this run, which skipped it
	Err     error  // of a failed job
	Log     string // file name; the log of a skipped job may be gone
	Frames  int64  // frames written
	Made    int64  // synthesized frames among them
	Elapsed time.Duration
}

// Summary is the result of a batch.
type Summary struct {
	Outcomes                       []Outcome // by index in Options.Jobs
	Done, Skipped, Failed, Pending int       // Done does not include Skipped
	Elapsed                        time.Duration
}

// batch is the state of one Run.
type batch struct {
	o       *Options
	keys    []string
	records map[string]record // as this run found them
	store   *store
	stop    context.CancelCauseFunc

	mu       sync.Mutex // guards the fields below and the calls of Event
	queue    []int      // indices of the jobs that have not begun
	free     int        // threads that no job uses
	running  int
	outcomes []Outcome
}

// Run does all jobs. A job that fails does not stop the others: Run puts its error into the summary
// and does not return it. A full disk stops all jobs, and so does the end of ctx; Resume continues
// after either. Run returns a fault.Usage error, before it begins, if two jobs write the same file
// or one writes a file that another reads.
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
	b.enqueue()
	defer pipeline.KeepDevices()()
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
	return summary, fault.Cancel(ctx, "cancelled with %d of %d clips left to do; Options.Resume continues", summary.Pending, len(o.Jobs))
}

// settle checks o, fills in the defaults and returns the jobs' keys.
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

// enqueue skips the jobs that are done and queues the others.
func (b *batch) enqueue() {
	for i := range b.o.Jobs {
		r := b.records[b.keys[i]]
		b.outcomes[i] = Outcome{State: Pending, Log: logName(b.o.Dir, b.keys[i])}
		if !r.upToDate(&b.o.Jobs[i]) {
			b.queue = append(b.queue, i)
			continue
		}
		o := &b.outcomes[i]
		o.State, o.Skipped, o.Frames, o.Made = Done, true, r.Frames, r.Made
		b.notify(Event{Job: i, State: Done, Skipped: true, Outcome: o})
	}
}

// work does jobs until none is left or ctx ends. The record of one is saved while the next one begins.
func (b *batch) work(ctx context.Context, slot int) {
	var ending sync.WaitGroup
	defer ending.Wait()
	for ctx.Err() == nil {
		i, threads, ok := b.take()
		if !ok {
			return
		}
		b.notify(Event{Job: i, State: Running})
		end := b.convert(ctx, i, Resources{Threads: threads, Slot: slot, Slots: b.o.Parallel, Keep: b.o.files()})
		b.mu.Lock()
		b.free += threads
		b.running--
		b.mu.Unlock()
		ending.Wait()
		ending.Go(func() {
			outcome := end()
			b.mu.Lock()
			b.outcomes[i] = outcome
			b.mu.Unlock()
			b.notify(Event{Job: i, State: outcome.State, Outcome: &outcome})
		})
	}
}

// take removes the next job from the queue and gives it a share of the free threads, which it
// divides among the jobs that may still start while the others run.
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

// files returns the names of all files that jobs read and write.
func (o *Options) files() (names []string) {
	for i := range o.Jobs {
		j := &o.Jobs[i]
		names = append(append(append(names, j.Input, j.Output), j.Reads...), j.Writes...)
	}
	return names
}

func (b *batch) notify(e Event) {
	if b.o.Event != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.o.Event(e)
	}
}

// convert runs job i. end saves its record, which until then says that the job runs, and may be called while other jobs run.
func (b *batch) convert(ctx context.Context, i int, r Resources) (end func() Outcome) {
	job, key := &b.o.Jobs[i], b.keys[i]
	out := Outcome{State: Pending, Log: logName(b.o.Dir, key)}
	was := b.records[key]
	foreign, exist := was.foreign(job)
	now := record{State: Running, Inputs: job.inputs(), Settings: job.settings(), Output: was.Output, Writes: was.Writes, Owned: foreign == "", Started: time.Now()}
	if foreign != "" && !b.o.Overwrite {
		out.State, out.Err = Failed, fault.New(fault.CannotWrite, "output %q exists, and is not what this batch wrote; Options.Overwrite replaces it", foreign)
		now.State, now.Error, now.Code = Failed, out.Err.Error(), int(fault.CannotWrite)
		return func() Outcome { return b.save(key, now, out) }
	}
	if out := b.save(key, now, out); out.Err != nil {
		return func() Outcome { return out }
	}
	r.Overwrite = b.o.Overwrite || exist || was.Owned && media.IsSequence(job.Output)
	r.Progress = func(p pipeline.Progress) { b.notify(Event{Job: i, State: Running, Progress: p}) }
	log := b.store.createLog(key)
	r.Log = log
	report, err := job.Convert(ctx, r)
	now.Finished = time.Now()
	if atomicfile.DiskFull(err) {
		b.stopFull(err)
	}
	stopped := ctx.Err() != nil
	return func() Outcome {
		heap.Trim() // otherwise a batch of many clips keeps a little more memory after each
		log.finish(err)
		out.Elapsed = now.Finished.Sub(now.Started)
		now.Seconds = out.Elapsed.Seconds()
		switch {
		case err == nil:
			now.State = Done
			if report != nil {
				now.Frames, now.Made = report.Frames, report.Made
			}
			out.Frames, out.Made = now.Frames, now.Made
		case stopped:
			now.State = Pending
		default:
			now.State, now.Error, now.Code = Failed, err.Error(), int(fault.KindOf(err))
			out.Err = err
		}
		if now.State == Done || now.Owned { // otherwise the file there may be somebody else's
			now.Output, now.Writes = stampOf(job.Output), job.written()
		}
		out.State = now.State
		return b.save(key, now, out)
	}
}

// save writes r. If it fails it stops the batch, because the records would no longer be
// true.
func (b *batch) save(key string, r record, out Outcome) Outcome {
	err := b.store.put(key, r)
	switch {
	case err == nil:
	case atomicfile.DiskFull(err):
		b.stopFull(err)
		out.State, out.Err = Pending, err
	default:
		b.stop(err)
		out.State, out.Err = Pending, err
	}
	return out
}

func (b *batch) stopFull(err error) {
	b.stop(fault.New(fault.CannotWrite, "the disk is full, and all clips were stopped: %w; make space, and Options.Resume continues", err))
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
