package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// fixture is a batch whose jobs copy their clips.
type fixture struct {
	Options
	t    *testing.T
	dir  string
	runs atomic.Int32
}

func newFixture(t *testing.T, inputs ...string) *fixture {
	f := &fixture{t: t, dir: t.TempDir()}
	f.Options = Options{Dir: filepath.Join(f.dir, "state"), Parallel: 2, Threads: 4}
	for _, name := range inputs {
		f.write(name, "clip "+name)
		f.Jobs = append(f.Jobs, Job{Input: f.path(name), Output: f.path(name + ".out"), Settings: "slow=2\n"})
		f.Jobs[len(f.Jobs)-1].Convert = f.copies(len(f.Jobs) - 1)
	}
	return f
}

func (f *fixture) path(name string) string { return filepath.Join(f.dir, name) }

func (f *fixture) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(f.path(name), []byte(text), 0o666); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) copies(i int) func(context.Context, Resources) (*pipeline.Report, error) {
	return func(_ context.Context, r Resources) (*pipeline.Report, error) {
		f.runs.Add(1)
		job := &f.Jobs[i]
		data, err := os.ReadFile(job.Input)
		if err != nil {
			return nil, fault.New(fault.NoInput, "%w", err)
		}
		if _, err := os.Stat(job.Output); err == nil && !r.Overwrite {
			return nil, fault.New(fault.CannotWrite, "output exists")
		}
		fmt.Fprintln(r.Log, "copied")
		r.Progress(pipeline.Progress{Frames: 1, Total: 1})
		return &pipeline.Report{Result: pipeline.Result{Frames: 1}}, os.WriteFile(job.Output, data, 0o666)
	}
}

// run runs the batch and checks how many jobs ran and how they ended.
func (f *fixture) run(ctx context.Context, runs int, want Summary) (*Summary, error) {
	f.t.Helper()
	f.runs.Store(0)
	s, err := Run(ctx, f.Options)
	if s == nil {
		f.t.Fatal(err)
	}
	if got := int(f.runs.Load()); got != runs {
		f.t.Errorf("%d jobs ran, want %d", got, runs)
	}
	if s.Done != want.Done || s.Skipped != want.Skipped || s.Failed != want.Failed || s.Pending != want.Pending {
		f.t.Errorf("done %d, skipped %d, failed %d, pending %d; want %+v", s.Done, s.Skipped, s.Failed, s.Pending, want)
	}
	return s, err
}

func names(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("clip %03d ☂.mp4", i))
	}
	return all
}

func TestFailedClipsDoNotStopOthers(t *testing.T) {
	f := newFixture(t, names(200)...)
	damaged := []int{0, 77, 199}
	for _, i := range damaged {
		f.Jobs[i].Convert = func(context.Context, Resources) (*pipeline.Report, error) {
			f.runs.Add(1)
			return nil, fault.New(fault.BadData, "damaged")
		}
	}
	s, err := f.run(t.Context(), 200, Summary{Done: 197, Failed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range s.Outcomes {
		want := Done
		if slices.Contains(damaged, i) {
			want = Failed
		}
		if o.State != want {
			t.Errorf("clip %d: %s, %v", i, o.State, o.Err)
		}
		text := "copied"
		if want == Failed {
			text = "damaged"
		}
		if log, err := os.ReadFile(o.Log); err != nil || !strings.Contains(string(log), text) {
			t.Errorf("clip %d: log %q, %v", i, log, err)
		}
	}
	for _, i := range damaged {
		f.Jobs[i].Convert = f.copies(i)
	}
	f.Resume = true
	if _, err := f.run(t.Context(), 3, Summary{Done: 3, Skipped: 197}); err != nil {
		t.Fatal(err)
	}
}

func TestResumeRunsWhatChanged(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fixture)
		runs   int
	}{
		{"nothing", func(*fixture) {}, 0},
		{"size of the input", func(f *fixture) { f.write("b", "another") }, 1},
		{"time of the input", func(f *fixture) {
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(f.path("b"), old, old); err != nil {
				f.t.Fatal(err)
			}
		}, 1},
		{"settings", func(f *fixture) { f.Jobs[1].Settings = "slow=4\n" }, 1},
		{"a further input", func(f *fixture) { f.Jobs[1].Reads = []string{f.path("c")} }, 1},
		{"no output", func(f *fixture) { os.Remove(f.Jobs[1].Output) }, 1},
		{"threads", func(f *fixture) { f.Jobs[1].Threads = 1 }, 0},
		{"order", func(f *fixture) { f.Jobs[0], f.Jobs[1] = f.Jobs[1], f.Jobs[0] }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, "a", "b")
			if _, err := f.run(t.Context(), 2, Summary{Done: 2}); err != nil {
				t.Fatal(err)
			}
			c.change(f)
			f.Resume = true
			status, err := ReadStatus(f.Options)
			if err != nil || status.Active || status.Jobs[0].Changed || status.Jobs[1].Changed != (c.runs > 0) {
				t.Errorf("status %+v, %v", status, err)
			}
			if _, err := f.run(t.Context(), c.runs, Summary{Done: c.runs, Skipped: 2 - c.runs}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestOutputsOfOthersAreKept(t *testing.T) {
	f := newFixture(t, "a", "b")
	f.write("b.out", "precious")
	s, _ := f.run(t.Context(), 1, Summary{Done: 1, Failed: 1})
	if fault.KindOf(s.Outcomes[1].Err) != fault.CannotWrite {
		t.Error(s.Outcomes[1].Err)
	}
	f.write("a.out", "edited by hand")
	f.Resume = true
	_, _ = f.run(t.Context(), 0, Summary{Failed: 2})
	for name, want := range map[string]string{"a.out": "edited by hand", "b.out": "precious"} {
		if got, _ := os.ReadFile(f.path(name)); string(got) != want {
			t.Errorf("%s is now %q", name, got)
		}
	}
	f.Overwrite = true
	_, _ = f.run(t.Context(), 2, Summary{Done: 2})
}

func TestBeginAgain(t *testing.T) {
	f := newFixture(t, "a", "b")
	_, _ = f.run(t.Context(), 2, Summary{Done: 2})
	if _, err := Run(t.Context(), f.Options); fault.KindOf(err) != fault.Usage {
		t.Errorf("begun twice: %v", err)
	}
	f.Overwrite = true
	_, _ = f.run(t.Context(), 2, Summary{Done: 2})
}

// TestKilled starts from records as a kill leaves them at each step of a job.
func TestKilled(t *testing.T) {
	for _, c := range []struct {
		name   string
		output bool // whether the output has its final name already
	}{{"while converting", false}, {"before the state was kept", true}} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, "a", "b")
			_, _ = f.run(t.Context(), 2, Summary{Done: 2})
			keys, err := checkFiles(f.Jobs)
			if err != nil {
				t.Fatal(err)
			}
			s, err := openStore(f.Dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.put(keys[1], record{State: Running, Owned: true, Started: time.Now()}); err != nil {
				t.Fatal(err)
			}
			if status, err := ReadStatus(f.Options); err != nil || !status.Active || status.Jobs[1].State != Running {
				t.Errorf("while it runs: %+v, %v", status, err)
			}
			s.close()
			if status, err := ReadStatus(f.Options); err != nil || status.Active || status.Jobs[1].State != Pending {
				t.Errorf("afterwards: %+v, %v", status, err)
			}
			if !c.output {
				os.Remove(f.Jobs[1].Output)
			}
			// A run that is stopped before it achieves anything changes nothing.
			inner := f.Jobs[1].Convert
			f.Resume = true
			ctx, cancel := context.WithCancel(t.Context())
			f.Jobs[1].Convert = func(context.Context, Resources) (*pipeline.Report, error) {
				f.runs.Add(1)
				cancel()
				return nil, fault.New(fault.Cancelled, "cancelled")
			}
			_, _ = f.run(ctx, 1, Summary{Skipped: 1, Pending: 1})
			f.Jobs[1].Convert = inner
			if _, err := f.run(t.Context(), 1, Summary{Done: 1, Skipped: 1}); err != nil {
				t.Error(err)
			}
		})
	}
}

// Until a job's end is saved, beside the next job, a kill leaves a record from which the job is done again.
func TestEndIsSavedApart(t *testing.T) {
	f := newFixture(t, "a")
	keys, err := checkFiles(f.Jobs)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openStore(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	b := &batch{o: &f.Options, keys: keys, store: s}
	state := func(want State, owned bool) {
		t.Helper()
		records, err := readRecords(f.Dir, keys)
		if r := records[keys[0]]; err != nil || r.State != want || r.Owned != owned {
			t.Errorf("%+v, %v; want %s", r, err, want)
		}
	}
	end := b.convert(t.Context(), 0, Resources{})
	state(Running, true)
	if out := end(); out.State != Done || out.Frames != 1 {
		t.Errorf("%+v", out)
	}
	state(Done, true)
}

// A job's end is saved beside the next job: neither waits for the other.
func TestJobsOverlapTheEndBefore(t *testing.T) {
	f := newFixture(t, "a", "b")
	f.Parallel = 1
	begun, ended := make(chan struct{}), make(chan struct{})
	f.Jobs[0].Convert = func(context.Context, Resources) (*pipeline.Report, error) {
		f.runs.Add(1)
		return nil, endsAfter{t, begun}
	}
	f.Jobs[1].Convert = func(context.Context, Resources) (*pipeline.Report, error) {
		f.runs.Add(1)
		close(begun)
		if !within(ended) {
			t.Error("the end is not saved while the next job runs")
		}
		return nil, nil
	}
	f.Event = func(e Event) {
		if e.Job == 0 && e.Outcome != nil {
			close(ended)
		}
	}
	if _, err := f.run(t.Context(), 2, Summary{Done: 1, Failed: 1}); err != nil {
		t.Error(err)
	}
}

// endsAfter is an error whose text, which a record wants, is there once the next job has begun.
type endsAfter struct {
	t     *testing.T
	begun chan struct{}
}

func (e endsAfter) Error() string {
	if !within(e.begun) {
		e.t.Error("the next job does not begin before the end is saved")
	}
	return "ended"
}

// within reports whether c is closed before a test has waited far too long.
func within(c chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-time.After(10 * time.Second):
		return false
	}
}

func TestCancel(t *testing.T) {
	f := newFixture(t, names(6)...)
	ctx, cancel := context.WithCancel(t.Context())
	f.Parallel = 1
	f.Jobs[2].Convert = func(ctx context.Context, _ Resources) (*pipeline.Report, error) {
		f.runs.Add(1)
		cancel()
		<-ctx.Done()
		return nil, fault.New(fault.Cancelled, "cancelled")
	}
	if _, err := f.run(ctx, 3, Summary{Done: 2, Pending: 4}); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("the error is %v", err)
	}
	f.Jobs[2].Convert, f.Resume = f.copies(2), true
	if _, err := f.run(t.Context(), 4, Summary{Done: 4, Skipped: 2}); err != nil {
		t.Error(err)
	}
}

func TestFullDisk(t *testing.T) {
	f := newFixture(t, names(6)...)
	waits := make(chan struct{})
	f.Jobs[0].Convert = func(ctx context.Context, _ Resources) (*pipeline.Report, error) { // runs at the same time as the job that fills the disk
		f.runs.Add(1)
		close(waits)
		<-ctx.Done()
		return nil, fault.New(fault.Cancelled, "cancelled")
	}
	f.Jobs[1].Convert = func(context.Context, Resources) (*pipeline.Report, error) {
		f.runs.Add(1)
		<-waits
		return nil, fault.New(fault.CannotWrite, "write: %w", syscall.ENOSPC)
	}
	_, err := f.run(t.Context(), 2, Summary{Pending: 6})
	if !errors.Is(err, syscall.ENOSPC) || fault.KindOf(err) != fault.CannotWrite || !strings.Contains(err.Error(), "Options.Resume") {
		t.Errorf("the error is %v", err)
	}
	f.Jobs[0].Convert, f.Jobs[1].Convert, f.Resume = f.copies(0), f.copies(1), true
	if _, err := f.run(t.Context(), 6, Summary{Done: 6}); err != nil {
		t.Error(err)
	}
}

func TestThreadsAreShared(t *testing.T) {
	for _, c := range []struct {
		jobs, parallel, threads int
		most                    int // of one job
		want                    []int
	}{
		{1, 4, 8, 0, []int{8}},
		{2, 2, 8, 0, []int{4, 4}},
		{3, 3, 8, 0, []int{3, 3, 2}},
		{5, 4, 2, 0, []int{1, 1, 1, 1}}, // more jobs than threads
		{2, 2, 8, 1, []int{1, 7}},
	} {
		f := newFixture(t, names(c.jobs)...)
		f.Jobs[0].Threads = c.most
		b := &batch{o: &Options{Jobs: f.Jobs, Parallel: c.parallel}, free: c.threads}
		for i := range f.Jobs {
			b.queue = append(b.queue, i)
		}
		var got []int
		for range min(c.jobs, c.parallel) {
			_, n, _ := b.take()
			got = append(got, n)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d jobs, %d at a time, %d threads: %v, want %v", c.jobs, c.parallel, c.threads, got, c.want)
		}
	}
}

func TestClashes(t *testing.T) {
	f := newFixture(t, "a", "b")
	if err := os.Symlink(f.dir, f.path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(f.path("a"), f.path("hard")); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(j []Job){
		"one name":                 func(j []Job) { j[1].Output = j[0].Output },
		"one name, written anew":   func(j []Job) { j[1].Output = f.path("x/../a.out") },
		"one name through a link":  func(j []Job) { j[1].Output = f.path("link/a.out") },
		"a sidecar and an output":  func(j []Job) { j[1].Writes = []string{j[0].Output} },
		"its own input":            func(j []Job) { j[1].Output = j[1].Input },
		"another's input":          func(j []Job) { j[1].Output = j[0].Input },
		"an input's hard link":     func(j []Job) { j[1].Output = f.path("hard") },
		"a file that another read": func(j []Job) { j[0].Reads = []string{j[1].Output} },
		"no output":                func(j []Job) { j[1].Output = "" },
	} {
		o := f.Options
		o.Jobs = slices.Clone(f.Jobs)
		change(o.Jobs)
		if s, err := Run(t.Context(), o); s != nil || fault.KindOf(err) != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f.runs.Load() > 0 {
		t.Error("a job ran")
	}
	if _, err := os.Stat(f.Dir); err == nil {
		t.Error("a state was begun")
	}
}

func TestSequencesAreInputs(t *testing.T) {
	f := newFixture(t, "0001.png", "0002.png")
	for _, name := range []string{"%04d.png", "####.png", "*.png"} {
		job := Job{Input: f.path(name)}
		before := job.inputs()
		f.write("0002.png", "a picture other than for "+name)
		if job.inputs() == before {
			t.Errorf("%s: a picture changed unseen", name)
		}
	}
}

func TestRunningTwice(t *testing.T) {
	f := newFixture(t, "a")
	s, err := openStore(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if _, err := Run(t.Context(), f.Options); fault.KindOf(err) != fault.TryAgain {
		t.Errorf("a second run at the same time: %v", err)
	}
}

// Processes that look whether a batch is running do not lock it.
func TestLooksDoNotLockOut(t *testing.T) {
	f := newFixture(t, "a")
	var looking sync.WaitGroup
	var enough atomic.Bool
	looking.Go(func() {
		for !enough.Load() {
			locked(f.Dir)
		}
	})
	for range 2000 {
		s, err := openStore(f.Dir)
		if err != nil {
			t.Error(err)
			break
		}
		s.close()
	}
	enough.Store(true)
	looking.Wait()
}
