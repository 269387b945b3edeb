package pipeline

import (
	"context"
	"errors"
	"io"
	"math/big"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/stages"
	"retime/pipeline/timeline"
	"retime/warp"
)

// mattes returns what opens the mattes of Synthesis.Matte; nil for none.
func (o *Settled) mattes() func(context.Context) stages.Mattes {
	if o.Synthesis.Matte == "" {
		return nil
	}
	return func(ctx context.Context) stages.Mattes { return &mattes{ctx: ctx, options: o} }
}

// mattes reads the pictures of Synthesis.Matte forward, and opens it anew for an earlier time.
type mattes struct {
	ctx     context.Context
	options *Settled

	reader *media.Reader // nil before the first one is opened
	clock  *timeline.Clock
	slack  *big.Rat // by how many seconds a picture may be late
	now    frame.Image[uint8]
	from   *big.Rat     // time of now
	next   *frame.Frame // nil after the last
}

// At implements stages.Mattes.
func (m *mattes) At(at *big.Rat) (frame.Image[uint8], error) {
	if err := m.seek(at); err != nil {
		return m.now, fault.New(fault.KindOf(err), "Synthesis.Matte: %w", err)
	}
	return m.now, nil
}

func (m *mattes) seek(at *big.Rat) error {
	if m.reader == nil || at.Cmp(m.from) < 0 {
		err := m.open(at)
		if err != nil && at.Sign() > 0 { // it may end before
			err = m.open(nil)
		}
		if err != nil {
			return err
		}
	}
	for m.next != nil && m.clock.At(m.next.PTS).Cmp(new(big.Rat).Add(at, m.slack)) <= 0 {
		if err := m.advance(); err != nil {
			return err
		}
	}
	return nil
}

// open opens the file at the last picture at or before a time, nil for its start.
func (m *mattes) open(at *big.Rat) (err error) {
	m.Close()
	o := m.options
	r := media.ReaderOptions{Threads: o.Compute.Threads, From: media.Start{At: at}, Log: o.Hooks.Log, Confine: o.files}
	if media.IsSequence(o.Synthesis.Matte) {
		r.Rate = o.Input.Rate
	}
	if m.reader, err = media.Open(m.ctx, o.Synthesis.Matte, r); err != nil {
		return err
	}
	v := m.reader.Video()
	m.clock, m.slack = timeline.NewClock(v), big.NewRat(1, 500)
	if v.Rate != nil {
		m.slack = new(big.Rat).Quo(big.NewRat(1, 4), v.Rate)
	}
	if m.next, err = m.reader.Read(); err != nil {
		return err
	}
	return m.advance()
}

// advance takes the next picture.
func (m *mattes) advance() (err error) {
	f := m.next
	m.from, m.now = m.clock.At(f.PTS), matteOf(f)
	f.Release()
	if m.next, err = m.reader.Read(); errors.Is(err, io.EOF) {
		m.next, err = nil, nil
	}
	return err
}

// Close implements stages.Mattes.
func (m *mattes) Close() {
	if m.next != nil {
		m.next.Release()
		m.next = nil
	}
	if m.reader != nil {
		m.reader.Close()
		m.reader = nil
	}
}

// matteOf returns the brightness of f, from 0 for black to 255 for white.
func matteOf(f *frame.Frame) frame.Image[uint8] {
	out := warp.OwnLuma(f)
	if f.FullRange || f.Format.RGB {
		return out
	}
	for y := range out.Height {
		row := out.Row(y)
		for x, v := range row {
			row[x] = uint8((min(max(int(v)-16, 0), 219)*255 + 109) / 219)
		}
	}
	return out
}
