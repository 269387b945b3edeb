package shell

import (
	"context"
	"io"
	"testing"
	"time"
)

func TestProcess(t *testing.T) {
	for _, c := range processes {
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
	p, err := Start(ctx, waiting)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	cancel()
	if out, err := io.ReadAll(p.Out); err != nil || silent && len(out) > 0 { // until nobody has it open
		t.Errorf("%q, %v", out, err)
	}
	<-p.Ended()
}
