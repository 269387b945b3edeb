package pipeline

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/media/pixel"
)

// Digest is the SHA-256 of a frame's size, sample format and samples, plane by
// plane and row by row without padding.
type Digest [sha256.Size]byte

// digest hashes the frame that goes to the encoder.
func digest(f *frame.Frame) (d Digest) {
	h := sha256.New()
	fmt.Fprintf(h, "%dx%d %s\n", f.Width, f.Height, f.Format.Name)
	for _, p := range f.Planes {
		n := p.Width * f.Format.Bytes()
		for y := range p.Height {
			h.Write(p.Pix[y*p.Stride:][:n])
		}
	}
	h.Sum(d[:0])
	return d
}

// Outline is what the parts of a conversion need to know of the whole.
type Outline struct {
	// Frames is how many the output has, as far as the input tells; its last part
	// ends where the input does.
	Frames int64 `json:"frames"`
	// Rate is the output's, in frames per second.
	Rate *big.Rat `json:"rate"`
	// Steady is set where a part can be read without what comes long before it.
	Steady bool `json:"steady"`
	// Scenes are the first frames of the scenes that Options list.
	Scenes []int64 `json:"scenes,omitempty"`
	// Parameters are those of the encoder.
	Parameters media.Parameters `json:"parameters"`
}

// Survey reads o.Input through, without decoding all of it, to say what RunPart and
// Join need. The container is o.OutputFormat or else what o.Output goes by. Conversions that cannot be made
// in parts are a fault.Usage error.
func Survey(ctx context.Context, o Options) (*Outline, error) {
	s, err := survey(ctx, o)
	return s, cancelled(ctx, err)
}

func cancelled(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return fault.Cancel(ctx, "cancelled")
	}
	return err
}

func survey(ctx context.Context, o Options) (*Outline, error) {
	source, plan, err := o.openWhole(ctx)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	if err := o.checkFields(source.Video()); err != nil {
		return nil, err
	}
	part, err := media.NewEncoder(ctx, o.Output.File, source, plan.writerOptions(&o, nil), 0, func(media.Packet) error { return nil })
	if err != nil {
		return nil, err
	}
	s := &Outline{Rate: plan.rate, Frames: plan.total, Parameters: part.Parameters()}
	part.Abort()
	scan, err := source.Scan()
	if err != nil {
		return nil, err
	}
	line := &plan.lines[0]
	s.Steady = scan.Steady && o.Synthesis.Duplicates == KeepDuplicates && (o.Input.Deinterlace == RefuseFields || o.Input.Deinterlace == IgnoreFields)
	if end := scan.End; end != nil && line.run.End == nil {
		if plan.to != nil && plan.to.Cmp(end) < 0 {
			end = plan.to
		}
		s.Frames = line.count(end)
	}
	if s.Frames <= 0 {
		return nil, fault.New(fault.BadData, "input %q does not tell how long it is; convert it as a whole", o.Input.File)
	}
	for _, t := range o.Synthesis.Scenes {
		if k := line.count(t); k > 0 && k < s.Frames {
			s.Scenes = append(s.Scenes, k)
		}
	}
	return s, nil
}

// openWhole opens o.Input and plans the whole conversion.
func (o *Options) openWhole(ctx context.Context) (*media.Reader, *plan, error) {
	if err := o.settle(); err != nil {
		return nil, nil, err
	}
	switch {
	case o.Input.File == "":
		return nil, nil, fault.New(fault.Usage, "no input; name one")
	case !media.Seekable(o.Input.File):
		return nil, nil, fault.New(fault.Usage, "input %q cannot be read in parts; give a file", o.Input.File)
	case o.Timing.KeepTimestamps:
		return nil, nil, fault.New(fault.Usage, "Timing.KeepTimestamps makes frames that are known only once all before them are read; convert as a whole")
	}
	source, err := media.Open(ctx, o.Input.File, o.readerOptions())
	if err != nil {
		return nil, nil, err
	}
	plan, err := newPlan(o, source.Video())
	if err == nil && plan.reopens() {
		err = fault.New(fault.Usage, "Timing.Curve: only one that plays forward from the start can be converted in parts")
	}
	if err != nil {
		source.Close()
		return nil, nil, err
	}
	return source, plan, nil
}

// part is a range of the output's frames.
type part struct {
	first, end int64 // in moments, where frames consist of several
	last       bool  // nothing is known of what comes behind it
	origin     int64 // timestamp of the whole's first source frame
	cold       bool  // reading began behind that
}

// holds says whether a moment belongs to the part.
func (p *part) holds(index int64) bool { return p == nil || index >= p.first && index < p.end }

// errContext says that reading began too late for the part's first frame.
var errContext = errors.New("reading began too late")

// RunPart makes the frames from number first to before end of the conversion that
// o and whole describe, as Run makes them, whatever the parts are. From whole.Frames
// on they are all that the input has. put gets the encoder's packets in their
// order; nil for frames that nobody encodes. Damage that ends the input early is an
// error.
func RunPart(ctx context.Context, o Options, whole *Outline, first, end int64, put func(media.Packet) error) (*Report, error) {
	r, err := runPart(ctx, o, whole, first, end, put)
	return r, cancelled(ctx, err)
}

func runPart(ctx context.Context, o Options, whole *Outline, first, end int64, put func(media.Packet) error) (*Report, error) {
	began := time.Now()
	source, plan, err := o.openWhole(ctx)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	if first < 0 || first >= end || first >= whole.Frames {
		return nil, fault.New(fault.Usage, "frames %d to %d of %d: no such range", first, end, whole.Frames)
	}
	synth, err := newSynthesizer(&o)
	if err != nil {
		return nil, err
	}
	defer synth.Close()
	var sink Sink = discard{}
	var writer *media.Encoder
	if put != nil {
		if writer, err = media.NewEncoder(ctx, o.Output.File, source, plan.writerOptions(&o, synth), first, put); err != nil {
			return nil, err
		}
		defer writer.Abort()
		if !writer.Parameters().Equal(whole.Parameters) {
			return nil, fault.New(fault.BadData, "encoder %s is not set up as it was for the plan; use the same FFmpeg build everywhere", whole.Parameters.Encoder)
		}
		sink = writer
	}
	moments := plan.lines[0].moments()
	p := part{first: first * moments, end: endless, last: end >= whole.Frames, origin: source.Video().FirstPTS}
	plan.total = whole.Frames - first
	if !p.last {
		p.end, plan.total = end*moments, end-first
	}
	c := &conversion{o: &o, plan: plan, part: &p, sink: sink, synth: synth}
	damage, err := c.approach(ctx, source, whole.Steady)
	short := !p.last && c.frames < end-first
	if err == nil && (p.last || short) { // else the damage lies behind the part
		err = damage
	}
	if err == nil && short {
		err = fault.New(fault.BadData, "input %q ends with frame %d of the output; %d are planned", o.Input.File, first+c.frames, whole.Frames)
	}
	if err != nil {
		return nil, err
	}
	if writer != nil {
		if err := writer.Finish(); err != nil {
			return nil, err
		}
	}
	v := source.Video()
	report := &Report{
		Width: v.Width, Height: v.Height, Format: v.Source, Rate: plan.rate, Sources: c.sources, Frames: c.frames, Made: c.made,
		Cuts: c.cuts, Repeats: c.repeats, Stages: c.times.stages(), Elapsed: time.Since(began),
	}
	describeBackend(report, synth)
	return report, nil
}

// approach reads the part from a little before its first frame, and from further
// back where that was too late. whole is open at the start.
func (c *conversion) approach(ctx context.Context, whole *media.Reader, steady bool) (damage, err error) {
	line := &c.plan.lines[0]
	video := whole.Video()
	start := c.plan.clock.at(video.FirstPTS)
	lead := big.NewRat(1, 4)
	for steady {
		from := new(big.Rat).Sub(line.at(c.part.first), lead)
		if from.Cmp(start) <= 0 {
			break
		}
		o := c.o.readerOptions()
		o.From, o.ProbeFields = from, false
		reader, err := media.Open(ctx, c.o.Input.File, o)
		if err != nil {
			return nil, err
		}
		if v := reader.Video(); v.Width != video.Width || v.Height != video.Height || v.Source != video.Source || v.Format != video.Format {
			reader.Close()
			break // the stream has changed; its pictures are converted from the start on
		}
		c.source, c.part.cold = reader, reader.Video().FirstPTS != c.part.origin
		damage, err = c.run(ctx)
		reader.Close()
		if !errors.Is(err, errContext) {
			return damage, err
		}
		lead.Mul(lead, big.NewRat(4, 1))
		c.sources, c.gaps, c.cuts, c.repeats, c.damage = 0, 0, nil, 0, nil
		c.enough.Store(false)
	}
	c.source, c.part.cold = whole, false
	return c.run(ctx)
}

// discard is a sink for frames that nobody keeps.
type discard struct{}

func (discard) NewFrame(like *frame.Frame) (*frame.Frame, error) { return pixel.NewFrame(like) }
func (discard) WriteFrame(*frame.Frame) error                    { return nil }

// Join writes o.Output from the packets of all parts, in order, as next delivers
// them, io.EOF behind the last. Everything else comes from o.Input as in Run.
func Join(ctx context.Context, o Options, whole *Outline, next func() (media.Packet, error)) (*Report, error) {
	r, err := join(ctx, o, whole, next)
	return r, cancelled(ctx, err)
}

// joinAhead is how many seconds the other streams are read ahead of the video.
const joinAhead = 1

func join(ctx context.Context, o Options, whole *Outline, next func() (media.Packet, error)) (*Report, error) {
	began := time.Now()
	if err := o.checkFiles(); err != nil {
		return nil, err
	}
	o.Output.VideoCodec = whole.Parameters.Encoder
	source, plan, err := o.openWhole(ctx)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	writer, err := media.Create(ctx, o.Output.File, source, plan.writerOptions(&o, nil))
	if err != nil {
		return nil, err
	}
	defer writer.Abort()
	if !writer.Parameters().Equal(whole.Parameters) {
		return nil, fault.New(fault.Usage, "output %q wants the %s stream in another form than the plan's; plan with its Output.Format, or name an output like it",
			o.Output.File, whole.Parameters.Encoder)
	}
	line := &plan.lines[0]
	frames := int64(0)
	for {
		p, err := next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		at := line.run.Source(line.shown(p.PTS * line.moments()))
		if err := source.SkimTo(at.Add(at, big.NewRat(joinAhead, 1))); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if err := writer.WritePacket(p); err != nil {
			return nil, err
		}
		if frames++; o.Hooks.Progress != nil {
			o.Hooks.Progress(Progress{frames, max(whole.Frames, frames)})
		}
	}
	if err := source.Skim(); err != nil {
		return nil, err
	}
	name, err := writer.Finish(false)
	if err != nil {
		return nil, err
	}
	v := source.Video()
	return &Report{Output: name, Width: v.Width, Height: v.Height, Format: v.Source, Rate: plan.rate, Frames: frames, Elapsed: time.Since(began)}, nil
}
