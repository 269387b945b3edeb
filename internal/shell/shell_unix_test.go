//go:build unix

package shell

import (
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

var processes = []struct{ name, line, out, says string }{
	{"gets variables", `printf %s "$NAME"`, "a value", ""},
	{"fails", "echo first >&2; echo last >&2; exit 3", "", "it ended in the test (exit status 3): last"},
	{"is killed", "kill -9 $$", "", "it ended in the test (signal: killed)"},
	{"reads its input to the end", "cat; echo ended", "ended\n", ""},
	{"leaves others behind", "sleep 1000 & echo ended", "ended\n", ""},
}

// waiting is a line that waits, as does what it starts; silent is set if they write nothing meanwhile.
const (
	waiting = "sleep 1000 & sleep 1000"
	silent  = true
)

// A process that does not end is killed after the time of grace.
func TestProcessThatStays(t *testing.T) {
	p, err := Start(t.Context(), "exec >&-; sleep 1000")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := io.ReadAll(p.Out); err != nil {
		t.Error(err)
	}
	if err := p.Failed("in the test", time.Millisecond); err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Errorf("error %v", err)
	}
}

// A shell takes a command line apart into the words that it was joined from.
func TestJoin(t *testing.T) {
	words := []string{"plain-1.mp4", "", "two words", "it's", `a"b\c`, "$HOME", "*", "~", "line\nline", "é"}
	out, err := exec.Command("/bin/sh", "-c", Join(append([]string{"printf", `%s\0`}, words...))).Output()
	if got := strings.Split(string(out), "\x00"); err != nil || !slices.Equal(got[:len(got)-1], words) {
		t.Errorf("%q, %v", got, err)
	}
}
