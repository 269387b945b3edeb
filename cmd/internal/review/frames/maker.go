// Package frames makes single frames of a conversion on demand, with the very bits of the
// whole conversion: those around a playhead, those of other ways to make them, and, while
// nobody waits, all of them in turn to rate them.
//
// One worker makes all frames, so that whoever waits has the whole machine. The request that
// came last goes first; what nobody waits for any more is cancelled.
package frames

import (
	"context"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"strings"
	"sync"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline"
)

// View is a way to make the frames of the clip.
type View string

// The views. Final has the options of the conversion; Fast, Balanced and Best differ from it in
// the preset, Blend and Source in the mode. Minterpolate is FFmpeg's filter of that name, and
// Render the file that was rendered last. Before and After are the pictures of the source that a
// frame lies between.
const (
	Final        View = "final"
	Fast         View = "fast"
	Balanced     View = "balanced"
	Best         View = "best"
	Blend        View = "blend"
	Source       View = "source"
	Minterpolate View = "minterpolate"
	Render       View = "render"
	Before       View = "before"
	After        View = "after"
)

// alone reports whether each frame of the view is made by itself.
func (v View) alone() bool { return v == Minterpolate || v == Before || v == After }

// Views are all views.
var Views = []View{Final, Fast, Balanced, Best, Blend, Source, Minterpolate, Render, Before, After}

// Options configure a Maker.
type Options struct {
	Conversion pipeline.Options
	// Rated is called from one goroutine for frames that the Maker makes in turn to rate
	// them: all at the preset Fast, and then the lowest as they will be rendered; nil for none.
	Rated func(Rating)
	// Known reports which frames need not be rated; nil for none.
	Known func(frame int64) bool
	// CacheBytes bounds the frames that are kept.
	CacheBytes int64
	// Rendered is the file of the view Render; empty for none.
	Rendered string
}

// Maker makes frames. Its methods may be called from any goroutine.
type Maker struct {
	options Options
	ctx     context.Context
	stop    context.CancelFunc
	ended   chan struct{}
	wake    chan struct{}
	cache   *cache
	rated   *rater

	mu      sync.Mutex
	now     *setup
	waiting []*request // the newest last
	active  *job       // nil while the worker rests
	head    key        // what was asked for last
	paused  bool       // the user wants no frame rated
	holds   int        // nothing is made that nobody waits for while it is above 0
}

// setup is the conversion at one time. It does not change; edits replace it.
type setup struct {
	clip    *pipeline.Clip // whose own reader is closed
	options pipeline.Settled
	plan    *timeline.Plan
	ways    *decision.Ways
	video   media.Video
	window  *window
	scan    *window // for the frames that are made in turn
}

// request is somebody who waits for a frame.
type request struct {
	key
	ctx  context.Context
	done chan result // of capacity 1
}

type result struct {
	shot Shot
	err  error
}

// Open plans the conversion, reads nothing through, and starts the worker.
func Open(ctx context.Context, o Options) (*Maker, error) {
	m := &Maker{options: o, ended: make(chan struct{}), wake: make(chan struct{}, 1), cache: newCache(o.CacheBytes)}
	now, err := plan(ctx, o.Conversion, nil)
	if err != nil {
		return nil, err
	}
	m.now = now
	m.rated = newRater(now)
	if o.Known != nil {
		for k := range now.plan.Total {
			if o.Known(k) {
				m.rated.giveUp(k, Fast)
			}
		}
	}
	m.ctx, m.stop = context.WithCancel(context.WithoutCancel(ctx))
	go m.work()
	return m, nil
}

// plan opens the input and plans its conversion. The windows of an earlier setup of the same
// input are taken over.
func plan(ctx context.Context, o pipeline.Options, old *setup) (*setup, error) {
	if o.Timing.KeepTimestamps {
		return nil, fault.New(fault.Usage, "Timing.KeepTimestamps numbers frames only as all before them are read; review the clip without it")
	}
	if name := o.Input.File; !media.Seekable(name) {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) && !strings.Contains(name, "://") && !media.IsSequence(name) {
			return nil, fault.New(fault.NoInput, "input %q: %w", name, fault.Plain(err))
		}
		return nil, fault.New(fault.Usage, "input %q cannot be read at any place; give a file", name)
	}
	clip, err := pipeline.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer clip.Close()
	s := &setup{clip: clip, options: clip.Options, plan: clip.Plan, video: clip.Source.Video()}
	if s.ways, err = clip.Options.Ways(); err != nil {
		return nil, err
	}
	if s.plan.Total == 0 {
		return nil, fault.New(fault.BadData, "input %q does not tell how long it is; give Timing.To", o.Input.File)
	}
	if old != nil {
		s.window, s.scan = old.window, old.scan
	} else {
		s.window, s.scan = newWindow(clip), newWindow(clip)
	}
	return s, nil
}

// Close ends the worker.
func (m *Maker) Close() {
	m.stop()
	<-m.ended
	m.rated.close()
	m.now.window.close()
	m.now.scan.close()
	m.cache.forget(func(View, int64) bool { return true })
}

// Video describes the source.
func (m *Maker) Video() media.Video { return m.setup().video }

// Plan is the arithmetic of the conversion as it is now.
func (m *Maker) Plan() *timeline.Plan { return m.setup().plan }

// Sound decodes the source's first sound from one time to another, in seconds after the source's start; nil if it has none.
func (m *Maker) Sound(ctx context.Context, from, to *big.Rat) (*media.Sound, error) {
	return m.setup().clip.Sound(ctx, from, to)
}

// Conversion returns the options as they are now, with their defaults in place.
func (m *Maker) Conversion() pipeline.Options { return m.setup().options.Options }

func (m *Maker) setup() *setup {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Use replaces the options. changed says of which frames they change the samples; the others
// are kept.
func (m *Maker) Use(ctx context.Context, o pipeline.Options, changed func(frame int64) bool) error {
	next, err := plan(ctx, o, m.setup())
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = next
	m.cache.forget(func(v View, k int64) bool {
		return v != Minterpolate && v != Source && v != Render && changed(k) || next.plan.Total <= k
	})
	m.rated.forget(next, changed)
	left := m.waiting[:0]
	for _, r := range m.waiting {
		if r.frame < next.plan.Total {
			left = append(left, r)
		} else {
			r.done <- result{err: next.beyond(r.frame)}
		}
	}
	m.waiting = left
	m.cancelActive()
	m.poke()
	return nil
}

// Forget drops the frames of a view, such as Render after another rendering.
func (m *Maker) Forget(v View) { m.cache.forget(func(w View, _ int64) bool { return v == w }) }

// Pause stops, or lets go on, the rating of frames.
func (m *Maker) Pause(paused bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paused = paused
	if paused && m.active != nil && m.active.rating {
		m.cancelActive()
	}
	m.poke()
}

// Rates reports whether frames are rated while nobody waits.
func (m *Maker) Rates() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.paused
}

// Unrated reports whether the Maker has frames left to rate, and is not paused.
func (m *Maker) Unrated() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.options.Rated == nil || m.paused {
		return false
	}
	_, _, left := m.rated.next(0, 1)
	return left
}

// Hold keeps the Maker from all that nobody waits for until the caller calls release.
func (m *Maker) Hold() (release func()) {
	hold := func(by int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.holds += by
		if m.holds > 0 && m.active != nil && !m.awaited(m.active) {
			m.cancelActive()
		}
		m.poke()
	}
	hold(1)
	return sync.OnceFunc(func() { hold(-1) })
}

// poke wakes the worker.
func (m *Maker) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *Maker) cancelActive() {
	if m.active != nil {
		m.active.cancel()
	}
}

// Frame returns frame k of a view. The caller releases the shot's frame.
func (m *Maker) Frame(ctx context.Context, v View, k int64) (Shot, error) {
	m.mu.Lock()
	s := m.now
	if k < 0 || k >= s.plan.Total {
		m.mu.Unlock()
		return Shot{}, s.beyond(k)
	}
	if v == View(s.ways.Of(k).Preset) {
		v = Final
	}
	r := &request{key: key{v, k}, ctx: ctx, done: make(chan result, 1)}
	m.head = r.key
	if shot, ok := m.cache.get(r.key); ok {
		m.mu.Unlock()
		return shot, nil
	}
	m.waiting = append(m.waiting, r)
	if m.active != nil && !m.awaited(m.active) {
		m.cancelActive()
	}
	m.poke()
	m.mu.Unlock()
	select {
	case got := <-r.done:
		return got.shot, got.err
	case <-ctx.Done():
		m.leave(r)
		return Shot{}, fault.Interrupted(ctx, ctx.Err())
	case <-m.ended:
		return Shot{}, fault.New(fault.TryAgain, "the clip was closed")
	}
}

// beyond is the error of a request for a frame that there is not.
func (s *setup) beyond(k int64) error {
	return fault.New(fault.Usage, "frame %d: the output has frames 0 to %d", k, s.plan.Total-1)
}

// leave takes a request out of the queue, and cancels what was made for it alone.
func (m *Maker) leave(r *request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, w := range m.waiting {
		if w == r {
			m.waiting = append(m.waiting[:i], m.waiting[i+1:]...)
			break
		}
	}
	select {
	case got := <-r.done: // served meanwhile
		if got.err == nil {
			got.shot.Frame.Release()
		}
	default:
	}
	if m.active != nil && len(m.waiting) > 0 && !m.awaited(m.active) {
		m.cancelActive()
	}
}

// soon is how many frames ahead of a job a request may lie and still wait for it.
const soon = 3

// awaited reports whether somebody waits for what j makes next.
func (m *Maker) awaited(j *job) bool {
	for _, r := range m.waiting {
		if r.ctx.Err() == nil && r.view == j.view && r.frame >= j.next && r.frame < min(j.next+soon, j.end) {
			return true
		}
	}
	return false
}

// serve hands a shot to all who wait for it.
func (m *Maker) serve(k key, shot Shot, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hand(k, shot, err)
}

func (m *Maker) hand(k key, shot Shot, err error) {
	left := m.waiting[:0]
	for _, r := range m.waiting {
		if r.key != k {
			left = append(left, r)
			continue
		}
		if err == nil {
			shot.Frame.Retain()
		}
		r.done <- result{shot, err}
	}
	m.waiting = left
}

// sink collects the frames of a job.
type sink struct {
	media.Discard
	last *frame.Frame
}

// WriteFrame keeps f until its record comes.
func (s *sink) WriteFrame(f *frame.Frame, _, _ *big.Rat) error {
	s.drop()
	s.last = f.Retain()
	return nil
}

func (s *sink) drop() {
	if s.last != nil {
		s.last.Release()
		s.last = nil
	}
}
