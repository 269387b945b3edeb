package pipeline

import (
	"context"
	"math/big"
	"time"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/media/sequence"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
)

// Clip is an input that is open, and the plan of what options make of it.
type Clip struct {
	Options Settled
	Source  *media.Reader
	Plan    *timeline.Plan
	opened  time.Time
	varies  *variation // nil for a constant rate
}

// Open opens the input of o and plans its conversion. Errors carry a fault.Kind.
func Open(ctx context.Context, o Options) (*Clip, error) {
	settled, err := o.Settle()
	if err != nil {
		return nil, err
	}
	return settled.open(ctx, false)
}

// OpenPackets is Open for a conversion that copies packets of the video: Source.NextPacket
// returns them.
func OpenPackets(ctx context.Context, o Options) (*Clip, error) {
	settled, err := o.Settle()
	if err != nil {
		return nil, err
	}
	return settled.open(ctx, true)
}

func (o *Settled) open(ctx context.Context, packets bool) (*Clip, error) {
	if o.Input.File == "" {
		return nil, fault.New(fault.Usage, "no input; name one")
	}
	if o.Output.StartNumber != nil && o.Output.File != "" && !media.IsSequence(o.Output.File) {
		return nil, fault.New(fault.Usage, "Output.StartNumber: output %q is no image sequence, such as frames/%%05d.png; a sequence that is read starts at its first number, or at Timing.From", o.Output.File)
	}
	c := &Clip{Options: *o, opened: time.Now()}
	if packets {
		c.Options.Input.Rotation = KeepRotation
	}
	var err error
	reading := c.readerOptions()
	reading.Packets, reading.From.Onward, reading.From.Subtitles = packets, true, true
	if c.Source, err = media.Open(ctx, o.Input.File, reading); err != nil {
		return nil, err
	}
	if err = c.plan(); err != nil {
		c.Source.Close()
		return nil, err
	}
	return c, nil
}

// plan plans the conversion of the source.
func (c *Clip) plan() (err error) {
	v := c.Source.Video()
	if err := c.Options.Input.CheckFields(v); err != nil {
		return err
	}
	if t := &c.Options.Timing; v.Grid != nil && !t.KeepTimestamps && t.To != nil {
		t.To = c.Options.clock(v).Place(t.To)
	}
	c.Options.Timing.From = c.Options.begin(v)
	if c.varies = c.Options.variation(c.Source, c.Options.Input.fieldMode()); c.varies != nil {
		c.Plan, err = c.varies.plan(&c.Options, v)
	} else {
		c.Plan, err = c.Options.Plan(v)
	}
	if err != nil {
		return err
	}
	return c.Options.checkDecisions(c.Plan)
}

// LogRate logs what counts as the source's frame rate if its timestamps jitter or that varies, and
// if few shot frames are kept at the rate that was asked for.
func (c *Clip) LogRate() {
	c.Options.logGrid(c.Source.Video())
	c.Options.warnOfRate(c.Source.Video())
	if c.varies != nil {
		c.varies.log(&c.Options, c.Plan)
	}
}

// Close closes the input.
func (c *Clip) Close() { c.Source.Close() }

// WriterOptions returns how to write the output, with frames in a memory; nil for
// anywhere.
func (c *Clip) WriterOptions(memory frame.Memory) media.WriterOptions {
	o, p := &c.Options, c.Plan
	w := media.WriterOptions{
		Container: media.ContainerOptions{Format: o.Output.Format, Options: o.Output.MuxOptions},
		Encoder: media.EncoderOptions{
			Codec: o.Output.VideoCodec, CRF: -1, Options: o.Output.VideoOptions, PixelFormat: o.Output.PixelFormat, Threads: o.Compute.Threads,
		},
		Memory: memory, Overwrite: o.Output.Overwrite, Keep: o.Output.Keep, Verify: !o.Output.NoVerify,
		Rate: p.Rate, Start: p.Begin, Unit: p.Unit,
		StreamOptions: media.StreamOptions{
			Curve: p.Curve, End: p.To, Passes: p.Reopens(), Log: o.Hooks.Log,
			Sound: media.SoundOptions{Mode: o.Timing.Audio, Codec: o.Output.AudioCodec, Options: o.Output.AudioOptions},
		},
		Confine: o.files,
	}
	first, ok := media.FirstNumber(o.Output.File, o.Input.File)
	if o.Output.StartNumber != nil {
		first, ok = *o.Output.StartNumber, true
	}
	if ok {
		w.Number = func(k int) int { return first + k }
	}
	if o.Output.CRF != nil {
		w.Encoder.CRF = *o.Output.CRF
	}
	return w
}

// create opens the output.
func (c *Clip) create(ctx context.Context, memory frame.Memory) (*media.Writer, error) {
	w := c.WriterOptions(memory)
	if err := c.KeepChannels(ctx, &w); err != nil {
		return nil, err
	}
	return media.Create(ctx, c.Options.Output.File, c.Source, w)
}

// Line returns a line from the clip to sink.
func (c *Clip) Line(sink Sink, s synth.Synthesizer) *stages.Line {
	return c.Options.Line(c.Plan, sink, s)
}

// Report returns what a line and a synthesizer have done since the clip was opened. output
// names the file that was written, with samples of a format; both are empty if there is none.
func (c *Clip) Report(r Result, s synth.Summary, output, format string) *Report {
	report := newReport(r, s, c.Source.Video(), c.opened)
	report.Output, report.Written, report.Rate, report.Damage = output, format, c.Plan.Rate, c.Source.Damage()
	return report
}

// LogDamage warns if there was damage in an input, and names the damaged frames unless they are mended.
func (o *Options) LogDamage(d media.Damage, frames []int64, mended bool) {
	if d == (media.Damage{}) {
		return
	}
	about := []any{"input", o.Input.File, "packets", d.Packets, "frames", d.Frames, "errors", d.Errors}
	message := "damage in the input"
	if len(frames) > 0 && !mended {
		message += "; a restoration with Options.Detect mends the damaged frames"
		about = append(about, "damaged", sequence.Spans(frames))
	}
	o.Hooks.Log.Warn(message, about...)
}

func newReport(r Result, s synth.Summary, v media.Video, began time.Time) *Report {
	return &Report{
		Width: v.Width, Height: v.Height, Format: v.Source, Result: r,
		Elapsed: time.Since(began), Backend: s.Backend, Devices: s.Devices, Remade: s.Remade + r.Beside,
	}
}

// Sound decodes the input's first sound from one time to another, in seconds after its start; nil if it has none.
func (c *Clip) Sound(ctx context.Context, from, to *big.Rat) (*media.Sound, error) {
	o := c.readerOptions()
	o.HWDec, o.Deinterlace, o.ProbeFields = "", media.KeepFields, false
	return media.Listen(ctx, c.Options.Input.File, o, from, to)
}

// readerOptions returns how to read the input.
func (c *Clip) readerOptions() media.ReaderOptions {
	o := &c.Options
	r := media.ReaderOptions{
		Format: o.Input.Format, Rate: o.Input.Rate, SequenceGaps: o.Input.SequenceGaps, Threads: o.Compute.Threads, From: media.Start{At: o.Timing.From}, To: o.Timing.To, Map: o.Input.Map, Log: o.Hooks.Log,
		Deinterlace: o.Input.fieldMode(), ProbeFields: o.Input.Deinterlace == RefuseFields, Upright: o.Rotation() == TurnPictures, Confine: o.files,
	}
	p := o.SynthParams()
	r.Decoding = media.Decoding{
		HWDec: o.Input.HWDec,
		CUDA:  media.CUDA{Device: p.FirstDevice(), Surfaces: func() (media.Surfaces, error) { return synth.OpenSurfaces(p) }},
	}
	if c.Source != nil {
		r.Measured = c.Source.Measured()
	}
	return r
}
