package pipeline

import (
	"context"
	"math/big"
	"slices"
	"time"

	"retime/frame"
	"retime/pipeline/curve"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
)

// Clip is an input that is open, and the plan of what options make of it.
type Clip struct {
	Options Options // checked, with their defaults in place
	Source  *media.Reader
	Plan    *timeline.Plan
	opened  time.Time
	varies  *variation // nil for a constant rate
}

// Open checks o, opens the input and plans its conversion. Errors carry a fault.Kind.
func Open(ctx context.Context, o Options) (*Clip, error) { return open(ctx, o, false) }

// OpenPackets is Open for a conversion that copies packets of the video: Source.NextPacket
// returns them.
func OpenPackets(ctx context.Context, o Options) (*Clip, error) { return open(ctx, o, true) }

func open(ctx context.Context, o Options, packets bool) (*Clip, error) {
	if err := o.Settle(); err != nil {
		return nil, err
	}
	if o.Input.File == "" {
		return nil, fault.New(fault.Usage, "no input; name one")
	}
	if o.Output.StartNumber != nil && o.Output.File != "" && !media.IsSequence(o.Output.File) {
		return nil, fault.New(fault.Usage, "Output.StartNumber: output %q is no image sequence, such as frames/%%05d.png; a sequence that is read starts at its first number, or at Timing.From", o.Output.File)
	}
	if packets {
		o.Input.Rotation = KeepRotation
	}
	c := &Clip{Options: o, opened: time.Now()}
	var err error
	reading := c.ReaderOptions()
	reading.Packets = packets
	if c.Source, err = media.Open(ctx, o.Input.File, reading); err != nil {
		return nil, err
	}
	if err = c.plan(ctx, reading); err != nil {
		c.Source.Close()
		return nil, err
	}
	return c, nil
}

// plan plans the conversion of a source that was opened with some options.
func (c *Clip) plan(ctx context.Context, reading media.ReaderOptions) (err error) {
	v := c.Source.Video()
	if err := c.Options.checkFields(v); err != nil {
		return err
	}
	if c.varies, err = c.Options.measure(ctx, v, reading); err != nil {
		return err
	}
	if c.varies != nil {
		c.Plan, err = c.varies.plan(&c.Options, v)
	} else {
		c.Plan, err = newPlan(&c.Options, v)
	}
	if err != nil {
		return err
	}
	return c.Options.checkDecisions(c.Plan)
}

// LogRate says what counts as the source's frame rate if that varies.
func (c *Clip) LogRate() {
	if c.varies != nil {
		c.varies.log(&c.Options, c.Plan)
	}
}

// Close closes the input.
func (c *Clip) Close() { c.Source.Close() }

// ReaderOptions says how to read the input.
func (c *Clip) ReaderOptions() media.ReaderOptions { return c.Options.readerOptions() }

// WriterOptions says how to write the output, with frames that lie in a memory; nil for
// anywhere.
func (c *Clip) WriterOptions(memory frame.Memory) media.WriterOptions {
	o, p := &c.Options, c.Plan
	w := media.WriterOptions{
		Container: media.ContainerOptions{Format: o.Output.Format, Options: o.Output.MuxOptions},
		Encoder: media.EncoderOptions{
			Codec: o.Output.VideoCodec, CRF: -1, Options: o.Output.VideoOptions, PixelFormat: o.Output.PixelFormat, Threads: o.Compute.Threads,
		},
		Memory: memory, Overwrite: o.Output.Overwrite, Verify: !o.Output.NoVerify,
		Rate: p.Rate, Start: p.Begin, Unit: p.Unit, Curve: p.Curve, End: p.To, Passes: p.Reopens(),
		Sound: media.SoundOptions{Mode: o.Timing.Audio, Codec: o.Output.AudioCodec, Options: o.Output.AudioOptions}, Confine: o.confine, Log: o.Hooks.Log,
	}
	if first := o.Output.StartNumber; first != nil {
		w.Number = func(k int) int { return *first + k }
	}
	if o.Output.CRF != nil {
		w.Encoder.CRF = *o.Output.CRF
	}
	return w
}

// Line returns a line from the clip to sink.
func (c *Clip) Line(sink Sink, s synth.Synthesizer) *Line {
	return NewLine(&c.Options, c.Plan, sink, s)
}

// Report says what a line and a synthesizer have done since the clip was opened. output
// names the file that was written.
func (c *Clip) Report(r Result, s synth.Summary, output string) *Report {
	report := newReport(r, s, c.Source.Video(), c.opened)
	report.Output, report.Rate, report.Damage = output, c.Plan.Rate, c.Source.Damage()
	return report
}

// LogDamage warns if the input was damaged.
func (c *Clip) LogDamage() {
	if d := c.Source.Damage(); d != (media.Damage{}) {
		c.Options.Hooks.Log.Warn("damage in the input", "input", c.Options.Input.File, "packets", d.Packets, "frames", d.Frames, "errors", d.Errors)
	}
}

func newReport(r Result, s synth.Summary, v media.Video, began time.Time) *Report {
	return &Report{
		Width: v.Width, Height: v.Height, Format: v.Source, Result: r,
		Elapsed: time.Since(began), Backend: s.Backend, Devices: s.Devices, Remade: s.Remade + r.remade,
	}
}

// gapFrames is how many frames long, at the source's mean rate, an interval may
// be before it counts as a gap, if it lasts for half a second.
const gapFrames = 8

func newPlan(o *Options, v media.Video) (*timeline.Plan, error) {
	source := v.Average
	if o.Timing.KeepTimestamps && v.Rate != nil {
		source = v.Rate // of the frames that are there
	}
	if v.Rate != nil && (source == nil || nearly(v.Rate, source)) {
		source = v.Rate
	}
	rate, err := o.outputRate(source)
	if err != nil {
		return nil, err
	}
	if rate, err = o.shown(rate, v.Average); err != nil {
		return nil, err
	}
	p := &timeline.Plan{Rate: rate, Clock: timeline.NewClock(v), To: o.Timing.To}
	origin := p.Clock.At(v.FirstPTS)
	if o.Timing.From != nil && o.Timing.From.Cmp(origin) > 0 {
		origin = o.Timing.From
	}
	if o.Timing.To != nil && o.Timing.To.Cmp(origin) <= 0 {
		return nil, fault.New(fault.Usage, "Timing.To %s: the video begins at %s", seconds(o.Timing.To), seconds(origin))
	}
	end := o.Timing.To
	if v.Duration != nil {
		if e := new(big.Rat).Add(p.Clock.At(v.StreamPTS), v.Duration); end == nil || e.Cmp(end) < 0 {
			end = e
		}
	}
	if p.Curve, err = o.curve(end); err != nil {
		return nil, err
	}
	if source != nil {
		p.Gap = longestInterval(source)
	} else {
		source = p.Rate
	}
	p.Lay(timeline.Spacing{Origin: origin, End: end, Shutter: o.Timing.Shutter, Source: source, Keep: o.Timing.KeepTimestamps, TimeBase: v.TimeBase})
	return p, nil
}

// shown returns the rate nearest to rate at which players show the output's format.
// average is the source's mean rate; nil if it is unknown.
func (o *Options) shown(rate, average *big.Rat) (*big.Rat, error) {
	most := media.MaxRate(o.Output.File, o.Output.Format)
	switch {
	case most == nil:
		return rate, nil
	case o.Timing.KeepTimestamps && average != nil && average.Cmp(most) > 0:
		return nil, fault.New(fault.Usage, "output %q: players show at most %s frames per second of this format, and input %q has %s; choose another one, or convert the input without Timing.KeepTimestamps",
			o.Output.File, most.RatString(), o.Input.File, average.FloatString(3))
	case !o.Timing.KeepTimestamps && rate.Cmp(most) > 0:
		o.Hooks.Log.Warn("players slow this format down at such a rate; the output has the nearest one that they play",
			"output", o.Output.File, "asked", rate.RatString(), "written", most.RatString())
		return most, nil
	}
	return rate, nil
}

// longestInterval returns the length in seconds from which on an interval is a gap, for
// a source of some mean rate.
func longestInterval(rate *big.Rat) *big.Rat {
	return timeline.Later(new(big.Rat).Quo(big.NewRat(gapFrames, 1), rate), big.NewRat(1, 2))
}

// curve returns what o asks of a source that ends at a time, nil if that is not known.
func (o *Options) curve(end *big.Rat) (*curve.Curve, error) {
	if o.Timing.Curve != nil {
		return o.bend(end)
	}
	from, slow := new(big.Rat), o.Timing.Slow
	if o.Timing.From != nil {
		from = o.Timing.From
	}
	if o.Timing.Fit != nil {
		if end == nil {
			return nil, fault.New(fault.Usage, "Timing.Fit: input %q states no duration; give Timing.Slow or Timing.To", o.Input.File)
		}
		length := new(big.Rat).Sub(end, from)
		if length.Sign() <= 0 {
			return nil, fault.New(fault.Usage, "Timing.From %s: the video ends at %s", seconds(from), seconds(end))
		}
		if slow = new(big.Rat).Quo(o.Timing.Fit, length); slow.Cmp(big.NewRat(timeline.MaxSlow, 1)) > 0 || slow.Cmp(big.NewRat(1, timeline.MaxSlow)) < 0 {
			return nil, fault.New(fault.Usage, "Timing.Fit %s: %s would play at 1/%d or %d times its speed, or beyond", seconds(o.Timing.Fit), seconds(length), timeline.MaxSlow, timeline.MaxSlow)
		}
	}
	return curve.Constant(from, slow), nil
}

// bend joins o's keyframes for a source that ends at a time.
func (o *Options) bend(end *big.Rat) (*curve.Curve, error) {
	keys := slices.Clone(o.Timing.Curve)
	for i := range keys {
		k := &keys[i]
		switch {
		case k.Source == nil && end == nil:
			return nil, fault.New(fault.Usage, "Timing.Curve: input %q states no duration; give a time instead of \"end\"", o.Input.File)
		case k.Source == nil:
			k.Source = end
		case end != nil && k.Source.Cmp(end) > 0:
			return nil, fault.New(fault.Usage, "Timing.Curve: keyframe %d is at %s, the source ends at %s", i+1, seconds(k.Source), seconds(end))
		}
	}
	c, err := curve.New(keys)
	if err != nil {
		return nil, fault.New(fault.Usage, "Timing.Curve: %w", err)
	}
	if o.Timing.Fit != nil {
		c = c.Stretch(new(big.Rat).Quo(o.Timing.Fit, c.Duration()))
	}
	if end == nil {
		end = latest(keys)
	}
	if limit := new(big.Rat).Mul(end, big.NewRat(timeline.MaxSlow, 1)); c.Duration().Cmp(limit) > 0 {
		return nil, fault.New(fault.Usage, "Timing.Curve: it lasts for %s, which is more than %d times the source's %s", seconds(c.Duration()), timeline.MaxSlow, seconds(end))
	}
	return c, nil
}

// latest returns the latest source time of keyframes.
func latest(keys []curve.Keyframe) *big.Rat {
	t := new(big.Rat)
	for _, k := range keys {
		t = timeline.Later(t, k.Source)
	}
	return t
}

// nearly says whether two rates differ by less than 1 in 500, as a guessed one
// and a mean over a file do if the rate is constant.
func nearly(a, b *big.Rat) bool {
	x, _ := a.Float64()
	y, _ := b.Float64()
	return x > y*0.998 && x < y*1.002
}
