package job

import (
	"maps"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// Share asks a worker for the ranges from First up to, not including, First+Count.
type Share struct {
	Clip  Clip          `json:"clip"`
	First int           `json:"first"`
	Count int           `json:"count"`
	Stall time.Duration `json:"stall"`
}

// Made reports a share.
type Made struct {
	Worker  string  `json:"worker"`
	Slots   int     `json:"slots"`   // of that worker
	Seconds float64 `json:"seconds"` // that the share took
	New     int     `json:"new"`     // ranges that were not there before
	Log     string  `json:"log,omitempty"`
}

// Making is the input of the workflow Make, and its state when it goes on in another run.
type Making struct {
	Conversion Conversion `json:"conversion"`
	Next       int        `json:"next"` // first range that has not been given out
	Made       int        `json:"made"` // ranges that are made
	Sharing    Sharing    `json:"sharing"`
}

// These bound the history of one run: each share writes up to six events.
const (
	maxEvents      = 9500
	eventsPerShare = 6
)

// Make is the workflow that has all ranges of a conversion made. After an error or a
// cancellation it waits until no worker is at work on the conversion. When its history
// grows long, it goes on in a new run.
func Make(ctx workflow.Context, m *Making) error {
	if err := workflow.SetQueryHandler(ctx, ProgressQuery, func() (*Making, error) { return m, nil }); err != nil {
		return err
	}
	c := &m.Conversion
	m.Sharing.Target = c.Settings.Share.Seconds()
	if m.Sharing.Slots == nil {
		m.Sharing.Slots = maps.Clone(c.Planned.Slots)
	}
	work, stop := workflow.WithCancel(ctx)
	defer stop()
	work = onSlot(work, c.Settings)
	outstanding := 0
	var failure error
	finished := workflow.NewSelector(ctx)
	give := func() {
		s := Share{Clip: c.Clip, First: m.Next, Count: m.Sharing.Next(c.Planned.Ranges - m.Next), Stall: c.Settings.Stall}
		m.Next += s.Count
		outstanding++
		finished.AddFuture(workflow.ExecuteActivity(work, MakeActivity, s), func(f workflow.Future) {
			outstanding--
			var made Made
			if err := f.Get(ctx, &made); err != nil {
				if failure == nil || temporal.IsCanceledError(failure) {
					failure = err
				}
				stop()
				return
			}
			m.Made += s.Count
			m.Sharing.Finished(made)
		})
	}
	for {
		room := func() bool {
			return workflow.GetInfo(ctx).GetCurrentHistoryLength()+eventsPerShare*(outstanding+1) < maxEvents
		}
		for failure == nil && ctx.Err() == nil && m.Next < c.Planned.Ranges && outstanding < m.Sharing.Outstanding() && room() {
			give()
		}
		if outstanding == 0 {
			break
		}
		finished.Select(ctx)
	}
	switch {
	case failure != nil:
		return failure
	case ctx.Err() != nil:
		return ctx.Err()
	case m.Next < c.Planned.Ranges:
		return workflow.NewContinueAsNewError(ctx, MakeWorkflow, m)
	}
	return nil
}
