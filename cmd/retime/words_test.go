package main

import (
	"bytes"
	"log/slog"
	"testing"
)

// Messages name flags, but leave alone what the user has named like an option of the library.
func TestMessagesKeepWhatTheyQuote(t *testing.T) {
	for message, want := range map[string]string{
		`Timing.From 3 s: the video ends at 2 s`:                   `--from 3 s: the video ends at 2 s`,
		`input "Output.Format": no such file`:                      `input "Output.Format": no such file`,
		`output "a\"Timing.From" exists; Output.Overwrite does it`: `output "a\"Timing.From" exists; -y does it`,
		`"Output.File" and "Input.Map" and Input.Map`:              `"Output.File" and "Input.Map" and --map`,
		`Output.Nothing`: `Output.Nothing`,
	} {
		if got := inFlags(message, nil); got != want {
			t.Errorf("%s: got %s", message, got)
		}
	}
	var b bytes.Buffer
	slog.New(newLogHandler(&b, slog.LevelInfo)).Info("pictures have no rate; Input.Rate gives it", "input", "Output.Format")
	if want := "retime: pictures have no rate; --in-fps gives it (input Output.Format)\n"; b.String() != want {
		t.Errorf("logged %q, want %q", b.String(), want)
	}
}
