package media

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"strconv"
	"syscall"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
)

// Create opens name, "-" for standard output, for frames like those of source.
// A file is written under a temporary name beside it until Finish.
func Create(ctx context.Context, name string, source *Reader, opt WriterOptions) (*Writer, error) {
	w := newWriter(ctx, source, opt)
	if err := w.begin(w.open(name)); err != nil {
		return nil, err
	}
	return w, nil
}

func newWriter(ctx context.Context, source *Reader, opt WriterOptions) *Writer {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Writer{
		ctx: ctx, muxed: map[int]*written{}, lengths: map[int64]int64{}, light: map[int64][]byte{}, decoding: map[int]int64{}, last: -1 << 62,
		opt: opt, log: opt.Log, source: source, pool: FramePool{Memory: opt.Memory},
	}
}

// begin closes a writer that could not be opened, or was cancelled.
func (w *Writer) begin(err error) error {
	if err == nil {
		err = w.ctx.Err()
	}
	if err != nil {
		w.Abort()
	}
	return err
}

func (w *Writer) open(name string) (err error) {
	if w.target, err = newTarget(name, w.source.name, w.opt.Overwrite); err != nil {
		return err
	}
	w.target.numbers = w.opt.Numbers
	if err := w.openFormat(name); err != nil {
		return err
	}
	codec, err := w.pickEncoder()
	if err != nil {
		return err
	}
	if err := w.openEncoder(codec); err != nil {
		return err
	}
	return w.openMuxer()
}

// openFormat chooses the container.
func (w *Writer) openFormat(name string) (err error) {
	format := w.opt.Format
	if format == "" && name == "-" {
		format = "nut"
	}
	if format == "" && w.target.sequence != nil {
		format = "image2"
	}
	w.output, err = astiav.AllocOutputFormatContext(nil, format, w.target.url)
	if err != nil {
		if format != "" {
			return fault.New(fault.Usage, "output format %q is not in this FFmpeg build; see ffmpeg -muxers", format)
		}
		return fault.New(fault.Usage, "output %q: no container goes by that name; give one with Output.Format", name)
	}
	// YUV4MPEG2 of more than 8 bits, spherical video and FLAC in MP4 are not in all
	// readers' standards.
	w.output.SetStrictStdCompliance(astiav.StrictStdComplianceExperimental)
	if w.isContainer("image2") && w.target.sequence == nil {
		return fault.New(fault.Usage, "output %q is the name of one picture; name a pattern for all, such as out/%%05d.png", w.target.name)
	}
	return nil
}

func (w *Writer) openMuxer() error {
	w.video = w.output.NewStream(nil)
	if err := w.describeVideo(); err != nil {
		return w.cannot(err)
	}
	if err := copyStreamMetadata(w.video, w.source.stream); err != nil {
		return w.cannot(err)
	}
	if err := w.writeProperties(); err != nil {
		return w.cannot(err)
	}
	if err := copyMetadata(w.output, w.source.input); err != nil {
		return w.cannot(err)
	}
	w.renewTags()
	if err := w.addCopies(); err != nil {
		return w.cannot(err)
	}
	w.nameLanguages()
	if !opensItself(w.output) {
		file, err := astiav.OpenIOContext(w.target.url, astiav.NewIOContextFlags(astiav.IOContextFlagWrite))
		if err != nil {
			return w.cannot(err)
		}
		w.file = file
		w.output.SetPb(file)
	}
	options := astiav.NewDictionary()
	defer options.Free()
	if slices.Contains(isoMuxers, w.output.OutputFormat().Name()) {
		// Edit lists say in it when a stream begins; FFmpeg's own choice is milliseconds.
		if err := options.Set("movie_timescale", strconv.Itoa(movieTimescale), 0); err != nil {
			return w.cannot(err)
		}
	}
	if w.hasProfile() {
		if err := options.Set("movflags", "prefer_icc", 0); err != nil {
			return w.cannot(err)
		}
	}
	message, err := withMessage(func() error { return w.output.WriteHeader(options) })
	if err != nil {
		return w.cannot(fmt.Errorf("%w%s", err, detail(message)))
	}
	w.packet = astiav.AllocPacket()
	w.start = ticks(w.opt.Start, w.video.TimeBase())
	for _, in := range w.source.input.Streams() {
		if c, ok := w.copies[in.Index()].(*cover); ok {
			if err := c.begin(); err != nil {
				return err
			}
		}
	}
	if len(w.copies) > 0 && !w.opt.Passes {
		w.source.forward(w.copyPacket)
	}
	return nil
}

// describeVideo sets what the encoder, or the source, says of the video stream.
func (w *Writer) describeVideo() error {
	w.video.SetTimeBase(w.unit)
	if w.splicer != nil {
		w.video.SetAvgFrameRate(w.source.stream.AvgFrameRate())
		return w.splicer.describe(w.video, w.output)
	}
	w.video.SetAvgFrameRate(w.encoder.Framerate())
	return w.encoder.ToCodecParameters(w.video.CodecParameters())
}

// ticks converts t from seconds to units of tb, rounding to nearest; nil is 0.
func ticks(t *big.Rat, tb astiav.Rational) int64 {
	if t == nil {
		return 0
	}
	half := big.NewRat(int64(tb.Num()), 2*int64(tb.Den()))
	return ticksBefore(half.Add(half, t), tb)
}

// ticksBefore converts t from seconds to units of tb, rounding down.
func ticksBefore(t *big.Rat, tb astiav.Rational) int64 {
	v := new(big.Rat).Mul(t, big.NewRat(int64(tb.Den()), int64(tb.Num())))
	return new(big.Int).Div(v.Num(), v.Denom()).Int64()
}

// cannot makes an error about the output.
func (w *Writer) cannot(err error) error {
	if e := (*fault.Error)(nil); errors.As(err, &e) {
		return err
	}
	// FFmpeg's own codes lie far below the system's.
	if e := astiav.Error(0); errors.As(err, &e) && -4096 < e && e < 0 {
		err = syscall.Errno(-e)
	}
	return fault.New(fault.CannotWrite, "write %q: %w", w.target.name, err)
}
