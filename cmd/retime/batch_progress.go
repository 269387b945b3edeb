package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"retime/pipeline"
	"retime/pipeline/batch"
	"retime/pipeline/fault"
)

// batchProgress displays the progress of a batch. Its methods are not called
// concurrently.
type batchProgress struct {
	out    io.Writer
	screen *screen
	now    func() time.Time
	jobs   []batch.Job
	show   func(batch.Event) // nil for no display

	began   time.Time
	shown   time.Time
	weights []float64 // of the clips: their sizes in bytes
	states  []batch.State
	skipped []bool
	frames  []pipeline.Progress
	starts  []time.Time
}

func newBatchProgress(kind string, quiet bool, jobs []batch.Job, out io.Writer) (*batchProgress, error) {
	p := &batchProgress{
		out: out, screen: newScreen(out), now: time.Now, jobs: jobs, began: time.Now(), weights: make([]float64, len(jobs)), states: make([]batch.State, len(jobs)),
		skipped: make([]bool, len(jobs)), frames: make([]pipeline.Progress, len(jobs)), starts: make([]time.Time, len(jobs)),
	}
	for i, j := range jobs {
		p.weights[i] = float64(1 + j.InputSize())
		p.states[i] = batch.Pending
	}
	if kind == "auto" && isTerminal(out) && !p.screen.ascii {
		kind = "bar"
	}
	if quiet && kind != "json" {
		kind = "none"
	}
	switch kind {
	case "none":
	case "auto", "lines":
		p.show = p.line
	case "bar":
		p.show = p.bar
	case "json":
		p.show = p.json
	default:
		return nil, fault.New(fault.Usage, "--progress %s: choose from auto, bar, lines, json, none", kind)
	}
	return p, nil
}

func (p *batchProgress) event(e batch.Event) {
	began := e.State == batch.Running && p.states[e.Job] != batch.Running
	p.states[e.Job], p.skipped[e.Job] = e.State, e.Skipped
	if began {
		p.starts[e.Job] = p.now()
	}
	if e.Outcome == nil {
		p.frames[e.Job] = e.Progress
		if !began && p.now().Sub(p.shown) < refresh {
			return
		}
	}
	if p.show != nil {
		p.show(e)
		p.shown = p.now()
	}
}

// done ends the display.
func (p *batchProgress) done() { p.screen.erase() }

// count returns the number of clips in a state. Skipped clips are Done.
func (p *batchProgress) count(s batch.State) (n int) {
	for _, t := range p.states {
		if s == t {
			n++
		}
	}
	return n
}

// remaining estimates how long the rest of the batch will take, from the sizes of the
// clips. ok is false if no clip has progressed.
func (p *batchProgress) remaining() (d time.Duration, ok bool) {
	var done, all float64
	for i, w := range p.weights {
		if p.skipped[i] {
			continue
		}
		all += w
		switch f := p.frames[i]; {
		case p.states[i] == batch.Done || p.states[i] == batch.Failed:
			done += w
		case f.Total > 0:
			done += w * float64(f.Frames) / float64(f.Total)
		}
	}
	if done == 0 {
		return 0, false
	}
	return time.Duration(float64(p.now().Sub(p.began)) * (all - done) / done), true
}

// summary returns a line on the state of the whole batch.
func (p *batchProgress) summary() string {
	text := fmt.Sprintf("%d of %d clips done", p.count(batch.Done), len(p.jobs))
	if n := p.count(batch.Failed); n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	if n := p.count(batch.Running); n > 0 {
		text += fmt.Sprintf(", %d running", n)
	}
	if d, ok := p.remaining(); ok && d > 0 {
		text += ", " + clock(d) + " left"
	}
	return text
}

// line prints a line for a clip that ended.
func (p *batchProgress) line(e batch.Event) {
	if e.Outcome == nil || e.Skipped {
		return
	}
	name, o := printable(p.jobs[e.Job].Output), e.Outcome
	switch o.State {
	case batch.Done:
		fmt.Fprintf(p.out, "done: %s: %d frames in %s", name, o.Frames, clock(o.Elapsed))
	case batch.Failed:
		fmt.Fprintf(p.out, "failed: %s: %s", name, printable(said(o.Err, nil)))
	default:
		fmt.Fprintf(p.out, "stopped: %s", name)
	}
	fmt.Fprintf(p.out, " (%s)\n", p.summary())
}

// bar prints a line for a clip that ended, and below it draws a line for each running
// clip and one for the batch.
func (p *batchProgress) bar(e batch.Event) {
	p.screen.erase()
	p.line(e)
	var lines []string
	for i, s := range p.states {
		if s != batch.Running {
			continue
		}
		f, text := p.frames[i], "  "
		if f.Total > 0 {
			text += fmt.Sprintf("[%s] %3d%% ", cells(f, 20, "="), 100*f.Frames/f.Total)
		}
		text += fmt.Sprintf("%d frames", f.Frames)
		if left, ok := remaining(f, p.now().Sub(p.starts[i])); ok {
			text += ", " + clock(left) + " left"
		}
		lines = append(lines, text+"  "+printable(filepath.Base(p.jobs[i].Output)))
	}
	p.screen.draw(append(lines, p.summary())...)
}

// json prints an object for the event of a clip, and one for the batch.
func (p *batchProgress) json(e batch.Event) {
	f := p.frames[e.Job]
	clip := struct {
		Clip  int   `json:"clip"`
		Total int64 `json:"total"`
		clipJSON
	}{e.Job, f.Total, clipJSON{
		Input: p.jobs[e.Job].Input, Output: p.jobs[e.Job].Output, State: string(e.State), Skipped: e.Skipped, Frames: f.Frames,
	}}
	if o := e.Outcome; o != nil {
		clip.Frames, clip.Made, clip.Seconds, clip.Log = o.Frames, o.Made, o.Elapsed.Seconds(), o.Log
		clip.fail(o.Err)
	} else {
		clip.Seconds = p.now().Sub(p.starts[e.Job]).Seconds()
	}
	whole := struct {
		Clips   int      `json:"clips"`
		Done    int      `json:"done"`
		Failed  int      `json:"failed"`
		Running int      `json:"running"`
		Seconds float64  `json:"seconds"`
		Left    *float64 `json:"left"` // null if unknown
	}{len(p.jobs), p.count(batch.Done), p.count(batch.Failed), p.count(batch.Running), p.now().Sub(p.began).Seconds(), nil}
	if d, ok := p.remaining(); ok {
		s := d.Seconds()
		whole.Left = &s
	}
	out := json.NewEncoder(p.out)
	out.SetEscapeHTML(false)
	_ = out.Encode(clip) // a failing display must not stop the work
	_ = out.Encode(whole)
}

// printable replaces the characters of text that could move the cursor.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

// clock formats d for people.
func clock(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
