// Package evaluate tells how well frames can be made on a clip of one's own, by
// leaving some out: every n-th frame is held out, made again from its two
// neighbours and compared with the truth. Several settings of retime and some
// peers make the same frames, so that their figures can be set side by side.
//
// Around a held-out frame the gap between source frames is twice as long as in
// use, so the figures are pessimistic.
//
// The clip is read once for each method and once before, and is never held in
// memory: what is kept is a score for each frame, and pictures of the few worst.
package evaluate

import (
	"context"
	"log/slog"
	"math/big"
	"time"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
)

// Options say what Run evaluates. The zero value of a field means what its
// comment says; Input must be set.
type Options struct {
	Input       string // file name; it is read several times
	InputFormat string // container name; empty to tell from the file

	Settings []Setting // of retime, at least one; none for the balanced preset
	Peers    []Peer    // to compare with
	// Every holds out every n-th frame, from the n-th on; 0 for 2.
	Every int
	// From and To choose a part of the input, in seconds; nil for its start and
	// end. MaxFrames ends it after so many frames, held-out ones included; 0 for
	// all.
	From, To  *big.Rat
	MaxFrames int

	// Worst is how many of the frames that the first setting makes worst are
	// shown, at most MaxWorst.
	Worst int
	// NoVIF leaves out visual information fidelity, which takes longest to
	// measure.
	NoVIF   bool
	Threads int // worker threads; 0 for as many as there are processors

	// Dir is where report.html and report.json are written, made where it does
	// not exist; empty to write nothing.
	Dir       string
	Overwrite bool // replace the reports in Dir

	// Log receives warnings and details; nil for none.
	Log *slog.Logger
	// Progress is called after each frame that a method has made, by one goroutine
	// at a time; nil for none.
	Progress func(pipeline.Progress)
}

// MaxWorst bounds Options.Worst.
const MaxWorst = 50

// settle checks o and replaces what was left zero.
func (o *Options) settle() error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(pipeline.Progress) {}
	}
	if o.Every == 0 {
		o.Every = 2
	}
	if len(o.Settings) == 0 {
		o.Settings = []Setting{{Name: string(pipeline.Balanced), Values: map[string]string{"preset": string(pipeline.Balanced)}}}
	}
	switch {
	case o.Input == "":
		return fault.New(fault.Usage, "no input; name one")
	case o.Input == "-":
		return fault.New(fault.Usage, "standard input cannot be read more than once; name a file")
	case o.Every < 2:
		return fault.New(fault.Usage, "Options.Every %d: want 2 or more, so that frames remain to make others from", o.Every)
	case o.MaxFrames < 0:
		return fault.New(fault.Usage, "Options.MaxFrames %d: must not be negative", o.MaxFrames)
	case o.Worst < 0 || o.Worst > MaxWorst:
		return fault.New(fault.Usage, "Options.Worst %d: want 0 to %d", o.Worst, MaxWorst)
	case o.Threads < 0 || o.Threads > 1024:
		return fault.New(fault.Usage, "Options.Threads %d: want 0 (all processors) to 1024", o.Threads)
	case o.From != nil && o.To != nil && o.From.Cmp(o.To) >= 0:
		return fault.New(fault.Usage, "Options.From %s s is not before Options.To %s s", o.From.FloatString(3), o.To.FloatString(3))
	}
	return nil
}

func (o *Options) workers() frame.Workers { return frame.Workers{N: o.Threads} }

// Run evaluates o.Input and writes the reports into o.Dir. Where damage ends the
// input early, the report covers what comes before it and is returned and
// written beside an error that says so. Errors carry a fault.Kind. Cancelling
// ctx stops the run and writes no report.
func Run(ctx context.Context, o Options) (*Report, error) {
	report, err := run(ctx, o)
	if err != nil && ctx.Err() != nil && report == nil {
		return nil, fault.Cancel(ctx, "cancelled; no report was written")
	}
	return report, err
}

func run(ctx context.Context, o Options) (*Report, error) {
	if err := o.settle(); err != nil {
		return nil, err
	}
	methods, err := o.methods()
	if err != nil {
		return nil, err
	}
	out, err := newOutput(o.Dir, o.Overwrite)
	if err != nil {
		return nil, err
	}
	defer out.abandon()
	c, err := scan(ctx, &o)
	if err != nil {
		return nil, err
	}
	e, err := newEvaluation(&o, c, methods)
	if err != nil {
		return nil, err
	}
	defer e.close()
	// Timing comes first: it takes the short way to errors in any method.
	if err := e.timeAll(ctx); err != nil {
		return nil, err
	}
	if err := e.tryAll(ctx); err != nil {
		return nil, err
	}
	report := e.report(time.Now())
	if err := out.write(report); err != nil {
		return report, err
	}
	if c.damage != nil {
		return report, fault.New(fault.KindOf(c.damage), "%w; the report covers the %d frames before that", c.damage, len(c.frames))
	}
	return report, nil
}
