// Package evaluate measures how well frames can be synthesized on a clip: it holds out
// every n-th frame, makes the frame again from its two neighbours and compares the
// result with the truth. Several settings of retime and some peers make the same
// frames, so that their figures can be compared.
//
// The gap between the neighbours of a held-out frame is twice the gap in normal use, so
// the figures are pessimistic.
//
// Run reads the clip once for its timestamps and once for each method, and never holds
// it in memory: it keeps a score for each frame, and pictures of the few worst.
package evaluate

import (
	"context"
	"log/slog"
	"math/big"
	"time"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/evaluate/report"
	"retime/pipeline/fault"
)

// Options configure Run. Only Input must be set; each field states the meaning of its
// zero value.
type Options struct {
	// Input is read several times. Its Tune says nothing here: each setting has its own.
	Input    pipeline.Input
	Settings []Setting // of retime; empty for the balanced preset alone
	Peers    []Peer    // to compare with
	Part

	// Worst is how many of the frames that the first setting makes worst to show, 0 to MaxWorst.
	Worst int
	// Regions is how many of the regions that the first setting makes worst to show, 0 to MaxWorst.
	Regions int
	// NoVIF leaves out visual information fidelity, the slowest measure.
	NoVIF bool
	// LPIPS names a file with the weights of the network that measures LPIPS, as NumPy's savez
	// writes it; empty to leave LPIPS out.
	LPIPS   string
	Threads int // worker threads, up to 1024; 0 for one per processor

	// Dir is the directory for report.html and report.json. Run creates it if it does
	// not exist; empty to write nothing.
	Dir       string
	Overwrite bool // replace the reports in Dir

	// Log receives warnings and details; nil discards them.
	Log *slog.Logger
	// Progress is called after each frame that a method makes, never concurrently; nil
	// for no calls.
	Progress func(pipeline.Progress)
}

// Part is the part of an input that is evaluated, and which of its frames; the zero value is every second
// frame of all of it.
type Part struct {
	From, To *big.Rat // in seconds; nil for the input's start and end
	// Every holds out every n-th frame, starting with the n-th; at least 2, or 0 for 2.
	Every int
	// MaxFrames ends the part after a number of frames, held-out ones included; 0 for no limit.
	MaxFrames int
}

// MaxWorst bounds Options.Worst and Options.Regions.
const MaxWorst = 50

// settle checks o and fills in the defaults.
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
	case o.Input.File == "":
		return fault.New(fault.Usage, "no input; name one")
	case o.Input.File == "-":
		return fault.New(fault.Usage, "standard input cannot be read more than once; name a file")
	case o.Every < 2:
		return fault.New(fault.Usage, "Options.Every %d: want 2 or more, so that frames remain to make others from", o.Every)
	case o.MaxFrames < 0:
		return fault.New(fault.Usage, "Options.MaxFrames %d: must not be negative", o.MaxFrames)
	case o.Worst < 0 || o.Worst > MaxWorst:
		return fault.New(fault.Usage, "Options.Worst %d: want 0 to %d", o.Worst, MaxWorst)
	case o.Regions < 0 || o.Regions > MaxWorst:
		return fault.New(fault.Usage, "Options.Regions %d: want 0 to %d", o.Regions, MaxWorst)
	case o.Threads < 0 || o.Threads > 1024:
		return fault.New(fault.Usage, "Options.Threads %d: want 0 (all processors) to 1024", o.Threads)
	case o.From != nil && o.To != nil && o.From.Cmp(o.To) >= 0:
		return fault.New(fault.Usage, "Options.From %s s is not before Options.To %s s", o.From.FloatString(3), o.To.FloatString(3))
	}
	return nil
}

func (o *Options) workers() frame.Workers { return frame.Workers{N: o.Threads} }

// Run evaluates o.Input and writes the reports into o.Dir. If damage ends the input early, Run
// writes and returns the report on the frames before the damage, together with an error. Every
// error carries a fault.Kind. If ctx is cancelled, Run writes no report.
func Run(ctx context.Context, o Options) (*report.Report, error) {
	r, err := run(ctx, o)
	if err != nil && ctx.Err() != nil && r == nil {
		return nil, fault.Cancel(ctx, "cancelled; no report was written")
	}
	return r, err
}

func run(ctx context.Context, o Options) (*report.Report, error) {
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
	// Timing comes first, because it reveals the errors of every method soonest.
	if err := e.timeAll(ctx); err != nil {
		return nil, err
	}
	if err := e.tryAll(ctx); err != nil {
		return nil, err
	}
	r := e.report(time.Now())
	if err := out.write(r); err != nil {
		return r, err
	}
	if c.damage != nil {
		return r, fault.New(fault.KindOf(c.damage), "%w; the report covers the %d frames before that", c.damage, len(c.frames))
	}
	return r, nil
}
