package job

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// The names of the workflows and activities, and of the query that the workflows Batch and Make
// answer.
const (
	BatchWorkflow   = "Batch"
	ConvertWorkflow = "Convert"
	MakeWorkflow    = "Make"

	PlanActivity    = "Plan"
	MakeActivity    = "Make"
	VerifyActivity  = "Verify"
	JoinActivity    = "Join"
	DeliverActivity = "Deliver"
	CleanActivity   = "Clean"
	FollowActivity  = "Follow"

	ProgressQuery = "progress"
)

// Convert is the workflow that converts a planned clip. The join begins at once and waits for each
// segment. If a part fails or the workflow is cancelled, it waits until no worker works on the clip
// and then removes everything that was made.
func Convert(ctx workflow.Context, c *Conversion) error {
	work, stop := workflow.WithCancel(ctx)
	defer stop()
	pending := 0
	var failure error
	parts := workflow.NewSelector(ctx)
	add := func(part workflow.Future, then func()) {
		pending++
		parts.AddFuture(part, func(f workflow.Future) {
			pending--
			err := f.Get(ctx, nil)
			switch {
			case err == nil && failure == nil:
				then()
			case err != nil && (failure == nil || temporal.IsCanceledError(failure)):
				failure = err
				stop()
			}
		})
	}
	making := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(work, workflow.ChildWorkflowOptions{
		WorkflowID:          MakeID(workflow.GetInfo(ctx).WorkflowExecution.ID),
		WaitForCancellation: true,
	}), MakeWorkflow, &Making{Conversion: *c})
	add(making, func() {
		add(workflow.ExecuteActivity(onSlot(work, c.Settings), VerifyActivity, c), func() {})
	})
	add(workflow.ExecuteActivity(aside(work, c.Settings), JoinActivity, c), func() {})
	for pending > 0 {
		parts.Select(ctx)
	}
	// From here on a cancellation is too late; whoever cancels waits for the end.
	last, _ := workflow.NewDisconnectedContext(ctx)
	last = aside(last, c.Settings)
	if failure == nil {
		failure = workflow.ExecuteActivity(last, DeliverActivity, c.Clip).Get(last, nil)
	}
	if failure != nil {
		if err := workflow.ExecuteActivity(last, CleanActivity, c.Clip).Get(last, nil); err != nil {
			workflow.GetLogger(ctx).Error("cannot remove what was made", "directory", c.Clip.Work(), "error", err)
		}
	}
	return failure
}

// onSlot returns options for activities that take a slot of a worker. A dead worker or a full disk
// costs an attempt, so the number of attempts has no limit; package work gives up by itself when
// another attempt is useless.
func onSlot(ctx workflow.Context, s Settings) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:           SegmentQueue(s.Queue, s.GPU),
		StartToCloseTimeout: forever,
		HeartbeatTimeout:    s.Heartbeat,
		WaitForCancellation: true,
		RetryPolicy:         retries,
	})
}

// aside returns options for activities that take no slot.
func aside(ctx workflow.Context, s Settings) workflow.Context {
	ctx = onSlot(ctx, s)
	return workflow.WithTaskQueue(ctx, s.Queue)
}

// forever is longer than any activity takes: missing heartbeats, not time limits, reveal dead
// workers.
const forever = 30 * 24 * time.Hour

var retries = &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute}
