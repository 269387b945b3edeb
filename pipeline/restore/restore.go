// Package restore finds frames of a video that are damaged or missing and synthesizes
// them from the nearest sound frames on either side. All other frames, their
// timestamps, and the other streams stay unchanged.
package restore

import (
	"context"
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"sort"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
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
	// MissingFromNumbering makes frames for the gaps in the numbering of an image
	// sequence.
	MissingFromNumbering bool
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
	Score  float64 `json:"score"`  // the finding's
	Region bool    `json:"region"` // only a part was replaced
	// The fields below are as in pipeline.Record; Neighbours are numbers in the input.
	Neighbours []int64         `json:"neighbours"`
	Phase      float64         `json:"phase"`
	Method     pipeline.Method `json:"method"`
	Confidence float64         `json:"confidence"`
	Holes      float64         `json:"holes"`
	Error      float64         `json:"error"`
	Cut        bool            `json:"cut"`
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

func run(ctx context.Context, o Options) (*Report, error) {
	if o.MaxRun == 0 {
		o.MaxRun = DefaultMaxRun
	}
	if o.MaxRun < 0 {
		return nil, fault.New(fault.Usage, "Options.MaxRun %d: want 1 or more", o.MaxRun)
	}
	if o.Convert.Synthesis.Preset == "" {
		o.Convert.Synthesis.Preset = pipeline.Best
	}
	if o.Convert.Hooks.Log == nil {
		o.Convert.Hooks.Log = slog.New(slog.DiscardHandler)
	}
	if len(o.Damage) == 0 && !o.Detect && !o.MissingFromNumbering {
		return nil, fault.New(fault.Usage, "nothing to restore; name frames, or have damage looked for")
	}
	o.Convert.Input.SequenceGaps = o.MissingFromNumbering
	if o.Convert.Input.File == "-" {
		name, remove, err := spool(ctx, o.Convert.Hooks.Log)
		if err != nil {
			return nil, err
		}
		defer remove()
		o.Convert.Input.File = name
	}
	s, err := scan(ctx, &o)
	if err != nil {
		return nil, err
	}
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
		report.Made = int64(len(p.made))
		return report, nil
	}
	for _, f := range p.tooLong {
		o.Convert.Hooks.Log.Warn("a run is too long to replace and is left alone; Options.MaxRun allows longer ones", "frames", fmt.Sprintf("%v-%v", f.First, f.Last))
	}
	convert := o.Convert
	passed := convert.Hooks.Record
	convert.Hooks.Record = func(r pipeline.Record) {
		if passed != nil {
			passed(r)
		}
		m, ok := p.made[r.Frame]
		if !ok {
			return
		}
		report.Made++
		if o.Log != nil {
			o.Log(m.entry(r))
		}
	}
	report.Conversion, err = restore(ctx, convert, &p.repairs, s.stamps, o.SmartCopy)
	return report, err
}

// made describes a frame to make.
type made struct {
	source  int64 // -1 for an inserted frame
	finding Finding
}

func (m made) entry(r pipeline.Record) Entry {
	return Entry{
		Frame: r.Frame, Source: m.source, Time: r.Time, Kind: m.finding.Kind, Score: m.finding.Score, Region: m.finding.Region != nil,
		Neighbours: r.Sources, Phase: r.Phase, Method: r.Method, Confidence: r.Confidence, Holes: r.Holes, Error: r.Error, Cut: r.Cut,
	}
}

// repairPlan is the result of planRepairs.
type repairPlan struct {
	repairs repairs
	made    map[int64]made // by number in the output
	tooLong []Finding
}

// planRepairs turns the findings into repairs.
func (s *inputScan) planRepairs(o *Options) (*repairPlan, error) {
	bad := map[int64]Finding{} // by number; damage to a whole frame overrides damage to a part
	inserts := map[int64]Finding{}
	regions := map[int64][]*Region{}
	for i := range s.findings {
		f := &s.findings[i]
		first, last, err := s.span(f)
		if err != nil {
			return nil, err
		}
		switch {
		case !f.repairs():
			continue
		case f.Insert > 0:
			if last == int64(len(s.stamps))-1 {
				return nil, fault.New(fault.Usage, "frames cannot be inserted after frame %d, which is the last", last)
			}
			inserts[last] = *f
			continue
		case f.Region != nil:
			if err := f.Region.check(s.video.Width, s.video.Height); err != nil {
				return nil, err
			}
		}
		for n := first; n <= last; n++ {
			if old, ok := bad[n]; !ok || f.Region == nil && old.Region != nil {
				bad[n] = *f
			}
			if f.Region != nil {
				regions[n] = append(regions[n], f.Region)
			}
		}
	}
	p := &repairPlan{repairs: repairs{frames: map[int64]frame.Image[uint8]{}, insert: map[int64]int{}}, made: map[int64]made{}}
	p.dropLong(bad, inserts, o.MaxRun)
	if len(bad) == len(s.stamps) {
		kind := fault.Usage
		if o.Detect { // the user has not named them
			kind = fault.BadData
		}
		return nil, fault.New(kind, "all %d frames are damaged; none is left to make them from", len(bad))
	}
	p.repairs.numbers = s.outputNumbers(inserts)
	drawn := masks{width: s.video.Width, height: s.video.Height, drawn: map[string]frame.Image[uint8]{}}
	var out int64
	for n := range int64(len(s.stamps)) {
		if f, ok := bad[n]; ok {
			p.made[out] = made{n, f}
			p.repairs.frames[s.stamps[n]] = frame.Image[uint8]{}
			if f.Region != nil {
				p.repairs.frames[s.stamps[n]] = drawn.of(regions[n])
			}
		}
		out++
		if f, ok := inserts[n]; ok {
			p.repairs.insert[s.stamps[n]] = f.Insert
			for range f.Insert {
				p.made[out] = made{-1, f}
				out++
			}
		}
	}
	return p, nil
}

// dropLong removes from bad and inserts the runs that are longer than limit.
func (p *repairPlan) dropLong(bad, inserts map[int64]Finding, limit int) {
	var numbers []int64
	for n := range bad {
		numbers = append(numbers, n)
	}
	for n := range inserts {
		if _, ok := bad[n]; !ok {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for i := 0; i < len(numbers); {
		j, length := i, 0
		for ; j < len(numbers); j++ {
			n := numbers[j]
			_, lost := bad[n]
			// A frame that stays ends a run, even if frames are missing after it.
			if j > i && (n != numbers[j-1]+1 || !lost) {
				break
			}
			if lost {
				length++
			}
			length += inserts[n].Insert
		}
		if length > limit {
			first, last := Place{Number: numbers[i]}, Place{Number: numbers[j-1]}
			p.tooLong = append(p.tooLong, Finding{First: first, Last: last, Kind: Listed, Score: 1})
			for _, n := range numbers[i:j] {
				delete(bad, n)
				delete(inserts, n)
			}
		}
		i = j
	}
}

// span returns the numbers of the first and the last frame of f, and stores them and their time in
// f.
func (s *inputScan) span(f *Finding) (first, last int64, err error) {
	if first, err = s.number(f.First); err != nil {
		return first, last, err
	}
	if last, err = s.number(f.Last); err != nil {
		return first, last, err
	}
	if first > last { // timecodes may run past midnight, so parseSpan does not compare them
		return first, last, fault.New(fault.Usage, "%v-%v: the end comes before the beginning", f.First, f.Last)
	}
	f.First, f.Last, f.Time = Place{Number: first}, Place{Number: last}, s.seconds(first)
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
		return 0, fault.New(fault.Usage, "time %s s: the video lasts from %s to %s s", p, s.time(0).FloatString(3), s.end().FloatString(3))
	}
	return n, nil
}
