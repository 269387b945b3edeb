package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"retime/cmd/retime-farm/internal/job"
)

func newLogsCommand() *cobra.Command {
	var c connection
	cmd := &cobra.Command{
		Use:   "logs JOB",
		Short: "Print what happened in a job",
		Long: `logs prints what happened in a job by time: what was planned, which worker made which
segments in how many seconds, what retime warned of, and what failed. The server keeps
it for as long as its namespace says.`,
		Args: args(1, "a job"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := c.connect()
			if err != nil {
				return err
			}
			defer t.Close()
			var l logs
			if err := l.read(cmd.Context(), t, args[0], ""); err != nil {
				return err
			}
			l.print(cmd.OutOrStdout())
			return nil
		},
	}
	c.addFlags(cmd.Flags())
	return cmd
}

// logs holds the log lines of a job's workflows.
type logs []logLine

type logLine struct {
	at   time.Time
	text string
}

// print prints the lines by time.
func (l logs) print(w io.Writer) {
	slices.SortStableFunc(l, func(a, b logLine) int { return a.at.Compare(b.at) })
	for _, line := range l {
		fmt.Fprintf(w, "%s  %s\n", line.at.Local().Format("2006-01-02 15:04:05.0"), line.text)
	}
}

// read adds the lines of a workflow's run, of the runs that continue it, and of its children. An
// empty run stands for the first run of the latest chain.
func (l *logs) read(ctx context.Context, t client.Client, id, run string) error {
	if run == "" {
		d, err := t.DescribeWorkflowExecution(ctx, id, "")
		if err != nil {
			return fmt.Errorf("job %s: %w", id, err)
		}
		run = cmp.Or(d.GetWorkflowExecutionInfo().GetFirstRunId(), d.GetWorkflowExecutionInfo().GetExecution().GetRunId())
	}
	begun := map[int64]*history.HistoryEvent{} // activities by the event that scheduled them
	events := t.GetWorkflowHistory(ctx, id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return fmt.Errorf("job %s: %w", id, err)
		}
		if e.GetEventType() == enums.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
			begun[e.GetEventId()] = e
		}
		if text := describe(e, begun); text != "" {
			*l = append(*l, logLine{e.GetEventTime().AsTime(), text})
		}
		if c := e.GetChildWorkflowExecutionStartedEventAttributes(); c != nil {
			err = l.read(ctx, t, c.GetWorkflowExecution().GetWorkflowId(), c.GetWorkflowExecution().GetRunId())
		} else if c := e.GetWorkflowExecutionContinuedAsNewEventAttributes(); c != nil {
			err = l.read(ctx, t, id, c.GetNewExecutionRunId())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// describe returns a line about an event, or "" for most events.
func describe(e *history.HistoryEvent, begun map[int64]*history.HistoryEvent) string {
	activity := func(scheduled int64, made job.Made) string {
		a := begun[scheduled].GetActivityTaskScheduledEventAttributes()
		what := strings.ToLower(a.GetActivityType().GetName())
		var input struct {
			job.Share
			Output string `json:"output"`
		}
		if p := a.GetInput().GetPayloads(); len(p) > 0 && json.Unmarshal(p[0].GetData(), &input) == nil {
			if what += " " + cmp.Or(input.Output, input.Clip.Output); input.Count > 0 {
				what += fmt.Sprintf(", segments %d to %d", input.First, input.First+cmp.Or(made.Count, input.Count)-1)
			}
		}
		return what
	}
	switch e.GetEventType() {
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED:
		return "cancel"
	case enums.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
		return "failed: " + e.GetWorkflowExecutionFailedEventAttributes().GetFailure().GetMessage()
	case enums.EVENT_TYPE_ACTIVITY_TASK_STARTED: // the server writes it when the task ends
		a := e.GetActivityTaskStartedEventAttributes()
		if f := a.GetLastFailure(); f != nil {
			return fmt.Sprintf("%s: attempt %d, after: %s", activity(a.GetScheduledEventId(), job.Made{}), a.GetAttempt(), f.GetMessage())
		}
	case enums.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		a := e.GetActivityTaskCompletedEventAttributes()
		worker, _ := job.SlotsOf(a.GetIdentity())
		var made job.Made
		var said, took string
		if p := a.GetResult().GetPayloads(); len(p) > 0 {
			from := converter.GetDefaultDataConverter()
			if from.FromPayload(p[0], &made) == nil && made.Worker != "" {
				took = fmt.Sprintf(" in %.1f s", made.Seconds)
			}
			if from.FromPayload(p[0], &said) != nil {
				said = made.Log
			}
		}
		text := activity(a.GetScheduledEventId(), made) + ": done by " + worker + took
		if said != "" {
			text += "\n    " + strings.ReplaceAll(said, "\n", "\n    ")
		}
		return text
	case enums.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		a := e.GetActivityTaskFailedEventAttributes()
		return activity(a.GetScheduledEventId(), job.Made{}) + ": " + a.GetFailure().GetMessage()
	}
	return ""
}
