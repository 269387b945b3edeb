package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"retime/cmd/retime-farm/internal/job"
)

func newStatusCommand() *cobra.Command {
	var c connection
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [JOB]",
		Short: "List the jobs, or show how far one is",
		Long: `status lists the latest jobs, or says how far a job is, clip by clip, and which of its
work waits to be tried again, and why.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return &exit{2, errors.New("want one job, or none")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := c.connect()
			if err != nil {
				return err
			}
			defer t.Close()
			if len(args) == 0 {
				return list(cmd.Context(), t, cmd.OutOrStdout())
			}
			p, err := progressOf(cmd.Context(), t, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(p)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", args[0], p.line())
			printReport(cmd.OutOrStdout(), &p.Report)
			for _, r := range p.Retries {
				fmt.Fprintln(cmd.OutOrStdout(), "tried again:", r)
			}
			return nil
		},
	}
	c.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

// latest is the number of jobs that status lists.
const latest = 30

// list prints the latest jobs.
func list(ctx context.Context, t client.Client, w io.Writer) error {
	all, err := t.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{PageSize: latest, Query: "WorkflowType = '" + job.BatchWorkflow + "'"})
	if err != nil {
		return fmt.Errorf("list jobs: %w", err)
	}
	for _, e := range all.GetExecutions() {
		var title string
		if m, ok := e.GetMemo().GetFields()["title"]; ok {
			_ = converter.GetDefaultDataConverter().FromPayload(m, &title) // another program's job has no title
		}
		fmt.Fprintf(w, "%s  %-10s  %s  %s\n", e.GetExecution().GetWorkflowId(), stateOf(e.GetStatus()), e.GetStartTime().AsTime().Local().Format(time.DateTime), title)
	}
	return nil
}

// stateOf returns a word for the state of a workflow.
func stateOf(s enums.WorkflowExecutionStatus) string {
	if s == enums.WORKFLOW_EXECUTION_STATUS_COMPLETED {
		return "done"
	}
	return strings.ToLower(s.String())
}

// progress describes how far a job is.
type progress struct {
	State   string     `json:"state"`
	Report  job.Report `json:"report"`
	Retries []string   `json:"retries,omitempty"` // what failed and is being retried, and why
}

// line describes the progress in one line.
func (p *progress) line() string {
	if len(p.Report.Clips) == 0 { // the server knows the job, but only workers know its clips
		return p.State + ", and no worker tells how far it is"
	}
	made, ranges := 0, 0
	for _, c := range p.Report.Clips {
		made, ranges = made+c.Made, ranges+c.Ranges
	}
	s := fmt.Sprintf("%s, %d of %d clips done", p.State, p.Report.Count(job.Done), len(p.Report.Clips))
	if ranges > 0 {
		s += fmt.Sprintf(", %d of %d segments of those that are planned", made, ranges)
	}
	if n := p.Report.Count(job.Failed); n > 0 {
		s += fmt.Sprintf(", %d clips failed", n)
	}
	return s
}

// answer bounds the wait for a worker to answer a question about a job.
const answer = 5 * time.Second

// progressOf asks the server and the workers how far a job is.
func progressOf(ctx context.Context, t client.Client, id string) (*progress, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*answer)
	defer cancel()
	d, err := t.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return nil, fmt.Errorf("job %s: %w", id, err)
	}
	p := &progress{State: stateOf(d.GetWorkflowExecutionInfo().GetStatus())}
	if p.State != "running" {
		run := t.GetWorkflow(ctx, id, d.GetWorkflowExecutionInfo().GetExecution().GetRunId())
		if err := run.Get(ctx, &p.Report); err != nil {
			p.Report, _ = ending(err)
		}
		return p, nil
	}
	p.tell(d)
	if err := ask(ctx, t, id, &p.Report); err != nil {
		p.Retries = append(p.Retries, "no worker answers: "+err.Error())
		return p, nil
	}
	for i := range p.Report.Clips {
		c := &p.Report.Clips[i]
		if c.State != job.Converting {
			continue
		}
		var m job.Making
		if ask(ctx, t, job.MakeID(c.ID), &m) == nil {
			c.Made = m.Made
		}
		if d, err := t.DescribeWorkflowExecution(ctx, c.ID, ""); err == nil {
			p.tell(d)
		}
		if d, err := t.DescribeWorkflowExecution(ctx, job.MakeID(c.ID), ""); err == nil {
			p.tell(d)
			c.Made = min(c.Made+underWay(d), c.Ranges)
		}
	}
	return p, nil
}

// ask sends the progress query to a workflow.
func ask(ctx context.Context, t client.Client, id string, to any) error {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	v, err := t.QueryWorkflow(ctx, id, "", job.ProgressQuery)
	if err != nil {
		return err
	}
	return v.Get(to)
}

// tell adds the last failures of the activities that a workflow is retrying.
func (p *progress) tell(d *workflowservice.DescribeWorkflowExecutionResponse) {
	for _, a := range d.GetPendingActivities() {
		if f := a.GetLastFailure(); f != nil {
			p.Retries = append(p.Retries, fmt.Sprintf("%s, attempt %d: %s", strings.ToLower(a.GetActivityType().GetName()), a.GetAttempt(), f.GetMessage()))
		}
	}
}

// underWay returns the number of ranges done, according to the heartbeats of a workflow's
// activities.
func underWay(d *workflowservice.DescribeWorkflowExecutionResponse) (ranges int) {
	for _, a := range d.GetPendingActivities() {
		var at job.Progress
		if converter.GetDefaultDataConverter().FromPayloads(a.GetHeartbeatDetails(), &at) == nil {
			ranges += at.Ranges
		}
	}
	return ranges
}

// printReport prints a line for each clip.
func printReport(w io.Writer, r *job.Report) {
	for _, c := range r.Clips {
		fmt.Fprintf(w, "%-10s  %s -> %s", c.State, c.Input, c.Output)
		switch {
		case c.Error != "":
			fmt.Fprintf(w, ": %s", c.Error)
		case c.State == job.Converting:
			fmt.Fprintf(w, ", %d of %d segments", c.Made, c.Ranges)
		case c.Frames > 0:
			fmt.Fprintf(w, ", %d frames", c.Frames)
		}
		fmt.Fprintln(w)
	}
}
