// Package pipeline changes the time of a video. Run decodes a clip, places the
// frames of the output on the source's clock, makes those that were never shot
// from their two neighbours, and encodes them.
//
// The stages run at the same time, joined by short queues: decoding, optical
// flow, synthesis, encoding. Whatever the number of threads, the output's
// samples are the same.
package pipeline

import (
	"context"
	"math/big"
	"time"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/warp"
)

// Source delivers frames in presentation order to one goroutine. Read returns
// a frame with one reference, io.EOF after the last, and a fault.BadData error
// where the rest of the input is lost.
type Source interface {
	Video() media.Video
	Read() (*frame.Frame, error)
}

// Sink takes the output's frames in order, from one goroutine. NewFrame may be
// called from another: it returns a frame to fill in that WriteFrame takes
// without copying, described as like is. WriteFrame leaves the caller its
// reference.
type Sink interface {
	NewFrame(like *frame.Frame) (*frame.Frame, error)
	WriteFrame(f *frame.Frame) error
}

// TimedSink takes frames that last from one time of the output to another, in
// seconds, as they come where the source's timestamps are kept.
type TimedSink interface {
	Sink
	WriteFrameAt(f *frame.Frame, from, to *big.Rat) error
}

// Synthesizer makes frames between two others. Begin is called once for each
// interval before its frames, in order of time; Make fills dst, whose format
// and size are the sources', for a phase between them, and says how well they
// support it. What the interval refers to is there until its frames are finished;
// beyond that its frames may be held, and memory of guides and flows that is not
// theirs. All calls come from one goroutine. Close frees what it holds.
type Synthesizer interface {
	Begin(in warp.Interval) error
	Make(dst *frame.Frame, phase warp.Phase) (warp.Made, error)
	Close()
}

// Stages are the seconds that the stages were at work. They overlap, so their
// sum may exceed the run's time.
type Stages struct {
	Decode, Flow time.Duration
	Load         time.Duration // bringing pictures and flows to a device
	Synthesis    time.Duration
	Encode       time.Duration
}

// Add adds those of another run.
func (s *Stages) Add(t Stages) {
	s.Decode += t.Decode
	s.Flow += t.Flow
	s.Load += t.Load
	s.Synthesis += t.Synthesis
	s.Encode += t.Encode
}

// Report is what a run did.
type Report struct {
	Output        string
	Width, Height int
	Format        string
	Rate          *big.Rat
	Sources       int64 // frames read
	Frames        int64 // frames written
	Made          int64 // of those, frames that no camera shot
	Repeats       int64 // source frames left out as repeats of the one before
	// Copied and Encoded count the video's packets where some are copied, see Repairs.
	Copied, Encoded int64
	// Cuts are the times in the input at which scenes begin, in seconds.
	Cuts    []*big.Rat
	Damage  media.Damage
	Stages  Stages
	Elapsed time.Duration
	Backend Backend
	Devices []string // names of the devices that made frames, in the order of their use
	Remade  int64    // frames that a device failed to make and the CPU made again
}

// Run converts o.Input to o.Output. After damage that loses the rest of the
// input, what could be made is kept beside the output as NAME.partial.EXT and
// the error says so. Errors carry a fault.Kind. Cancelling ctx stops the run
// and leaves nothing behind.
func Run(ctx context.Context, o Options) (*Report, error) {
	report, err := run(ctx, o)
	if err != nil && ctx.Err() != nil && report == nil && fault.KindOf(err) != fault.Mismatch { // else a file is kept
		return nil, fault.Cancel(ctx, "cancelled; nothing was written")
	}
	return report, err
}

func run(ctx context.Context, o Options) (*Report, error) {
	began := time.Now()
	if err := o.checkFiles(); err != nil {
		return nil, err
	}
	if err := o.settle(); err != nil {
		return nil, err
	}
	reading := o.readerOptions()
	reading.Packets = o.Repairs != nil && o.Repairs.Stamps != nil
	source, err := media.Open(ctx, o.Input.File, reading)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	video := source.Video()
	if err := o.checkFields(video); err != nil {
		return nil, err
	}
	if o.Repairs != nil {
		if err := o.Repairs.check(video); err != nil {
			return nil, err
		}
	}
	plan, err := newPlan(&o, video)
	if err != nil {
		return nil, err
	}
	if plan.reopens() && !media.Seekable(o.Input.File) {
		return nil, fault.New(fault.Usage, "Timing.Curve that does not play on from the start: input %q cannot be read again; give a file", o.Input.File)
	}
	synth, err := newSynthesizer(&o)
	if err != nil {
		return nil, err
	}
	defer synth.Close()
	if reading.Packets {
		return o.splice(ctx, source, plan, synth)
	}

	writer, err := media.Create(ctx, o.Output.File, source, plan.writerOptions(&o, synth))
	if err != nil {
		return nil, err
	}
	defer writer.Abort()

	c := &conversion{o: &o, plan: plan, source: source, sink: writer, synth: synth}
	damage, err := c.passes(ctx, writer)
	if err != nil {
		return nil, err
	}
	name, err := writer.Finish(damage != nil)
	if err != nil {
		return nil, err
	}
	report := &Report{
		Output: name, Width: video.Width, Height: video.Height, Format: video.Source, Rate: plan.rate,
		Sources: c.sources, Frames: c.frames, Made: c.made, Cuts: c.cuts, Repeats: c.repeats,
		Damage: source.Damage(), Stages: c.times.stages(), Elapsed: time.Since(began),
	}
	describeBackend(report, synth)
	if d := report.Damage; d != (media.Damage{}) {
		o.Hooks.Log.Warn("damage in the input", "input", o.Input.File, "packets", d.Packets, "frames", d.Frames, "errors", d.Errors)
	}
	return report, partial(damage, c.frames, name)
}

// partial says what is in a file where damage ended the input, nil for none.
func partial(damage error, frames int64, name string) error {
	if damage == nil {
		return nil
	}
	return fault.New(fault.KindOf(damage), "%w; the %d frames before that are in %q", damage, frames, name)
}
