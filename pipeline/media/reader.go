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

	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/pixel"
	"retime/pipeline/media/streams"
	"retime/pipeline/media/timebase"
)

// Reader decodes the best video stream of a file. It is used by one goroutine.
type Reader struct {
	log     *slog.Logger
	demuxer *demuxer
	decoder *decoder
	planar  *pixel.Planar
	source  *Source
	video   Video        // of the frames that Read returns
	pending *frame.Frame // decoded by Open
	fields  *fieldFilter // nil if pictures are taken as they are
	probe   *fieldProbe  // nil if it has seen enough
	changes changes
	queue   packetQueue
	skim    skimming
}

// changes are which changes of a stream were said.
type changes struct {
	size, aspect bool
	began        astiav.Rational // the aspect of the first picture's samples
}

// Open opens name, "-" for standard input, and decodes the first frame.
// Cancelling ctx interrupts blocked reads.
func Open(ctx context.Context, name string, opt ReaderOptions) (*Reader, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	r := &Reader{log: opt.Log, skim: skimming{dts: av.NoTimestamp}}
	if err := r.open(ctx, name, &opt); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Reader) open(ctx context.Context, name string, opt *ReaderOptions) (err error) {
	if r.demuxer, err = openDemuxer(ctx, name, opt); err != nil {
		return err
	}
	if r.decoder, err = openDecoder(r.demuxer, opt); err != nil {
		return err
	}
	if opt.Packets {
		r.demuxer.fanout.observe(r.queue.sink(r.demuxer))
	}
	first, err := r.decoder.first(opt.From)
	if errors.Is(err, io.EOF) {
		return r.demuxer.bad(errors.New("no frame could be decoded"))
	} else if err != nil {
		return err
	}
	r.demuxer.fanout.holding = false
	return r.begin(first, opt)
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

// Seekable says whether an input can be opened and read more than once: a file.
func Seekable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// begin fills in what the first picture tells.
func (r *Reader) begin(first *astiav.Frame, opt *ReaderOptions) error {
	d := r.demuxer
	if err := d.checkSize(first.Width(), first.Height()); err != nil {
		first.Free()
		return err
	}
	planar, lossless, ok := pixel.NewPlanar(first, pixel.ColourOf(first, r.decoder.context))
	if !ok {
		defer first.Free()
		return d.bad(fmt.Errorf("sample format %s has no planar form", first.PixelFormat()))
	}
	if !lossless {
		r.log.Warn("made frames have their samples rounded to 16 bits", "input", d.name, "format", first.PixelFormat())
	}
	r.planar = planar
	r.video = describeVideo(d, first, planar.Format())
	r.source = &Source{
		Name: d.name, Video: r.video, Pixels: planar.Source(), Aspect: d.input.GuessSampleAspectRatio(d.video, nil),
		Side: sideData(d.video, first), Dynamic: dynamicHDR(first),
		Streams: streams.Source{
			Input: d.input, Video: d.video, Chosen: d.chosen, Start: r.video.Start, Width: r.video.Width, Height: r.video.Height,
		},
	}
	decoded := r.video
	r.changes.began = first.SampleAspectRatio()
	var err error
	if r.pending, err = r.wrap(first); err != nil {
		return err
	}
	switch {
	case opt.Deinterlace != KeepFields:
		r.fields, err = newFieldFilter(opt.Deinterlace, &r.video, opt.Threads, r.readDecoded)
	case opt.ProbeFields && !decoded.Interlaced:
		r.probe = newFieldProbe(decoded, opt.Threads)
	}
	r.source.Video = r.video
	return err
}

// describeVideo says what a demuxer's video is, by its first picture.
func describeVideo(d *demuxer, first *astiav.Frame, format frame.Format) Video {
	s := d.video
	v := Video{
		Codec: s.CodecParameters().CodecID().String(), Format: format, Source: first.PixelFormat().Name(),
		Width: first.Width(), Height: first.Height(),
		TimeBase: timebase.Rat(s.TimeBase()), Rate: timebase.Rat(s.RFrameRate()), Average: timebase.Rat(s.AvgFrameRate()),
		Start: big.NewRat(d.start(), 1e6), Frames: s.NbFrames(), Timecode: d.timecode(),
		FirstPTS: first.Pts(), StreamPTS: first.Pts(), Interlaced: av.FrameInterlaced(first),
	}
	if t := s.StartTime(); t != av.NoTimestamp {
		v.StreamPTS = t
	}
	if t := s.Duration(); t > 0 {
		v.Duration = new(big.Rat).Mul(big.NewRat(t, 1), v.TimeBase)
	} else if t := d.duration(); t > 0 {
		v.Duration = big.NewRat(t, 1e6)
	}
	if n := d.numbers.list; n != nil {
		v.Duration = new(big.Rat).Mul(big.NewRat(int64(n[len(n)-1]-n[0]+1), 1), v.TimeBase)
	}
	return v
}

// Video describes the stream.
func (r *Reader) Video() Video { return r.video }

// Source returns what a writer must know of the file. It is valid until Close.
func (r *Reader) Source() *Source { return r.source }

// Attach lets sink have all packets of the file, beginning with those of other streams
// than the video's that were already read. Call detach once, before Close.
func (r *Reader) Attach(sink PacketSink) (detach func()) { return r.demuxer.fanout.attach(sink) }

// Damage returns what could not be read so far.
func (r *Reader) Damage() Damage { return r.decoder.total() }

// Jumps says whether timestamps have jumped, as in recordings that were interrupted; they
// were joined.
func (r *Reader) Jumps() bool { return r.demuxer.times.joined() }

// Intact says whether nothing was damaged so far and no timestamp was odd.
func (r *Reader) Intact() bool {
	return r.Damage() == (Damage{}) && !r.decoder.clock.leapt && !r.Jumps()
}

// Read returns the next frame in presentation order with one reference, and
// after the last one io.EOF, or a fault.BadData error if the input ends
// before it should.
func (r *Reader) Read() (*frame.Frame, error) {
	if r.fields != nil {
		return r.fields.read()
	}
	f, err := r.readDecoded()
	if r.probe != nil && (err != nil || !r.probe.look(f)) {
		r.endProbe()
	}
	return f, err
}

// endProbe says what the probe has found.
func (r *Reader) endProbe() {
	switch interlaced, telecined := r.probe.verdict(); {
	case telecined:
		r.log.Warn("the pictures look telecined; Input.Deinterlace telecine finds the film's own", "input", r.demuxer.name)
	case interlaced:
		r.log.Warn("the pictures look interlaced, though the input does not say so; Input.Deinterlace makes one of each field", "input", r.demuxer.name)
	}
	r.probe.filter.Close()
	r.probe = nil
}

// readDecoded returns the next picture as the decoder shows it.
func (r *Reader) readDecoded() (*frame.Frame, error) {
	if f := r.pending; f != nil {
		r.pending = nil
		return f, nil
	}
	f, err := r.decoder.next()
	if err != nil {
		return nil, err
	}
	return r.wrap(f)
}

// wrap makes a frame of f, which it takes over, and says what changes in the stream.
func (r *Reader) wrap(f *astiav.Frame) (*frame.Frame, error) {
	v, name := &r.source.Video, r.demuxer.name
	if !r.changes.size && (f.Width() != v.Width || f.Height() != v.Height || f.PixelFormat().Name() != v.Source) {
		r.changes.size = true
		r.log.Warn("the stream changes; its frames are converted to what it began with", "input", name,
			"from", fmt.Sprintf("%dx%d %s", v.Width, v.Height, v.Source),
			"to", fmt.Sprintf("%dx%d %s", f.Width(), f.Height(), f.PixelFormat()))
	}
	if a, began := f.SampleAspectRatio(), r.changes.began; !r.changes.aspect && a.Num() > 0 && began.Num() > 0 && a.Num()*began.Den() != a.Den()*began.Num() {
		r.changes.aspect = true
		r.log.Warn("the shape of pixels changes; all are written as they began", "input", name, "from", began, "to", a)
	}
	damaged := av.FrameDamaged(f)
	out, err := r.planar.Frame(f, f.Pts(), r.decoder.clock.length(f))
	if err != nil {
		return nil, r.demuxer.bad(err)
	}
	out.Damaged = damaged
	return out, nil
}

// Close frees everything but the frames handed out. It is called once.
func (r *Reader) Close() {
	if r.fields != nil {
		r.fields.filter.Close()
	}
	if r.probe != nil {
		r.probe.filter.Close()
	}
	if r.pending != nil {
		r.pending.Release()
		r.pending = nil
	}
	r.queue.free()
	if r.planar != nil {
		r.planar.Close()
	}
	if r.decoder != nil {
		r.decoder.close()
	}
	if r.demuxer != nil {
		r.demuxer.close()
	}
}
