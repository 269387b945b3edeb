package main

import (
	"io"

	"github.com/spf13/cobra"

	"retime/pipeline/fault"
)

// shells lists the shells that have completion scripts.
var shells = map[string]func(root *cobra.Command, out io.Writer) error{
	"bash": func(root *cobra.Command, out io.Writer) error { return root.GenBashCompletionV2(out, true) },
	"zsh":  (*cobra.Command).GenZshCompletion,
	"fish": func(root *cobra.Command, out io.Writer) error { return root.GenFishCompletion(out, true) },
}

func newCompletionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a script that completes verbs, flags and values in a shell",
		Long: `completion prints a script for a shell, which then completes verbs, flags, the
values of flags, and file names. make install puts the scripts where the shells
look for them.`,
		Example: `  source <(retime completion bash)
  retime completion fish > ~/.config/fish/completions/retime.fish`,
		ValidArgs: []string{"bash", "zsh", "fish"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 && shells[args[0]] != nil {
				return nil
			}
			return fault.New(fault.Usage, "completion %q: choose one of bash, zsh, fish", args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := shells[args[0]](cmd.Root(), cmd.OutOrStdout()); err != nil {
				return fault.New(fault.CannotWrite, "completion: %w", err)
			}
			return nil
		},
	}
}
