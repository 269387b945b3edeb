package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"retime/cmd/retime-farm/internal/job"
)

func newBatchCommand() *cobra.Command {
	var r request
	cmd := &cobra.Command{
		Use:   "batch JOBS.yaml",
		Short: "Have the farm convert the clips of a job file",
		Long: `batch has the farm convert the clips of a job file of retime batch, some at a time,
and waits for the end. A clip that fails does not stop the others. The same command
continues with the clips that are not done.`,
		Args: args(1, "a job file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.check(); err != nil {
				return err
			}
			if r.settings.Parallel < 1 {
				return &exit{2, errors.New("--jobs must be 1 or more")}
			}
			retime, _, err := findRetime(cmd.Context(), r.retime)
			if err != nil {
				return err
			}
			file, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			commands, err := runRetime(cmd.Context(), retime, "batch", file, "--commands")
			if err != nil {
				return err
			}
			clips, err := r.clips(filepath.Dir(file), commands)
			if err != nil {
				return err
			}
			return r.submit(cmd.Context(), file, clips)
		},
	}
	cmd.Flags().IntVarP(&r.settings.Parallel, "jobs", "j", 8, "clips at a time")
	r.addFlags(cmd.Flags())
	return cmd
}

// clips returns the clips of a job file in dir, as listed by retime batch --commands.
func (r *request) clips(dir string, commands []byte) (clips []job.Clip, err error) {
	lines := json.NewDecoder(bytes.NewReader(commands))
	for {
		var arguments, rest []string
		if err := lines.Decode(&arguments); errors.Is(err, io.EOF) {
			return clips, nil
		} else if err != nil {
			return nil, fmt.Errorf("retime batch --commands: %w", err)
		}
		output, format := "", ""
		for _, a := range arguments {
			if v, ok := strings.CutPrefix(a, "--output="); ok {
				output = v
			} else if v, ok := strings.CutPrefix(a, "--format="); ok {
				format = v
			} else {
				rest = append(rest, a)
			}
		}
		c, err := r.clip(dir, rest, output, format)
		if err != nil {
			return nil, err
		}
		clips = append(clips, c)
	}
}
