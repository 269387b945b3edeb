package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/testsuite"

	"retime/cmd/retime-farm/internal/job"
)

// share returns a share of ten ranges in a new directory, and a worker that sees it.
func share(t *testing.T) (*Worker, job.Share) {
	t.Helper()
	dir := t.TempDir()
	root, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	s := job.Share{Clip: job.Clip{Output: filepath.Join(dir, "out.mkv")}, First: 7, Count: 10, Limit: time.Minute}
	if err := os.MkdirAll(filepath.Join(s.Clip.Work(), "plan.segments"), 0o777); err != nil {
		t.Fatal(err)
	}
	return &Worker{Root: root}, s
}

// write writes the manifests of ranges.
func write(t *testing.T, s job.Share, ranges ...int) {
	t.Helper()
	for _, i := range ranges {
		name := filepath.Join(s.Clip.Work(), "plan.segments", fmt.Sprintf("%06d.json", i))
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// A follower counts ranges in order, and lets a share end after a finished range but not in the
// middle of one.
func TestFollower(t *testing.T) {
	w, s := share(t)
	write(t, s, 6, 9)
	f, err := w.follow(s)
	if err != nil {
		t.Fatal(err)
	}
	look := func(want int, end bool) {
		t.Helper()
		if done, enough := f.look(); done != want || enough != end {
			t.Errorf("%d ranges are there, enough: %v; want %d, %v", done, enough, want, end)
		}
	}
	look(0, false)
	write(t, s, 8)
	look(0, false)
	write(t, s, 7)
	look(3, false)
	f.began = f.began.Add(-time.Hour)
	look(3, false)
	write(t, s, 10)
	look(4, true)
	if n := f.fresh(f.done); n != 3 {
		t.Errorf("%d ranges are new, want 3", n)
	}
}

// A program that has made enough is stopped, which is not a failure.
func TestEnoughStopsTheProgram(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	w := &Worker{Retime: "/bin/sh"}
	run := func(ctx context.Context) (string, error) {
		const script = `echo '{"frames": 3}' >&2; echo warning >&2; exec sleep 1000`
		log, err := w.run(ctx, program{args: []string{"-c", script}, made: func() (int, bool) { return 1, true }})
		if !errors.Is(err, errEnough) {
			return "", fmt.Errorf("%w, want that it is enough", err)
		}
		return log, nil
	}
	env.RegisterActivityWithOptions(run, activity.RegisterOptions{Name: "run"})
	if _, err := env.ExecuteActivity("run"); err != nil {
		t.Error(err)
	}
}
