package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/cmd/retime-farm/internal/job"
)

func newSubmitCommand() *cobra.Command {
	var r request
	var output, format string
	cmd := &cobra.Command{
		Use:   "submit INPUT -o OUTPUT [flags of a conversion]",
		Short: "Have the farm convert a clip",
		Long: `submit has the farm convert a clip, and waits for the end. All flags but those below
go to retime plan. Relative names start from this directory, which the workers must
see, too. Whoever asks for the same conversion again gets the same job.`,
		Example:            `  retime-farm submit in.mp4 -o out.mp4 --fps 60 --preset best`,
		DisableFlagParsing: true, // retime parses the flags of a conversion
		RunE: func(cmd *cobra.Command, all []string) error {
			f := cmd.Flags()
			own, others := split(f, all)
			if err := f.Parse(own); err != nil {
				return &exit{2, err}
			}
			if help, _ := f.GetBool("help"); help {
				return cmd.Help()
			}
			if err := r.check(); err != nil {
				return err
			}
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			c, err := r.clip(dir, others, output, format)
			if err != nil {
				return err
			}
			r.settings.Parallel = 1
			return r.submit(cmd.Context(), c.Input+" -> "+c.Output, []job.Clip{c})
		},
	}
	f := cmd.Flags()
	addOutput(f, &output, &format)
	r.addFlags(f)
	return cmd
}

func addOutput(f *pflag.FlagSet, output, format *string) {
	f.StringVarP(output, "output", "o", "", "output")
	f.StringVarP(format, "format", "f", "", "container of the output (default from its name)")
	f.BoolP("help", "h", false, "print this help")
}

// split separates the flags that f declares, with their values, from all other arguments.
func split(f *pflag.FlagSet, arguments []string) (own, others []string) {
	for i := 0; i < len(arguments); i++ {
		a := arguments[i]
		var flag *pflag.Flag
		whole := false // the argument includes the value
		if name, ok := strings.CutPrefix(a, "--"); ok {
			name, _, whole = strings.Cut(name, "=")
			flag = f.Lookup(name)
		} else if len(a) > 1 && a[0] == '-' {
			flag, whole = f.ShorthandLookup(a[1:2]), len(a) > 2
		}
		if flag == nil {
			others = append(others, a)
			continue
		}
		own = append(own, a)
		if !whole && flag.NoOptDefVal == "" && i+1 < len(arguments) {
			i++
			own = append(own, arguments[i])
		}
	}
	return own, others
}
