package segment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"retime/pipeline"
	"retime/pipeline/fault"
)

// State is the state of a range.
type State string

// These are the states of a range.
const (
	Done    State = "done"
	Missing State = "missing"
	Damaged State = "damaged" // the segment exists and is wrong
)

// RangeStatus describes a range and its segment.
type RangeStatus struct {
	Index  int    `json:"index"`
	First  int64  `json:"first"`
	Frames int64  `json:"frames"`
	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"` // why the segment is damaged
	Bytes  int64  `json:"bytes,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Checked counts the frames that Verify made again, and Wrong those of them that
	// differ.
	Checked int64 `json:"checked,omitempty"`
	Wrong   int64 `json:"wrong,omitempty"`
}

// Status describes the ranges of a plan.
type Status struct {
	Plan     string        `json:"plan"` // ID of the plan
	Done     int           `json:"done"`
	Missing  int           `json:"missing"`
	Damaged  int           `json:"damaged"`
	Segments []RangeStatus `json:"segments"`
	// Digest is the Sum over all frames if every segment is done. It does not depend on
	// the ranges.
	Digest string `json:"digest,omitempty"`
}

// Status returns the status of the segments in dir. If all is set it reads the segments
// through.
func (p *Plan) Status(dir string, all bool) *Status {
	s, _ := p.status(dir, all)
	return s
}

func (p *Plan) status(dir string, all bool) (*Status, []*Manifest) {
	s := &Status{Plan: p.ID()}
	manifests := make([]*Manifest, len(p.Ranges))
	var digests [][]Hash
	for i, r := range p.Ranges {
		at := RangeStatus{Index: i, First: r.First, Frames: r.End - r.First, State: Done}
		m, err := p.check(dir, s.Plan, i, all)
		switch {
		case errors.Is(err, errMissing):
			at.State = Missing
			s.Missing++
		case err != nil:
			at.State, at.Reason = Damaged, err.Error()
			s.Damaged++
		default:
			at.Frames, at.Bytes, at.Digest = m.Frames, m.Bytes, m.Digest
			manifests[i] = m
			digests = append(digests, m.Digests)
			s.Done++
		}
		s.Segments = append(s.Segments, at)
	}
	if s.Done == len(p.Ranges) {
		s.Digest = Sum(digests...)
	}
	return s, manifests
}

// Verify reads all segments in dir through, makes frames of the finished ones again and
// compares. It makes sample frames, chosen by a fixed rule, or all frames if sample is
// negative. Of local it heeds the options that Make heeds. The error is the first of
// these that holds: fault.BadData for frames that differ or damaged segments,
// fault.TryAgain for missing ones; the status has the ranges.
func (p *Plan) Verify(ctx context.Context, dir string, sample int, local pipeline.Options) (*Status, error) {
	if err := p.confine(dir, local); err != nil {
		return nil, err
	}
	if err := p.checkInput(ctx, true); err != nil {
		return nil, err
	}
	s, manifests := p.status(dir, true)
	o := p.Conversion(local)
	total := int64(0)
	for _, m := range manifests {
		if m != nil {
			total += m.Frames
		}
	}
	checks := p.sample(manifests, sample, total)
	if sample < 0 {
		checks = p.Ranges
	} else if len(checks) > 0 {
		starts, err := readStarts(ctx, o)
		if err != nil {
			return s, fault.Interrupted(ctx, err)
		}
		for i := range checks {
			checks[i].Start = starts.before(checks[i].First)
		}
	}
	total = 0
	for _, r := range checks {
		total += r.End - r.First
	}
	done := int64(0)
	show := o.Hooks.Progress
	o.Hooks.Progress = nil
	for _, r := range checks {
		i := p.rangeOf(r.First)
		m, at := manifests[i], &s.Segments[i]
		if m == nil {
			continue
		}
		o.Hooks.Digest = func(k int64, d pipeline.Digest) {
			at.Checked++
			if k -= m.First; k >= m.Frames || m.Digests[k] != Hash(d) {
				at.Wrong++
			}
			if done++; show != nil {
				show(pipeline.Progress{Frames: done, Total: total})
			}
		}
		before := at.Checked
		if _, err := runPart(ctx, o, &p.Whole, r, discard{}); err != nil {
			return s, err
		}
		if at.Checked == before {
			at.Wrong++ // the frame is not there
		}
		if sample < 0 && at.Checked < m.Frames {
			at.Wrong += m.Frames - at.Checked
		}
	}
	return s, s.Err()
}

// Err returns a fault.BadData error if frames differ or segments are damaged, a
// fault.TryAgain error if segments are missing, and nil otherwise.
func (s *Status) Err() error {
	wrong := int64(0)
	for _, at := range s.Segments {
		wrong += at.Wrong
	}
	switch {
	case wrong > 0:
		return fault.New(fault.BadData, "%d frames are not what they should be", wrong)
	case s.Damaged > 0:
		return fault.New(fault.BadData, "%d of %d segments are damaged; make them again", s.Damaged, len(s.Segments))
	case s.Missing > 0:
		return fault.New(fault.TryAgain, "%d of %d segments are missing", s.Missing, len(s.Segments))
	}
	return nil
}

// rangeOf returns the index of the range of frame k.
func (p *Plan) rangeOf(k int64) int {
	i, found := slices.BinarySearchFunc(p.Ranges, k, func(r Range, k int64) int { return cmp.Compare(r.First, k) })
	if !found {
		i--
	}
	return i
}

// sample chooses n of the frames in the manifests, the same ones each time.
func (p *Plan) sample(manifests []*Manifest, n int, total int64) []Range {
	if n <= 0 || total == 0 {
		return nil
	}
	random := rand.New(rand.NewPCG(uint64(total), 1))
	chosen := map[int64]bool{}
	for range min(int64(n), total) {
		k := random.Int64N(total)
		for chosen[k] {
			k = (k + 1) % total
		}
		chosen[k] = true
	}
	var out []Range
	before := int64(0)
	for _, m := range manifests {
		if m == nil {
			continue
		}
		for k := range m.Frames {
			if chosen[before+k] && m.First+k < p.Whole.Frames {
				out = append(out, Range{First: m.First + k, End: m.First + k + 1})
			}
		}
		before += m.Frames
	}
	return out
}

// String returns a line for each range that is not done and a line for the whole.
func (s *Status) String() string {
	var b []byte
	for _, at := range s.Segments {
		switch {
		case at.State == Missing:
			b = fmt.Appendf(b, "segment %d, frames %d to %d: missing\n", at.Index, at.First, at.First+at.Frames)
		case at.State == Damaged:
			b = fmt.Appendf(b, "segment %d, frames %d to %d: damaged: %s\n", at.Index, at.First, at.First+at.Frames, at.Reason)
		case at.Wrong > 0:
			b = fmt.Appendf(b, "segment %d, frames %d to %d: %d of %d frames made again differ\n", at.Index, at.First, at.First+at.Frames, at.Wrong, at.Checked)
		}
	}
	b = fmt.Appendf(b, "%d of %d segments done", s.Done, len(s.Segments))
	checked := int64(0)
	for _, at := range s.Segments {
		checked += at.Checked
	}
	if checked > 0 {
		b = fmt.Appendf(b, ", %d frames made again and compared", checked)
	}
	if s.Digest != "" {
		b = fmt.Appendf(b, ", frames %s", s.Digest)
	}
	return string(append(b, '\n'))
}
