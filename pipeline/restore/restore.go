// Package restore finds frames of a video that are damaged or missing and makes
// them anew from the nearest frames on either side that are sound. All other
// frames, their timestamps, and the other streams stay as they are.
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

// DefaultMaxRun is how many frames in a row are made anew at most unless told
// otherwise.
const DefaultMaxRun = 6

// Options say what Run restores.
type Options struct {
	// Convert says from where to where, how frames are made and how they are
	// written. What changes the time must be left out. The preset is pipeline.Best
	// where none is given: few frames are made.
	Convert pipeline.Options
	// Damage is what is known; Detect looks for more.
	Damage []Finding
	Detect bool
	// MissingFromNumbering takes gaps in the numbering of an image sequence for frames
	// that are missing.
	MissingFromNumbering bool
	// MaxRun is how many frames in a row may be made; longer runs stay as they are.
	// 0 for DefaultMaxRun.
	MaxRun int
	// SmartCopy copies the packets that can stay as they are, and encodes only around the
	// frames that are made. Input or output that does not allow for that is a fault.Usage
	// error.
	SmartCopy bool
	// Found is called with all damage before anything is written; nil for none.
	Found func([]Finding) error
	// DryRun ends Run there.
	DryRun bool
	// Log is called from one goroutine for each frame that was made, in order; nil
	// for none.
	Log func(Entry)
}

// Report is what a run did.
type Report struct {
	Findings []Finding
	Frames   int64     // of the input
	Left     []Finding // runs that are too long and stayed as they were
	Made     int64     // frames, or parts of them, that were made
	// Conversion is nil after a dry run.
	Conversion *pipeline.Report
}

// Entry is where a frame came from that was made.
type Entry struct {
	Frame  int64   `json:"frame"`  // number in the output, from 0
	Source int64   `json:"source"` // number in the input of the frame that it replaces, -1 for one that was put in
	Time   float64 `json:"time"`   // in the output, in seconds
	Kind   Kind    `json:"kind"`
	Score  float64 `json:"score"`  // of the finding
	Region bool    `json:"region"` // only a part was replaced
	// The rest is as in pipeline.Record: the frames of the input that it was made
	// from, and how. Neighbours are the numbers in the input.
	Neighbours []int64         `json:"neighbours"`
	Phase      float64         `json:"phase"`
	Method     pipeline.Method `json:"method"`
	Confidence float64         `json:"confidence"`
	Holes      float64         `json:"holes"`
	Error      float64         `json:"error"`
	Cut        bool            `json:"cut"`
}

// Run restores o.Convert.Input, which is read twice, into o.Convert.Output. Standard
// input is kept in a temporary file meanwhile. Errors
// carry a fault.Kind. Cancelling ctx stops the run and leaves nothing behind.
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
	p, err := s.plan(&o)
	if err != nil {
		return report, err
	}
	report.Left = p.left
	if o.Found != nil {
		if err := o.Found(s.findings); err != nil {
			return report, err
		}
	}
	if o.DryRun {
		return report, nil
	}
	for _, f := range p.left {
		o.Convert.Hooks.Log.Warn("a run is too long to be made anew and stays as it is; Options.MaxRun allows for more", "frames", fmt.Sprintf("%v-%v", f.First, f.Last))
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

// made is a frame that is to be made.
type made struct {
	source  int64 // -1 where none is there
	finding Finding
}

func (m made) entry(r pipeline.Record) Entry {
	return Entry{
		Frame: r.Frame, Source: m.source, Time: r.Time, Kind: m.finding.Kind, Score: m.finding.Score, Region: m.finding.Region != nil,
		Neighbours: r.Sources, Phase: r.Phase, Method: r.Method, Confidence: r.Confidence, Holes: r.Holes, Error: r.Error, Cut: r.Cut,
	}
}

// plan is what becomes of the findings.
type plan struct {
	repairs repairs
	made    map[int64]made // by number in the output
	left    []Finding
}

// plan turns the findings into repairs.
func (s *survey) plan(o *Options) (*plan, error) {
	bad := map[int64]Finding{} // by number; whole frames before parts of them
	inserts := map[int64]Finding{}
	masks := map[int64]frame.Image[uint8]{}
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
				return nil, fault.New(fault.Usage, "frames cannot be put in behind frame %d, which is the last", last)
			}
			inserts[last] = *f
			continue
		}
		for n := first; n <= last; n++ {
			if old, ok := bad[n]; !ok || f.Region == nil && old.Region != nil {
				bad[n] = *f
			}
			if f.Region == nil {
				continue
			}
			m, ok := masks[n]
			if !ok {
				m = frame.NewImage[uint8](s.video.Width, s.video.Height)
				masks[n] = m
			}
			if err := f.Region.addTo(m); err != nil {
				return nil, err
			}
		}
	}
	p := &plan{repairs: repairs{frames: map[int64]frame.Image[uint8]{}, insert: map[int64]int{}}, made: map[int64]made{}}
	p.leave(bad, inserts, o.MaxRun)
	if len(bad) == len(s.stamps) {
		return nil, fault.New(fault.Usage, "all %d frames are damaged; none is left to make them from", len(bad))
	}
	p.repairs.numbers = s.outputNumbers(inserts)
	var out int64
	for n := range int64(len(s.stamps)) {
		if f, ok := bad[n]; ok {
			p.made[out] = made{n, f}
			p.repairs.frames[s.stamps[n]] = frame.Image[uint8]{}
			if f.Region != nil {
				p.repairs.frames[s.stamps[n]] = masks[n]
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

// leave takes runs out of bad and inserts that are longer than limit.
func (p *plan) leave(bad, inserts map[int64]Finding, limit int) {
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
			// A frame that stays ends a run, even one behind which others are missing.
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
			p.left = append(p.left, Finding{First: first, Last: last, Kind: Listed, Score: 1})
			for _, n := range numbers[i:j] {
				delete(bad, n)
				delete(inserts, n)
			}
		}
		i = j
	}
}

// span returns the numbers of the first and the last frame of f, and writes them
// and their time into f.
func (s *survey) span(f *Finding) (first, last int64, err error) {
	if first, err = s.number(f.First); err != nil {
		return first, last, err
	}
	if last, err = s.number(f.Last); err != nil {
		return first, last, err
	}
	if first > last { // timecodes may run past midnight, and so are not compared before
		return first, last, fault.New(fault.Usage, "%v-%v: the end comes before the beginning", f.First, f.Last)
	}
	f.First, f.Last, f.Time = Place{Number: first}, Place{Number: last}, s.seconds(first)
	return first, last, nil
}

// slack is how much earlier than its frame a written time may be, in seconds.
var slack = big.NewRat(1, 2000)

// number finds a frame.
func (s *survey) number(p Place) (int64, error) {
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
