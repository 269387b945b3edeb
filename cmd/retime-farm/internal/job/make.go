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
	// Limit is the time after which the worker ends the share when its current range is finished,
	// unless the rest would take less than Limit; 0 for no limit.
	Limit time.Duration `json:"limit,omitempty"`
}

// Enough reports whether a share with a limit has taken its time. The worker has made some ranges
// of it in the time took, and left ranges remain.
func (s *Share) Enough(took time.Duration, made, left int) bool {
	if s.Limit == 0 || took < s.Limit || made == 0 {
		return false
	}
	return took.Seconds()*float64(left) >= s.Limit.Seconds()*float64(made)
}

// Progress is what a heartbeat reports about a program.
type Progress struct {
	Frames int64 `json:"frames"` // finished
	Total  int64 `json:"total"`
	Ranges int   `json:"ranges,omitempty"` // finished ranges of its share
}

// Made is the result of a share.
type Made struct {
	Worker  string  `json:"worker"`
	Slots   int     `json:"slots"`   // number of that worker's slots
	Seconds float64 `json:"seconds"` // time that the share took
	Count   int     `json:"count"`   // finished ranges, from the share's first on
	New     int     `json:"new"`     // those that this share finished
	Log     string  `json:"log,omitempty"`
}

// Making is the input of the workflow Make, and its state when it continues in a new run.
type Making struct {
	Conversion Conversion `json:"conversion"`
	Next       int        `json:"next"` // first range that has not been handed out
	Made       int        `json:"made"` // number of finished ranges
	Sharing    Sharing    `json:"sharing"`
}

// These bound the history of one run: each share writes up to six events.
const (
	maxEvents      = 9500
	eventsPerShare = 6
)

// Make is the workflow that has all ranges of a conversion made. After an error or a cancellation
// it waits until no worker works on the conversion. When its history grows long, it continues in a
// new run.
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
		s := Share{Clip: c.Clip, First: m.Next, Stall: c.Settings.Stall}
		open := false
		if s.Count, open = m.Sharing.Next(c.Planned.Ranges - m.Next); open {
			s.Limit = c.Settings.Share
		}
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
			m.Made += made.Count
			if s.Limit > 0 && made.Count < s.Count { // all ranges after a share with a limit are still left
				m.Next = s.First + made.Count
			}
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
