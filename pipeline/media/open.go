package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"os"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
)

// Open opens name, "-" for standard input, and decodes the first frame.
// Cancelling ctx interrupts blocked reads.
func Open(ctx context.Context, name string, opt ReaderOptions) (*Reader, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	r := &Reader{name: name, opt: opt, log: opt.Log, ctx: ctx, lastPTS: noTimestamp, skimDTS: noTimestamp, errors: newErrorCount()}
	if err := r.open(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Reader) open() error {
	url, local, err := inputURL(r.name)
	if err != nil {
		return err
	}
	var format *astiav.InputFormat
	if r.opt.Format != "" {
		if format = astiav.FindInputFormat(r.opt.Format); format == nil {
			return fault.New(fault.Usage, "input format %q is not in this FFmpeg build; see ffmpeg -demuxers", r.opt.Format)
		}
	}
	r.input = astiav.AllocFormatContext()
	r.guard = r.input.SetInterruptCallback()
	r.errors.of(r.input)
	r.stop = context.AfterFunc(r.ctx, r.guard.Interrupt)
	options, err := r.inputOptions(&url)
	if err != nil {
		r.stop()
		r.input.Free()
		r.input = nil
		return err
	}
	defer options.Free()
	message, err := withMessage(func() error { return r.input.OpenInput(url, format, options) })
	if err != nil {
		r.stop()
		r.input.Free() // FFmpeg has freed what is behind it
		r.input = nil
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		if !local {
			return fault.New(fault.NoInput, "open %q: %w%s", r.name, err, detail(message))
		}
		if errors.Is(err, astiav.ErrInvaliddata) {
			err = errors.New("not a media file that this FFmpeg build reads, or damaged at its start")
		}
		return fault.New(fault.BadData, "open %q: %w%s", r.name, err, detail(message))
	}
	if err := r.checkRate(options); err != nil {
		return err
	}
	if err := r.input.FindStreamInfo(nil); err != nil {
		return r.bad(fmt.Errorf("no stream could be read: %w", err))
	}
	if r.chosen, err = chooseStreams(r.input, r.opt.Map); err != nil {
		return err
	}
	if r.stream, err = r.pickStream(); err != nil {
		return err
	}
	if err := r.openDecoder(); err != nil {
		return err
	}
	r.packet = astiav.AllocPacket()
	r.times = newTimestamps(r.name, r.input, r.log)
	first, err := r.decodeFirst()
	if errors.Is(err, io.EOF) {
		return r.bad(errors.New("no frame could be decoded"))
	} else if err != nil {
		return err
	}
	return r.begin(first)
}

// inputURL turns a file name into what FFmpeg opens, so that no file's name is
// taken for a protocol. local is set for a file that can be read.
func inputURL(name string) (url string, local bool, err error) {
	if name == "-" {
		return "pipe:0", false, nil
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return "", false, fault.New(fault.NoInput, "open %q: is a directory; name a file", name)
	case err == nil && info.Mode().IsRegular():
		f, err := os.Open(name)
		if err != nil {
			return "", false, fault.New(fault.NoInput, "%w", err)
		}
		f.Close()
		return "file:" + name, true, nil
	case err == nil:
		return "file:" + name, false, nil
	case strings.Contains(name, "://") || strings.HasPrefix(name, "pipe:") || strings.Contains(name, "%"):
		return name, false, nil
	}
	return "", false, fault.New(fault.NoInput, "input %w", err)
}

// bad makes an error about the input's content.
func (r *Reader) bad(err error) error {
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	return fault.New(fault.BadData, "read %q: %w", r.name, err)
}

func detail(message string) string {
	if message == "" {
		return ""
	}
	return " (" + message + ")"
}

// pickStream returns the chosen video stream that has the most pixels and is not
// a cover picture.
func (r *Reader) pickStream() (*astiav.Stream, error) {
	var best *astiav.Stream
	pixels := -1
	for _, s := range r.input.Streams() {
		p := s.CodecParameters()
		if p.CodecType() != astiav.MediaTypeVideo || attachedPicture(s) || !r.chosen[s.Index()] {
			continue
		}
		if n := p.Width() * p.Height(); n > pixels {
			best, pixels = s, n
		}
	}
	if best == nil && len(r.opt.Map) > 0 {
		return nil, fault.New(fault.Usage, "Input.Map chooses no video stream of %q; it has %s", r.name, listStreams(r.input))
	} else if best == nil {
		return nil, r.bad(errors.New("no video stream"))
	}
	return best, r.checkSize(best.CodecParameters().Width(), best.CodecParameters().Height())
}

func (r *Reader) checkSize(w, h int) error {
	if w <= 0 || h <= 0 {
		return r.bad(fmt.Errorf("the video stream states no picture size (%dx%d)", w, h))
	}
	if w > MaxSide || h > MaxSide || w*h > MaxPixels {
		return r.bad(fmt.Errorf("pictures of %dx%d are too large: at most %d pixels, %d a side", w, h, MaxPixels, MaxSide))
	}
	return nil
}

func (r *Reader) openDecoder() error {
	p := r.stream.CodecParameters()
	codec := decoderOf(r.stream)
	if codec == nil {
		return r.bad(fmt.Errorf("stream %d: %s: no decoder in this FFmpeg build", r.stream.Index(), p.CodecID()))
	}
	r.decoder = astiav.AllocCodecContext(codec)
	if err := p.ToCodecContext(r.decoder); err != nil {
		return r.bad(err)
	}
	r.errors.ofDecoder(r.decoder)
	setPacketTimeBase(r.decoder, r.stream.TimeBase())
	r.decoder.SetFlags(r.decoder.Flags().Add(astiav.CodecContextFlagUnaligned)) // else cropping is rounded
	r.decoder.SetThreadCount(r.opt.Threads)
	r.decoder.SetThreadType(astiav.ThreadTypeFrame | astiav.ThreadTypeSlice)
	if err := r.useDevice(codec); err != nil {
		return err
	}
	message, err := withMessage(func() error { return r.decoder.Open(codec, nil) })
	if err != nil {
		return r.bad(fmt.Errorf("stream %d: %s: %w%s", r.stream.Index(), codec.Name(), err, detail(message)))
	}
	return nil
}

// decodeFirst returns the first frame, or with From the last one at or before
// it.
func (r *Reader) decodeFirst() (*astiav.Frame, error) {
	if r.opt.From == nil || r.opt.From.Sign() <= 0 {
		return r.decode()
	}
	from := ticksBefore(new(big.Rat).Add(r.opt.From, big.NewRat(startTime(r.input), 1e6)), r.stream.TimeBase())
	// Sound decoders need a packet or two before the first that is whole.
	lead := ticks(big.NewRat(1, 10), r.stream.TimeBase())
	begin := from - lead
	if t := r.stream.StartTime(); t != noTimestamp {
		begin = max(begin, t) // demuxers may read to the end in search of what is before it
	}
	sought := r.input.SeekFrame(r.stream.Index(), begin, astiav.NewSeekFlags(astiav.SeekFlagBackward)) == nil
	first, err := r.decode()
	if sought && (errors.Is(err, io.EOF) || err == nil && first.Pts() > from) {
		// The container's index led astray.
		if err == nil {
			first.Free()
		}
		r.rewind()
		first, err = r.decode()
	}
	for err == nil {
		next, e := r.decode()
		if errors.Is(e, io.EOF) {
			return first, nil // From is within or behind the last frame
		} else if e != nil {
			first.Free()
			return nil, e
		}
		if next.Pts() > from {
			r.ahead = next
			return first, nil
		}
		first.Free()
		first = next
	}
	return nil, err
}

// rewind goes back to the beginning.
func (r *Reader) rewind() {
	_ = r.input.SeekFrame(r.stream.Index(), 0, astiav.NewSeekFlags(astiav.SeekFlagBackward, astiav.SeekFlagAny))
	flushDecoder(r.decoder)
	for _, p := range r.held {
		p.Free()
	}
	r.held = nil
	r.draining, r.ended, r.lastPTS = false, false, noTimestamp
	r.times.restart()
}

// begin fills in what the first frame tells.
func (r *Reader) begin(first *astiav.Frame) error {
	if err := r.checkSize(first.Width(), first.Height()); err != nil {
		first.Free()
		return err
	}
	source := first.PixelFormat()
	twin, lossless, ok := planarTwin(source)
	if !ok {
		first.Free()
		return r.bad(fmt.Errorf("sample format %s has no planar form", source))
	}
	if !lossless {
		r.log.Warn("made frames have their samples rounded to 16 bits", "input", r.name, "format", source)
	}
	format, _ := planarFormat(twin)
	r.colour = colourOf(first, r.decoder)
	r.properties, r.dynamicHDR = readProperties(r.stream, first), dynamicHDR(first)
	r.planes = &planes{format: format, colour: r.colour, only: !restores(source, twin), light: holdsLight(source)}
	r.planes.repack = repacker{to: r.colour.layout(first.Width(), first.Height(), twin), twin: true}
	r.planes.repack.to.full = r.colour.full(source)
	r.video = Video{
		Codec: r.stream.CodecParameters().CodecID().String(), Format: format, Source: source.Name(),
		Width: first.Width(), Height: first.Height(),
		TimeBase: rat(r.stream.TimeBase()), Rate: rat(r.stream.RFrameRate()), Average: rat(r.stream.AvgFrameRate()),
		Start: big.NewRat(startTime(r.input), 1e6), Frames: r.stream.NbFrames(), Timecode: timecode(r.input, r.stream),
		FirstPTS: first.Pts(), StreamPTS: first.Pts(), Interlaced: interlacedFlag(first),
	}
	if t := r.stream.StartTime(); t != noTimestamp {
		r.video.StreamPTS = t
	}
	if d := r.stream.Duration(); d > 0 {
		r.video.Duration = new(big.Rat).Mul(big.NewRat(d, 1), r.video.TimeBase)
	} else if d := duration(r.input); d > 0 {
		r.video.Duration = big.NewRat(d, 1e6)
	}
	if n := r.numbers; n != nil {
		r.video.Duration = new(big.Rat).Mul(big.NewRat(int64(n[len(n)-1]-n[0]+1), 1), r.video.TimeBase)
	}
	r.aspect = first.SampleAspectRatio()
	decoded := r.video
	var err error
	if r.pending, err = r.wrap(first); err != nil {
		return err
	}
	switch {
	case r.opt.Deinterlace != KeepFields:
		r.fields, err = newFieldFilter(r.opt.Deinterlace, &r.video, r.opt.Threads, r.readDecoded)
	case r.opt.ProbeFields && !decoded.Interlaced:
		r.probe = newFieldProbe(decoded, r.opt.Threads)
	}
	return err
}

// rat returns nil for FFmpeg's 0/x and x/0.
func rat(r astiav.Rational) *big.Rat {
	if r.Num() <= 0 || r.Den() <= 0 {
		return nil
	}
	return big.NewRat(int64(r.Num()), int64(r.Den()))
}
