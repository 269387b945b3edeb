package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// printUsage prints the usage of cmd: its verbs and its flags, under their headings.
func printUsage(cmd *cobra.Command) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Usage:\n  %s\n", useLine(cmd))
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	for _, g := range verbGroups(cmd) {
		fmt.Fprintf(&b, "\n%s:\n", g.title)
		for _, v := range g.verbs {
			fmt.Fprintf(&b, "  %-*s %s\n", cmd.NamePadding()+len("retime "), v.CommandPath(), v.Short)
		}
	}
	groups := flagGroups(cmd)
	width := 0
	for _, g := range groups {
		for _, f := range g.flags {
			width = max(width, len(synopsis(f)))
		}
	}
	for _, g := range groups {
		fmt.Fprintf(&b, "\n%s:\n", g.heading)
		for _, f := range g.flags {
			fmt.Fprintf(&b, "  %-*s  %s\n", width, synopsis(f), strings.ReplaceAll(explanation(f), "\n", "\n"+strings.Repeat(" ", width+4)))
		}
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nretime VERB --help explains a verb and its flags, man retime all of them.\n")
	}
	_, err := cmd.OutOrStderr().Write(b.Bytes())
	return err
}

// verbGroup holds the verbs under a heading.
type verbGroup struct {
	title string
	verbs []*cobra.Command
}

// verbGroups returns the verbs of cmd that --help lists.
func verbGroups(cmd *cobra.Command) (groups []verbGroup) {
	add := func(title, id string) {
		g := verbGroup{title: title}
		for _, v := range cmd.Commands() {
			if v.GroupID == id && v.IsAvailableCommand() {
				g.verbs = append(g.verbs, v)
			}
		}
		if len(g.verbs) > 0 {
			groups = append(groups, g)
		}
	}
	for _, g := range cmd.Groups() {
		add(g.Title, g.ID)
	}
	add("Verbs", "")
	return groups
}

// flagGroup holds the flags under a heading.
type flagGroup struct {
	heading heading
	flags   []*pflag.Flag
}

// flagGroups returns the flags of cmd that --help lists.
func flagGroups(cmd *cobra.Command) (groups []flagGroup) {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	for _, h := range headings {
		g := flagGroup{heading: h}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && headingOf(f) == h {
				g.flags = append(g.flags, f)
			}
		})
		if len(g.flags) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// headingOf returns the heading of a flag. Cobra's own, help and version, come under
// the messages.
func headingOf(f *pflag.Flag) heading {
	switch d := definition(f); {
	case d != nil:
		return d.heading
	case slices.Contains([]string{"help", "version"}, f.Name):
		return displayHeading
	}
	return unsortedHeading
}

// synopsis returns the names of a flag and its value: -o, --output FILE.
func synopsis(f *pflag.Flag) string {
	text := "    --" + f.Name
	if f.Shorthand != "" {
		text = "-" + f.Shorthand + ", --" + f.Name
	}
	value, _ := pflag.UnquoteUsage(f)
	if d := definition(f); d != nil {
		value = d.arg
	}
	switch {
	case value == "":
		return text
	case f.NoOptDefVal != "":
		return text + "[=" + value + "]"
	}
	return text + " " + value
}

// explanation returns the usage of a flag with its default.
func explanation(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	if f.NoOptDefVal != "" && f.Value.Type() != "bool" {
		return fmt.Sprintf("%s (default %s)", usage, f.NoOptDefVal)
	}
	switch f.DefValue {
	case "", "0", "false", "[]":
		return usage
	}
	if strings.Contains(usage, "(default") {
		return usage
	}
	return fmt.Sprintf("%s (default %s)", usage, strings.Trim(f.DefValue, "[]"))
}

// fullExplanation returns the explanation of a flag with its detail, unless a verb explains the flag
// in words of its own.
func fullExplanation(f *pflag.Flag) string {
	if d := definition(f); d != nil && d.detail() != "" && f.Usage == d.line() {
		return explanation(f) + ". " + d.detail()
	}
	return explanation(f)
}
