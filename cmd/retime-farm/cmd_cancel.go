package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

func newCancelCommand() *cobra.Command {
	var c connection
	var detach bool
	cmd := &cobra.Command{
		Use:   "cancel JOB",
		Short: "End a job, and remove what it has made",
		Long: `cancel ends a job. The workers end their programs by SIGTERM, and one of them removes
what was made for clips that are not done. cancel waits for that.`,
		Args: args(1, "a job"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := c.connect()
			if err != nil {
				return err
			}
			defer t.Close()
			if err := t.CancelWorkflow(cmd.Context(), args[0], ""); err != nil {
				return fmt.Errorf("job %s: %w", args[0], err)
			}
			if detach {
				return nil
			}
			err = follow(cmd.Context(), t, t.GetWorkflow(cmd.Context(), args[0], ""), true, os.Stdout, os.Stderr)
			if e := (*exit)(nil); errors.As(err, &e) && e.code == 130 && cmd.Context().Err() == nil {
				return nil // cancelled, as it should be
			}
			return err
		},
	}
	c.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&detach, "detach", false, "do not wait for the end")
	return cmd
}
