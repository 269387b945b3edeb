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
	id, olderID := p.ID(), ""
	if older != nil {
		olderID = older.ID()
	}
	var near reach
	if same && id != olderID {
		if near, err = newReach(ctx, p); err != nil {
			return 0, err
		}
	}
	for i, r := range p.Ranges {
		if err := ctx.Err(); err != nil {
			return there, err
		}
		if _, err := p.check(dir, id, i, false); err == nil {
			there++
			continue
		}
		if !same || !near.alike(p, older, r) {
			older.discard(dir, olderID, i)
			continue
		}
		m, err := older.check(dir, olderID, i, true)
		if err != nil {
			continue // it is made again
		}
		m.Plan = id
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
			older.discard(dir, olderID, i)
		}
	}
	return there, nil
}

// discard removes what Make has made of range i, if anything; what stays hinders nobody.
func (p *Plan) discard(dir, id string, i int) {
	if p == nil || i >= len(p.Ranges) {
		return
	}
	if m, err := p.check(dir, id, i, false); err == nil {
		_ = os.Remove(manifestName(dir, i))
		_ = os.Remove(filepath.Join(dir, m.File))
	}
}

// agrees reports whether two plans differ in decisions at most.
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

// alike reports whether the same decisions of two plans count for a range, wherever in a file they
// stand.
func (r reach) alike(p, q *Plan, of Range) bool {
	first, end := r.around(of)
	return reflect.DeepEqual(counting(p, of, first, end), counting(q, of, first, end))
}

// around returns the frames [first, end) whose cuts count for a range. A cut counts for the
// intervals before and after its own, too: their motion tells how motion bends. No interval with
// motion is longer than a gap.
func (r reach) around(of Range) (first, end int64) {
	if r.layout == nil || r.gap == nil {
		return 0, timeline.Endless
	}
	far := new(big.Rat).Mul(r.gap, big.NewRat(2, 1))
	first = r.layout.FirstFrom(new(big.Rat).Sub(r.layout.Moment(of.First), far))
	last := new(big.Rat).Add(r.layout.Moment(of.End-1), far)
	end = r.layout.FirstFrom(last)
	if r.layout.Moment(end).Cmp(last) == 0 {
		end++
	}
	return first, end
}

// counting returns the decisions of p for the frames of a range, and the cuts of frames [first, end),
// without their places in a file.
func counting(p *Plan, of Range, first, end int64) (list []pipeline.Decision) {
	all := p.Settings.Synthesis.Decisions
	for i := range all { // a copy of each would take longer than the rest
		switch d := &all[i]; {
		case d.Frame >= of.First && d.Frame < of.End:
			list = append(list, *d)
			list[len(list)-1].Line = 0
		case d.Cut != nil && d.Frame >= first && d.Frame < end:
			list = append(list, pipeline.Decision{Frame: d.Frame, Cut: d.Cut, Time: d.Time})
		}
	}
	return list
}
