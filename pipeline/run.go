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

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/media/pixel"
	"retime/pipeline/timeline"
)

// Source delivers the frames of a video, of one size and format, in presentation order. One
// goroutine at a time calls it.
//
// Video describes the frames. Convert needs its Width, Height, TimeBase and Start, the time in
// seconds that counts as 0; if the Rate is known, too, timestamps that the time base has
// rounded are put right by it, from FirstPTS on.
//
// Read returns the next frame with one reference, which the caller releases. The frame's PTS,
// which is larger than that of the frame before, and its Duration are in units of TimeBase.
// After the last frame Read returns io.EOF. If the rest of the input is lost, it returns a
// fault.BadData error, and the frames before that count; any other error ends the conversion.
type Source interface {
	Video() media.Video
	Read() (*frame.Frame, error)
}

// Sink takes the frames of an output.
//
// NewFrame returns a frame of like's format and size with one reference, whose samples the
// synthesis sets. Another goroutine may call NewFrame while WriteFrame runs.
//
// One goroutine calls WriteFrame for the frames in order. A frame comes from NewFrame or, as it
// is, from the Source; one of the Source's may come several times. The caller keeps its
// reference, so a Sink retains a frame that it needs for longer than the call. The frame is
// shown from one time of the output to another, in seconds; both are nil if the output has a
// constant rate, and in Convert.
type Sink interface {
	NewFrame(like *frame.Frame) (*frame.Frame, error)
	WriteFrame(f *frame.Frame, from, to *big.Rat) error
}

// encoderSink encodes frames.
type encoderSink struct{ *media.Encoder }

// EncoderSink returns the Sink that encodes frames by e.
func EncoderSink(e *media.Encoder) Sink { return encoderSink{e} }

func (s encoderSink) WriteFrame(f *frame.Frame, from, to *big.Rat) error {
	if from == nil {
		return s.Encoder.WriteFrame(f)
	}
	return s.WriteFrameAt(f, from, to)
}

// Discard is a Sink that drops the frames.
type Discard struct{}

// NewFrame returns a frame like like.
func (Discard) NewFrame(like *frame.Frame) (*frame.Frame, error) { return pixel.NewFrame(like) }

// WriteFrame does nothing.
func (Discard) WriteFrame(*frame.Frame, *big.Rat, *big.Rat) error { return nil }

// Stages are the seconds that the stages were at work. They overlap, so their
// sum may exceed the run's time.
type Stages struct {
	Decode, Flow time.Duration
	Load         time.Duration // bringing pictures and flows to a device
	Synthesis    time.Duration
	Encode       time.Duration
}

// Add adds the seconds of another run.
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
	Format        string // of the input's samples, as FFmpeg names it
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

// Run converts o.Input to o.Output. If damage loses the rest of the input, Run keeps what it
// could make beside the output, as NAME.partial.EXT, and returns the report with an error that
// names that file. Errors carry a fault.Kind. If ctx is cancelled, Run stops, leaves no file
// behind, and returns an error that wraps ctx's.
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
	clip, err := Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer clip.Close()
	clip.LogRate()
	if clip.Plan.Reopens() && !media.Seekable(o.Input.File) {
		return nil, fault.New(fault.Usage, "Timing.Curve that does not play on from the start: input %q cannot be read again; give a file", o.Input.File)
	}
	s, err := clip.Options.Synthesizer()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	writer, err := media.Create(ctx, o.Output.File, clip.Source, clip.WriterOptions(s.Memory()))
	if err != nil {
		return nil, err
	}
	defer writer.Abort()

	line := clip.Line(EncoderSink(writer.Encoder), s)
	if err := clip.play(ctx, line, writer); err != nil {
		return nil, err
	}
	r := line.Result()
	name, err := writer.Finish(r.Cutoff != nil)
	if err != nil {
		return nil, err
	}
	clip.LogDamage()
	return clip.Report(r, s.Summary(), name), r.Partial(name)
}

// finish judges what was written of a whole pass. No stage can, as a queue also ends if
// the stage before it fails.
func (l *Line) finish(pass *timeline.Pass) error {
	if l.result.Frames == 0 && l.result.Cutoff == nil && pass.To == nil {
		return fault.New(fault.Usage, "the part from %s holds no frame of %q", seconds(pass.Layout.Moment(0)), l.options.Input.File)
	}
	l.wishes.warn(l.options.Hooks.Log)
	return nil
}
