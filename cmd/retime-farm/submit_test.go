package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"retime/cmd/retime-farm/internal/job"
)

// The program's own flags are told apart from a conversion's, wherever they are.
func TestSplit(t *testing.T) {
	f := newSubmitCommand().Flags()
	for _, test := range []struct{ all, own, others string }{
		{"in.mp4 -o out.mp4 --fps 60", "-o out.mp4", "in.mp4 --fps 60"},
		{"in.mp4 --fps 60 -oout.mp4 -y", "-oout.mp4 -y", "in.mp4 --fps 60"},
		{"in.mp4 --map -0:s --output=out.mp4 --sample 3", "--output=out.mp4 --sample 3", "in.mp4 --map -0:s"},
		{"in.mp4 --gpu --preset best --detach -f mp4", "--gpu --detach -f mp4", "in.mp4 --preset best"},
		{"in.mp4 -v --address a:1", "--address a:1", "in.mp4 -v"},
		{"in.mp4 -o", "-o", "in.mp4"},
	} {
		own, others := split(f, strings.Fields(test.all))
		if !slices.Equal(own, strings.Fields(test.own)) || !slices.Equal(others, strings.Fields(test.others)) {
			t.Errorf("%q: %q and %q", test.all, own, others)
		}
	}
}

func TestProgressLine(t *testing.T) {
	for _, test := range []struct {
		clips []job.ClipReport
		want  string
	}{
		{nil, "running, and no worker tells how far it is"},
		{[]job.ClipReport{{State: job.Pending}}, "running, 0 of 1 clips done"},
		{[]job.ClipReport{{State: job.Done, Made: 3, Ranges: 3}, {State: job.Failed, Ranges: 2}},
			"running, 1 of 2 clips done, 3 of 5 segments of those that are planned, 1 clips failed"},
	} {
		p := progress{State: "running", Report: job.Report{Clips: test.clips}}
		if got := p.line(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestWrongRequests(t *testing.T) {
	for _, args := range []string{
		"submit", "submit in.mp4", "submit --fps 60 in.mp4 -o out.mp4", "submit in.mp4 -o out.mp4 --heartbeat 1s", "submit in.mp4 -o out.mp4 --sample x",
		"batch", "batch jobs.yaml --jobs 0", "cancel", "logs a b", "status a b", "worker x", "slurm in.mp4 -o out.mp4 --tasks 0", "kubernetes",
		"submit in.mp4 -o out.mp4 --retime ./none",
	} {
		cmd := newRootCommand()
		cmd.SetArgs(strings.Fields(args))
		if err := cmd.Execute(); exitCode(err) != 2 {
			t.Errorf("%s: %v", args, err)
		}
	}
	for sample, fine := range map[int]bool{job.Thousandth: true, 0: true, -1: false} {
		r := request{settings: job.Settings{Sample: sample, Heartbeat: time.Minute}}
		if err := r.check(); (err == nil) != fine {
			t.Errorf("a sample of %d frames: %v", sample, err)
		}
	}
}
