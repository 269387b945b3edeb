package shell

import (
	"context"
	"io"
	"testing"
	"time"
)

func TestProcess(t *testing.T) {
	for _, c := range []struct{ name, line, out, says string }{
		{"gets variables", `echo %NAME%`, "a value\r\n", ""},
		{"fails", "echo first>&2& echo last>&2& exit 3", "", "it ended in the test (exit status 3): last"},
		{"quotes", `cd "." && echo "a b"`, "\"a b\"\r\n", ""},
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

// The context's end kills the shell and what it has started.
func TestProcessesAreKilled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p, err := Start(ctx, "cmd /c pause & pause")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	cancel()
	if _, err := io.ReadAll(p.Out); err != nil { // until nobody has it open
		t.Error(err)
	}
	<-p.Ended()
}
