package review

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"retime/cmd/internal/review/frames"
	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/segment"
)

// renderStatus is how far a rendering is.
type renderStatus struct {
	State   string  `json:"state"` // idle, running, done, failed, cancelled
	Doing   string  `json:"doing,omitempty"`
	Frames  int64   `json:"frames"`
	Total   int64   `json:"total"`
	Kept    int     `json:"kept"`     // segments of an earlier rendering that stay
	Parts   int     `json:"segments"` // all segments; 0 for a rendering in one piece
	Seconds float64 `json:"seconds"`
	Left    float64 `json:"left"` // seconds to go; below 0 if that cannot be told yet
	Output  string  `json:"output"`
	Error   string  `json:"error,omitempty"`
	Exists  bool    `json:"exists"` // a file that the page did not make is in the way
	Version int64   `json:"version"`
}

// rendering is one run.
type rendering struct {
	session   *session
	options   pipeline.Options
	overwrite bool // the user wants it even if the page did not make the output
	began     time.Time
	status    renderStatus
	told      time.Time
	made      int64 // frames made in this run
}

// stateDir returns the directory beside an output in which its segments stay.
func stateDir(output string) string {
	dir, base := filepath.Split(output)
	return filepath.Join(dir, "."+base+".review")
}

// planName is the plan of the segments in stateDir.
const planName = "plan.json"

func (c *session) serveRender(w http.ResponseWriter, r *http.Request) error {
	var ask struct {
		Overwrite bool `json:"overwrite"`
	}
	if err := readRequest(r, &ask); err != nil {
		return err
	}
	if err := c.startRender(ask.Overwrite); err != nil {
		return err
	}
	answer(w, http.StatusOK, c.state())
	return nil
}

// serveCancel stops a rendering; the segments that are whole stay.
func (c *session) serveCancel(_ http.ResponseWriter, r *http.Request) error {
	var none struct{}
	if err := readRequest(r, &none); err != nil {
		return err
	}
	c.stopRender()
	return nil
}

// stopRender stops a rendering, if there is one.
func (c *session) stopRender() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
}

// rendering reports whether the clip is being rendered.
func (c *session) rendering() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancel != nil
}

// startRender begins to render what is decided now.
func (c *session) startRender(overwrite bool) error {
	now, version := c.store.State()
	o, err := c.options(now)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		return fault.New(fault.TryAgain, "the clip is being rendered")
	}
	if c.closed {
		return fault.New(fault.TryAgain, "the clip was closed")
	}
	output := o.Output.File
	j := &rendering{session: c, options: o, began: time.Now(), overwrite: overwrite || o.Output.Overwrite}
	if _, err := os.Lstat(output); err == nil && !j.overwrite && !isOurs(output) {
		c.render = renderStatus{State: "idle", Output: output, Exists: true, Version: version}
		return nil
	}
	j.status = renderStatus{State: "running", Doing: "reading the input", Left: -1, Output: output, Version: version}
	c.render = j.status
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.renders.Add(1)
	go func() {
		defer c.renders.Done()
		defer cancel()
		j.finish(ctx, j.run(ctx))
	}()
	return nil
}

// run renders.
func (j *rendering) run(ctx context.Context) error {
	c := j.session
	select {
	case c.server.renderer <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.server.renderer }()
	defer c.maker.Hold()()
	j.options.Hooks.Progress = j.progress
	dir := stateDir(j.options.Output.File)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fault.New(fault.CannotWrite, "render: %w", err)
	}
	lock, err := atomicfile.LockDir(dir, false)
	if errors.Is(err, atomicfile.ErrLocked) {
		return fault.New(fault.TryAgain, "another retime renders %q; wait for it", j.options.Output.File)
	} else if err != nil {
		return fault.New(fault.CannotWrite, "render: %w", err)
	}
	defer lock.Close()
	if c.inParts() {
		err = j.parts(ctx, dir)
	} else {
		j.status.Doing = "rendering in one piece"
		j.options.Output.Overwrite = j.mayReplace()
		_, err = pipeline.Run(ctx, j.options)
	}
	if err != nil {
		return err
	}
	return leaveMark(j.options.Output.File)
}

// mayReplace reports whether a file in the output's place may be overwritten.
func (j *rendering) mayReplace() bool { return j.overwrite || isOurs(j.options.Output.File) }

// parts renders the segments that are not there, and joins all.
func (j *rendering) parts(ctx context.Context, dir string) error {
	name := filepath.Join(dir, planName)
	older, _ := segment.ReadPlan(name, j.session.server.options.Program) // without one of this program, all is made
	plan, err := segment.New(ctx, j.options, segment.Options{Length: j.session.server.options.Segment, Even: true, Program: j.session.server.options.Program})
	if err != nil {
		return err
	}
	if older != nil && older.Input.Path != plan.Input.Path {
		older = nil
	}
	if j.status.Kept, err = plan.Adopt(ctx, dir, older); err != nil {
		return err
	}
	if err := plan.Write(name, true); err != nil {
		return err
	}
	j.status.Parts, j.status.Total = len(plan.Ranges), plan.Whole.Frames
	j.told = time.Time{}
	var done int64
	for i, r := range plan.Ranges {
		j.status.Doing = "rendering"
		local := j.options
		local.Hooks.Progress = func(p pipeline.Progress) {
			j.made++
			j.progress(pipeline.Progress{Frames: done + p.Frames, Total: plan.Whole.Frames})
		}
		if _, _, err := plan.Make(ctx, dir, i, local); err != nil {
			return err
		}
		done += r.End - r.First
		j.progress(pipeline.Progress{Frames: done, Total: plan.Whole.Frames})
	}
	j.status.Doing = "joining the segments"
	local := j.options
	local.Hooks.Progress, local.Output.Overwrite = nil, j.mayReplace()
	_, err = plan.Join(ctx, dir, local)
	return err
}

// tellEvery is how often tabs are told of the progress.
const tellEvery = 200 * time.Millisecond

func (j *rendering) progress(p pipeline.Progress) {
	s := &j.status
	s.Frames, s.Total, s.Seconds, s.Left = p.Frames, p.Total, time.Since(j.began).Seconds(), -1
	switch {
	case s.Parts > 0 && j.made > 0:
		// Segments are nearly of one length.
		toMake := p.Total * int64(s.Parts-s.Kept) / int64(s.Parts)
		s.Left = s.Seconds / float64(j.made) * float64(max(toMake-j.made, 0))
	case s.Parts == 0 && p.Frames > 0:
		s.Left = s.Seconds / float64(p.Frames) * float64(p.Total-p.Frames)
	}
	if time.Since(j.told) < tellEvery {
		return
	}
	j.told = time.Now()
	j.tell()
}

func (j *rendering) tell() {
	c := j.session
	c.mu.Lock()
	c.render = j.status
	c.mu.Unlock()
	c.server.hub.send(c.index, "render", j.status)
}

// finish records how the rendering ended.
func (j *rendering) finish(ctx context.Context, err error) {
	c, s := j.session, &j.status
	s.Doing, s.Left, s.Seconds = "", 0, time.Since(j.began).Seconds()
	switch {
	case err == nil:
		s.State, s.Frames = "done", s.Total
		c.maker.Forget(frames.Render)
	case ctx.Err() != nil:
		s.State = "cancelled"
	default:
		s.State, s.Error = "failed", c.server.options.Message(err)
	}
	c.mu.Lock()
	c.cancel, c.render = nil, *s
	c.mu.Unlock()
	c.server.hub.send(c.index, "render", *s)
	c.tell()
	c.server.hub.rest()
}
