package job

import (
	"errors"
	"fmt"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// RunBatch is the workflow Batch, which converts clips, several at a time. A clip that fails does
// not stop the others. If any fails, the error's details hold the Report.
func RunBatch(ctx workflow.Context, b *Batch) (*Report, error) {
	report := &Report{Clips: make([]ClipReport, len(b.Clips))}
	for i, c := range b.Clips {
		report.Clips[i] = ClipReport{Input: c.Input, Output: c.Output, State: Pending}
	}
	if err := workflow.SetQueryHandler(ctx, ProgressQuery, func() (*Report, error) { return report, nil }); err != nil {
		return nil, err
	}
	slots := workflow.NewSemaphore(ctx, int64(max(b.Settings.Parallel, 1)))
	all := workflow.NewWaitGroup(ctx)
	for i, c := range b.Clips {
		if slots.Acquire(ctx, 1) != nil {
			break // cancelled
		}
		all.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer all.Done()
			defer slots.Release(1)
			r := &report.Clips[i]
			r.end(convertClip(ctx, c, b.Settings, r))
		})
	}
	all.Wait(ctx)
	if ctx.Err() != nil {
		return report, temporal.NewCanceledError(report)
	}
	for _, c := range report.Clips {
		if c.State == Failed {
			return report, temporal.NewNonRetryableApplicationError(
				fmt.Sprintf("%d of %d clips failed; %s: %s", report.Count(Failed), len(report.Clips), c.Input, c.Error), ClipsFailed, nil, report)
		}
	}
	return report, nil
}

// ClipsFailed is the type of the error of a batch in which clips failed.
const ClipsFailed = "clips failed"

// end sets the clip's final state.
func (r *ClipReport) end(err error) {
	var gaveUp *temporal.ApplicationError
	switch {
	case err == nil:
		r.State, r.Made = Done, r.Ranges
	case temporal.IsCanceledError(err):
		r.State = Cancelled
	default:
		r.State, r.Error = Failed, err.Error()
		if errors.As(err, &gaveUp) {
			r.Error = gaveUp.Message()
			_ = gaveUp.Details(&r.Code) // without a code it stays 0
		}
	}
}

// convertClip plans and converts a clip.
func convertClip(ctx workflow.Context, c Clip, s Settings, r *ClipReport) error {
	r.State = Planning
	var p Planned
	if err := workflow.ExecuteActivity(onSlot(ctx, s), PlanActivity, c).Get(ctx, &p); err != nil {
		last, _ := workflow.NewDisconnectedContext(ctx)
		if e := workflow.ExecuteActivity(aside(last, s), CleanActivity, c).Get(last, nil); e != nil {
			workflow.GetLogger(ctx).Error("cannot remove the plan", "directory", c.Work(), "error", e)
		}
		return err
	}
	r.Mark = &p.Mark
	if p.Done {
		return nil
	}
	r.State, r.ID, r.Frames, r.Ranges = Converting, p.ID, p.Frames, p.Ranges
	err := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            p.ID,
		WaitForCancellation:   true,
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}), ConvertWorkflow, &Conversion{Clip: c, Planned: p, Settings: s}).Get(ctx, nil)
	if temporal.IsWorkflowExecutionAlreadyStartedError(err) { // another batch converts it
		return workflow.ExecuteActivity(aside(ctx, s), FollowActivity, p.ID).Get(ctx, nil)
	}
	return err
}
