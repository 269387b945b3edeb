//go:build unix

package shell

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

func TestProcess(t *testing.T) {
	for _, c := range []struct{ name, line, out, says string }{
		{"gets variables", `printf %s "$NAME"`, "a value", ""},
		{"fails", "echo first >&2; echo last >&2; exit 3", "", "it ended in the test (exit status 3): last"},
		{"is killed", "kill -9 $$", "", "it ended in the test (signal: killed)"},
		{"reads its input to the end", "cat; echo ended", "ended\n", ""},
		{"leaves others behind", "sleep 1000 & echo ended", "ended\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := Start(t.Context(), c.line, "NAME=a value")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			p.In.Close()
			out, err := io.ReadAll(p.Out)
			if err != nil || string(out) != c.out {
				t.Errorf("it wrote %q, %v; want %q", out, err, c.out)
			}
			if err := p.Failed("in the test", time.Minute); c.says == "" && err != nil || c.says != "" && (err == nil || err.Error() != c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}

// A process that does not end is killed after the time of grace, and by the context at once.
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
	ctx, cancel := context.WithCancel(t.Context())
	q, err := Start(ctx, "sleep 1000 & sleep 1000")
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	cancel()
	if out, err := io.ReadAll(q.Out); err != nil || len(out) > 0 { // until nobody has it open
		t.Errorf("%q, %v", out, err)
	}
	<-q.Ended()
}
