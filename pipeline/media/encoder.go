package media

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/pixel"
	"retime/pipeline/media/timebase"
)

// Encoder makes packets of frames. It is used by one goroutine.
type Encoder struct {
	log     *slog.Logger
	file    string // that packets are for, in messages
	source  *Source
	codec   *astiav.Codec
	context *astiav.CodecContext
	packer  *pixel.Packer
	pool    pixel.Pool
	packet  *astiav.Packet
	put     func(*astiav.Packet) error // gets each packet, which it may empty
	times   frameTimes
	hdr     hdr10Plus
}

// frameTimes are the times of the frames that went to an encoder, in its time base.
type frameTimes struct {
	first   int64           // number of the first frame
	frames  int64           // that came
	last    int64           // time of the last frame by WriteFrameAt
	lengths map[int64]int64 // of frames in the encoder, by their times
}

// NewEncoder opens an encoder as Create does for a file called name, but gives its
// packets to put, which may keep them; no file is made. opt.Format says which container
// they are for, or if it is empty name does. The first frame is number first of the
// whole.
func NewEncoder(ctx context.Context, name string, source *Reader, opt WriterOptions, first int64, put func(Packet) error) (*Encoder, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	output, err := newContainer(name, name, opt.Format)
	if err != nil {
		return nil, err
	}
	defer output.Free()
	e, err := newEncoder(output, name, source.Source(), &opt, func(p *astiav.Packet) error { return put(takePacket(p)) })
	if err != nil {
		return nil, err
	}
	e.times.first = first
	if e.codec.ID() == av.CodecIDWrapped {
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

// newEncoder opens the encoder of an output's video.
func newEncoder(output *astiav.FormatContext, file string, source *Source, opt *WriterOptions, put func(*astiav.Packet) error) (*Encoder, error) {
	codec, err := pickEncoder(output, file, opt.Encoder.Codec)
	if err != nil {
		return nil, err
	}
	e := &Encoder{
		log: opt.Log, file: file, source: source, codec: codec, pool: pixel.Pool{Memory: opt.Memory}, packet: astiav.AllocPacket(), put: put,
		times: frameTimes{last: -1 << 62, lengths: map[int64]int64{}},
	}
	if writesHDR10Plus(source, codec.Name()) {
		e.hdr = hdr10Plus{}
	}
	if err := e.open(opt, opt.Encoder.GlobalHeader || av.WantsGlobalHeader(output)); err != nil {
		e.Abort()
		return nil, err
	}
	return e, nil
}

// open opens the encoder with the sample format that suits it.
func (e *Encoder) open(opt *WriterOptions, globalHeader bool) error {
	try := func(format astiav.PixelFormat) error { return e.try(format, opt, globalHeader) }
	if name := opt.Encoder.PixelFormat; name != "" {
		format, err := namedFormat(e.codec, name)
		if err != nil {
			return err
		}
		return try(format)
	}
	v, source := &e.source.Video, e.source.Pixels.Carried()
	taken := encoderFormats(e.codec)
	format, lost, _ := pixel.Nearest(source, taken, pixel.AnySize)
	err := try(format)
	if whole := pixel.WholeBlocks(v.Width, v.Height); err != nil && !whole(format) {
		// Some take only sizes that are whole blocks of chroma samples.
		if other, l, ok := pixel.Nearest(source, taken, whole); ok && try(other) == nil {
			format, lost, err = other, l, nil
		}
	}
	switch {
	case err != nil:
		return err
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

// try opens the encoder for pictures in format.
func (e *Encoder) try(format astiav.PixelFormat, opt *WriterOptions, globalHeader bool) error {
	v := &e.source.Video
	num, den := opt.Rate.Num(), opt.Rate.Denom()
	if !num.IsInt64() || !den.IsInt64() || num.Int64() > 1<<31-1 || den.Int64() > 1<<31-1 {
		return fault.New(fault.Usage, "rate %s: numerator and denominator must be below 2^31", opt.Rate.RatString())
	}
	packer := pixel.NewPacker(e.source.Pixels, format)
	c := astiav.AllocCodecContext(e.codec)
	c.SetWidth(v.Width)
	c.SetHeight(v.Height)
	c.SetPixelFormat(format)
	c.SetTimeBase(astiav.NewRational(int(den.Int64()), int(num.Int64())))
	if u := opt.Unit; u != nil {
		c.SetTimeBase(astiav.NewRational(int(u.Num().Int64()), int(u.Denom().Int64())))
	}
	c.SetFramerate(astiav.NewRational(int(num.Int64()), int(den.Int64())))
	c.SetSampleAspectRatio(e.source.Aspect)
	c.SetThreadCount(opt.Encoder.Threads)
	if globalHeader {
		c.SetFlags(c.Flags().Add(astiav.CodecContextFlagGlobalHeader))
	}
	options, err := encoderSettings(e.codec, &opt.Encoder, e.source, format, packer.Colour())
	if err != nil {
		c.Free()
		return err
	}
	defer options.Free()
	message, err := av.WithMessage(func() error {
		if onlyOnDevice(e.codec) {
			if err := av.PrepareUpload(c, e.codec, format); err != nil {
				return err
			}
		}
		return c.Open(e.codec, options)
	})
	if err != nil {
		c.Free()
		return fault.New(fault.Usage, "encoder %s refuses %dx%d %s with these options: %w%s%s%s",
			e.codec.Name(), v.Width, v.Height, format, err, detail(message), oddSizeHint(v, format), insteadOf(e.codec.Name()))
	}
	if left := options.Get("", nil, astiav.NewDictionaryFlags(astiav.DictionaryFlagIgnoreSuffix)); left != nil {
		c.Free()
		return fault.New(fault.Usage, "encoder %s has no option %q", e.codec.Name(), left.Key())
	}
	e.context, e.packer = c, packer
	return nil
}

// Parameters are those of the encoder.
func (e *Encoder) Parameters() Parameters {
	c := e.context
	return Parameters{
		Encoder: e.codec.Name(), Width: c.Width(), Height: c.Height(), PixelFormat: c.PixelFormat().Name(),
		TimeBase: [2]int{c.TimeBase().Num(), c.TimeBase().Den()}, Header: av.Header(c),
	}
}

// NewFrame returns a frame that WriteFrame takes without copying; see pixel.Pool. It may
// be called from several goroutines.
func (e *Encoder) NewFrame(like *frame.Frame) (*frame.Frame, error) { return e.pool.NewFrame(like) }

// WriteFrame encodes f as the next frame. f must come from the source or from
// NewFrame; the caller keeps its reference.
func (e *Encoder) WriteFrame(f *frame.Frame) error { return e.encode(f, e.number()) }

// number is the next frame's.
func (e *Encoder) number() int64 { return e.times.first + e.times.frames }

// WriteFrameAt encodes f as the frame from one time of the output to another, in
// seconds. Times rise.
func (e *Encoder) WriteFrameAt(f *frame.Frame, from, to *big.Rat) error {
	tb := e.context.TimeBase()
	t := max(timebase.Ticks(from, tb), e.times.last+1)
	e.times.last = t
	e.times.lengths[t] = max(timebase.Ticks(to, tb)-t, 1)
	return e.encode(f, t)
}

func (e *Encoder) encode(f *frame.Frame, pts int64) error {
	picture, err := e.packer.Pack(f)
	if err == nil {
		picture, err = e.upload(picture)
	}
	if err != nil {
		return cannotWrite(e.file, err)
	}
	defer picture.Free()
	picture.SetPts(pts)
	av.ResetPictureType(picture)
	if e.hdr != nil {
		e.hdr.note(picture, pts)
	}
	number := e.number()
	e.times.frames++
	if err := e.context.SendFrame(picture); err != nil {
		return cannotWrite(e.file, fmt.Errorf("encode frame %d: %w", number, err))
	}
	return e.drain()
}

// upload returns a copy of f on the encoder's device, if it has one. It takes f over.
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

// drain puts out what the encoder has ready.
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

// Finish puts out what the encoder still holds. An encoder that got no frames holds
// nothing.
func (e *Encoder) Finish() error {
	if e.times.frames == 0 {
		return nil
	}
	if err := e.context.SendFrame(nil); err != nil && !errors.Is(err, astiav.ErrEof) {
		return cannotWrite(e.file, fmt.Errorf("encode: %w", err))
	}
	return e.drain()
}

// Abort frees everything but the frames handed out. It may be called more than once.
func (e *Encoder) Abort() {
	if e.packet != nil {
		e.packet.Free()
		e.packet = nil
	}
	if e.packer != nil {
		e.packer.Close()
	}
	e.pool.Close()
	if e.context != nil {
		e.context.Free()
		e.context = nil
	}
}
