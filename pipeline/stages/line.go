// Package stages makes the frames of an output from the pictures of a source. A Line decodes,
// schedules, estimates flow, synthesizes and encodes; its stages run at the same time, joined by
// short queues. docs/architecture.md follows a frame through them, file by file.
package stages

import (
	"context"
	"log/slog"
	"math/big"
	"sync/atomic"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
)

// Line makes output frames from the pictures of sources and passes them to a sink. It runs
// once for each pass of a plan, and counts over all passes.
type Line struct {
	params Params
	plan   *timeline.Plan
	sink   Sink
	synth  synth.Synthesizer

	wishes decisions
	gaps   gapWarning
	result Result
	lowest lowest
	shown  sourceFrame // by the frame that was written last
	times  stageTimes
	before synth.Summary // synth's totals when this line started
	beside synth.Summary // totals of the other synthesizers that work for this line
}

// Result counts what a Line has done.
type Result struct {
	Sources int64 // pictures read
	Frames  int64 // frames written
	Made    int64 // of those, frames that no camera shot
	Held    int64 // of those, frames that show once more what the frame before shows
	Repeats int64 // pictures left out as repeats of the one before
	// Worst are up to three frames made along the motion that are trusted least in one place, the lowest
	// first, each of another place (package place); nil unless Hooks.Rate is set.
	Worst []Record
	// Cuts are the times in the input at which scenes begin, in seconds.
	Cuts   []*big.Rat
	Cutoff error // the damage that ended the input early, with a fault.Kind; nil for none
	Stages Times
	Beside int64 // frames that devices failed to make, other than those of the line's synthesizer
}

// Partial reports what is in a file if damage ended the input, and returns nil if none did.
func (r *Result) Partial(name string) error {
	if r.Cutoff == nil {
		return nil
	}
	if r.Frames == 1 {
		return fault.New(fault.KindOf(r.Cutoff), "%w; the frame before that is in %q", r.Cutoff, name)
	}
	return fault.New(fault.KindOf(r.Cutoff), "%w; the %d frames before that are in %q", r.Cutoff, r.Frames, name)
}

// NewLine returns a line that makes frames by s.
func NewLine(p Params, plan *timeline.Plan, sink Sink, s synth.Synthesizer) *Line {
	return &Line{
		params: p, plan: plan, sink: sink, synth: s,
		wishes: newDecisions(p.Decisions), gaps: gapWarning{log: p.Hooks.Log},
		before: s.Summary(),
	}
}

// CountFrom makes n the number of the picture that is read next.
func (l *Line) CountFrom(n int64) { l.result.Sources = n }

// Result returns the counts so far.
func (l *Line) Result() Result {
	r := l.result
	s := l.synth.Summary()
	r.Worst = l.lowest.worst()
	r.Stages = l.times.stages()
	r.Stages.Load += s.Load - l.before.Load + l.beside.Load
	r.Stages.Synthesis += s.Synthesis - l.before.Synthesis + l.beside.Synthesis
	r.Beside = l.beside.Remade
	return r
}

// WarnOfDecisions warns if decisions are about frames that were not written.
func (l *Line) WarnOfDecisions() { l.wishes.warn(l.params.Hooks.Log) }

// Run makes the wanted frames of a pass, from a source that delivers the pictures of the
// pass, and pairs neighbouring pictures. After an error the sink may have received some of
// the frames. Damage that ends the source early is no error: Result tells of it.
func (l *Line) Run(ctx context.Context, source Source, pass *timeline.Pass, want Range) error {
	runs, err := l.newRuns(pass, want, source.Video())
	if err != nil {
		return err
	}
	defer l.closeBeside(runs)
	schedules := make([]Schedule, len(runs))
	for i, r := range runs {
		gaps := &l.gaps
		if i > 0 {
			gaps = &gapWarning{log: slog.New(slog.DiscardHandler)} // the first run warns
		}
		schedules[i] = &pairing{layout: r.pass.Layout, clock: l.plan.Clock, gap: l.plan.Gap, gaps: gaps, midway: want.Midway}
	}
	return l.runAll(ctx, source, runs, schedules)
}

// RunSchedule is Run with intervals that a schedule makes. Decisions must not choose presets or
// shutters.
func (l *Line) RunSchedule(ctx context.Context, source Source, pass *timeline.Pass, schedule Schedule, want Range) error {
	runs, err := l.newRuns(pass, want, source.Video())
	if err != nil {
		return err
	}
	defer l.closeBeside(runs)
	if len(runs) > 1 {
		return fault.New(fault.Usage, "Synthesis.Decisions choose presets or shutters, which only a conversion obeys")
	}
	return l.runAll(ctx, source, runs, []Schedule{schedule})
}

// decodedAhead is how many pictures wait between decoding and scheduling.
const decodedAhead = 2

// runAll decodes once for all runs, and encodes what all of them make in the order of the
// frames.
func (l *Line) runAll(ctx context.Context, source Source, runs []*run, schedules []Schedule) error {
	s := newStages(ctx)
	first := runs[0]
	pictures := connect(s, decodedAhead, first.decode(source))
	// The intervals of a schedule show the repeats as they are.
	if _, paired := schedules[0].(*pairing); paired && !l.params.DropRepeats && l.params.Mode.UsesFlow() && !first.pass.Backward && first.want == Whole() {
		pictures = connect(s, 0, first.countRepeats(pictures))
	}
	var made <-chan *Target
	if len(runs) == 1 {
		made = first.connect(s, pictures, schedules[0], false)
	} else {
		made = connectAll(s, pictures, runs, schedules)
	}
	s.start(first.encode(made))
	err := s.wait()
	l.result.Repeats += first.repeats
	l.result.Cuts = append(l.result.Cuts, cutsOf(runs)...)
	return err
}

// connect joins the stages that turn pictures into frames. shared reports whether other runs
// make some of the frames.
func (r *run) connect(s *stages, pictures <-chan *Picture, schedule Schedule, shared bool) <-chan *Target {
	preparedAhead, startedAhead := r.synth.Ahead(r.pixels())
	if r.params.DropRepeats {
		pictures = connect(s, 0, r.dropRepeats(pictures))
	}
	if r.retimesDrawings() {
		pictures = connect(s, 0, r.moveDrawings(pictures))
	}
	intervals := connect(s, 0, r.schedule(schedule, pictures))
	if r.want != Whole() || shared {
		intervals = connect(s, 0, r.crop(intervals))
	}
	estimatedAhead := max(r.params.Flow.Workers, preparedAhead)
	estimates := connect(s, estimatedAhead, r.estimate(s, intervals, estimatedAhead))
	prepared := connect(s, preparedAhead, r.prepare(estimates))
	targets := connect(s, startedAhead, r.synthesize(prepared))
	targets = connect(s, max(0, r.finishedAtOnce()-2), r.finish(targets)) // one is on either side of the queue
	if r.pass.Layout.Subframes() > 1 {
		targets = connect(s, 0, r.expose(targets))
	}
	return targets
}

// run makes frames of a pass of a line: all, or those of one way. Beside the fields that a Line
// shares among its runs, it has its own synthesizer, which hides the Line's.
type run struct {
	*Line
	synth    synth.Synthesizer
	number   int // of the way; 0 for the conversion's own
	ways     *decision.Ways
	pass     *timeline.Pass
	want     Range              // counts slots of the pass's layout
	video    timeline.Video     // of the source
	scale    motion.Scale       // of the guides
	still    frame.Image[uint8] // 255 where nothing ever moves, on the guides' grid; may be empty
	assessor assessor
	wanting  *atomic.Int32 // runs that want further pictures
	cuts     []*big.Rat    // times at which scenes begin, as the intervals came
	repeats  int64         // pictures left out
}

// pixels is how many a picture has.
func (r *run) pixels() int { return r.video.Width * r.video.Height }

// enough reports whether no run wants a further picture.
func (r *run) enough() bool { return r.wanting.Load() == 0 }

// frame returns the number of the frame that a slot belongs to.
func (r *run) frame(index int64) int64 { return index / r.pass.Layout.Subframes() }

// owns reports whether a slot is of the run's way.
func (r *run) owns(index int64) bool { return r.ways.Number(r.frame(index)) == r.number }

// holds reports whether the run makes a slot.
func (r *run) holds(index int64) bool { return r.want.holds(index) && r.owns(index) }

// newRun returns a run that makes a range of frames with a preset.
func (l *Line) newRun(preset motion.Preset, pass *timeline.Pass, want Range, v timeline.Video) (*run, error) {
	r := &run{Line: l, pass: pass, want: want, video: v, scale: preset.Scale(v.Width, v.Height)}
	r.assessor.workers.N = max(1, l.params.Workers.Count()/r.finishedAtOnce())
	if method := l.params.Flow.Method; v.Rate == nil {
		if _, files := method.Files(); files {
			return nil, fault.New(fault.Usage, "Synthesis.Flow %s: the frames of %q have no constant rate by which to number them", method, l.params.Input)
		}
	}
	var err error
	r.still, err = staticMask(l.params.Masks.Static, v, r.scale.Level)
	return r, err
}
