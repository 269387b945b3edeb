package pipeline

import (
	"context"
	"errors"
	"math/big"

	"retime/pipeline/media"
	"retime/pipeline/stages"
	"retime/pipeline/timeline"
)

// Span is a part of an input, and what a reader delivers of it.
type Span struct {
	From, To  *big.Rat // seconds after the file's start; nil for its start and its end
	Subtitles bool     // also subtitles that began up to a minute before From
	Packets   bool     // the video's packets in place of its pictures
	Onward    bool     // begin with the first picture at or after From, not with the last at or before it
	// ProbeFields warns of pictures that look interlaced, if the input does not say so and
	// Input.Deinterlace does not, either.
	ProbeFields bool
	// MarkDamage is as in media.Decoding.
	MarkDamage bool
}

// Reopen opens c's input once more, with all of its options.
func (c *Clip) Reopen(ctx context.Context, s Span) (*media.Reader, error) {
	o := c.readerOptions()
	o.From, o.To, o.Packets, o.ProbeFields = media.Start{At: s.From, Onward: s.Onward, Subtitles: s.Subtitles}, s.To, s.Packets, s.ProbeFields && o.ProbeFields
	o.MarkDamage = s.MarkDamage
	return media.Open(ctx, c.Options.Input.File, o)
}

// OpenInput opens s of o's input with all of its options, and plans no conversion.
func OpenInput(ctx context.Context, o Options, s Span) (*media.Reader, error) {
	settled, err := o.Settle()
	if err != nil {
		return nil, err
	}
	return (&Clip{Options: *settled}).Reopen(ctx, s)
}

// Part is consecutive frames of a pass, which Frames makes without those before and after them.
type Part struct {
	Pass       *timeline.Pass
	First, End int64 // frames, from First to before End; Endless for all that follow
	// Start is a time of the file from which on the pictures suffice, as an index tells; nil to
	// estimate it from the rate.
	Start *big.Rat
}

// Pictures are the pictures of a clip's input, which can be read from any time on.
type Pictures interface {
	// From returns a source that begins with the last picture at or before a time in seconds or, for nil,
	// where the conversion begins. midway is set in the first case, unless that picture is the
	// conversion's first. release ends the reading.
	From(ctx context.Context, begin *big.Rat) (s Source, midway bool, release func(), err error)
}

// leadPictures is how many pictures before a part's first frame are read at least: the motion before an
// interval counts, pictures that share a point of the clock's grid follow from the one before, and
// some packets hold no picture that is shown.
const leadPictures = 10

// lastAttempt is the attempt that reads from where the conversion begins.
const lastAttempt = 3

// Frames makes the frames of a part as the whole conversion makes them. line runs a line over the
// pictures that it gets; Frames calls it again, with pictures from an earlier time on, if these begin too
// late for the part's first frame, of which no sink has got anything then.
func (c *Clip) Frames(ctx context.Context, p Part, from Pictures, line func(s Source, want stages.Range) error) error {
	each := p.Pass.Layout.Subframes()
	want := stages.Range{First: p.First * each, End: timeline.Endless}
	if p.End < timeline.Endless {
		want.End = p.End * each
	}
	for attempt := 0; ; attempt++ {
		begin := c.lead(&p, attempt)
		source, midway, release, err := from.From(ctx, begin)
		if err != nil {
			return err
		}
		want.Midway = midway
		err = line(source, want)
		release()
		if !errors.Is(err, stages.ErrLate) || begin == nil {
			return err
		}
	}
}

// lead returns the time from which on pictures are read for a part; nil for where the conversion begins.
// Each further attempt begins earlier.
func (c *Clip) lead(p *Part, attempt int) *big.Rat {
	if attempt >= lastAttempt || c.Options.dependsOnAll() {
		return nil
	}
	begin := p.Start
	if begin == nil || attempt > 0 {
		lead := new(big.Rat).SetInt64(leadPictures << (2 * attempt))
		begin = lead.Sub(c.earliest(p), lead.Mul(lead, c.Period()))
	}
	origin := c.Plan.Clock.At(c.Source.Video().StreamPTS)
	switch {
	case p.Pass.Backward:
	case c.Plan.Reopens() && p.Pass.From != nil:
		origin = timeline.Later(origin, p.Pass.From)
	case c.Options.Timing.From != nil:
		origin = timeline.Later(origin, c.Options.Timing.From)
	}
	if begin.Cmp(origin) <= 0 {
		return nil
	}
	return begin
}

// earliest returns the earliest time on the source's clock that a part shows, and the slot before it.
func (c *Clip) earliest(p *Part) *big.Rat {
	layout, each := p.Pass.Layout, p.Pass.Layout.Subframes()
	if !p.Pass.Backward {
		return new(big.Rat).Set(layout.Moment(max(p.First*each-1, layout.First())))
	}
	return timeline.Later(p.Pass.Moment(layout.Moment(p.End*each-1)), p.Pass.To)
}

// Period is the mean distance of two pictures, in seconds.
func (c *Clip) Period() *big.Rat { return period(c.Source.Video()) }

func period(v media.Video) *big.Rat {
	if r := v.Average; r != nil && r.Sign() > 0 {
		return new(big.Rat).Inv(r)
	}
	return big.NewRat(1, 25)
}

// dependsOnAll reports whether a picture may depend on ones long before it, because of filters or
// repeats, so that reading must begin where the conversion does.
func (o *Options) dependsOnAll() bool {
	fields := o.Input.Deinterlace != RefuseFields && o.Input.Deinterlace != IgnoreFields
	return fields || o.Synthesis.Duplicates != KeepDuplicates
}

// SameForm reports whether the pictures of a reader that begins midway have the form of the clip's
// first one, to which a reader from the start converts all.
func (c *Clip) SameForm(r *media.Reader) bool {
	a, b := r.Video(), c.Source.Video()
	return a.Width == b.Width && a.Height == b.Height && a.Source == b.Source && a.Format == b.Format
}

// Pictures returns the clip's pictures for one call of Frames. From the conversion's begin on, its own
// reader delivers them.
func (c *Clip) Pictures() Pictures { return reopened{c} }

type reopened struct{ *Clip }

func (c reopened) From(ctx context.Context, begin *big.Rat) (Source, bool, func(), error) {
	if begin == nil {
		return c.Source, false, func() {}, nil
	}
	r, err := c.Reopen(ctx, Span{From: begin, To: c.Options.Timing.To})
	if err != nil {
		return nil, false, nil, err
	}
	if !c.SameForm(r) {
		r.Close()
		return c.Source, false, func() {}, nil
	}
	r.CaptionFor(c.Source)
	return r, r.Video().FirstPTS != c.Source.Video().FirstPTS, r.Close, nil
}
