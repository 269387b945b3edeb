package main

import (
	"os"
	"path/filepath"
	"testing"

	"retime/pipeline/fault"
)

func TestTyposGetSuggestions(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	if err := os.WriteFile(filepath.Join(here, "planz"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"a", "-o", "b", "--fsp", "60"}, "retime: unknown flag: --fsp; did you mean --fps?\n"},
		{[]string{"a", "-o", "b", "--slo=4"}, "retime: unknown flag: --slo; did you mean --slow?\n"},
		{[]string{"batch", "a", "--resmue"}, "retime: unknown flag: --resmue; did you mean --resume?\n"},
		{[]string{"a", "--xyzzy"}, "retime: unknown flag: --xyzzy; see retime --help\n"},
		{[]string{"a", "-o", "b", "-Z"}, "retime: unknown shorthand flag: 'Z' in -Z; see retime --help\n"},
		{[]string{"evalute"}, "retime: no file \"evalute\"; did you mean retime evaluate?\n"},
		{[]string{"evalute", "in.mp4"}, "retime: no file \"evalute\"; did you mean retime evaluate?\n"},
		{[]string{"bacth", "in.mp4", "--parallel", "2"}, "retime: unknown flag: --parallel; did you mean retime batch?\n"},
		{[]string{"planz", "in.mp4"}, "retime: two names: name the output with -o in.mp4\n"},
		{[]string{"planz", "planz"}, "retime: one input at a time, not \"planz\", \"planz\"; see retime --help\n"},
	} {
		if _, stderr, code := run(t, c.args...); code != int(fault.Usage) || stderr != c.want {
			t.Errorf("%q: exit code %d, %swant %s", c.args, code, stderr, c.want)
		}
	}
}

func TestVersionVerb(t *testing.T) {
	flag, _, _ := run(t, "--version")
	verb, _, code := run(t, "version")
	if code != 0 || verb != flag {
		t.Errorf("retime version prints %q, exit code %d; retime --version prints %q", verb, code, flag)
	}
}
