package pipeline

import (
	"context"
	"math/big"
	"sync/atomic"
	"time"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
)

// Line makes output frames from the pictures of sources and passes them to a sink. It runs
// once for each pass of a plan, and counts over all passes.
type Line struct {
	options *Options
	plan    *timeline.Plan
	sink    Sink
	synth   synth.Synthesizer

	wishes decisions
	gaps   gapWarning
	result Result
	times  stageTimes
	before synth.Summary // of what synth did for other lines
}

// Result counts what a Line has done.
type Result struct {
	Sources int64 // pictures read
	Frames  int64 // frames written
	Made    int64 // of those, frames that no camera shot
	Repeats int64 // pictures left out as repeats of the one before
	// Cuts are the times in the input at which scenes begin, in seconds.
	Cuts   []*big.Rat
	Cutoff error // the damage that ended the input early, with a fault.Kind; nil for none
	Stages Stages
}

// Partial says what is in a file if damage ended the input, and returns nil if none did.
func (r *Result) Partial(name string) error {
	if r.Cutoff == nil {
		return nil
	}
	return fault.New(fault.KindOf(r.Cutoff), "%w; the %d frames before that are in %q", r.Cutoff, r.Frames, name)
}

// NewLine returns a line for o, whose defaults must be in place; see Options.Settle.
func NewLine(o *Options, plan *timeline.Plan, sink Sink, s synth.Synthesizer) *Line {
	return &Line{
		options: o, plan: plan, sink: sink, synth: s,
		wishes: newDecisions(o.Synthesis.Decisions), gaps: gapWarning{log: o.Hooks.Log},
		before: s.Summary(),
	}
}

// CountFrom makes n the number of the picture that is read next.
func (l *Line) CountFrom(n int64) { l.result.Sources = n }

// Result returns the counts so far.
func (l *Line) Result() Result {
	r := l.result
	s := l.synth.Summary()
	r.Stages = l.times.stages()
	r.Stages.Load += s.Load - l.before.Load
	r.Stages.Synthesis += s.Synthesis - l.before.Synthesis
	return r
}

// Run makes the wanted frames of a pass, from a source that delivers the pictures of the
// pass, and pairs neighbouring pictures. After an error the sink may have received some of
// the frames. Damage that ends the source early is no error: Result tells of it.
func (l *Line) Run(ctx context.Context, source Source, pass *timeline.Pass, want Range) error {
	return l.RunSchedule(ctx, source, pass, &pairing{
		layout: pass.Layout, clock: l.plan.Clock, gap: l.plan.Gap, gaps: &l.gaps, midway: want.Midway,
	}, want)
}

// decodedAhead is how many pictures wait between decoding and scheduling.
const decodedAhead = 2

// RunSchedule is Run with intervals that a schedule makes.
func (l *Line) RunSchedule(ctx context.Context, source Source, pass *timeline.Pass, schedule Schedule, want Range) error {
	r, err := l.newRun(pass, want, source.Video())
	if err != nil {
		return err
	}
	preparedAhead, startedAhead := l.synth.Ahead()

	s := newStages(ctx)
	pictures := connect(s, decodedAhead, r.decode(source))
	if l.options.Synthesis.Duplicates == RetimeDuplicates {
		pictures = connect(s, 0, r.dropRepeats(pictures))
	}
	intervals := connect(s, 0, r.schedule(schedule, pictures))
	if want != Whole() {
		intervals = connect(s, 0, r.crop(intervals))
	}
	estimatedAhead := max(l.options.FlowWorkers(), preparedAhead)
	estimates := connect(s, estimatedAhead, r.estimate(s, intervals, estimatedAhead))
	prepared := connect(s, preparedAhead, r.prepare(estimates))
	targets := connect(s, startedAhead, r.synthesize(prepared))
	if pass.Layout.Subframes() > 1 {
		targets = connect(s, 0, r.expose(targets))
	}
	s.start(r.encode(targets))
	return s.wait()
}

// run is a pass of a line that is under way.
type run struct {
	*Line
	pass     *timeline.Pass
	want     Range
	video    media.Video        // of the source
	level    int                // how often the guides are halved
	still    frame.Image[uint8] // 255 where nothing ever moves, on the guides' grid; may be empty
	assessor assessor
	enough   atomic.Bool // no further picture is wanted
}

func (l *Line) newRun(pass *timeline.Pass, want Range, v media.Video) (*run, error) {
	r := &run{Line: l, pass: pass, want: want, video: v, level: l.options.Synthesis.Preset.Level(v.Width, v.Height)}
	r.assessor.Workers = l.options.workers()
	if _, files := l.options.Synthesis.Flow.Files(); files && v.Rate == nil {
		return nil, fault.New(fault.Usage, "Synthesis.Flow %s: the frames of %q have no constant rate by which to number them", l.options.Synthesis.Flow, l.options.Input.File)
	}
	var err error
	r.still, err = staticMask(&l.options.Synthesis, v, r.level)
	return r, err
}

// stageTimes adds up how long each stage was at work.
type stageTimes struct{ decode, flow, synthesis, encode stopwatch }

type stopwatch struct{ total atomic.Int64 }

func (w *stopwatch) start() (stop func()) {
	began := time.Now()
	return func() { w.total.Add(int64(time.Since(began))) }
}

func (t *stageTimes) stages() Stages {
	d := func(w *stopwatch) time.Duration { return time.Duration(w.total.Load()) }
	return Stages{Decode: d(&t.decode), Flow: d(&t.flow), Synthesis: d(&t.synthesis), Encode: d(&t.encode)}
}
