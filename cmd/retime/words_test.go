package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// Messages name flags, but leave alone what the user has named like an option of the library.
func TestMessagesKeepTheUsersWords(t *testing.T) {
	const user = "Output.Format"
	for _, c := range []struct {
		err  error
		want string
	}{
		{fault.New(fault.Usage, "Timing.From %s: the video ends at 2 s", user), "--from Output.Format: the video ends at 2 s"},
		{fault.New(fault.CannotWrite, "output %q exists; Output.Overwrite does it", user), `output "Output.Format" exists; -y does it`},
		{fmt.Errorf("%s: %w", user, fault.New(fault.NoInput, "input %q: Input.Map, Output.Nothing", user)), `Output.Format: input "Output.Format": --map, Output.Nothing`},
		{(&pipeline.Options{Input: pipeline.Input{File: user}, Output: pipeline.Output{File: user}, Synthesis: pipeline.Synthesis{Preset: user}}).Check(), "--preset Output.Format: choose from fast, balanced, best"},
		{inProcess(t, user, "-o", "out.mp4"), `input "Output.Format": no such file or directory`},
	} {
		if got := said(c.err, nil); got != c.want {
			t.Errorf("%v: got %s, want %s", c.err, got, c.want)
		}
	}
	if got := inFlags("a restoration with Options.Detect mends the damaged frames", nil); got != "retime restore --detect mends the damaged frames" {
		t.Error(got)
	}
	var b bytes.Buffer
	slog.New(newLogHandler(&b, slog.LevelInfo)).Info("pictures have no rate; Input.Rate gives it", "input", "Output.Format")
	if want := "retime: pictures have no rate; --in-fps gives it (input Output.Format)\n"; b.String() != want {
		t.Errorf("logged %q, want %q", b.String(), want)
	}
}
