package segment

import (
	"context"
	"errors"
	"io"
	"math/big"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/synth"
)

// joinAhead is how many seconds the reading of the other streams is ahead of the video.
const joinAhead = 1

// write writes o.Output from the packets of all parts, which next delivers in order,
// with io.EOF after the last. The other streams come from o.Input, as in one run.
func (whole *Outline) write(ctx context.Context, o pipeline.Options, next func() (media.Packet, error)) (*pipeline.Report, error) {
	report, err := whole.writeAll(ctx, o, next)
	return report, fault.Interrupted(ctx, err)
}

func (whole *Outline) writeAll(ctx context.Context, o pipeline.Options, next func() (media.Packet, error)) (*pipeline.Report, error) {
	if o.Output.File == "" {
		return nil, fault.New(fault.Usage, "no output; name one with Output.File")
	}
	chosen := o.Output.VideoCodec == ""
	o.Output.VideoCodec = whole.Parameters.Encoder
	clip, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer clip.Close()
	opt := clip.WriterOptions(nil)
	opt.Encoder.Chosen = chosen
	writer, err := media.Create(ctx, o.Output.File, clip.Source, opt)
	if err != nil {
		return nil, err
	}
	defer writer.Abort()
	if !writer.Parameters().Equal(whole.Parameters) {
		return nil, fault.New(fault.Usage, "output %q wants the %s stream in another form than the plan's; plan with its Output.Format, or name an output like it",
			o.Output.File, whole.Parameters.Encoder)
	}
	frames, layout := int64(0), clip.Plan.Passes[0].Layout
	for {
		p, err := next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		at := layout.Moment(p.PTS * layout.Subframes())
		if err := clip.Source.SkimTo(at.Add(at, big.NewRat(joinAhead, 1))); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if err := writer.WritePacket(p); err != nil {
			return nil, err
		}
		if frames++; o.Hooks.Progress != nil {
			o.Hooks.Progress(pipeline.Progress{Frames: frames, Total: max(whole.Frames, frames)})
		}
	}
	if err := clip.Source.Skim(); err != nil {
		return nil, err
	}
	format := writer.PixelFormat()
	name, err := writer.Finish(false)
	if err != nil {
		return nil, err
	}
	return clip.Report(pipeline.Result{Frames: frames}, synth.Summary{}, name, format), nil
}
