//go:build unix

package motion

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"retime/flow"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/warp"
)

// example returns the command line of the example in docs/flow.md, which needs Python.
func example(t *testing.T) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("no Python: %v", err)
	}
	doc, err := os.ReadFile("../../docs/flow.md")
	must(t, err)
	_, rest, _ := strings.Cut(string(doc), "```python\n")
	program, _, whole := strings.Cut(rest, "```")
	if !whole {
		t.Fatal("docs/flow.md has no example in Python")
	}
	if n := strings.Count(program, "\n"); n > 40 {
		t.Errorf("the example has %d lines", n)
	}
	name := filepath.Join(t.TempDir(), "shift.py")
	must(t, os.WriteFile(name, []byte(program), 0o666))
	return python + " " + name
}

// moved returns the guide of fixed noise that has moved by (dx, dy) pixels.
func moved(width, height, dx, dy int) Guide {
	const margin = 8
	r := rand.New(rand.NewPCG(11, 0))
	noise := frame.NewImage[uint8](width+2*margin, height+2*margin)
	for i := range noise.Pix {
		noise.Pix[i] = uint8(r.Uint32())
	}
	m := frame.NewImage[uint8](width, height)
	for y := range height {
		copy(m.Row(y), noise.Row(y - dy + margin)[margin-dx:])
	}
	return there(m)
}

// The documentation's example answers with the motion of the whole picture.
func TestExampleCommand(t *testing.T) {
	e, err := NewEstimator(t.Context(), Params{Method: FromCommand + Method(example(t))})
	must(t, err)
	defer e.Close()
	a := moved(61, 47, 0, 0)
	for _, d := range [][2]int{{3, -2}, {0, 0}, {-4, 1}} {
		p := estimated(t, e, a, moved(61, 47, d[0], d[1]))
		v := flow.Vec{X: int32(d[0] * flow.One), Y: int32(d[1] * flow.One)}
		for _, i := range []int{0, len(p.Forward.Pix) - 1} {
			if p.Forward.Pix[i] != v || p.Backward.Pix[i] != (flow.Vec{X: -v.X, Y: -v.Y}) {
				t.Errorf("motion %v: %v and back %v", d, p.Forward.Pix[i], p.Backward.Pix[i])
			}
		}
	}
}

// answers returns the name of a file with n answers about pictures of the given size.
func answers(t *testing.T, width, height, n int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "answers")
	file, err := os.Create(name)
	must(t, err)
	defer file.Close()
	for range n {
		must(t, flow.WriteFlo(file, flow.NewField(width, height)))
	}
	return name
}

// If a process does not answer properly, the error says what it did. Nothing waits for it.
func TestCommandFaults(t *testing.T) {
	// The pictures are larger than a pipe's buffer.
	a, b := moved(400, 300, 0, 0), moved(400, 300, 1, 0)
	request := 2 * (len("P5\n400 300\n255\n") + 400*300)
	good := answers(t, 400, 300, 50)
	head := "head -c " + fmt.Sprint(request) + " >/dev/null; "
	unknown := filepath.Join(t.TempDir(), "unknown")
	file, err := os.Create(unknown)
	must(t, err)
	f := flow.NewField(400, 300)
	f.Row(2)[7] = flow.Unknown
	must(t, flow.WriteFlo(file, f))
	must(t, file.Close())
	for _, c := range []struct{ name, line, says string }{
		{"not found", "/nowhere/estimator", "not found"},
		{"fails", "echo no such network >&2; exit 3", "it ended before it answered (exit status 3): no such network"},
		{"fails after reading", head + "exit 4", "it ended before it answered (exit status 4)"},
		{"ends", head + "exit 0", "it ended before it answered"},
		{"ends without reading", "exit 0", "it ended before it answered"},
		{"kills itself", head + "kill -9 $$", "it ended before it answered (signal: killed)"},
		{"short", head + "head -c 5000 " + good + "; exit 0", "it ended in the middle of its answer"},
		{"killed while it writes", head + "head -c 5000 " + good + "; kill -9 $$", "it ended in the middle of its answer (signal: killed)"},
		{"garbage", head + "echo hello everybody; cat >/dev/null", `starts with "hell", not "PIEH"`},
		{"endless garbage", "yes", "it answered before it had read both pictures"},
		{"endless answers", "while cat " + good + "; do :; done", "it answered before it had read both pictures"},
		{"wrong size", head + "cat " + answers(t, 300, 400, 1) + "; cat >/dev/null", "it answered with a flow of 300x400 for pictures of 400x300"},
		{"nothing known", head + "cat " + unknown + "; cat >/dev/null", "its answer has no vector at (7, 2)"},
		{"closes its output", head + "exec >&-; sleep 1000", "it closed its input or output before it answered and did not end"},
		{"closes its input", "exec <&-; sleep 1000", "it closed its input or output before it answered and did not end"},
		{"leaves another", head + "sleep 1000 & exit 5", "it ended before it answered (exit status 5)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newCommand(t.Context(), c.line)
			defer e.close()
			if e.grace = time.Minute; strings.HasPrefix(c.name, "closes") {
				e.grace = time.Millisecond
			}
			var dst warp.FlowPair
			for range 2 { // the second time, no process is running
				err := e.estimate(a, b, &dst)
				if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.line) || fault.KindOf(err) != fault.BadData {
					t.Errorf("error %v, want %q", err, c.says)
				}
			}
		})
	}
}

// If a process dies between two requests, the second one fails.
func TestCommandKilled(t *testing.T) {
	good := answers(t, 61, 47, 1)
	a := moved(61, 47, 0, 0)
	e := newCommand(t.Context(), "head -c "+fmt.Sprint(2*(len("P5\n61 47\n255\n")+61*47))+" >/dev/null; cat "+good+"; cat >/dev/null")
	defer e.close()
	var dst flow.Field
	must(t, e.field(a.picture(), a.picture(), &dst))
	must(t, syscall.Kill(-e.running.Group(), syscall.SIGKILL))
	err := e.field(a.picture(), a.picture(), &dst)
	if err == nil || !strings.Contains(err.Error(), "it ended before it answered (signal: killed)") {
		t.Errorf("error %v", err)
	}
}

// Cancelling the conversion ends a process that never answers.
func TestCommandCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := newCommand(ctx, "kill -USR1 "+fmt.Sprint(os.Getpid())+"; sleep 1000")
	defer e.close()
	a := moved(400, 300, 0, 0)
	started := make(chan os.Signal, 1)
	signal.Notify(started, syscall.SIGUSR1)
	defer signal.Stop(started)
	go func() {
		<-started
		cancel()
	}()
	var dst warp.FlowPair
	if err := e.estimate(a, a, &dst); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	<-e.running.Ended()
}

// A process reads until the estimator is closed, and then ends.
func TestCommandCloses(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ended")
	good := answers(t, 61, 47, 1)
	e := newCommand(t.Context(), "head -c "+fmt.Sprint(2*(len("P5\n61 47\n255\n")+61*47))+" >/dev/null; cat "+good+"; cat >/dev/null; echo done >"+name)
	e.grace = time.Minute
	a := moved(61, 47, 0, 0)
	var dst flow.Field
	must(t, e.field(a.picture(), a.picture(), &dst))
	e.close()
	if _, err := os.Stat(name); err != nil {
		t.Errorf("the process did not end by itself: %v", err)
	}
	if err := e.field(a.picture(), a.picture(), &dst); err == nil {
		t.Error("a closed command answers")
	}
}
