package review

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/atomicfile"
)

// A server removes the optical flow that killed ones have left, and no other's.
func TestSweepsFlow(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	dead, foreign := atomicfile.Part(filepath.Join(dir, fmt.Sprintf("retime-review-%d", os.Getuid()))), atomicfile.Part(filepath.Join(dir, fmt.Sprintf("retime-review-%d", os.Getuid()+1)))
	for _, name := range []string{dead, foreign} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(name, "a.flow"), []byte("flow"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	live, err := openCache(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := openCache(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of a killed server is left: %v", err)
	}
	for _, name := range []string{foreign, live.Name(), second.Name()} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(live.Remove(), second.Remove()); err != nil {
		t.Error(err)
	}
}

// unserved returns a server of a batch whose scout does not run.
func unserved(t *testing.T, clips ...Clip) *Server {
	t.Helper()
	s, err := New(Options{Clips: clips, Batch: "clips", Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.closeUnwatched()
		s.stop()
		_ = s.listen.Close()
	})
	return s
}

// While a clip is opened, requests for others and the list are answered.
func TestOpeningHoldsNoOtherClipUp(t *testing.T) {
	slow, other := doubled(cutClip(t, 96, 64, 12)), doubled(cutClip(t, 96, 64, 12))
	if err := os.WriteFile(slow.Files.Mask, []byte("a mask"), 0o600); err != nil {
		t.Fatal(err)
	}
	var s *Server
	opened := 0
	slow.Files.ReadMask = func(string) (frame.Image[uint8], error) {
		if !s.mu.TryLock() {
			return frame.Image[uint8]{}, errors.New("a clip is opened under the server's lock")
		}
		s.mu.Unlock()
		c, err := s.use(1)
		if err == nil {
			s.leave(c)
			opened = len(s.open())
		}
		if l := s.list(); len(l) != 2 {
			t.Errorf("the list has %d clips", len(l))
		}
		return frame.NewImage[uint8](96, 64), err
	}
	s = unserved(t, slow, other)
	if _, err := s.session(0); err != nil || opened != 1 {
		t.Errorf("%d clips were opened during the opening of one: %v", opened, err)
	}
}

// What was decided can be undone after nobody has watched the clip for a while, and a file that
// was changed meanwhile counts.
func TestStepsOutliveASession(t *testing.T) {
	clip := doubled(cutClip(t, 96, 64, 12))
	s := unserved(t, clip)
	open := func() *session {
		t.Helper()
		c, err := s.session(0)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open()
	for _, e := range []editRequest{{Do: "method", First: 1, Last: 3, Method: pipeline.Nearest}, {Do: "preset", Value: "fast"}} {
		if err := c.edit(t.Context(), &e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.use(0); err != nil {
		t.Fatal(err)
	}
	if s.closeUnwatched(); open() != c {
		t.Fatal("a session was closed during a request")
	}
	s.leave(c)
	if s.closeUnwatched(); open() == c {
		t.Fatal("the session is still open")
	}
	c = open()
	if st := c.state(); st.Undo != 2 || st.Preset != pipeline.Fast || len(st.Decisions) != 3 {
		t.Errorf("%d steps, preset %s, %d decisions; want 2, fast, 3", st.Undo, st.Preset, len(st.Decisions))
	}
	s.closeUnwatched()
	if l := s.list(); l[0].Decided != 3 {
		t.Errorf("the list has %d decisions, want 3", l[0].Decided)
	}
	if err := os.WriteFile(clip.Files.Decisions, []byte(`{"frame":5,"method":"source"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c = open()
	if st := c.state(); st.Undo != 3 || st.Elsewhere != "" || len(st.Decisions) != 1 {
		t.Errorf("after a change elsewhere, %d steps, %q, %d decisions; want 3, none, 1", st.Undo, st.Elsewhere, len(st.Decisions))
	}
	if err := c.edit(t.Context(), &editRequest{Do: "undo"}); err != nil || len(c.state().Decisions) != 3 {
		t.Errorf("%v; %d decisions after an undo, want 3", err, len(c.state().Decisions))
	}
}

// A clip of which no frame was rated during its turn, as on a slow machine, has another turn.
func TestClipsThatTakeLongAreRated(t *testing.T) {
	s := unserved(t, doubled(cutClip(t, 96, 64, 12)))
	if !s.rateFor(0, 0) {
		t.Error("nothing seems to be left after a turn in which nothing was rated")
	}
}

// A clip that is edited after all were rated is rated again, even if no tab has shown it.
func TestEditedClipsAreRatedAgain(t *testing.T) {
	s := serve(t, Options{Clips: []Clip{doubled(cutClip(t, 96, 64, 12))}, Batch: "clips"})
	list, _ := s.hub.open(listTab)
	rated := func() bool { l := s.list()[0]; return l.Frames > 0 && int64(l.Rated) == l.Frames }
	for !rated() {
		<-list.wake // the list is sent after each clip's turn
	}
	c, err := s.use(0)
	if err != nil {
		t.Fatal(err)
	}
	c.maker.Pause(true) // somebody else rates it
	if err := c.edit(t.Context(), &editRequest{Do: "method", First: 1, Last: 3, Method: pipeline.Nearest}); err != nil {
		t.Fatal(err)
	}
	if rated() {
		t.Error("an edit changes no rating")
	}
	s.leave(c)
	for !rated() {
		<-list.wake
	}
}

// While the clips of a batch are rendered, one of them is always running, so the page offers no second start.
func TestSeriesRunsThroughout(t *testing.T) {
	var clips []Clip
	for range 3 {
		c := doubled(cutClip(t, 96, 64, 12))
		c.State = "done"
		clips = append(clips, c)
	}
	s := serve(t, Options{Clips: clips, Batch: "clips"})
	list, _ := s.hub.open(listTab)
	if err := s.startSeries(); err != nil {
		t.Fatal(err)
	}
	for on := true; on; {
		s.mu.Lock()
		running := slices.ContainsFunc(s.options.Clips, func(c Clip) bool { return c.State == "running" })
		on = s.cancelSeries != nil
		s.mu.Unlock()
		if on != running {
			t.Fatalf("the clips are rendered: %t; one is running: %t", on, running)
		}
		if on {
			<-list.wake
		}
	}
	for _, c := range clips {
		if _, err := os.Stat(c.Conversion.Output.File); err != nil {
			t.Error(err)
		}
	}
}

// A rendering does not let go on what the user has stopped.
func TestRenderingLeavesTheRatingStopped(t *testing.T) {
	s := serve(t, Options{Clips: []Clip{doubled(cutClip(t, 96, 64, 12))}})
	if status, _, text := ask(t, s, "POST", "clip/0/rate", `{"on":false}`, nil); status != http.StatusOK {
		t.Fatalf("rate: %d %s", status, text)
	}
	if status, _, text := ask(t, s, "POST", "clip/0/render", `{}`, nil); status != http.StatusOK {
		t.Fatalf("render: %d %s", status, text)
	}
	c, err := s.session(0)
	if err != nil {
		t.Fatal(err)
	}
	c.renders.Wait()
	if st := c.state(); st.Rates || st.Render.State != "done" {
		t.Errorf("after a rendering that is %s, frames are rated: %t", st.Render.State, st.Rates)
	}
}

// A rendering replaces its own output, and without a word of the user's no other file, even if it
// comes during the rendering.
func TestRenderingReplacesItsOwn(t *testing.T) {
	clip := doubled(cutClip(t, 96, 64, 12))
	output := clip.Conversion.Output.File
	s := serve(t, Options{Clips: []Clip{clip}})
	c, err := s.session(0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := func() {
		t.Helper()
		if err := os.WriteFile(output, []byte("theirs"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	render := func(overwrite bool, during func()) renderStatus {
		t.Helper()
		if during != nil {
			s.renderer <- struct{}{} // the rendering waits
		}
		if err := c.startRender(overwrite); err != nil {
			t.Fatal(err)
		}
		if during != nil {
			during()
			<-s.renderer
		}
		c.renders.Wait()
		return c.state().Render
	}
	for i, step := range []struct {
		before, during func()
		overwrite      bool
		state          string
		kept           bool
	}{
		{nil, nil, false, "done", false},
		{nil, nil, false, "done", false}, // over its own
		{theirs, nil, false, "idle", true},
		{nil, nil, true, "done", false},
		{nil, theirs, false, "failed", true},
		{func() { os.Remove(output) }, theirs, false, "failed", true},
	} {
		if step.before != nil {
			step.before()
		}
		r := render(step.overwrite, step.during)
		if r.State != step.state || r.Exists != (step.state == "idle") || step.state == "failed" && !strings.Contains(r.Error, "exists") {
			t.Errorf("step %d: %+v", i, r)
		}
		if text, err := os.ReadFile(output); err != nil || (string(text) == "theirs") != step.kept {
			t.Errorf("step %d: the output holds %.10q: %v", i, text, err)
		}
	}
}

// An edit does not wait until a frame is dissected, and what was dissected before it is forgotten.
func TestDissectionsDoNotHoldEditsUp(t *testing.T) {
	d := newDissections()
	d.busy <- struct{}{} // a frame is being dissected
	_, version := d.known(1)
	d.forget()
	d.keep(&dissection{frame: 1}, version)
	if v, _ := d.known(1); v != nil {
		t.Error("a dissection from before an edit is kept")
	}
	_, version = d.known(1)
	d.keep(&dissection{frame: 1}, version)
	if v, _ := d.known(1); v == nil {
		t.Error("a dissection is not kept")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := d.of(ctx, nil, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that was given up: %v", err)
	}
}
