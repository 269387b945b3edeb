package media

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/pixel"
	"retime/pipeline/media/timebase"
)

// Encoder encodes frames to packets. Only one goroutine may use it, except for NewFrame.
type Encoder struct {
	log     *slog.Logger
	file    string // the file's name, for messages
	source  *Source
	codec   *astiav.Codec
	context *astiav.CodecContext
	packer  *pixel.Packer
	pool    pixel.Pool
	packet  *astiav.Packet
	put     func(*astiav.Packet) error // receives each packet and may unreference it
	unit    *big.Rat                   // of the frames' times, in seconds; nil for their numbers at the output's rate
	times   frameTimes
	framing Framing
	hdr     hdr10Plus
	palette *palette // nil if the pictures need none

	captioner
}

// captioner gives an encoder's frames their captions.
type captioner struct {
	captions      *captions                      // nil if there are none
	moment        func(output *big.Rat) *big.Rat // on the captions' clock
	start, period *big.Rat                       // of the frames
	next          *[]byte                        // of the next frame, given by Caption; nil if it keeps its own
}

// frameTimes are the times of the frames that the encoder was given, in its time base.
type frameTimes struct {
	first   int64           // number of the first frame
	frames  int64           // number of frames so far
	last    int64           // time of the last frame that came with a time
	origin  *big.Rat        // time in seconds of the first frame that came with one
	from    *big.Rat        // of the last one
	warned  bool            // that frames are not shown at their times
	lengths map[int64]int64 // durations of the frames in the encoder, by their times
}

// NewEncoder opens the encoder that Create would open for a file called name, but creates
// no file and passes the packets to put, which may keep them. opt.Container.Format names their
// container; if it is empty, name determines it. first is the number of the first frame.
// Call Abort after use.
func NewEncoder(ctx context.Context, name string, source *Reader, opt WriterOptions, first int64, put func(Packet) error) (*Encoder, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	output, err := newContainer(name, name, opt.Container.Format)
	if err != nil {
		return nil, err
	}
	defer output.Free()
	if err := setMuxOptions(output, opt.Container.Options); err != nil {
		return nil, err
	}
	e, err := newEncoder(output, name, source.Source(), &opt, func(p *astiav.Packet) error { return put(takePacket(p)) })
	if err != nil {
		return nil, err
	}
	e.times.first = first
	if e.palette != nil {
		err = fault.New(fault.Usage, "encoder %s takes one palette for the whole clip, which cannot be made in parts; convert it as a whole", e.codec.Name())
	} else if e.codec.ID() == av.CodecIDWrapped {
		err = fault.New(fault.Usage, "the %s container takes frames as they are, which cannot be kept in parts; choose another Output.Format", container.Name(output))
	} else {
		err = ctx.Err()
	}
	if err != nil {
		e.Abort()
		return nil, err
	}
	return e, nil
}

// newEncoder opens the encoder for an output's video.
func newEncoder(output *astiav.FormatContext, file string, source *Source, opt *WriterOptions, put func(*astiav.Packet) error) (*Encoder, error) {
	if opt.Unit == nil && container.InMilliseconds(output) && opt.Rate.Cmp(big.NewRat(1000, 1)) > 0 {
		return nil, fault.New(fault.Usage, "output %q: the %s container states times in milliseconds, in which frames at a rate of %s come together; choose another, such as MP4",
			file, container.Name(output), opt.Rate.RatString())
	}
	codec, err := pickEncoder(output, file, source, &opt.Encoder)
	if err == nil {
		err = confineEncoder(opt.Confine, codec, "Output.VideoOptions", opt.Encoder.Options)
	}
	if err != nil {
		return nil, err
	}
	e := &Encoder{
		log: opt.Log, file: file, source: source, codec: codec, pool: pixel.Pool{Memory: opt.Memory}, packet: astiav.AllocPacket(), put: put,
		times: frameTimes{last: -1 << 62, lengths: map[int64]int64{}},
	}
	e.unit = keptUnit(output, codec, &source.Video, opt)
	e.framing = Framing{
		StartCodes: container.WantsStartCodes(output, codec.ID()),
		OneRate:    !container.HoldsGaps(output) && !container.HoldsPictures(output),
	}
	if writesHDR10Plus(source, codec.Name()) {
		e.hdr = hdr10Plus{}
	}
	if err := e.open(output, opt); err != nil {
		e.Abort()
		return nil, err
	}
	e.openCaptions(opt)
	return e, nil
}

// open opens the encoder with opt's pixel format or, if it names none, with the one that
// loses least.
func (e *Encoder) open(output *astiav.FormatContext, opt *WriterOptions) error {
	try := func(format astiav.PixelFormat) error { return e.try(format, output, opt) }
	taken := slices.DeleteFunc(encoderFormats(e.codec), func(p astiav.PixelFormat) bool { return !container.HoldsPixels(output, e.codec.ID(), p) })
	if name := opt.Encoder.PixelFormat; name != "" {
		format, err := namedFormat(e.codec, name, taken)
		if err != nil {
			return err
		}
		return try(format)
	}
	v, source := &e.source.Video, e.source.Pixels.Carried()
	format, lost, _ := pixel.Nearest(source, taken, pixel.AnySize)
	if e.codec.ID() == astiav.CodecIDGif && lost != (pixel.Loss{}) {
		return e.openPaletted(output, opt)
	}
	err := try(format)
	if err != nil && e.codec.Name() == "dnxhd" && opt.Encoder.isChosen() && !opt.Encoder.setsQuality() { // as for fields, which DNxHR has none of
		for _, set := range e.source.DNxHDSettings() {
			like := *opt
			if like.Encoder.Options = set; e.try(format, output, &like) == nil {
				err = nil
				break
			}
		}
	}
	if whole := pixel.WholeBlocks(v.Width, v.Height); err != nil && !whole(format) {
		// Some encoders need a size in whole blocks of chroma samples.
		if other, l, ok := pixel.Nearest(source, taken, whole); ok && try(other) == nil {
			format, lost, err = other, l, nil
		}
	}
	if err != nil {
		return err
	}
	e.announce(&opt.Encoder, format)
	if e.source.Fields != av.Progressive && losesFields(e.codec.Name()) {
		e.log.Warn("the encoder does not mark frames as interlaced, so that players may take them for progressive ones", "encoder", e.codec.Name())
	}
	switch {
	case format == source:
	case lost == pixel.Loss{}:
		e.log.Info("the encoder does not take such pictures in the source's sample format; another one holds all of it",
			"encoder", e.codec.Name(), "source", source, "written", format)
	default:
		e.log.Warn("the encoder takes no sample format that holds all of the source",
			"encoder", e.codec.Name(), "source", source, "written", format, "lost", lost)
	}
	return nil
}

// openPaletted opens the encoder for pictures with one palette.
func (e *Encoder) openPaletted(output *astiav.FormatContext, opt *WriterOptions) error {
	if err := e.try(astiav.PixelFormatPal8, output, opt); err != nil {
		return err
	}
	v := &e.source.Video
	var err error
	if e.palette, err = newPalette(v.Width, v.Height, opt.Encoder.Threads); err != nil {
		return cannotWrite(e.file, err)
	}
	e.log.Warn("the encoder takes no sample format that holds all of the source",
		"encoder", e.codec.Name(), "source", e.source.Pixels.Carried(), "written", e.context.PixelFormat(), "lost", "all but 256 colours, chosen for the whole clip")
	return nil
}

// try opens the encoder for pictures in format. If the encoder refuses them, the error is
// a fault.Usage error.
func (e *Encoder) try(format astiav.PixelFormat, output *astiav.FormatContext, opt *WriterOptions) error {
	v := &e.source.Video
	num, den := opt.Rate.Num(), opt.Rate.Denom()
	if !num.IsInt64() || !den.IsInt64() || num.Int64() > 1<<31-1 || den.Int64() > 1<<31-1 {
		return fault.New(fault.Usage, "rate %s: numerator and denominator must be below 2^31", opt.Rate.RatString())
	}
	packed := format
	if format == astiav.PixelFormatPal8 {
		packed = unpaletted
	}
	packer := pixel.NewPacker(e.source.Pixels, packed)
	c := astiav.AllocCodecContext(e.codec)
	c.SetWidth(v.Width)
	c.SetHeight(v.Height)
	c.SetPixelFormat(format)
	c.SetTimeBase(astiav.NewRational(int(den.Int64()), int(num.Int64())))
	if u := e.unit; u != nil {
		c.SetTimeBase(astiav.NewRational(int(u.Num().Int64()), int(u.Denom().Int64())))
	}
	c.SetFramerate(astiav.NewRational(int(num.Int64()), int(den.Int64())))
	c.SetSampleAspectRatio(e.source.Aspect)
	c.SetThreadCount(encoderThreads(e.codec.Name(), opt.Encoder.Threads))
	if opt.Encoder.GlobalHeader || av.WantsGlobalHeader(output) {
		c.SetFlags(c.Flags().Add(astiav.CodecContextFlagGlobalHeader))
	}
	if e.source.Fields != av.Progressive && codesFields(e.codec.Name(), opt.Encoder.Options) {
		c.SetFlags(c.Flags().Add(astiav.CodecContextFlagInterlacedDct).Add(astiav.CodecContextFlagInterlacedMe))
	}
	options, err := encoderSettings(e.codec, &opt.Encoder, e.source, format, packer.Colour(), output)
	if err != nil {
		c.Free()
		return err
	}
	defer options.Free()
	lines, err := av.WithLines(func() error {
		if onlyOnDevice(e.codec) {
			if err := av.PrepareUpload(c, e.codec, format); err != nil {
				return err
			}
		}
		return c.Open(e.codec, options)
	})
	if err != nil {
		c.Free()
		return fault.New(fault.Usage, "encoder %s refuses %dx%d %s with these options: %w%s%s%s%s",
			e.codec.Name(), v.Width, v.Height, format, err, detail(relevant(lines, v, format)), oddSizeHint(v, format), dnxhrHint(e.codec, &opt.Encoder), insteadOf(e.codec.Name()))
	}
	if left := options.Get("", nil, astiav.NewDictionaryFlags(astiav.DictionaryFlagIgnoreSuffix)); left != nil {
		c.Free()
		return fault.New(fault.Usage, "encoder %s has no option %q", e.codec.Name(), left.Key())
	}
	e.context, e.packer = c, packer
	return nil
}

// Framing is what a container asks of copied packets.
type Framing struct {
	StartCodes bool // of H.264 and HEVC: units begin with start codes, and parameter sets precede key frames
	OneRate    bool // pictures come at one rate without gaps
}

// Framing returns what the encoder's container asks of packets of its codec that are copied.
func (e *Encoder) Framing() Framing { return e.framing }

// Parameters returns the parameters that the encoder's packets share.
func (e *Encoder) Parameters() Parameters {
	c := e.context
	return Parameters{
		Encoder: e.codec.Name(), Width: c.Width(), Height: c.Height(), PixelFormat: c.PixelFormat().Name(),
		TimeBase: [2]int{c.TimeBase().Num(), c.TimeBase().Den()}, Header: av.Header(c),
	}
}

// NewFrame returns a frame that WriteFrame encodes without copying; see pixel.Pool.
// Several goroutines may call it.
func (e *Encoder) NewFrame(like *frame.Frame) (*frame.Frame, error) { return e.pool.NewFrame(like) }

// WriteFrame encodes f as the frame that the output shows from one time to another, in seconds, or,
// for nil, as the next one at the output's rate. The times of successive frames must rise. f must come
// from the source or from NewFrame. The caller keeps its reference. If the encoder fails, the error is a
// fault.CannotWrite error.
func (e *Encoder) WriteFrame(f *frame.Frame, from, to *big.Rat) error {
	if from != nil {
		return e.writeAt(f, from, to)
	}
	n := e.number()
	if e.captions == nil {
		return e.encode(f, n, nil, nil)
	}
	at := new(big.Rat).Mul(big.NewRat(n, 1), e.period)
	at.Add(at, e.start)
	return e.encode(f, n, new(big.Rat).Sub(at, e.period), at)
}

// number returns the next frame's number.
func (e *Encoder) number() int64 { return e.times.first + e.times.frames }

// writeAt is WriteFrame at a given time.
func (e *Encoder) writeAt(f *frame.Frame, from, to *big.Rat) error {
	if e.times.frames == 0 {
		e.times.origin = from
	}
	t := e.ticks(from)
	if e.unit == nil && e.times.frames > 0 && (t <= e.times.last || e.framing.OneRate && t > e.times.last+1) && !e.times.warned {
		e.times.warned = true
		e.log.Warn("times are written as numbers of frames at one rate: frames that last longer or shorter than that are not shown at their times",
			"frame", e.number()-1, "rate", e.context.Framerate(), "output", e.file)
	}
	t = max(t, e.times.last+1)
	e.times.last = t
	e.times.lengths[t] = max(e.ticks(to)-t, 1)
	before := new(big.Rat).Sub(from, new(big.Rat).Sub(to, from))
	if e.times.frames > 0 {
		before = e.times.from
	}
	e.times.from = from
	return e.encode(f, t, before, from)
}

// ticks returns a time in the encoder's time base. Numbers of frames count from the first frame: stated times jitter, and half a
// frame off the rate's grid, one would round down and the next one up.
func (e *Encoder) ticks(t *big.Rat) int64 {
	tb := e.context.TimeBase()
	if e.unit != nil {
		return timebase.Ticks(t, tb)
	}
	return timebase.Ticks(e.times.origin, tb) + timebase.Ticks(new(big.Rat).Sub(t, e.times.origin), tb)
}

// encode encodes f with the timestamp pts. The output shows it from now on; before is when it shows
// the frame before.
func (e *Encoder) encode(f *frame.Frame, pts int64, before, now *big.Rat) error {
	picture, err := e.packer.Pack(f)
	if err == nil {
		switch {
		case e.captions != nil:
			err = e.caption(picture, before, now)
		case e.next != nil:
			err = setCaptions(picture, *e.next)
			e.next = nil
		}
		if err != nil {
			picture.Free()
		}
	}
	if err == nil {
		picture, err = e.upload(picture)
	}
	if err != nil {
		return cannotWrite(e.file, err)
	}
	defer picture.Free()
	picture.SetPts(pts)
	av.ResetPictureType(picture)
	// A picture that is coded as fields like the others must not turn their order about.
	if fields := e.source.allFields || e.context.Flags().Has(astiav.CodecContextFlagInterlacedDct); fields && av.FrameFieldOrder(picture) == av.Progressive {
		av.SetFrameFieldOrder(picture, e.source.Fields)
	}
	if e.hdr != nil {
		e.hdr.note(picture, pts)
	}
	number := e.number()
	e.times.frames++
	if e.palette != nil {
		err = e.palette.add(picture, pts)
	} else if err = e.context.SendFrame(picture); err == nil {
		return e.drain()
	}
	if err != nil {
		return cannotWrite(e.file, fmt.Errorf("encode frame %d: %w", number, err))
	}
	return nil
}

// sendPaletted encodes a picture that has its palette.
func (e *Encoder) sendPaletted(picture *astiav.Frame) error {
	if err := e.context.SendFrame(picture); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return e.drain()
}

// upload returns a copy of f on the encoder's device, or f if the encoder reads main
// memory. It takes over f.
func (e *Encoder) upload(f *astiav.Frame) (*astiav.Frame, error) {
	if !av.WantsUpload(e.context) {
		return f, nil
	}
	defer f.Free()
	out := astiav.AllocFrame()
	if err := av.Upload(e.context, out, f); err != nil {
		out.Free()
		return nil, fmt.Errorf("upload a picture to the device: %w", err)
	}
	return out, nil
}

// drain passes every finished packet to put.
func (e *Encoder) drain() error {
	for {
		err := e.context.ReceivePacket(e.packet)
		if errors.Is(err, astiav.ErrEagain) || errors.Is(err, astiav.ErrEof) {
			return nil
		} else if err != nil {
			return cannotWrite(e.file, fmt.Errorf("encode: %w", err))
		}
		if d, ok := e.times.lengths[e.packet.Pts()]; ok {
			e.packet.SetDuration(d)
			delete(e.times.lengths, e.packet.Pts())
		} else if e.packet.Duration() == 0 {
			e.packet.SetDuration(1)
		}
		if e.codec.ID() == astiav.CodecIDDvvideo && e.source.Fields == av.Progressive {
			if err := withData(e.packet, markedProgressive(e.packet.Data())).fill(e.packet); err != nil {
				return cannotWrite(e.file, err)
			}
		}
		if e.hdr != nil {
			if err := e.hdr.add(e.packet); err != nil {
				return cannotWrite(e.file, err)
			}
		}
		if err := e.put(e.packet); err != nil {
			return err
		}
	}
}

// CodecName returns the encoder's name, as FFmpeg has it.
func (e *Encoder) CodecName() string { return e.codec.Name() }

// Finish encodes the frames that the encoder still holds.
func (e *Encoder) Finish() error {
	if e.times.frames == 0 {
		return nil
	}
	if e.palette != nil {
		if err := e.palette.apply(e.sendPaletted); err != nil {
			return cannotWrite(e.file, err)
		}
	}
	if err := e.context.SendFrame(nil); err != nil && !errors.Is(err, astiav.ErrEof) {
		return cannotWrite(e.file, fmt.Errorf("encode: %w", err))
	}
	return e.drain()
}

// Abort frees the encoder. Frames that NewFrame has returned stay valid. Abort may be
// called more than once.
func (e *Encoder) Abort() {
	if e.packet != nil {
		e.packet.Free()
		e.packet = nil
	}
	if e.packer != nil {
		e.packer.Close()
	}
	if e.palette != nil {
		e.palette.close()
		e.palette = nil
	}
	e.pool.Close()
	if e.context != nil {
		e.context.Free()
		e.context = nil
	}
}

// Discard takes frames as an Encoder does, and drops them.
type Discard struct{}

// NewFrame returns a frame like like.
func (Discard) NewFrame(like *frame.Frame) (*frame.Frame, error) { return pixel.NewFrame(like) }

// WriteFrame does nothing.
func (Discard) WriteFrame(*frame.Frame, *big.Rat, *big.Rat) error { return nil }
