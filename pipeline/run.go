// Package pipeline changes the time of a video. Run decodes a clip, places the
// frames of the output on the source's clock, makes those that were never shot
// from their two neighbours, and encodes them.
//
// The stages run at the same time, joined by short queues: decoding, scheduling, optical
// flow, synthesis, encoding. The output's samples do not depend on the number of threads.
package pipeline

import (
	"context"
	"math/big"
	"time"

	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
)

// The types of package stages that a conversion takes and returns.
type (
	// Source delivers the frames of a video.
	Source = stages.Source
	// Sink takes the frames of an output.
	Sink = stages.Sink
	// Progress is how far a run has come.
	Progress = stages.Progress
	// Record describes how one output frame was made.
	Record = stages.Record
	// Origin says where an output frame comes from.
	Origin = stages.Origin
	// Digest is the SHA-256 of a frame's size, sample format and samples.
	Digest = stages.Digest
	// Result counts what was read and written.
	Result = stages.Result
	// Stages are the seconds that the stages of a conversion were at work.
	Stages = stages.Times
)

// Report is what a run did.
type Report struct {
	Output        string
	Width, Height int
	Format        string // of the input's samples, as FFmpeg names it
	Written       string // format of the output's samples, likewise; empty without an output
	Rate          *big.Rat
	Result
	// Copied and Encoded count the video's packets if some are copied, as a restoration
	// can.
	Copied, Encoded int64
	Damage          media.Damage
	Elapsed         time.Duration
	Backend         Backend
	Devices         []string // names of the devices that made frames, in the order of their use
	Remade          int64    // frames that a device failed to make and the CPU made again
}

// KeepDevices leaves what conversions open on CUDA devices, other than memory, to those that begin
// later, until release is called. A program that converts several clips saves some tenths of a
// second for each after the first; meanwhile the devices' contexts take a few hundred megabytes of
// their memory.
func KeepDevices() (release func()) { return synth.KeepDevices() }

// Run converts o.Input to o.Output. If damage loses the rest of the input, Run keeps what it
// could make beside the output, as NAME.partial.EXT or, if that is taken, NAME.partial-2.EXT and so
// on, and returns the report with an error that names that file. Errors carry a fault.Kind. If ctx
// is cancelled, Run stops, leaves no file behind, and returns an error that wraps ctx's. FFmpeg does
// not let itself be stopped while a pipe or a device gives or takes no data: a program that must end
// then calls atomicfile.Abandon.
func Run(ctx context.Context, o Options) (*Report, error) {
	report, err := convertFile(ctx, o)
	if err != nil && ctx.Err() != nil && report == nil && fault.KindOf(err) != fault.Mismatch { // else a file is kept
		return nil, fault.Cancel(ctx, "cancelled; nothing was written")
	}
	return report, err
}

func convertFile(ctx context.Context, o Options) (*Report, error) {
	if err := o.checkFiles(); err != nil {
		return nil, err
	}
	settled, err := o.Settle()
	if err != nil {
		return nil, err
	}
	opening := synth.Begin(settled.SynthParams())
	defer opening.Drop()
	clip, err := settled.open(ctx, false)
	if err != nil {
		return nil, err
	}
	defer clip.Close()
	clip.LogRate()
	if _, numbered := clip.Source.Picture(0); clip.Plan.Reopens() && !numbered && !media.Seekable(o.Input.File) {
		return nil, fault.New(fault.Usage, "Timing.Curve that does not play on from the start: input %q cannot be read again; give a file", o.Input.File)
	}
	s, err := opening.Wait()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	writer, err := clip.create(ctx, s.Memory())
	if err != nil {
		return nil, err
	}
	defer writer.Abort()

	line := clip.Line(writer.Encoder, s)
	if err := clip.play(ctx, line, writer); err != nil {
		return nil, err
	}
	r := line.Result()
	format := writer.PixelFormat()
	name, err := writer.Finish(r.Cutoff != nil)
	if err != nil {
		return nil, err
	}
	clip.Options.LogDamage(clip.Source.Damage(), clip.Source.DamagedFrames(), false)
	return clip.Report(r, s.Summary(), name, format), r.Partial(name)
}

// finish judges what l has written of a whole pass. No stage can, as a queue also ends if
// the stage before it fails.
func (o *Options) finish(l *stages.Line, pass *timeline.Pass) error {
	if r := l.Result(); r.Frames == 0 && r.Cutoff == nil && pass.To == nil {
		return fault.New(fault.Usage, "the part from %s holds no frame of %q", seconds(pass.Layout.Moment(0)), o.Input.File)
	}
	l.WarnOfDecisions()
	return nil
}
