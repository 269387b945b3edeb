// Package restore finds frames of a video that are damaged or missing and synthesizes
// them from the nearest sound frames on either side. All other frames, their
// timestamps, and the other streams stay unchanged.
package restore

import (
	"context"
	"fmt"
	"log/slog"
	"math/big"
	"sort"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
)

// DefaultMaxRun is the default of Options.MaxRun.
const DefaultMaxRun = 6

// Options configure Run.
type Options struct {
	// Convert names input and output, and how frames are made and written. Run refuses options that
	// change the timing. The default preset is pipeline.Best, because few frames are made.
	Convert pipeline.Options
	// Damage lists known damage. Detect searches for more.
	Damage []Finding
	Detect bool
	// Sensitivity and Find say how sure Detect must be, and which kinds of damage it looks for: if none is named,
	// those of whole pictures.
	Sensitivity Sensitivity
	Find        []Kind
	// MissingFromNumbering makes frames for the gaps in the numbering of an image
	// sequence.
	MissingFromNumbering bool
	// FieldOrder is the field that comes first in interlaced frames, whatever they are marked as;
	// empty to restore those as fields that are marked as interlaced, in the order that they
	// state. Input.Deinterlace "off" restores all as frames.
	FieldOrder Field
	// MaxRun is the largest number of frames in a row to make; longer runs stay
	// unchanged. 0 for DefaultMaxRun.
	MaxRun int
	// SmartCopy copies the packets that can stay unchanged, and encodes only around the
	// frames that are made. It is a fault.Usage error if the input or the output does
	// not allow that.
	SmartCopy bool
	// Found is called with all findings before anything is written; Run returns its error. nil for
	// no call.
	Found func([]Finding) error
	// DryRun ends Run after the call of Found.
	DryRun bool
	// Log is called from one goroutine for each frame that was made, in order; nil for
	// no calls.
	Log func(Entry)
}

// Report is the result of Run.
type Report struct {
	Findings []Finding
	Frames   int64     // of the input
	TooLong  []Finding // runs longer than MaxRun, which stayed unchanged
	Made     int64     // frames made, in whole or in part; after a dry run, those to make
	// Conversion is nil after a dry run.
	Conversion *pipeline.Report
}

// Entry describes how a frame was made.
type Entry struct {
	Frame  int64   `json:"frame"`  // number in the output, from 0
	Source int64   `json:"source"` // number in the input of the replaced frame, -1 for an inserted one
	Time   float64 `json:"time"`   // in seconds of the output
	Kind   Kind    `json:"kind"`
	Score  float64 `json:"score"` // the finding's
	Part
	// Field is the field that was made of an interlaced frame; empty if the frame was made as one.
	Field Field `json:"field,omitempty"`
	// The fields below are as in pipeline.Record; Neighbours are numbers in the input.
	Neighbours []int64 `json:"neighbours"`
	// NeighbourFields are the neighbours' fields, if it was made from fields.
	NeighbourFields []Field         `json:"neighbour_fields,omitempty"`
	Phase           float64         `json:"phase"`
	Method          pipeline.Method `json:"method"`
	Confidence      float64         `json:"confidence"`
	Holes           float64         `json:"holes"`
	Error           float64         `json:"error"`
	Cut             bool            `json:"cut"`
}

// Part says which part of a frame was replaced.
type Part struct {
	Region bool `json:"region"` // only a part was replaced
	// Areas are the parts without their seams, of a mask the box around it; empty for the whole picture.
	Areas []Rectangle `json:"areas,omitempty"`
}

// Run restores o.Convert.Input, which it reads twice, into o.Convert.Output. It copies
// standard input to a temporary file. Every error carries a fault.Kind. If ctx is
// cancelled, Run leaves no output behind.
func Run(ctx context.Context, o Options) (*Report, error) {
	report, err := run(ctx, o)
	kept := report != nil && report.Conversion != nil || fault.KindOf(err) == fault.Mismatch
	if err != nil && ctx.Err() != nil && !kept {
		return report, fault.Cancel(ctx, "cancelled; nothing was written")
	}
	return report, err
}

// settled checks o, and returns it with its defaults.
func (o Options) settled() (Options, error) {
	if o.MaxRun == 0 {
		o.MaxRun = DefaultMaxRun
	}
	if o.MaxRun < 0 {
		return o, fault.New(fault.Usage, "Options.MaxRun %d: want 1 or more", o.MaxRun)
	}
	if o.Convert.Synthesis.Preset == "" {
		o.Convert.Synthesis.Preset = pipeline.Best
	}
	if o.Convert.Hooks.Log == nil {
		o.Convert.Hooks.Log = slog.New(slog.DiscardHandler)
	}
	t := &o.Convert.Timing
	switch fields := o.Convert.Input.Deinterlace; {
	case t.Rate.Value != nil || t.Slow != nil || t.Fit != nil || t.From != nil || t.To != nil || t.Curve != nil || t.Shutter != nil,
		o.Convert.Synthesis.Duplicates == pipeline.RetimeDuplicates:
		return o, fault.New(fault.Usage, "repairs do not change the timing; convert before or after")
	case fields != pipeline.RefuseFields && fields != pipeline.IgnoreFields:
		return o, fault.New(fault.Usage, "Input.Deinterlace %s: a restoration takes off alone", fields)
	case fields == pipeline.IgnoreFields && o.FieldOrder != BothFields:
		return o, fault.New(fault.Usage, "Options.FieldOrder restores fields, and Input.Deinterlace off frames; leave out one of them")
	case o.FieldOrder != BothFields && o.FieldOrder != TopField && o.FieldOrder != BottomField:
		return o, fault.New(fault.Usage, "Options.FieldOrder %s: choose from top, bottom", o.FieldOrder)
	}
	o.Convert.Input.SequenceGaps = o.MissingFromNumbering
	return o, nil
}

func run(ctx context.Context, o Options) (*Report, error) {
	o, err := o.settled()
	if err != nil {
		return nil, err
	}
	if len(o.Damage) == 0 && !o.Detect && !o.MissingFromNumbering {
		return nil, fault.New(fault.Usage, "nothing to restore; name frames, or have damage looked for")
	}
	if in, out := &o.Convert.Input, &o.Convert.Output; !o.DryRun { // before standard input is read
		w := media.WriterOptions{Container: media.ContainerOptions{Format: out.Format}, Overwrite: out.Overwrite}
		if err := media.CheckOutput(out.File, in.File, w); err != nil {
			return nil, err
		}
	}
	if o.Convert.Input.File == "-" {
		name, remove, err := spool(ctx, o.Convert.Hooks.Log)
		if err != nil {
			return nil, err
		}
		defer remove()
		o.Convert.Input.File = name
	}
	if err := o.checkOutput(ctx); err != nil {
		return nil, err
	}
	s, err := scan(ctx, &o)
	if err != nil {
		return nil, err
	}
	o.Convert.LogDamage(s.damage, s.damaged, o.Detect)
	report := &Report{Findings: s.findings, Frames: int64(len(s.stamps))}
	p, err := s.planRepairs(&o)
	if err != nil {
		return report, err
	}
	report.TooLong = p.tooLong
	if o.Found != nil {
		if err := o.Found(s.findings); err != nil {
			return report, err
		}
	}
	if o.DryRun {
		report.Made = p.frames
		return report, nil
	}
	o.Convert.Input.Deinterlace = pipeline.IgnoreFields // the scan has seen to them
	for _, f := range p.tooLong {
		o.Convert.Hooks.Log.Warn("a run is too long to replace and is left alone; Options.MaxRun allows longer ones", "frames", fmt.Sprintf("%v-%v", f.First, f.Last))
	}
	convert := o.Convert
	convert.Synthesis.Decisions = p.decisions()
	passed, last := convert.Hooks.Record, int64(-1)
	synthesized := map[int64]bool{} // frames of the output
	convert.Hooks.Record = func(r pipeline.Record) {
		if passed != nil {
			passed(r)
		}
		m, ok := p.made[r.Frame]
		if !ok {
			return
		}
		if m.frame != last {
			report.Made++
			last = m.frame
		}
		if r.Method.Made() {
			synthesized[m.frame] = true
		}
		if o.Log != nil {
			o.Log(p.entry(m, r))
		}
	}
	report.Conversion, err = restore(ctx, convert, &p.repairs, s.stamps, o.SmartCopy)
	if c := report.Conversion; c != nil { // its line counts pictures, and may make some twice
		c.Made = int64(len(synthesized))
		c.Held = report.Made - c.Made
	}
	return report, err
}

// checkOutput refuses an output before the input is read for damage, which may take long. Which streams a smart copy can
// write is known only after that.
func (o *Options) checkOutput(ctx context.Context) error {
	convert := o.Convert
	if o.DryRun {
		return nil
	}
	convert.Input.Deinterlace, convert.Hooks = pipeline.IgnoreFields, pipeline.Hooks{Log: slog.New(slog.DiscardHandler)}
	clip, err := openClip(ctx, convert, pipeline.Open)
	if err != nil {
		return err
	}
	defer clip.Close()
	if o.SmartCopy {
		_, err = media.CheckName(ctx, convert.Output.File, clip.Source, clip.WriterOptions(nil))
		return err
	}
	return media.Check(ctx, convert.Output.File, clip.Source, clip.WriterOptions(nil))
}

// span returns the numbers of the first and the last frame of f, and stores them and their time in
// f. It refuses a finding that does not fit the input.
func (s *inputScan) span(f *Finding) (first, last int64, err error) {
	if first, err = s.number(f.First); err != nil {
		return first, last, err
	}
	if last, err = s.number(f.Last); err != nil {
		return first, last, err
	}
	if err := s.structure.check(f.First); err != nil {
		return first, last, err
	}
	if first > last { // timecodes may run past midnight, so parseSpan does not compare them
		return first, last, fault.New(fault.Usage, "%v-%v: the end comes before the beginning", f.First, f.Last)
	}
	if f.Insert > 0 && last == int64(len(s.stamps))-1 {
		return first, last, fault.New(fault.Usage, "frames cannot be inserted after frame %d, which is the last", last)
	}
	for _, r := range f.Regions {
		if err := r.check(s.video.Width, s.video.Height); err != nil {
			return first, last, err
		}
	}
	field := f.First.Field
	f.First, f.Last, f.Time = Place{Number: first, Field: field}, Place{Number: last, Field: field}, s.seconds(first)
	return first, last, nil
}

// slack is how much, in seconds, a written time may precede its frame.
var slack = big.NewRat(1, 2000)

// number returns the number of the frame at p.
func (s *inputScan) number(p Place) (int64, error) {
	count := int64(len(s.stamps))
	if p.Timecode != nil {
		t, err := s.timecode(*p.Timecode)
		if err != nil {
			return 0, err
		}
		p.Time = t
	}
	if p.Time == nil {
		if p.Number >= count {
			return 0, fault.New(fault.Usage, "frame %d: the video has %d, from 0 to %d", p.Number, count, count-1)
		}
		return p.Number, nil
	}
	t := new(big.Rat).Add(p.Time, slack)
	n := int64(sort.Search(int(count), func(i int) bool { return s.time(int64(i)).Cmp(t) > 0 })) - 1
	if n < 0 || p.Time.Cmp(s.end()) >= 0 {
		if t := p.Timecode; t != nil {
			rate, first := s.counting(t.Drop)
			return 0, fault.New(fault.Usage, "timecode %v: the video has those from %v to %v", t, first, TimecodeAt(first, count-1, rate))
		}
		return 0, fault.New(fault.Usage, "time %s s: the video lasts from %s to %s s", p, s.time(0).FloatString(3), s.end().FloatString(3))
	}
	return n, nil
}
