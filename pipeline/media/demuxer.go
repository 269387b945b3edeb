package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"syscall"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// demuxer reads the packets of a file and knows which stream is the video. Only one
// goroutine may use it.
type demuxer struct {
	ctx  context.Context
	name string // for messages
	openInput
	errors  av.ErrorCount
	chosen  map[int]bool // indices of the selected streams
	video   *astiav.Stream
	late    lateStreams
	packet  *astiav.Packet
	numbers numbering
	times   timestamps
	fanout  fanout
	ahead   packetQueue // read ahead, not passed on yet
	earlier earlierSubtitles
	lost    packetLoss
	inputTimes
}

// inputTimes are what is known of when the packets of an input are shown.
type inputTimes struct {
	end   int64    // latest end of a packet of any stream, in microseconds
	zero  *big.Rat // the start of the earliest stream, in seconds
	paced *big.Rat // rate of pictures that have no times of their own; nil if they have
	found regular  // measured
	// paired is set if some of the frames are pairs of fields, with a packet for each; FFmpeg takes the length of the first field
	// for that of its frame.
	paired bool
}

// openInput is a file that FFmpeg has open.
type openInput struct {
	input *astiav.FormatContext
	file  *av.File        // of a confined input; nil if FFmpeg opens the file
	guard *av.Interrupter // FFmpeg keeps a pointer to its flag
	stop  func() bool     // stops watching the demuxer's context

	unheeded bool // FFmpeg's demuxer takes no rate
}

// packetLoss counts the packets that could not be read.
type packetLoss struct {
	failed  int   // failed reads
	corrupt int   // packets of the video that are marked as corrupt
	stopped error // error of the last read before the end; nil if it succeeded
	cut     bool  // the input ended within a packet
	read    int64 // bytes up to the end of the last packet
}

// openDemuxer opens a file, finds its streams and picks the video.
func openDemuxer(ctx context.Context, name string, opt *ReaderOptions) (*demuxer, error) {
	d := &demuxer{ctx: ctx, name: name, errors: av.NewErrorCount(), fanout: fanout{holding: true}}
	if err := d.probe(opt); err != nil {
		d.close()
		return nil, err
	}
	d.leaveVariants(opt)
	d.begin(opt)
	switch {
	case opt.Rate == nil:
	case d.video.StartTime() == av.NoTimestamp:
		d.paced = opt.Rate // FFmpeg prefers the rate that a raw stream states
	case d.unheeded:
		err := fault.New(fault.Usage, "input %q has timestamps of its own; Input.Rate is for image sequences and raw streams", name)
		d.close()
		return nil, err
	}
	return d, nil
}

// begin makes d ready to read packets.
func (d *demuxer) begin(opt *ReaderOptions) {
	d.late = newLateStreams(d.input, opt)
	d.packet = astiav.AllocPacket()
	d.times = newTimestamps(d.name, d.input, opt.Log)
	d.zero = exactStart(d.input)
}

// open opens the input, whose streams will be searched for within limits.
func (d *demuxer) open(opt *ReaderOptions, limits probeLimits) error {
	if err := confineInput(opt.Confine, d.name, opt.Format); err != nil {
		return err
	}
	url, local, err := inputURL(d.name)
	if err != nil {
		return err
	}
	var format *astiav.InputFormat
	if opt.Format != "" {
		if format = astiav.FindInputFormat(opt.Format); format == nil {
			return fault.New(fault.Usage, "input format %q is not in this FFmpeg build; see ffmpeg -demuxers", opt.Format)
		}
	}
	options, err := d.options(&url, opt)
	if err != nil {
		return err
	}
	defer options.Free()
	if err := limits.set(options); err != nil {
		return err
	}
	if d.file, err = only(opt.Confine, &url, local, options); err != nil {
		return fault.New(fault.NoInput, "open %q: %w", d.name, err)
	}
	input := astiav.AllocFormatContext()
	if d.file != nil {
		d.file.Use(input)
	}
	d.guard = av.NewInterrupter()
	d.guard.Watch(input)
	d.errors.Demuxer(input)
	d.stop = context.AfterFunc(d.ctx, d.guard.Interrupt)
	message, err := av.WithMessage(func() error { return input.OpenInput(url, format, options) })
	if err != nil {
		d.stop()
		input.Free() // FFmpeg has already freed the C struct
		return d.cannotOpen(err, local, message)
	}
	d.input = input
	d.unheeded = opt.Rate != nil && options.Get("framerate", nil, 0) != nil
	return nil
}

// findStreams reads as much of the input as the limits allow to learn of its streams.
func (d *demuxer) findStreams() error {
	supposed, stated := d.forgetRate(), map[*astiav.Stream]av.Colour{}
	for _, s := range d.input.Streams() {
		stated[s] = av.ParameterColour(s.CodecParameters())
	}
	if err := d.input.FindStreamInfo(nil); err != nil {
		if misleads(err) && av.IOError(d.input) == nil {
			err = astiav.ErrInvaliddata
		}
		return d.bad(fmt.Errorf("no stream could be read: %w", err))
	}
	d.correctRates(supposed)
	for s, colour := range stated { // FFmpeg forgets them where the pictures leave them unspecified, as those of ProRes may
		p := s.CodecParameters()
		av.SetParameterColour(p, av.ParameterColour(p).Or(colour))
	}
	return nil
}

// forgetRate returns the rate that FFmpeg 7 supposes for a raw stream without measuring it, 25, and has it measured,
// as FFmpeg 5 and 6 do; 0 for other inputs.
func (d *demuxer) forgetRate() (supposed astiav.Rational) {
	if d.input.InputFormat().Flags().Has(astiav.IOFormatFlagNotimestamps) {
		for _, s := range d.input.Streams() { // the only one
			supposed = s.AvgFrameRate()
			s.SetAvgFrameRate(astiav.Rational{})
		}
	}
	return supposed
}

// correctRates sets the rates of frames where FFmpeg has measured none: version 7 leaves the rate of H.264's fields there.
func (d *demuxer) correctRates(supposed astiav.Rational) {
	raw := d.input.InputFormat().Flags().Has(astiav.IOFormatFlagNotimestamps)
	for _, s := range d.input.Streams() {
		measured := s.AvgFrameRate().Num() > 0
		if s.CodecParameters().MediaType() != astiav.MediaTypeVideo || measured && !raw {
			continue
		}
		if !measured {
			s.SetAvgFrameRate(astiav.NewRational(0, 1)) // GuessFrameRate takes 0/0 for no number
		}
		if r := d.input.GuessFrameRate(s, nil); r.Num() > 0 && r.Float64()*s.TimeBase().Float64() != 1 {
			s.SetRFrameRate(r)
		} else if raw {
			s.SetRFrameRate(supposed)
		}
		if raw && !measured {
			s.SetAvgFrameRate(supposed)
		}
	}
}

func (d *demuxer) cannotOpen(err error, local bool, message string) error {
	switch {
	case d.ctx.Err() != nil:
		return d.ctx.Err()
	case strings.Contains(message, "Picture size 0x0"): // FFmpeg's reader of raw video
		return fault.New(fault.BadData, "open %q: raw video does not tell its size and pixel format; send it as YUV4MPEG2 (ffmpeg -f yuv4mpegpipe, vspipe -c y4m) or NUT", d.name)
	case errors.Is(err, astiav.ErrInvaliddata) || errors.Is(err, astiav.ErrEof) || local && misleads(err):
		err = errors.New("not a media file that this FFmpeg build reads, or damaged at its start")
	case d.name == "-" && misleads(err):
		err = errors.New("not a media file that this FFmpeg build reads from a pipe, as it does not read large GIFs, or damaged at its start")
	case !local:
		return fault.New(fault.NoInput, "open %q: %w%s", d.name, err, detail(message))
	}
	return fault.New(fault.BadData, "open %q: %w%s", d.name, err, detail(message))
}

// misleads reports whether err, of a file that can be read, names an error of the system. FFmpeg's
// demuxers and decoders say so of damage.
func misleads(err error) bool {
	e := astiav.Error(0)
	if !errors.As(err, &e) || !isSystemError(e) {
		return false
	}
	switch av.Errno(e) {
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN, syscall.EBADF, syscall.EISDIR:
		return false
	}
	return true
}

// bad turns err into a fault.BadData error about the input, or returns ctx's error if ctx
// is cancelled.
func (d *demuxer) bad(err error) error {
	if d.ctx.Err() != nil {
		return d.ctx.Err()
	}
	return fault.New(fault.BadData, "read %q: %w", d.name, err)
}

func detail(message string) string {
	if message == "" {
		return ""
	}
	return " (" + message + ")"
}

// maxReadErrors is how many successive reads may fail before the rest of the input counts
// as lost.
const maxReadErrors = 64

// read returns the next packet after passing it to all sinks. The packet is valid until
// the next call. The error is io.EOF after the last packet, or if the rest of the input
// counts as lost.
func (d *demuxer) read() (*astiav.Packet, error) {
	if len(d.ahead.list) > 0 {
		d.packet.Unref()
		p := d.ahead.take()
		d.packet.MoveRef(p)
		p.Free()
	} else if err := d.fetch(); err != nil {
		return nil, err
	}
	d.earlier.send(&d.fanout, d.packet.Pos())
	d.fanout.send(d.packet, !d.isVideo(d.packet))
	return d.packet, nil
}

// readAhead returns the next packet that was not read yet, and keeps it for read.
func (d *demuxer) readAhead() (*astiav.Packet, error) {
	if err := d.fetch(); err != nil {
		return nil, err
	}
	p := d.packet.Clone()
	d.ahead.list = append(d.ahead.list, p)
	return p, nil
}

// fetch reads the input's next packet.
func (d *demuxer) fetch() error {
	for failed := 0; failed < maxReadErrors; {
		cut := d.packet.Flags().Has(astiav.PacketFlagCorrupt)
		d.packet.Unref()
		reported := d.errors.Value()
		err := d.input.ReadFrame(d.packet)
		switch {
		case d.ctx.Err() != nil:
			return d.ctx.Err()
		case errors.Is(err, astiav.ErrEof):
			if err := d.numbers.unread(); err != nil && d.lost.stopped == nil {
				d.lost.failed++
				d.lost.stopped = err
			}
			d.lost.cut = d.lost.cut || d.marksCuts() && (cut || d.errors.Value() > reported) || d.leavesRest()
			return io.EOF
		case err != nil:
			failed++
			d.lost.failed++
			if misleads(err) && av.IOError(d.input) == nil {
				err = astiav.ErrInvaliddata
			}
			d.lost.stopped = err
		case d.late.has(d, d.packet.StreamIndex()):
		default:
			d.lost.stopped, d.lost.read = nil, av.Position(d.input)
			d.admit(d.packet)
			return nil
		}
	}
	return io.EOF
}

// marksCuts reports whether a corrupt packet, or an error, at the end of the input means
// that the rest is missing. MPEG's streams may be recorded from anywhere to anywhere.
func (d *demuxer) marksCuts() bool {
	name := d.input.InputFormat().Name()
	return name != "mpegts" && name != "mpeg"
}

// leavesRest reports whether bytes of the input came after its last packet, which then are a part of the next one. Of
// YUV4MPEG2, FFmpeg says nothing of such a part.
func (d *demuxer) leavesRest() bool {
	return d.input.InputFormat().Name() == "yuv4mpegpipe" && d.lost.read > 0 && av.Position(d.input) > d.lost.read
}

// admit corrects p's timestamps.
func (d *demuxer) admit(p *astiav.Packet) {
	stream := d.input.Streams()[p.StreamIndex()]
	d.numbers.renumber(p)
	d.times.join(p, stream)
	if t := p.Pts(); t != av.NoTimestamp {
		d.end = max(d.end, timebase.Microseconds(t+p.Duration(), stream.TimeBase()))
	}
	if d.isVideo(p) && p.Flags().Has(astiav.PacketFlagCorrupt) {
		d.lost.corrupt++
	}
}

func (d *demuxer) isVideo(p *astiav.Packet) bool { return p.StreamIndex() == d.video.Index() }

// readVideo returns the next packet of the video; see read. An encrypted packet is a
// fault.BadData error.
func (d *demuxer) readVideo() (*astiav.Packet, error) {
	for {
		p, err := d.read()
		switch {
		case err != nil:
			return nil, err
		case !d.isVideo(p):
		case av.HasPacketSide(p, av.PacketEncryption):
			return nil, d.encrypted()
		default:
			return p, nil
		}
	}
}

// encrypted is the error for video that cannot be decoded without a key.
func (d *demuxer) encrypted() error {
	return d.bad(fmt.Errorf("stream %d: the pictures are encrypted; decrypt them first (of MP4, ffmpeg -decryption_key KEY -i IN -c copy OUT does it)", d.video.Index()))
}

// seek moves to a key frame at or before t, in the video's time base; ok is false if the
// input cannot seek. If subtitles is set, those that lie before and last beyond t come first.
func (d *demuxer) seek(t int64, subtitles bool) (ok bool) {
	// Of a pipe, of pictures in one file and of a raw stream, which has no timestamps, FFmpeg would
	// read on to their end.
	name := d.input.InputFormat().Name()
	if av.IsStreamed(d.input) || d.video.StartTime() == av.NoTimestamp || name == "image2pipe" || strings.HasSuffix(name, "_pipe") || name == "ogg" && d.losesPages() || name == "hls" && d.isFragmented() {
		return false
	}
	if subtitles && !d.isISO() { // whose demuxer seeks the samples of each stream
		d.earlier.read(d, t)
	}
	if d.input.SeekFrame(d.video.Index(), t, astiav.NewSeekFlags(astiav.SeekFlagBackward)) != nil {
		return false
	}
	if len(d.ahead.list) > 0 {
		d.ahead.free()
		d.times.restart()
	}
	return true
}

// losesPages reports whether FFmpeg's reader of Ogg gives the first sound after a seek the time of
// its page, not its own.
func (d *demuxer) losesPages() bool {
	return slices.ContainsFunc(d.input.Streams(), func(s *astiav.Stream) bool {
		p := s.CodecParameters()
		return d.chosen[s.Index()] && p.MediaType() == astiav.MediaTypeAudio && p.CodecID() != astiav.CodecIDVorbis && p.CodecID() != astiav.CodecIDOpus
	})
}

// isFragmented reports whether the segments of HLS are fragments of MP4, in which FFmpeg 5.1 loses its place after a seek. Their
// codecs have MP4's names, and those of transport streams numbers.
func (d *demuxer) isFragmented() bool { return av.FourCC(d.video.CodecParameters().CodecTag()) != "" }

// rewind moves to the beginning and discards what was read.
func (d *demuxer) rewind() {
	_ = d.input.SeekFrame(d.video.Index(), 0, astiav.NewSeekFlags(astiav.SeekFlagBackward, astiav.SeekFlagAny))
	d.ahead.free()
	d.fanout.drop()
	d.earlier.drop()
	d.times.restart()
}

func (d *demuxer) close() {
	d.numbers.close()
	d.fanout.drop()
	d.ahead.free()
	d.earlier.drop()
	if d.packet != nil {
		d.packet.Free()
	}
	d.closeInput()
	d.errors.Free()
}

func (o *openInput) closeInput() {
	if o.input != nil {
		o.stop()
		o.input.CloseInput()
		o.input = nil
	}
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
}
