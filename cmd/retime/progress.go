package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// progress displays the progress of a conversion.
type progress struct {
	update func(pipeline.Progress)
	done   func()
}

// refresh is the least time between two displays.
const refresh = 200 * time.Millisecond

// settled is how long a conversion runs before its rate tells when it ends.
const settled = 2 * time.Second

// barWidth is the least width of a terminal, in characters, on which there is room for a bar.
const barWidth = 50

func newProgress(kind string, quiet bool, out io.Writer) (*progress, error) {
	return progressAt(time.Now, kind, quiet, out)
}

func progressAt(now func() time.Time, kind string, quiet bool, out io.Writer) (*progress, error) {
	if kind == "auto" {
		kind = "none"
		if !quiet && isTerminal(out) {
			kind = "bar"
		}
	}
	m := &meter{out: out, now: now, began: now(), screen: newScreen(out)}
	switch kind {
	case "none":
		return &progress{func(pipeline.Progress) {}, func() {}}, nil
	case "bar":
		m.bar()
		return &progress{m.throttled(m.bar), func() {
			m.bar()
			m.screen.leave()
		}}, nil
	case "json":
		return &progress{m.throttled(m.json), m.json}, nil
	}
	return nil, fault.New(fault.Usage, "--progress %s: choose from auto, bar, json, none", kind)
}

// meter displays the progress of one conversion.
type meter struct {
	out    io.Writer
	screen *screen
	now    func() time.Time
	began  time.Time
	shown  time.Time
	draws  int
	last   pipeline.Progress
	before int64 // frames that an earlier run had made
	moved  bool  // there was progress
}

// throttled returns a function that stores the progress and calls show if the last
// display is old enough.
func (m *meter) throttled(show func()) func(pipeline.Progress) {
	return func(p pipeline.Progress) {
		if !m.moved {
			m.before, m.moved = max(p.Frames-1, 0), true
		}
		m.last = p
		if m.now().Sub(m.shown) >= refresh {
			m.shown = m.now()
			show()
		}
	}
}

// json writes one object a line: frames, total (0 if unknown), and seconds since the
// start.
func (m *meter) json() {
	_ = json.NewEncoder(m.out).Encode(struct { // a failing display must not stop the work
		Frames  int64   `json:"frames"`
		Total   int64   `json:"total"`
		Seconds float64 `json:"seconds"`
	}{m.last.Frames, m.last.Total, m.now().Sub(m.began).Seconds()})
}

// bar draws a line with the share that is done, the frames, their rate, and the times
// so far and to come. It shortens the bar on a narrow terminal, and leaves it out on a very narrow one.
func (m *meter) bar() {
	p, elapsed := m.last, m.now().Sub(m.began)
	rate := perTime(float64(p.Frames-m.before) / max(elapsed.Seconds(), 1e-3))
	if p.Total <= 0 {
		m.screen.draw(fmt.Sprintf("%c frames (%d/-, %s) [%v]", `|/-\`[m.draws%4], p.Frames, rate, elapsed.Truncate(time.Second)))
		m.draws++
		return
	}
	share, rest := fmt.Sprintf("frames %3d%% ", 100*p.Frames/p.Total), fmt.Sprintf(" (%d/%d, %s)", p.Frames, p.Total, rate)
	if left, ok := remaining(pipeline.Progress{Frames: p.Frames - m.before, Total: p.Total - m.before}, elapsed); ok && elapsed >= settled {
		rest += fmt.Sprintf(" [%v:%v]", elapsed.Truncate(time.Second), left.Truncate(time.Second))
	}
	full := "█"
	if m.screen.ascii {
		full = "#"
	}
	if width := m.screen.width(); width >= barWidth {
		room := width - len(share) - len("||") - len(rest) - 1
		share += "|" + cells(p, min(max(room, 0), 30), full) + "|"
	}
	m.screen.draw(strings.TrimRight(share, " ") + rest)
}

// perTime formats a rate of frames per second in the largest unit that gives 1 or more.
func perTime(rate float64) string {
	for _, unit := range []string{"s", "min"} {
		if rate >= 1 {
			return fmt.Sprintf("%.0f frame/%s", rate, unit)
		}
		rate *= 60
	}
	return fmt.Sprintf("%.0f frame/hr", rate)
}

// cells returns a bar of n cells, of which it fills the share that p has done. p.Total
// must be known.
func cells(p pipeline.Progress, n int, full string) string {
	k := int(int64(n) * min(p.Frames, p.Total) / p.Total)
	return strings.Repeat(full, k) + strings.Repeat(" ", n-k)
}

// remaining estimates how long the rest of p takes. ok is false if that is unknown.
func remaining(p pipeline.Progress, elapsed time.Duration) (left time.Duration, ok bool) {
	if p.Frames <= 0 || p.Total <= p.Frames {
		return 0, false
	}
	return time.Duration(min(float64(elapsed)*float64(p.Total-p.Frames)/float64(p.Frames), math.MaxInt64/2)), true
}

// screen draws lines on a terminal, over the lines that it drew before. The cursor
// stays after the last line, so that other messages appear below.
type screen struct {
	out   io.Writer
	width func() int // of the terminal, in characters
	ascii bool       // the terminal shows only ASCII, and obeys no control sequences
	lines int        // number of lines drawn
}

func newScreen(out io.Writer) *screen {
	return &screen{out: out, ascii: os.Getenv("TERM") == "dumb", width: func() int {
		if f, ok := out.(*os.File); ok {
			if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
				return w
			}
		}
		return 80
	}}
}

func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// draw replaces the drawn lines. It leaves out the middle of lines that are wider than the
// terminal: names begin and end with what tells them apart, and the numbers come last.
func (s *screen) draw(lines ...string) {
	s.erase()
	width := s.width() - 1
	for i, line := range lines {
		if r := []rune(line); len(r) > width {
			lines[i] = shortened(r, width, s.ellipsis())
		}
	}
	fmt.Fprint(s.out, strings.Join(lines, "\n"))
	s.lines = len(lines)
}

func (s *screen) ellipsis() string {
	if s.ascii {
		return "~"
	}
	return "…"
}

// shortened returns the beginning and the end of a line in width characters, with ellipsis, a single
// character, between them.
func shortened(line []rune, width int, ellipsis string) string {
	if width < 8 {
		return string(line[:width])
	}
	head := (width - 1) / 2
	return string(line[:head]) + ellipsis + string(line[len(line)-(width-1-head):])
}

// erase removes the drawn lines.
func (s *screen) erase() {
	if s.ascii {
		if s.lines > 0 {
			fmt.Fprint(s.out, "\r"+strings.Repeat(" ", s.width()-1)+"\r")
		}
		s.lines = 0
		return
	}
	if s.lines > 1 {
		fmt.Fprintf(s.out, "\x1b[%dA", s.lines-1)
	}
	if s.lines > 0 {
		fmt.Fprint(s.out, "\r\x1b[J")
	}
	s.lines = 0
}

// leave keeps the drawn lines; the next ones come below them.
func (s *screen) leave() {
	if s.lines > 0 {
		fmt.Fprintln(s.out)
	}
	s.lines = 0
}
