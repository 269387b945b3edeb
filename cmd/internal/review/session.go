package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"retime/cmd/internal/review/edits"
	"retime/cmd/internal/review/frames"
	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/rational"
)

// session is a clip that is open, in any number of tabs.
type session struct {
	server  *Server
	index   int
	clip    Clip
	store   *edits.Store
	maker   *frames.Maker
	painter frames.Painter
	ratings *ratings
	why     dissections
	cache   *atomicfile.Dir // of optical flow; nil if the user named one
	// listening holds an element while sound is decoded.
	listening chan struct{}
	users     int // requests that are being answered; the server's mu guards it
	rendered

	// accepted is the state that the maker works with. After the start, only accept uses it, which
	// the store calls, one call at a time.
	accepted edits.State

	mu        sync.Mutex // for what follows, and render, cancel and closed
	elsewhere string     // what was changed elsewhere; empty for nothing
}

// rendered describes how a clip is rendered, now or the last time.
type rendered struct {
	render  renderStatus
	cancel  context.CancelFunc // nil if nothing is rendered
	renders sync.WaitGroup
	closed  bool // nothing is rendered any more
}

// cacheBytes bounds the frames that a session keeps.
const cacheBytes = 64 << 20

func newSession(s *Server, n int) (_ *session, err error) {
	c := &session{server: s, index: n, clip: s.options.Clips[n], ratings: &s.entries[n].ratings, why: newDissections(), listening: make(chan struct{}, 1), rendered: rendered{render: renderStatus{State: "idle"}}}
	if err := c.checkDirs(); err != nil {
		return nil, err
	}
	if err := c.openStore(); err != nil {
		return nil, err
	}
	if o := &c.clip.Conversion; o.Synthesis.FlowCache == "" {
		dir := os.TempDir()
		if o.Compute.Confine != "" { // other places are shut
			dir = filepath.Dir(o.Output.File)
		}
		if c.cache, err = openCache(dir); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			c.sweep()
		}
	}()
	c.accepted, _ = c.store.State()
	o, err := c.options(c.accepted)
	if err != nil {
		return nil, err
	}
	opened := make(chan struct{})
	rated := func(r frames.Rating) {
		<-opened // a rating needs the maker
		c.rated(r)
	}
	opt := frames.Options{Conversion: o, CacheBytes: cacheBytes, Rendered: c.clip.Conversion.Output.File, Rated: rated, Known: c.ratings.has}
	if c.maker, err = frames.Open(s.ctx, opt); err != nil {
		return nil, err
	}
	c.ratings.begin(c.maker.Plan())
	close(opened)
	return c, nil
}

func (c *session) close() {
	c.mu.Lock()
	cancel := c.cancel
	c.closed = true
	c.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	c.renders.Wait()
	c.maker.Close()
	c.painter.Close()
	c.sweep()
}

func (c *session) sweep() {
	if c.cache != nil {
		_ = c.cache.Remove() // a file that stays hinders nobody
	}
}

// checkDirs refuses files in directories that there are not.
func (c *session) checkDirs() error {
	f := &c.clip.Files
	for _, v := range []struct{ what, name string }{{"output", c.clip.Conversion.Output.File}, {"decisions", f.Decisions}, {"mask", f.Mask}, {"curve", f.Curve}} {
		dir := filepath.Dir(v.name)
		switch info, err := os.Stat(dir); {
		case v.name == "", err == nil && info.IsDir():
		case err == nil, errors.Is(err, fs.ErrNotExist):
			return fault.New(fault.CannotWrite, "%s %q: there is no directory %q; make it, or name another place", v.what, v.name, dir)
		default:
			return fault.New(fault.CannotWrite, "%s %q: %w", v.what, v.name, err)
		}
	}
	return nil
}

// openStore opens what is decided about the clip. What was decided while the clip was open
// before can still be undone, and a file that was changed since then counts.
func (c *session) openStore() (err error) {
	s := c.server
	e := &s.entries[c.index]
	if c.store = e.store; c.store == nil {
		if c.store, err = edits.Open(c.clip.Files); err == nil {
			s.mu.Lock()
			e.store = c.store
			s.mu.Unlock()
		}
		return err
	}
	if c.store.Elsewhere() == nil {
		return nil
	}
	return c.store.Reload(func(was, is edits.State) error {
		c.ratings.forget(math.MaxInt64, is.Differs(was, math.MaxInt64/2))
		return nil
	})
}

// options returns the options of the conversion with what a state decides.
func (c *session) options(s edits.State) (pipeline.Options, error) {
	o := c.clip.Conversion
	if c.cache != nil {
		o.Synthesis.FlowCache = c.cache.Name()
	}
	o.Hooks = pipeline.Hooks{Log: c.server.options.Log}
	err := s.Apply(&o)
	return o, err
}

// reach is by how many seconds of the output an edited cut reaches beyond its frame, at most.
const reach = 2

// accept has the maker work with the options of another state. It refuses what the conversion
// refuses.
func (c *session) accept(_, is edits.State) error {
	o, err := c.options(is)
	if err != nil {
		return err
	}
	plan := c.maker.Plan()
	far := timeline.Ceil(new(big.Rat).Mul(plan.Rate, big.NewRat(reach, 1))) * max(slowest(c.maker.Conversion()), 1)
	changed := is.Differs(c.accepted, far)
	if err := c.maker.Use(c.server.ctx, o, changed); err != nil {
		return err
	}
	c.ratings.forget(c.maker.Plan().Total, changed)
	c.why.forget()
	c.accepted = is
	return nil
}

// slowest is how many times slower than recorded the output is, roughly.
func slowest(o pipeline.Options) int64 {
	if o.Timing.Slow != nil {
		return timeline.Ceil(o.Timing.Slow)
	}
	return 20
}

// at returns the time at which a frame is shown, in seconds.
func (c *session) at(k int64) float64 {
	p := c.maker.Plan()
	l := frames.Pass(p, k).Layout
	v, _ := l.Shown(timeline.Slot{Index: k * l.Subframes()}).Float64()
	return v
}

// noticeFiles tells the tabs if a file was changed elsewhere.
func (c *session) noticeFiles() {
	text := ""
	if err := c.store.Elsewhere(); err != nil {
		text = c.server.options.Message(err)
	}
	c.mu.Lock()
	changed := c.elsewhere != text
	c.elsewhere = text
	c.mu.Unlock()
	if changed {
		c.tell()
	}
}

// tell sends the state to the clip's tabs.
func (c *session) tell() { c.server.hub.send(c.index, "state", c.state()) }

// listTab is the clip number of the tabs that show the list of clips.
const listTab = -1

func (c *session) serveEvents(w http.ResponseWriter, r *http.Request) error {
	c.server.hub.serve(w, r, c.index)
	return nil
}

func (c *session) serveState(w http.ResponseWriter, _ *http.Request) error {
	answer(w, http.StatusOK, c.state())
	return nil
}

// state is what a tab shows of a clip.
type state struct {
	Version int64     `json:"version"`
	Frames  int64     `json:"frames"`
	Width   int       `json:"width"`
	Height  int       `json:"height"`
	Rate    float64   `json:"rate"`
	Source  []float64 `json:"source"` // source times of evenly spread frames, the first and the last included
	edited
	Command   string       `json:"command"`
	Files     []string     `json:"files"` // that hold edits now
	Elsewhere string       `json:"elsewhere"`
	Render    renderStatus `json:"render"`
	Rates     bool         `json:"rates"` // whether the user lets frames be rated
	Threshold thresholds   `json:"thresholds"`
}

// edited is what the user has decided about a clip.
type edited struct {
	Decisions []pipeline.Decision `json:"decisions"`
	Mask      bool                `json:"mask"`
	Curve     curveState          `json:"curve"`
	Preset    pipeline.Preset     `json:"preset"`
	Shutter   string              `json:"shutter"`
	Undo      int                 `json:"undo"`
	Redo      int                 `json:"redo"`
}

// thresholds are the figures that decide how a frame is made.
type thresholds struct {
	Cut     float64 `json:"cut"`
	Blend   float64 `json:"blend"`
	Nearest float64 `json:"nearest"`
}

// curveState is the curve as the page draws it. Keys is nil for a curve that ties source times
// to output times, which the page shows and does not edit.
type curveState struct {
	Set      bool             `json:"set"`
	Keys     []edits.Keyframe `json:"keys"`
	Duration float64          `json:"duration"` // until the source's end, in seconds
}

// sourceTimes is how many places' source times a state has, at most.
const sourceTimes = 257

func (c *session) state() state {
	now, version := c.store.State()
	p, v, o := c.maker.Plan(), c.maker.Video(), c.maker.Conversion()
	s := state{
		Version: version, Frames: p.Total, Width: v.Width, Height: v.Height, Command: c.command(now), Files: c.files(now), Rates: c.maker.Rates(),
		edited: edited{
			Decisions: now.Decisions(), Mask: now.Mask.Width > 0, Curve: curveOf(now, p.Clock.End(v)),
			Preset: o.Synthesis.Preset, Shutter: shutterAngle(o.Timing.Shutter),
		},
		Threshold: thresholds{*o.Synthesis.SceneThreshold, *o.Synthesis.BlendBelow, *o.Synthesis.NearestBelow},
	}
	s.Rate, _ = p.Rate.Float64()
	s.Undo, s.Redo = c.store.Steps()
	n := max(min(p.Total, sourceTimes), 2)
	for i := range n {
		s.Source = append(s.Source, momentAt(p, big.NewRat(i*(p.Total-1), n-1)))
	}
	c.mu.Lock()
	s.Elsewhere, s.Render = c.elsewhere, c.render
	c.mu.Unlock()
	return s
}

// momentAt returns the source's time, in seconds, at a place among the frames that may lie
// between two.
func momentAt(p *timeline.Plan, place *big.Rat) float64 {
	k := rational.Floor(place)
	part, _ := new(big.Rat).Sub(place, big.NewRat(k, 1)).Float64()
	a, _ := frames.Moment(p, k).Float64()
	if part == 0 || k+1 >= p.Total {
		return a
	}
	b, _ := frames.Moment(p, k+1).Float64()
	return a + part*(b-a)
}

// shutterAngle returns the angle in degrees of a share of the circle.
func shutterAngle(share *big.Rat) string {
	if share == nil {
		return "0"
	}
	v, _ := new(big.Rat).Mul(share, big.NewRat(360, 1)).Float64()
	return fmt.Sprintf("%g", v)
}

func curveOf(s edits.State, end *big.Rat) curveState {
	c := curveState{Set: s.Curve != "", Keys: []edits.Keyframe{}}
	if end != nil {
		c.Duration, _ = end.Float64()
	}
	keys, err := timeline.ParseKeyframes(strings.NewReader(s.Curve))
	if !c.Set || err != nil {
		return c
	}
	for _, k := range keys {
		if k.Speed == nil {
			c.Keys = nil
			return c
		}
		source := "end"
		if k.Source != nil {
			source = k.Source.FloatString(6)
		}
		percent, _ := new(big.Rat).Mul(k.Speed, big.NewRat(100, 1)).Float64()
		c.Keys = append(c.Keys, edits.Keyframe{Source: source, Speed: fmt.Sprintf("%g%%", percent), Shape: string(k.Shape)})
	}
	return c
}

// title names the clip for a person.
func (c *session) title() string { return filepath.Base(c.clip.Conversion.Input.File) }

// answer sends JSON.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the tab is gone if it fails
}

// readRequest reads the JSON of a request into v.
func readRequest(r *http.Request, v any) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return fault.New(fault.Usage, "want a request of application/json")
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fault.New(fault.Usage, "the request is wrong: %w", err)
	}
	return nil
}
