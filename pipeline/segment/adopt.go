package segment

import (
	"context"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"reflect"

	"retime/pipeline"
	"retime/pipeline/atomicfile"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
)

// Adopt takes over the ranges in dir that were made for an older plan and that p makes alike,
// so that Make need not make them again. The plans must agree in everything but decisions; of
// these, they may differ in what does not reach a range. Adopt removes older's other ranges, and
// returns how many of p's ranges are there, adopted or made.
func (p *Plan) Adopt(ctx context.Context, dir string, older *Plan) (there int, err error) {
	same := older != nil && p.agrees(older)
	var near reach
	if same && p.ID() != older.ID() {
		if near, err = newReach(ctx, p); err != nil {
			return 0, err
		}
	}
	for i, r := range p.Ranges {
		if _, err := p.check(dir, i, false); err == nil {
			there++
			continue
		}
		if !same || !reflect.DeepEqual(near.of(p, r), near.of(older, r)) {
			older.discard(dir, i)
			continue
		}
		m, err := older.check(dir, i, true)
		if err != nil {
			continue // it is made anew
		}
		m.Plan = p.ID()
		b, err := json.Marshal(m)
		if err == nil {
			err = atomicfile.ReplaceFile(manifestName(dir, i), append(b, '\n'))
		}
		if err != nil {
			return there, fault.New(fault.CannotWrite, "segment %d: %w", i, err)
		}
		there++
	}
	if older != nil {
		for i := len(p.Ranges); i < len(older.Ranges); i++ {
			older.discard(dir, i)
		}
	}
	return there, nil
}

// discard removes what Make has made of range i, if anything; what stays hinders nobody.
func (p *Plan) discard(dir string, i int) {
	if p == nil || i >= len(p.Ranges) {
		return
	}
	if m, err := p.check(dir, i, false); err == nil {
		_ = os.Remove(manifestName(dir, i))
		_ = os.Remove(filepath.Join(dir, m.File))
	}
}

// agrees says whether two plans differ in decisions at most.
func (p *Plan) agrees(q *Plan) bool {
	plain := func(p *Plan) string {
		c := *p
		c.Settings.Synthesis.Decisions = nil
		return c.ID()
	}
	return plain(p) == plain(q)
}

// reach tells which decisions count for a range.
type reach struct {
	layout timeline.Layout
	gap    *big.Rat
}

func newReach(ctx context.Context, p *Plan) (r reach, err error) {
	clip, err := open(ctx, p.Settings)
	if err != nil {
		return r, err
	}
	defer clip.Close()
	return reach{clip.Plan.Passes[0].Layout, clip.Plan.Gap}, nil
}

// of returns the decisions of p that count for a range, without their places in a file. A cut
// counts for the intervals before and behind its own, too: their motion tells how motion
// bends. No interval with motion is longer than a gap.
func (r reach) of(p *Plan, of Range) (list []pipeline.Decision) {
	for _, d := range p.Settings.Synthesis.Decisions {
		d.Line = 0
		switch {
		case d.Frame >= of.First && d.Frame < of.End:
			list = append(list, d)
		case d.Cut != nil && r.near(d.Frame, of):
			list = append(list, pipeline.Decision{Frame: d.Frame, Cut: d.Cut, Time: d.Time})
		}
	}
	return list
}

func (r reach) near(frame int64, of Range) bool {
	if r.layout == nil || r.gap == nil {
		return true
	}
	far := new(big.Rat).Mul(r.gap, big.NewRat(2, 1))
	at := r.layout.Moment(frame)
	begin := new(big.Rat).Sub(r.layout.Moment(of.First), far)
	end := new(big.Rat).Add(r.layout.Moment(of.End-1), far)
	return at.Cmp(begin) >= 0 && at.Cmp(end) <= 0
}
