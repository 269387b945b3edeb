package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"retime/cmd/internal/roff"
	"retime/pipeline/fault"
)

func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man",
		Short: "Print the man page; retime man | man -l - shows it",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := writeMan(cmd.OutOrStdout(), cmd.Root()); err != nil {
				return fault.New(fault.CannotWrite, "man page: %w", err)
			}
			return nil
		},
	}
}

// writeMan writes one page about the program and all its verbs, in the macros of
// man(7).
func writeMan(w io.Writer, root *cobra.Command) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH RETIME 1 \"\" \"retime %s\" \"User Commands\"\n.ad l\n", roff.Escape(root.Version))
	fmt.Fprintf(&b, ".SH NAME\nretime \\- %s\n", roff.Escape(lowerFirst(root.Short)))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n", roff.Escape(useLine(root)))
	groups := verbGroups(root)
	for _, g := range groups {
		for _, v := range g.verbs {
			fmt.Fprintf(&b, "%s\n", roff.Escape(useLine(v)))
		}
	}
	b.WriteString(".fi\n.SH DESCRIPTION\n")
	manText(&b, root.Long)
	for _, g := range flagGroups(root) {
		manSection(&b, string(g.heading))
		manFlags(&b, g)
	}
	for _, g := range groups {
		manSection(&b, g.title)
		for _, v := range g.verbs {
			manVerb(&b, v)
		}
	}
	manSection(&b, "Exit codes")
	manLines(&b, strings.TrimPrefix(strings.TrimSpace(exitCodes), "Exit codes:\n"))
	manSection(&b, "Examples")
	manLines(&b, root.Example)
	_, err := w.Write(b.Bytes())
	return err
}

// manVerb describes a verb and the verbs under it.
func manVerb(b *bytes.Buffer, v *cobra.Command) {
	fmt.Fprintf(b, ".SS %s\n", roff.Escape(useLine(v)))
	manText(b, cmp.Or(v.Long, v.Short+"."))
	for _, g := range flagGroups(v) {
		manFlags(b, g)
	}
	if v.HasExample() {
		b.WriteString(".PP\nExamples:\n.PP\n")
		manLines(b, v.Example)
	}
	for _, sub := range v.Commands() {
		if sub.IsAvailableCommand() {
			manVerb(b, sub)
		}
	}
}

// useLine returns the usage of a verb. Cobra leaves out the word flags until the verb
// has --help.
func useLine(v *cobra.Command) string {
	v.InitDefaultHelpFlag()
	return v.UseLine()
}

// manFlags describes each flag in a paragraph.
func manFlags(b *bytes.Buffer, g flagGroup) {
	for _, f := range g.flags {
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff.Escape(strings.TrimSpace(synopsis(f))), roff.Escape(fullExplanation(f)))
	}
}

func manSection(b *bytes.Buffer, title string) {
	fmt.Fprintf(b, ".SH \"%s\"\n", strings.ToUpper(title))
}

// manText writes paragraphs, in which indented lines keep their breaks.
func manText(b *bytes.Buffer, text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(paragraph, " ") {
			manLines(b, paragraph)
		} else {
			b.WriteString(roff.Escape(paragraph) + "\n")
		}
	}
}

// manLines writes lines with their breaks.
func manLines(b *bytes.Buffer, text string) { fmt.Fprintf(b, ".nf\n%s\n.fi\n", roff.Escape(text)) }

func lowerFirst(text string) string { return strings.ToLower(text[:1]) + text[1:] }
