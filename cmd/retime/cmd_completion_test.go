package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"retime/cmd/internal/roff"
	"retime/pipeline/fault"
)

// Each shell accepts its script.
func TestCompletionScripts(t *testing.T) {
	check := map[string][]string{"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"}}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, stderr, code := run(t, "completion", shell)
		if code != 0 || !strings.Contains(script, "retime") {
			t.Fatalf("%s: exit code %d, %s", shell, code, stderr)
		}
		program, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not installed", shell)
			continue
		}
		name := writeFile(t, filepath.Join(t.TempDir(), "script"), script)
		if out, err := exec.Command(program, append(check[shell], name)...).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
	for _, args := range [][]string{{}, {"tcsh"}, {"bash", "zsh"}} {
		if _, stderr, code := run(t, append([]string{"completion"}, args...)...); code != int(fault.Usage) {
			t.Errorf("%q: exit code %d, %s", args, code, stderr)
		}
	}
}

// These are the requests of the scripts to the program.
func TestCompletedWords(t *testing.T) {
	for _, c := range []struct {
		words string // the last one is to be completed
		want  []string
		says  string // the directive to the shell
	}{
		{"in.mp4 --preset ", []string{"fast", "balanced", "best"}, "ShellCompDirectiveNoFileComp"},
		{"in.mp4 --backend c", []string{"auto", "cpu", "cuda"}, "ShellCompDirectiveNoFileComp"}, // the shell selects those with c
		{"batch x --progress l", []string{"auto", "bar", "json", "lines", "none"}, "ShellCompDirectiveNoFileComp"},
		{"restore x --deinterlace ", []string{"off"}, "ShellCompDirectiveNoFileComp"},
		{"in.mp4 --sl", []string{"--slow"}, "ShellCompDirectiveNoFileComp"},
		{"in.mp4 -o ", nil, "ShellCompDirectiveDefault"},
		{"in.mp4 --curve ", nil, "ShellCompDirectiveDefault"},
		{"in.mp4 --slow ", nil, "ShellCompDirectiveNoFileComp"},
		{"in.mp4 --flow-cache ", nil, "ShellCompDirectiveFilterDirs"},
		{"completion z", []string{"zsh"}, "ShellCompDirectiveNoFileComp"},
		{"res", []string{"restore", "resample"}, "ShellCompDirective"},
		{"evaluate ", nil, "ShellCompDirectiveDefault"},
	} {
		stdout, stderr, code := run(t, append([]string{"__complete"}, strings.Split(c.words, " ")...)...)
		var got []string
		for line := range strings.Lines(stdout) {
			if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); word != "" && !strings.HasPrefix(word, ":") {
				got = append(got, word)
			}
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if code != 0 || !slices.Equal(got, c.want) || !strings.Contains(stderr, c.says) {
			t.Errorf("%q: exit code %d, %q, want %q\n%s", c.words, code, got, c.want, stderr)
		}
	}
}

// The script completes in bash itself.
func TestCompletionInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	dir := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "retime")); err != nil {
		t.Fatal(err)
	}
	script, _, _ := run(t, "completion", "bash")
	cmd := exec.Command(bash, "--norc", "-c", script+`
COMP_WORDS=(retime in.mp4 --preset b) COMP_CWORD=3 COMP_LINE="retime in.mp4 --preset b" COMP_POINT=24 COMP_TYPE=9
_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
__start_retime
printf '%s\n' "${COMPREPLY[@]}"`)
	cmd.Env = append(os.Environ(), "RETIME_TEST_MAIN=1", "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if words := strings.Fields(string(out)); err != nil || !slices.Contains(words, "balanced") || !slices.Contains(words, "best") || slices.Contains(words, "fast") {
		t.Errorf("%v: %s", err, out)
	}
}

// The man page has every verb and every flag that is not hidden, and is correct roff.
func TestManPage(t *testing.T) {
	var page bytes.Buffer
	root := newRootCommand()
	if err := writeMan(&page, root); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range verbsOf(root) {
		if cmd.Hidden {
			continue
		}
		text := page.String()
		if cmd != root {
			title := "\n.SS " + roff.Escape(useLine(cmd)) + "\n"
			_, after, found := strings.Cut(text, title)
			if !found {
				t.Errorf("no section on %s", cmd.CommandPath())
			}
			text, _, _ = strings.Cut(after, "\n.S")
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			line := ".TP\n.B " + roff.Escape(strings.TrimSpace(synopsis(f))) + "\n"
			if strings.Contains(text, line) == f.Hidden {
				t.Errorf("%s: --%s is not there", cmd.CommandPath(), f.Name)
			}
		})
	}
	name := writeFile(t, filepath.Join(t.TempDir(), "retime.1"), page.String())
	checked := false
	for _, lint := range [][]string{{"man", "--warnings", "-l", name}, {"mandoc", "-Tlint", "-Wwarning", name}} {
		program, err := exec.LookPath(lint[0])
		if err != nil {
			continue
		}
		checked = true
		cmd := exec.Command(program, lint[1:]...)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANPAGER=cat", "MANWIDTH=100")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err = cmd.Run()
		complaints := errs.String()
		if lint[0] == "mandoc" {
			for line := range strings.Lines(out.String()) {
				if !strings.Contains(line, "missing date") { // the same source must make the same page, so it has no date
					complaints += line
				}
			}
		}
		if err != nil && lint[0] == "man" || complaints != "" {
			t.Errorf("%s: %v: %s", lint[0], err, complaints)
		}
		if lint[0] == "man" && !strings.Contains(out.String(), "--segment-seconds TIME") {
			t.Error("the page that man shows lacks --segment-seconds TIME")
		}
	}
	if !checked {
		t.Log("neither man nor mandoc is installed")
	}
}
