package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/cmd/retime-farm/internal/job"
)

// slurmOptions holds the flags of slurm.
type slurmOptions struct {
	planned
	sbatch []string
	cpus   int
	tries  int
	detach bool
}

func newSlurmCommand() *cobra.Command {
	var o slurmOptions
	return o.command(&cobra.Command{
		Use:   "slurm INPUT -o OUTPUT [flags of a conversion]",
		Short: "Convert a clip as an array job of Slurm",
		Long: `slurm plans a conversion here, submits an array job of Slurm that makes the segments
and a job that joins them, and follows both. It needs no Temporal server. All flags
but those below go to retime plan. The same command continues with what is missing.`,
		Example: `  retime-farm slurm in.mp4 -o out.mp4 --fps 60 --tasks 64 --sbatch --partition=long`,
	}, func(f *pflag.FlagSet) {
		f.StringArrayVar(&o.sbatch, "sbatch", nil, "flag for sbatch, such as --partition=long; repeatable")
		f.IntVar(&o.cpus, "cpus-per-task", 4, "processors of a task")
		f.IntVar(&o.tries, "tries", 10, "how often a task is put back into the queue")
		f.BoolVar(&o.detach, "detach", false, "print the numbers of the jobs and do not wait for their end")
	}, o.run)
}

// The scripts of the array's tasks and of the join. Their environment names the files.
var (
	//go:embed slurm_segment.sh
	segmentScript string
	//go:embed slurm_join.sh
	joinScript string
)

// run submits the jobs and follows them.
func (o *slurmOptions) run(ctx context.Context, retime string, c job.Clip, ranges int) error {
	most, err := maxArraySize(ctx)
	if err != nil {
		return err
	}
	tasks := min(o.tasks, ranges, most)
	environment := append(os.Environ(),
		"RETIME="+retime, "RETIME_PLAN="+c.Plan(), "RETIME_STRIDE="+strconv.Itoa(tasks), "RETIME_TRIES="+strconv.Itoa(o.tries),
		"RETIME_SAMPLE="+strconv.Itoa(o.sample), "RETIME_JOINED="+c.Joined(), "RETIME_OUTPUT="+c.Output, "RETIME_WORK="+c.Work())
	if c.Overwrite {
		environment = append(environment, "RETIME_OVERWRITE=1")
	}
	log := "--output=" + filepath.Join(c.Work(), "%x.log")
	submit := func(script string, flags ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "sbatch", append(append([]string{"--parsable", log, "--requeue"}, flags...), o.sbatch...)...)
		cmd.Stdin, cmd.Stderr, cmd.Env = strings.NewReader(script), os.Stderr, environment
		out, err := cmd.Output()
		number, _, _ := strings.Cut(strings.TrimSpace(string(out)), ";")
		if err != nil {
			return "", fmt.Errorf("sbatch: %w", err)
		}
		return number, nil
	}
	array, err := submit(segmentScript, "--job-name=retime", "--array=0-"+strconv.Itoa(tasks-1), "--cpus-per-task="+strconv.Itoa(o.cpus))
	if err != nil {
		return err
	}
	join, err := submit(joinScript, "--job-name=retime-join", "--dependency=afterany:"+array)
	if err != nil {
		return err
	}
	fmt.Printf("array %s, join %s\n", array, join)
	if o.detach {
		return nil
	}
	return o.follow(ctx, c, join)
}

var arraySize = regexp.MustCompile(`(?m)^MaxArraySize\s*=\s*(\d+)`)

// maxArraySize returns how many tasks this cluster allows in an array.
func maxArraySize(ctx context.Context) (int, error) {
	out, err := exec.CommandContext(ctx, "scontrol", "show", "config").Output()
	if err != nil {
		return 0, &exit{75, fmt.Errorf("scontrol show config: %w; is this machine part of a Slurm cluster?", err)}
	}
	m := arraySize.FindSubmatch(out)
	if m == nil {
		return 0, errors.New("scontrol show config names no MaxArraySize")
	}
	return strconv.Atoi(string(m[1]))
}

var jobField = regexp.MustCompile(`\b(JobState|ExitCode|Reason)=(\S*)`)

// follow prints progress until the join ends.
func (o *slurmOptions) follow(ctx context.Context, c job.Clip, join string) error {
	last := ""
	for {
		out, err := exec.CommandContext(ctx, "scontrol", "show", "job", "-o", join).Output()
		if ctx.Err() != nil {
			return &exit{130, fmt.Errorf("the jobs continue; scancel ends them")}
		} else if err != nil {
			return fmt.Errorf("scontrol show job %s: %w", join, err)
		}
		fields := map[string]string{}
		for _, m := range jobField.FindAllStringSubmatch(string(out), -1) {
			fields[m[1]] = m[2]
		}
		done, _ := filepath.Glob(filepath.Join(c.Work(), "plan.segments", "??????.json"))
		if line := fmt.Sprintf("%s, %d segments done", strings.ToLower(fields["JobState"]), len(done)); line != last {
			last = line
			fmt.Fprintln(os.Stderr, line)
		}
		switch fields["JobState"] {
		case "COMPLETED":
			return nil
		case "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "DEADLINE", "BOOT_FAIL", "PREEMPTED":
			text, _, _ := strings.Cut(fields["ExitCode"], ":")
			code, _ := strconv.Atoi(text)
			return &exit{max(code, 1), fmt.Errorf("the join ended as %s, exit code %d; logs are in %s; the same command continues", fields["JobState"], code, c.Work())}
		}
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
	}
}
