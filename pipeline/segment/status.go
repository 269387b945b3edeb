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

// State is how a range stands.
type State string

// The states.
const (
	Done    State = "done"
	Missing State = "missing"
	Damaged State = "damaged" // there, but not what it should be
)

// Standing says how one range stands.
type Standing struct {
	Index  int    `json:"index"`
	First  int64  `json:"first"`
	Frames int64  `json:"frames"`
	State  State  `json:"state"`
	Reason string `json:"reason,omitempty"` // why it is damaged
	Bytes  int64  `json:"bytes,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Checked and Wrong count frames that Verify made again, and that came out
	// different.
	Checked int64 `json:"checked,omitempty"`
	Wrong   int64 `json:"wrong,omitempty"`
}

// Status is how a plan stands.
type Status struct {
	Plan     string     `json:"plan"` // its ID
	Done     int        `json:"done"`
	Missing  int        `json:"missing"`
	Damaged  int        `json:"damaged"`
	Segments []Standing `json:"segments"`
	// Digest is that of all frames if every segment is done: it does not depend
	// on how many there are.
	Digest string `json:"digest,omitempty"`
}

// Status looks at the segments in dir; with all set it reads them through.
func (p *Plan) Status(dir string, all bool) *Status {
	s, _ := p.status(dir, all)
	return s
}

func (p *Plan) status(dir string, all bool) (*Status, []*Manifest) {
	s := &Status{Plan: p.ID()}
	manifests := make([]*Manifest, len(p.Ranges))
	var digests [][]Hash
	for i, r := range p.Ranges {
		at := Standing{Index: i, First: r.First, Frames: r.End - r.First, State: Done}
		m, err := p.check(dir, i, all)
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

// Verify reads all segments in dir through and makes frames of those that are done
// again to compare: sample of them, spread by a fixed rule, or all if sample is
// negative. The error says what is wrong; the status has it by range. Of local what
// counts in Make does.
func (p *Plan) Verify(ctx context.Context, dir string, sample int, local pipeline.Options) (*Status, error) {
	if err := p.checkInput(ctx, true); err != nil {
		return nil, err
	}
	s, manifests := p.status(dir, true)
	o := p.apply(local)
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
		_, starts, err := survey(ctx, o)
		if err != nil {
			return s, pipeline.Cancelled(ctx, err)
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
		i := p.holding(r.First)
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
		if _, err := runPart(ctx, o, &p.Whole, r, nil); err != nil {
			return s, err
		}
		if at.Checked == before {
			at.Wrong++ // the frame is not there
		}
		if sample < 0 && at.Checked < m.Frames {
			at.Wrong += m.Frames - at.Checked
		}
	}
	return s, s.verdict()
}

// verdict is the error that a status amounts to.
func (s *Status) verdict() error {
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

// Err returns nil if all is done, a fault.BadData error if segments are damaged, and
// a fault.TryAgain error if some are missing.
func (s *Status) Err() error { return s.verdict() }

// holding is the range that frame k belongs to.
func (p *Plan) holding(k int64) int {
	i, found := slices.BinarySearchFunc(p.Ranges, k, func(r Range, k int64) int { return cmp.Compare(r.First, k) })
	if !found {
		i--
	}
	return i
}

// sample chooses n of the frames that are there, the same ones each time.
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

// String is a line for each range that is not done and one for the whole.
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
