package job

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"
)

// makers plays the part of all workers.
type makers struct {
	mu     sync.Mutex
	now    int           // shares under way
	most   int           // shares that were under way at once
	made   []int         // how often each range was made
	fail   int           // index of the range that fails; -1 for none
	failed chan struct{} // closed when that range has failed
	many   chan struct{} // closed when more shares are under way than a run begins with
	events int           // in the history of the run
}

func (m *makers) make(ctx context.Context, s Share) (Made, error) {
	m.mu.Lock()
	m.now++
	if m.now > fewest && m.most <= fewest {
		close(m.many)
	}
	m.most = max(m.most, m.now)
	m.mu.Unlock()
	if s.First > 0 { // wait until the first share has revealed the number of slots
		select {
		case <-m.many:
		case <-ctx.Done():
		}
	}
	if m.fail >= 0 && s.First > m.fail+MaxOutstanding { // not everything may be finished before it fails
		<-m.failed
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now--
	for i := range s.Count {
		if s.First+i == m.fail {
			close(m.failed)
			return Made{}, temporal.NewNonRetryableApplicationError("damaged", "retime gave up", nil, 65)
		}
		m.made[s.First+i]++
	}
	return Made{Worker: "w", Slots: 400, Seconds: float64(s.Count), Count: s.Count, New: s.Count}, ctx.Err()
}

// run runs the workflow once.
func (m *makers) run(t *testing.T, in *Making, set func(*testsuite.TestWorkflowEnvironment)) error {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(10 * time.Minute) // without an event
	env.RegisterWorkflowWithOptions(Make, workflow.RegisterOptions{Name: MakeWorkflow})
	env.RegisterActivityWithOptions(m.make, activity.RegisterOptions{Name: MakeActivity})
	m.events = 0
	env.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) {
		m.events += eventsPerShare
		env.SetCurrentHistoryLength(m.events)
	})
	set(env)
	env.ExecuteWorkflow(MakeWorkflow, in)
	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow does not end")
	}
	return env.GetWorkflowError()
}

func making(ranges int) (*makers, *Making) {
	return &makers{made: make([]int, ranges), fail: -1, failed: make(chan struct{}), many: make(chan struct{})}, &Making{Conversion: Conversion{
		Planned:  Planned{Ranges: ranges},
		Settings: Settings{Queue: "q", Heartbeat: time.Minute},
	}}
}

// A long plan continues in further runs with short histories; each range is made once.
func TestLongPlansGoOnInOtherRuns(t *testing.T) {
	m, in := making(4000)
	runs := 0
	for {
		runs++
		err := m.run(t, in, func(*testsuite.TestWorkflowEnvironment) {})
		if m.events >= 10000 {
			t.Errorf("run %d has a history of %d events", runs, m.events)
		}
		var more *workflow.ContinueAsNewError
		if !errors.As(err, &more) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		in = new(Making)
		if err := converter.GetDefaultDataConverter().FromPayloads(more.Input, in); err != nil {
			t.Fatal(err)
		}
	}
	for i, n := range m.made {
		if n != 1 {
			t.Fatalf("range %d is made %d times", i, n)
		}
	}
	if runs < 3 || m.most > MaxOutstanding || m.most <= fewest {
		t.Errorf("%d runs, %d shares at once", runs, m.most)
	}
}

// A single slot gets all ranges first. When its worker gives some back, it gets shares according to
// its speed.
func TestRangesThatComeBack(t *testing.T) {
	in := &Making{Conversion: Conversion{
		Planned:  Planned{Ranges: 1000, Slots: map[string]int{"w": 1}},
		Settings: Settings{Queue: "q", Heartbeat: time.Minute, Share: time.Minute},
	}}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterWorkflowWithOptions(Make, workflow.RegisterOptions{Name: MakeWorkflow})
	made := make([]int, in.Conversion.Planned.Ranges)
	var mu sync.Mutex
	env.RegisterActivityWithOptions(func(_ context.Context, s Share) (Made, error) {
		mu.Lock()
		defer mu.Unlock()
		n := s.Count
		if s.First == 0 {
			if s.Count != 1000 || s.Limit != time.Minute {
				t.Errorf("the first share has %d ranges and %v", s.Count, s.Limit)
			}
			n = 30
		} else if s.Count > 30 || s.Limit != 0 {
			t.Errorf("a share of %d ranges and %v, which take two seconds each", s.Count, s.Limit)
		}
		for i := range n {
			made[s.First+i]++
		}
		return Made{Worker: "w", Slots: 1, Seconds: 2 * float64(n), Count: n, New: n}, nil
	}, activity.RegisterOptions{Name: MakeActivity})
	env.ExecuteWorkflow(MakeWorkflow, in)
	if err := env.GetWorkflowError(); err != nil || !env.IsWorkflowCompleted() {
		t.Fatal(err)
	}
	for i, n := range made {
		if n != 1 {
			t.Fatalf("range %d is made %d times", i, n)
		}
	}
	if v, err := env.QueryWorkflow(ProgressQuery); err != nil {
		t.Error(err)
	} else if err := v.Get(in); err != nil || in.Made != 1000 {
		t.Errorf("%d ranges are made, %v", in.Made, err)
	}
}

// A range that cannot be made ends the workflow once no worker is busy.
func TestFailureDrains(t *testing.T) {
	m, in := making(3000)
	m.fail = 40
	err := m.run(t, in, func(*testsuite.TestWorkflowEnvironment) {})
	if m.now != 0 {
		t.Errorf("%d shares are under way after the end", m.now)
	}
	var gaveUp *temporal.ApplicationError
	code := 0
	if !errors.As(err, &gaveUp) || gaveUp.Details(&code) != nil || code != 65 {
		t.Errorf("%v, code %d", err, code)
	}
	if m.made[2999] > 0 {
		t.Error("it went on to the end")
	}
}

// A cancelled workflow ends as cancelled, not as failed. This test's server does not wait until no
// worker is busy; the program's TestCancel covers that.
func TestCancellation(t *testing.T) {
	m, in := making(3000)
	err := m.run(t, in, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) { env.CancelWorkflow() })
	})
	if !temporal.IsCanceledError(err) {
		t.Errorf("%v, want a cancellation", err)
	}
}
