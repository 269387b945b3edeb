package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"retime/pipeline"
	"retime/pipeline/batch"
	"retime/pipeline/fault"
)

// stopwatch is a clock that a test sets.
type stopwatch struct{ at time.Duration }

func (s *stopwatch) now() time.Time { return time.Unix(0, 0).Add(s.at) }

// terminal returns the lines that a terminal shows for text, which may hold the control
// sequences of the displays.
func terminal(t *testing.T, text string) []string {
	t.Helper()
	lines, row, column := [][]rune{nil}, 0, 0
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "\x1b[J"); ok { // erase to the end of the screen
			text = rest
			lines = lines[:row+1]
			lines[row] = lines[row][:column]
			continue
		}
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok { // cursor up
			n, end, _ := strings.Cut(rest, "A")
			if len(n) != 1 || int(n[0]-'0') > row {
				t.Fatalf("cursor up by %q from row %d", n, row)
			}
			row, text = row-int(n[0]-'0'), end
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		switch r {
		case '\r':
			column = 0
		case '\n':
			if row, column = row+1, 0; row == len(lines) {
				lines = append(lines, nil)
			}
		default:
			lines[row] = append(lines[row][:column], r)
			column++
		}
	}
	var shown []string
	for _, l := range lines {
		shown = append(shown, string(l))
	}
	return shown
}

// shows checks the lines on the terminal.
func shows(t *testing.T, out *bytes.Buffer, want ...string) {
	t.Helper()
	if got := strings.Join(terminal(t, out.String()), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the terminal shows\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestBar(t *testing.T) {
	var out bytes.Buffer
	var clock stopwatch
	p, err := progressAt(clock.now, "bar", false, &out)
	if err != nil {
		t.Fatal(err)
	}
	shows(t, &out, "| frames (0/-, 0 frame/hr) [0s]")
	for _, s := range []struct {
		at   time.Duration
		p    pipeline.Progress
		want string
	}{
		{2 * time.Second, pipeline.Progress{Frames: 1}, "/ frames (1/-, 30 frame/min) [2s]"},
		{200 * time.Second, pipeline.Progress{Frames: 2}, "- frames (2/-, 36 frame/hr) [3m20s]"},
		{250 * time.Second, pipeline.Progress{Frames: 300, Total: 1000}, "frames  30% |████████                     | (300/1000, 1 frame/s) [4m10s:9m43s]"},
		{250*time.Second + refresh/2, pipeline.Progress{Frames: 310, Total: 1000}, "frames  30% |████████                     | (300/1000, 1 frame/s) [4m10s:9m43s]"}, // too soon
		{310 * time.Second, pipeline.Progress{Frames: 930, Total: 1000}, "frames  93% |███████████████████████████   | (930/1000, 3 frame/s) [5m10s:23s]"},
		{310*time.Second + refresh/2, pipeline.Progress{Frames: 1000, Total: 1000}, "frames  93% |███████████████████████████   | (930/1000, 3 frame/s) [5m10s:23s]"},
	} {
		clock.at = s.at
		p.update(s.p)
		shows(t, &out, s.want)
	}
	p.done()
	shows(t, &out, "frames 100% |██████████████████████████████| (1000/1000, 3 frame/s)", "")
}

// What an earlier run had made does not count for the rate and the time that is left.
func TestBarOfResumedRun(t *testing.T) {
	var out bytes.Buffer
	var clock stopwatch
	p, err := progressAt(clock.now, "bar", false, &out)
	if err != nil {
		t.Fatal(err)
	}
	clock.at = time.Second
	p.update(pipeline.Progress{Frames: 501, Total: 1000})
	clock.at = 10 * time.Second
	p.update(pipeline.Progress{Frames: 600, Total: 1000})
	shows(t, &out, "frames  60% |██████████████████            | (600/1000, 10 frame/s) [10s:40s]")
}

// Messages beside the display stay on the terminal.
func TestBarAndMessages(t *testing.T) {
	var out bytes.Buffer
	var clock stopwatch
	p, err := progressAt(clock.now, "bar", false, &out)
	if err != nil {
		t.Fatal(err)
	}
	out.WriteString("\nwarning\n")
	clock.at = time.Second
	p.update(pipeline.Progress{Frames: 1, Total: 2})
	p.done()
	shows(t, &out, "| frames (0/-, 0 frame/hr) [0s]", "warning", "frames  50% |███████████████               | (1/2, 1 frame/s)", "")
}

func TestNarrowTerminal(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, width: func() int { return 5 }}
	s.draw("äöüäöü", "two")
	s.draw("longer", "one", "more")
	shows(t, &out, "long", "one", "more")
	s.erase()
	shows(t, &out, "")
}

// A very narrow terminal has the numbers without the bar, and a dumb one ASCII only.
func TestBarOfPoorTerminals(t *testing.T) {
	for _, c := range []struct {
		width int
		term  string
		want  string
	}{
		{80, "xterm", "frames  50% |███████████████               | (1/2, 15 frame/min) [4s:4s]"},
		{60, "xterm", "frames  50% |████████         | (1/2, 15 frame/min) [4s:4s]"},
		{49, "xterm", "frames  50% (1/2, 15 frame/min) [4s:4s]"},
		{80, "dumb", "frames  50% |###############               | (1/2, 15 frame/min) [4s:4s]"},
		{20, "dumb", "frames  5~) [4s:4s]"},
	} {
		t.Setenv("TERM", c.term)
		var out bytes.Buffer
		m := meter{out: &out, screen: newScreen(&out), now: func() time.Time { return time.Unix(4, 0) }, began: time.Unix(0, 0)}
		m.screen.width = func() int { return c.width }
		m.last = pipeline.Progress{Frames: 1, Total: 2}
		m.bar()
		m.bar()
		shows(t, &out, c.want)
		if dumb := c.term == "dumb"; dumb == strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s: %q", c.term, &out)
		}
	}
}

func TestProgressOffTerminal(t *testing.T) {
	for _, c := range []struct {
		kind  string
		quiet bool
		want  string
	}{
		{"auto", false, ""}, // a buffer is not a terminal
		{"none", false, ""},
		{"json", true, `{"frames":1,"total":0,"seconds":1.5}` + "\n" + `{"frames":4,"total":4,"seconds":1.6}` + "\n"},
	} {
		var out bytes.Buffer
		var clock stopwatch
		p, err := progressAt(clock.now, c.kind, c.quiet, &out)
		if err != nil {
			t.Fatal(err)
		}
		clock.at = 1500 * time.Millisecond
		p.update(pipeline.Progress{Frames: 1})
		clock.at = 1600 * time.Millisecond
		p.update(pipeline.Progress{Frames: 4, Total: 4})
		p.done()
		if out.String() != c.want {
			t.Errorf("%s: %q, want %q", c.kind, &out, c.want)
		}
	}
	if _, err := newProgress("lines", false, &bytes.Buffer{}); fault.KindOf(err) != fault.Usage {
		t.Errorf("--progress lines for one clip: %v", err)
	}
}

// batchEvents plays the events of four clips to a display and calls look after each.
func batchEvents(t *testing.T, kind string, quiet bool, look func(step int, out *bytes.Buffer)) string {
	t.Helper()
	var out bytes.Buffer
	var clock stopwatch
	var jobs []batch.Job
	for _, name := range []string{"a", "b", "c", "d"} {
		jobs = append(jobs, batch.Job{Input: name, Output: "out/" + name + "\x1b.mp4"})
	}
	p, err := newBatchProgress(kind, quiet, jobs, &out)
	if err != nil {
		t.Fatal(err)
	}
	p.now, p.began = clock.now, clock.now()
	for step, s := range []struct {
		at time.Duration
		e  batch.Event
	}{
		{0, batch.Event{Job: 0, State: batch.Done, Skipped: true, Outcome: &batch.Outcome{State: batch.Done, Skipped: true, Frames: 9}}},
		{0, batch.Event{Job: 1, State: batch.Running}},
		{0, batch.Event{Job: 2, State: batch.Running}},
		{10 * time.Second, batch.Event{Job: 1, State: batch.Running, Progress: pipeline.Progress{Frames: 25, Total: 100}}},
		{20 * time.Second, batch.Event{Job: 1, State: batch.Failed, Outcome: &batch.Outcome{State: batch.Failed, Err: fault.New(fault.CannotWrite, "Options.Overwrite\n"), Elapsed: 20 * time.Second}}},
		{80 * time.Second, batch.Event{Job: 2, State: batch.Done, Outcome: &batch.Outcome{State: batch.Done, Frames: 50, Made: 20, Elapsed: 80 * time.Second, Log: "c.log"}}},
		{80 * time.Second, batch.Event{Job: 3, State: batch.Running}},
		{81 * time.Second, batch.Event{Job: 3, State: batch.Pending, Outcome: &batch.Outcome{State: batch.Pending}}},
	} {
		clock.at = s.at
		p.event(s.e)
		look(step, &out)
	}
	p.done()
	return out.String()
}

func TestBatchBar(t *testing.T) {
	got := batchEvents(t, "bar", false, func(step int, out *bytes.Buffer) {
		switch step {
		case 0:
			shows(t, out, "1 of 4 clips done")
		case 2:
			shows(t, out, "  0 frames  b?.mp4", "  0 frames  c?.mp4", "1 of 4 clips done, 2 running")
		case 3:
			shows(t, out, "  [=====               ]  25% 25 frames, 30.0 s left  b?.mp4", "  0 frames  c?.mp4", "1 of 4 clips done, 2 running, 1m50s left")
		case 4:
			shows(t, out, "failed: out/b?.mp4: -y? (1 of 4 clips done, 1 failed, 1 running, 40.0 s left)",
				"  0 frames  c?.mp4", "1 of 4 clips done, 1 failed, 1 running, 40.0 s left")
		}
	})
	// The lines of the clips that ended stay at the end.
	shows(t, bytes.NewBufferString(got), strings.Split(ended, "\n")...)
}

// ended holds the lines of the clips that end in batchEvents.
const ended = "failed: out/b?.mp4: -y? (1 of 4 clips done, 1 failed, 1 running, 40.0 s left)\n" +
	"done: out/c?.mp4: 50 frames in 1m20s (2 of 4 clips done, 1 failed, 40.0 s left)\n" +
	"stopped: out/d?.mp4 (2 of 4 clips done, 1 failed, 40.5 s left)\n"

func TestBatchProgressOffTerminal(t *testing.T) {
	for _, c := range []struct {
		kind  string
		quiet bool
		want  string
	}{{"auto", false, ended}, {"lines", false, ended}, {"lines", true, ""}, {"none", false, ""}} {
		if got := batchEvents(t, c.kind, c.quiet, func(int, *bytes.Buffer) {}); got != c.want {
			t.Errorf("%s, quiet %v: %q, want %q", c.kind, c.quiet, got, c.want)
		}
	}
	got := strings.Split(batchEvents(t, "json", true, func(int, *bytes.Buffer) {}), "\n")
	for i, want := range map[int]string{
		0:  `{"clip":0,"total":0,"input":"a","output":"out/a\u001b.mp4","state":"done","skipped":true,"frames":9,"made":0,"seconds":0}`,
		1:  `{"clips":4,"done":1,"failed":0,"running":0,"seconds":0,"left":null}`,
		6:  `{"clip":1,"total":100,"input":"b","output":"out/b\u001b.mp4","state":"running","frames":25,"made":0,"seconds":10}`,
		7:  `{"clips":4,"done":1,"failed":0,"running":2,"seconds":10,"left":110}`,
		8:  `{"clip":1,"total":100,"input":"b","output":"out/b\u001b.mp4","state":"failed","frames":0,"made":0,"seconds":20,"error":"-y\n","code":73}`,
		10: `{"clip":2,"total":0,"input":"c","output":"out/c\u001b.mp4","state":"done","frames":50,"made":20,"seconds":80,"log":"c.log"}`,
	} {
		if i >= len(got) || got[i] != want {
			t.Errorf("line %d of %d: %s, want %s", i, len(got), got[min(i, len(got)-1)], want)
		}
	}
	if _, err := newBatchProgress("magic", false, nil, &bytes.Buffer{}); fault.KindOf(err) != fault.Usage {
		t.Errorf("--progress magic: %v", err)
	}
}
