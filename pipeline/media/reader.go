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
	"retime/pipeline/timeline"
)

// Reader decodes the best video stream of a file. Only one goroutine may use it.
type Reader struct {
	log     *slog.Logger
	demuxer *demuxer
	decoder *decoder
	planar  *pixel.Planar
	source  *Source
	video   Video        // of the frames that Read returns
	pending *frame.Frame // the first picture, which Open has decoded
	fields  *fieldFilter // nil without deinterlacing
	probe   *FieldProbe  // nil once it has seen enough
	upright *upright     // nil if frames are not turned
	changes changes
	queue   packetQueue
	skim    skimming
	found   *Measured
	spoilt  spoilt
}

// spoilt lists damaged pictures.
type spoilt struct {
	midway  bool // the reader does not begin with the first picture
	count   int64
	numbers []int64
}

// mostSpoilt is how many damaged pictures are listed.
const mostSpoilt = 100

func (s *spoilt) add(damaged bool) {
	if damaged && !s.midway && len(s.numbers) < mostSpoilt {
		s.numbers = append(s.numbers, s.count)
	}
	s.count++
}

// changes says which changes of the stream were already logged.
type changes struct {
	size, aspect bool
	began        astiav.Rational // the first picture's pixel aspect ratio
	first        Video           // of the pictures as they are decoded
}

// Open opens the file called name, or standard input for "-", and decodes the first
// frame. Cancelling ctx interrupts blocked reads. Call Close after use.
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
	if r.found = opt.Measured; r.found == nil {
		if r.found, err = measure(r.demuxer, opt); err != nil {
			return err
		}
	}
	r.demuxer.found, r.demuxer.paired = r.found.regular, r.found.paired
	if d := r.demuxer; d.paired && d.video.StartTime() == av.NoTimestamp && d.paced == nil {
		d.paced, _ = d.statedRates() // FFmpeg makes timestamps up, and counts packets for that
	}
	if r.decoder, err = openDecoder(r.demuxer, opt); err != nil {
		return err
	}
	if opt.Packets {
		r.queue.fields = newFieldPairs(r.demuxer.video.CodecParameters())
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

// inputURL returns a file's URL in FFmpeg's form, so that FFmpeg does not mistake a file
// name for a protocol. local is set if name is a regular file that can be read.
func inputURL(name string) (url string, local bool, err error) {
	if name == "-" {
		return "pipe:0", false, nil
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		if pattern := SequenceIn(name); pattern != "" {
			return "", false, fault.New(fault.NoInput, "open %q: is a directory; its pictures are %q", name, pattern)
		}
		return "", false, fault.New(fault.NoInput, "open %q: is a directory; name a file", name)
	case err == nil && info.Mode().IsRegular():
		f, err := os.Open(name)
		if err != nil {
			return "", false, fault.New(fault.NoInput, "input %q: %w", name, fault.Plain(err))
		}
		f.Close()
		return "file:" + name, true, nil
	case err == nil:
		return "file:" + name, false, nil
	case isURL(name) || strings.Contains(name, "%") || IsSequence(name) || isGlob(name):
		return name, false, nil
	}
	return "", false, fault.New(fault.NoInput, "input %q: %w", name, fault.Plain(err))
}

// isURL reports whether FFmpeg takes name for a URL.
func isURL(name string) bool {
	return strings.Contains(name, "://") || strings.HasPrefix(name, "pipe:")
}

// Seekable reports whether name is a regular file, which can be read more than once.
func Seekable(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// begin sets up the reader for pictures like the first one.
func (r *Reader) begin(p *fetched, opt *ReaderOptions) error {
	d, first := r.demuxer, p.Frame
	if err := d.checkSize(first.Width(), first.Height()); err != nil {
		first.Free()
		return err
	}
	planar, lossless, ok := pixel.NewPlanar(first, pixel.ColourOf(first, av.CoderColour(r.decoder.context), av.ParameterColour(d.video.CodecParameters())))
	if !ok {
		defer first.Free()
		return d.bad(fmt.Errorf("sample format %s has no planar form", first.PixelFormat()))
	}
	if !lossless {
		r.log.Warn("made frames have their samples rounded to 16 bits", "input", d.name, "format", first.PixelFormat())
	}
	r.planar = planar
	r.video = describeVideo(d, first, planar.Format())
	r.found.correct(&r.video)
	r.video.Light = planar.Source().Light()
	r.source = &Source{
		Name: d.name, Video: r.video, Pixels: planar.Source(), Aspect: d.input.GuessSampleAspectRatio(d.video, first),
		captions: &captions{}, undecoded: r.decoder.undecoded, Lossless: isLosslessVideo(d.input, d.video.CodecParameters(), r.decoder.undecoded.lossless), Side: sideData(d.video, first), Dynamic: dynamicHDR(first), Fields: av.FrameFieldOrder(first),
		Streams: streams.Source{
			Input: d.input, Video: d.video, Chosen: d.chosen, Scrambled: scrambled(d.name, d.input), Start: r.video.Start, Width: r.video.Width, Height: r.video.Height,
		},
	}
	decoded := r.video
	r.spoilt.midway = opt.From.At != nil && opt.From.At.Sign() > 0
	r.changes.first = r.video
	r.changes.began = first.SampleAspectRatio()
	var err error
	if r.pending, err = r.wrap(p); err != nil {
		return err
	}
	switch {
	case opt.Deinterlace != KeepFields && r.video.SingleFields():
		return SingleFieldsError(d.name)
	case opt.Deinterlace != KeepFields:
		r.fields, err = newFieldFilter(opt.Deinterlace, &r.video, opt.Threads, r.readDecoded)
		r.source.Fields = av.Progressive
	case opt.ProbeFields && !decoded.Interlaced:
		r.probe = NewFieldProbe(decoded)
	}
	r.source.Video, r.changes.first = r.video, r.video
	if err == nil && opt.Upright {
		r.turnUpright()
	}
	return err
}

// describeVideo describes a demuxer's video stream, using its first picture.
func describeVideo(d *demuxer, first *astiav.Frame, format frame.Format) Video {
	s := d.video
	rate, average := d.statedRates()
	v := Video{
		Codec: s.CodecParameters().CodecID().String(), Format: format, Source: first.PixelFormat().Name(),
		Width: first.Width(), Height: first.Height(),
		TimeBase: timebase.Rat(s.TimeBase()), Rate: rate, Average: average, Start: d.zero, Stated: timeline.Stated{Frames: s.NbFrames()},
		FirstPTS: first.Pts(), StreamPTS: first.Pts(), Interlaced: av.FrameFieldOrder(first) != av.Progressive,
	}
	if t := s.StartTime(); t != av.NoTimestamp {
		v.StreamPTS = t
	}
	if t := s.Duration(); t > 0 {
		v.Duration = new(big.Rat).Mul(big.NewRat(t, 1), v.TimeBase)
	} else if t := d.duration(); t > 0 { // from the earliest stream's start on
		v.Duration = new(big.Rat).Sub(big.NewRat(t, 1e6), d.seconds(v.StreamPTS))
	}
	if v.Duration != nil && v.Duration.Sign() <= 0 {
		v.Duration = nil
	}
	completeDuration(&v)
	v.Timecode = d.timecode(&v)
	if d.numbers.list != nil {
		v.Duration = new(big.Rat).Mul(big.NewRat(d.numbers.span(), 1), v.TimeBase)
	}
	return v
}

// statedRates returns Video.Rate and Video.Average as the container states them. The first is the
// average if that is nearly the same and alone makes a frame last for a whole number of ticks: from
// the 23.976 of an AVI file, FFmpeg guesses 24000/1001.
func (d *demuxer) statedRates() (rate, average *big.Rat) {
	if d.paced != nil {
		return d.paced, d.paced
	}
	rate, average = timebase.Rate(d.video.RFrameRate()), timebase.Rate(d.video.AvgFrameRate())
	base := timebase.Rat(d.video.TimeBase())
	if rate == nil || average == nil || base == nil {
		return rate, average
	}
	whole := func(rate *big.Rat) bool { return new(big.Rat).Inv(new(big.Rat).Mul(rate, base)).IsInt() }
	if whole(average) && !whole(rate) && within(rate, average, new(big.Rat).Mul(average, big.NewRat(1, 1000))) {
		rate = average
	}
	return rate, average
}

// completeDuration adds the duration of the last frame if the container leaves it out, as
// FFmpeg's MP4 muxer does for a frame whose encoder states none; the container's mean rate
// is then too high.
func completeDuration(v *Video) {
	if v.Frames < 2 || v.Rate == nil || v.Average == nil || v.Duration == nil {
		return
	}
	short := new(big.Rat).Quo(big.NewRat(v.Frames-1, 1), v.Rate) // all frames but one
	mean := new(big.Rat).Quo(big.NewRat(v.Frames, 1), short)
	if v.Average.Cmp(mean) == 0 {
		v.Average = v.Rate
		v.Duration.Add(v.Duration, new(big.Rat).Inv(v.Rate))
	}
}

// Video returns the description of the video stream.
func (r *Reader) Video() Video { return r.video }

// Measured returns what the timestamps of the input's first packets say, for other readers of
// the same file.
func (r *Reader) Measured() *Measured { return r.found }

// Source returns the description of the input for a writer. It is valid until Close.
func (r *Reader) Source() *Source { return r.source }

// Attach passes all packets of the file to sink, first those of the other streams that
// were read before. Call detach once, before Close.
func (r *Reader) Attach(sink PacketSink) (detach func()) { return r.demuxer.fanout.attach(sink) }

// Damage returns how much of the input could not be read so far.
func (r *Reader) Damage() Damage { return r.decoder.total() }

// DamagedFrames returns the numbers of the frames, from 0 at the input's first, that the decoder has delivered
// with errors so far: the first hundred of them, and none if the reader did not begin with the first frame.
func (r *Reader) DamagedFrames() []int64 { return r.spoilt.numbers }

// Jumps reports whether timestamps have jumped so far, as in interrupted recordings. The
// reader joins them without gaps.
func (r *Reader) Jumps() bool { return r.demuxer.times.joined() }

// Intact reports whether all of the input read so far was undamaged and had regular
// timestamps.
func (r *Reader) Intact() bool {
	return r.Damage() == (Damage{}) && !r.decoder.clock.leapt && !r.Jumps()
}

// Read returns the next frame in presentation order with one reference. After the last
// frame the error is io.EOF, or a fault.BadData error if the input ends too early.
func (r *Reader) Read() (*frame.Frame, error) {
	f, err := r.readProgressive()
	if err != nil || r.upright == nil {
		return f, err
	}
	return r.upright.frame(f)
}

// readProgressive returns the next frame as it was shot.
func (r *Reader) readProgressive() (*frame.Frame, error) {
	if r.fields != nil {
		return r.fields.read()
	}
	f, err := r.readDecoded()
	if r.probe == nil {
		return f, err
	}
	if err == nil {
		r.probe.Look(f)
	}
	if err != nil || r.probe.Enough() {
		r.probe.Warn(r.log, r.demuxer.name, "Input.Deinterlace telecine finds the film's own", "Input.Deinterlace makes one of each field")
		r.probe = nil
	}
	return f, err
}

// readDecoded returns the next picture without deinterlacing.
func (r *Reader) readDecoded() (*frame.Frame, error) {
	if f := r.pending; f != nil {
		r.pending = nil
		return f, nil
	}
	p, err := r.decoder.next()
	if err != nil {
		return nil, err
	}
	return r.wrap(p)
}

// wrap turns p into a frame and logs the first changes of the stream. It takes over p.
func (r *Reader) wrap(p *fetched) (*frame.Frame, error) {
	f := p.Frame
	v, name := &r.changes.first, r.demuxer.name
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
	r.source.captions.add(f, r.demuxer.seconds(f.Pts()))
	r.spoilt.add(p.damaged)
	out, err := r.planar.Frame(f, f.Pts(), r.decoder.clock.length(f))
	if err != nil {
		return nil, r.demuxer.bad(err)
	}
	out.Damaged, out.Memory = p.damaged, p.memoryOf(out)
	return out, nil
}

// Close frees the reader. Frames that Read has returned stay valid. Call Close once.
func (r *Reader) Close() {
	if r.fields != nil {
		r.fields.filter.Close()
	}
	if r.upright != nil {
		r.upright.pool.Close()
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
