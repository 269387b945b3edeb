package frames

import (
	"cmp"
	"context"
	"errors"
	"math/big"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
	"retime/warp"
)

// job is consecutive frames that are being made.
type job struct {
	view   View
	next   int64 // the frame that comes next; Maker.mu guards it
	end    int64
	rating bool // the frames are made to be rated, and not kept
	setup  *setup
	cancel context.CancelFunc
}

// These are how many frames are made ahead of the one that was asked for, and after it, while
// nobody asks for others, and how many are rated at a time.
const (
	ahead  = 8
	behind = 4
	rateAt = 12
)

// work makes frames until the Maker is closed.
func (m *Maker) work() {
	defer close(m.ended)
	var with lastSynthesizer
	defer with.close()
	for {
		j, ctx := m.choose()
		if j == nil {
			select {
			case <-m.wake:
				continue
			case <-m.ctx.Done():
				return
			}
		}
		err := m.run(ctx, j, &with)
		if err != nil && ctx.Err() == nil {
			m.serve(key{j.view, j.next}, Shot{}, err)
			if j.rating {
				m.rated.giveUp(j.next, j.view)
			} else {
				m.skip(j)
			}
		}
		j.cancel()
		m.mu.Lock()
		m.active = nil
		m.mu.Unlock()
		if m.ctx.Err() != nil {
			return
		}
	}
}

// skip keeps the worker from trying a frame again that nobody asks for and that failed.
func (m *Maker) skip(j *job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.head.view == j.view {
		m.head = key{}
	}
}

// choose returns what to make next, nil for nothing: what somebody waits for, the newest
// request first, then what lies around the last one, then what is not rated yet.
func (m *Maker) choose() (*job, context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		return nil, nil
	}
	s := m.now
	begin := func(j *job) (*job, context.Context) {
		var ctx context.Context
		j.setup = s
		ctx, j.cancel = context.WithCancel(m.ctx)
		m.active = j
		return j, ctx
	}
	for len(m.waiting) > 0 {
		r := m.waiting[len(m.waiting)-1]
		if r.ctx.Err() != nil {
			m.waiting = m.waiting[:len(m.waiting)-1]
			continue
		}
		if shot, ok := m.cache.get(r.key); ok {
			m.waiting = m.waiting[:len(m.waiting)-1]
			r.done <- result{shot, nil}
			continue
		}
		return begin(&job{view: r.view, next: r.frame, end: m.gap(r.key, s.plan.Total, ahead)})
	}
	if h := m.head; h.view != "" && !h.view.alone() && m.holds == 0 {
		for k := h.frame + 1; k <= min(h.frame+ahead, s.plan.Total-1); k++ {
			if at := (key{h.view, k}); !m.cache.has(at) {
				return begin(&job{view: h.view, next: k, end: m.gap(at, min(h.frame+ahead+1, s.plan.Total), ahead)})
			}
		}
		for k := h.frame - 1; k >= max(h.frame-behind, 0); k-- {
			if !m.cache.has(key{h.view, k}) {
				first := k
				for first > max(h.frame-behind, 0) && s.ways.Of(first-1) == s.ways.Of(k) {
					first--
				}
				return begin(&job{view: h.view, next: first, end: k + 1})
			}
		}
	}
	if m.options.Rated != nil && !m.paused && m.holds == 0 {
		if first, end, ok := m.rated.next(m.head.frame, rateAt); ok {
			return begin(&job{view: Fast, next: first, end: s.alike(first, end), rating: true})
		}
		if first, end, ok := m.rated.nextLowest(rateAt); ok && s.options.Synthesis.Preset != pipeline.Fast {
			return begin(&job{view: Final, next: first, end: s.alike(first, end), rating: true})
		}
	}
	return nil, nil
}

// gap returns the end of the frames from one on that are not kept, up to a limit.
func (m *Maker) gap(from key, total, most int64) int64 {
	end := from.frame + 1
	if from.view.alone() {
		return end
	}
	for end < min(total, from.frame+most) && !m.cache.has(key{from.view, end}) {
		end++
	}
	return m.now.alike(from.frame, end)
}

// alike returns the end of the frames from first on, before end, that are of one way.
func (s *setup) alike(first, end int64) int64 {
	for k := first + 1; k < end; k++ {
		if s.ways.Of(k) != s.ways.Of(first) {
			return k
		}
	}
	return end
}

// run makes the frames of j.
func (m *Maker) run(ctx context.Context, j *job, with *lastSynthesizer) error {
	switch j.view {
	case Minterpolate:
		return m.runPeer(ctx, j)
	case Render:
		return m.runRendered(ctx, j)
	case Before, After:
		return m.runNeighbour(ctx, j)
	}
	for {
		if err := m.convert(ctx, j, with); !errors.Is(err, errGone) || ctx.Err() != nil {
			return err
		}
	}
}

// convert makes the frames of j as the conversion makes them.
func (m *Maker) convert(ctx context.Context, j *job, with *lastSynthesizer) error {
	o := j.setup.viewOptions(j.view, j.setup.ways.Of(j.next))
	s, err := with.open(&o)
	if err != nil {
		return err
	}
	p := j.setup.plan
	if end := passEnd(p, Pass(p, j.next)); j.end > end {
		m.mu.Lock()
		j.end = end
		m.mu.Unlock()
	}
	pass, err := j.setup.pass(j.next)
	if err != nil {
		return err
	}
	var to sink
	defer to.drop()
	var digest pipeline.Digest
	o.Hooks = pipeline.Hooks{Log: o.Hooks.Log, Digest: func(_ int64, d pipeline.Digest) { digest = d }}
	if j.rating {
		o.Hooks.Digest = nil
	}
	o.Hooks.Rate = true
	o.Hooks.Record = func(r pipeline.Record) {
		shot := Shot{Frame: to.last, Record: r, Digest: digest}
		if !j.rating {
			m.finished(j, key{j.view, j.next}, shot)
		} else if m.setup() == j.setup {
			m.options.Rated(m.rated.rate(shot, j.view))
		}
		m.mu.Lock()
		j.next++
		m.mu.Unlock()
	}
	part := pipeline.Part{Pass: pass, First: j.next, End: j.end}
	err = j.setup.clip.Frames(ctx, part, pictures{m, j, pass}, func(source pipeline.Source, want stages.Range) error {
		line := o.Line(p, &to, s)
		line.CountFrom(number(j.setup, source))
		err := line.Run(ctx, source, pass, want)
		return cmp.Or(err, line.Result().Cutoff)
	})
	if err == nil && j.next < j.end && ctx.Err() == nil {
		err = fault.New(fault.BadData, "the input ends before frame %d", j.next)
	}
	return err
}

// finished keeps a shot and hands it to those who wait, unless an edit came in between.
func (m *Maker) finished(j *job, k key, shot Shot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now == j.setup {
		m.cache.put(k, shot)
		m.hand(k, shot, nil)
	}
}

// passEnd is the number of the first frame after a pass.
func passEnd(p *timeline.Plan, pass *timeline.Pass) int64 {
	for i := range p.Passes {
		if &p.Passes[i] == pass && i+1 < len(p.Passes) {
			next := p.Passes[i+1].Layout
			return next.First() / next.Subframes()
		}
	}
	return p.Total
}

// pictures are those that a job reads of a pass.
type pictures struct {
	*Maker
	job  *job
	pass *timeline.Pass
}

// From reads them through the job's window.
func (p pictures) From(_ context.Context, begin *big.Rat) (pipeline.Source, bool, func(), error) {
	j, s := p.job, p.job.setup
	w := s.window
	if j.rating {
		w = s.scan
	}
	if p.pass.Backward {
		w.begin(nil)
		each := p.pass.Layout.Subframes()
		latest := p.pass.Moment(new(big.Rat).Set(p.pass.Layout.Moment(max(j.next*each-1, p.pass.Layout.First()))))
		b, midway, err := w.backwardFrom(begin, latest, p.pass)
		if err != nil {
			return nil, false, nil, err
		}
		return b, midway, b.release, nil
	}
	if s.plan.Reopens() {
		w.begin(p.pass.From)
	} else {
		w.begin(s.options.Timing.From)
	}
	c, err := w.from(begin)
	if err != nil {
		return nil, false, nil, err
	}
	if j.rating {
		c.seen = p.rated.see
	}
	return c, c.midway, func() {}, nil
}

// number returns the number in the clip of the picture that a source begins with, if its rate
// tells it, else 0.
func number(s *setup, source pipeline.Source) int64 {
	c, ok := source.(*cursor)
	if !ok || !c.midway || s.video.Rate == nil {
		return 0
	}
	f, err := c.read()
	if err != nil {
		return 0
	}
	defer f.Release()
	c.next--
	at := new(big.Rat).Sub(s.plan.Clock.At(f.PTS), s.plan.Clock.At(s.video.StreamPTS))
	return timeline.Round(at.Mul(at, s.video.Rate))
}

// lastSynthesizer is the one that was used last. A second one would take as much memory again.
type lastSynthesizer struct {
	mode   warp.Mode
	preset pipeline.Preset
	made   synth.Synthesizer // nil until one is opened
}

// open returns the synthesizer for o, which works until the next call.
func (l *lastSynthesizer) open(o *pipeline.Settled) (synth.Synthesizer, error) {
	y := &o.Synthesis
	if l.made != nil && l.mode == y.Mode && l.preset == y.Preset {
		return l.made, nil
	}
	l.close()
	s, err := o.Synthesizer()
	if err != nil {
		return nil, err
	}
	l.mode, l.preset, l.made = y.Mode, y.Preset, s
	return s, nil
}

func (l *lastSynthesizer) close() {
	if l.made != nil {
		l.made.Close()
		l.made = nil
	}
}
