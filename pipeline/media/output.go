package media

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/big"
	"strconv"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/streams"
	"retime/pipeline/media/timebase"
	"retime/pipeline/media/verify"
)

// Output is a file under construction: the video's packets and the other streams of the
// source. One goroutine calls WritePacket and Finish. The packets of the other streams
// may come from another goroutine, which reads the source.
type Output struct {
	ctx     context.Context
	log     *slog.Logger
	opt     WriterOptions
	source  *Reader
	target  target
	muxer   *muxer
	streams *streams.Set
	detach  func()          // detaches the streams from their reader
	unit    astiav.Rational // time base of the packets that write receives
	zero    int64           // the output's 0 in unit
	start   int64           // time of the first frame, in the output stream's time base
	packet  *astiav.Packet
}

// videoStream describes the video of an output.
type videoStream struct {
	unit      astiav.Rational // time base of the packets
	base      astiav.Rational // time base that the muxer is asked for
	zero      *big.Rat        // the packets' time that becomes the output's 0, in seconds; nil for 0
	frameRate astiav.Rational
	encoder   string
	// describe sets the codec parameters of the packets.
	describe func(*astiav.CodecParameters) error
}

// newOutput creates the context of a file's container. begin opens the file.
func newOutput(ctx context.Context, name string, source *Reader, opt WriterOptions) (*Output, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	o := &Output{ctx: ctx, log: opt.Log, opt: opt, source: source, detach: func() {}, packet: astiav.AllocPacket()}
	err := ctx.Err()
	if err == nil {
		err = o.open(name)
	}
	if err != nil {
		o.Abort()
		return nil, err
	}
	return o, nil
}

func (o *Output) open(name string) (err error) {
	if err := confineOutput(o.opt.Confine, name); err != nil {
		return err
	}
	if o.target, err = newTarget(name, o.source.Source().Name, &o.opt); err != nil {
		return err
	}
	output, err := newContainer(name, o.target.url, o.opt.Container.Format)
	if err == nil {
		o.muxer = newMuxer(o.target.name, output)
		err = cmp.Or(confineMuxer(o.opt.Confine, name, output, o.opt.Container.Options), setMuxOptions(output, o.opt.Container.Options))
	}
	if sound := astiav.FindEncoderByName(o.opt.Sound.Codec); err == nil && sound != nil {
		err = confineEncoder(o.opt.Confine, sound, "Output.AudioOptions", o.opt.Sound.Options)
	}
	return err
}

// begin adds the streams, writes the header and attaches the streams to the source.
func (o *Output) begin(v videoStream) error {
	o.unit, o.zero = v.unit, timebase.Ticks(v.zero, v.unit)
	if err := o.addStreams(v); err != nil {
		return o.muxer.cannot(err)
	}
	if err := o.muxer.openFile(o.target.url); err != nil {
		return err
	}
	if err := o.blame(o.muxer.writeHeader(o.muxerOptions())); err != nil {
		return err
	}
	o.start = timebase.Ticks(o.opt.Start, o.muxer.video.TimeBase())
	if err := o.streams.WriteHeader(); err != nil {
		return err
	}
	if !o.streams.Empty() && !o.opt.Passes {
		o.detach = o.source.Attach(o.streams.Packet)
	}
	return o.ctx.Err()
}

// blame makes a muxer's refusal a fault.BadData error if the input is damaged, whose streams may be
// the reason.
func (o *Output) blame(err error) error {
	if fault.KindOf(err) != fault.Usage || o.source.Intact() {
		return err
	}
	return fault.New(fault.BadData, "%w; input %q is damaged, which may be the reason", err, o.source.Source().Name)
}

// muxerOptions returns the options of the muxer, whose file is open. Options of the user
// override the others, or are added to the others if they begin with a sign, as FFmpeg
// writes flags.
func (o *Output) muxerOptions() map[string]string {
	output, set := o.muxer.output, map[string]string{}
	if container.IsISO(output) {
		// Edit lists use this scale for the start of each stream. FFmpeg's default is
		// milliseconds.
		set["movie_timescale"] = strconv.Itoa(container.MovieTimescale)
		set["movflags"] = container.MovieFlags(output)
		if len(o.source.Source().Side[av.PacketICCProfile]) > 0 { // an ICC profile describes colours better than their tags
			set["movflags"] += "+prefer_icc"
		}
	}
	if av.IsMuxer(output, "mpegts") {
		// The clock is so far behind the packets, as ffmpeg has it, that decoders get them before they are due. Each keeps a
		// time of its own, as without the delay.
		set["max_delay"], set["pes_payload_size"] = "700000", "0"
	}
	if key, value := container.PlaysOption(output, o.source.demuxer.plays); key != "" {
		set[key] = value
	}
	for key, value := range o.opt.Container.Options {
		if own := set[key]; own != "" && (strings.HasPrefix(value, "+") || strings.HasPrefix(value, "-")) {
			value = own + value
		}
		set[key] = value
	}
	if flags := set["movflags"]; strings.Contains(flags, "frag_") || strings.Contains(flags, "empty_moov") {
		// Without it, the header comes before the edit lists that align the streams.
		set["movflags"] = flags + "+delay_moov"
	}
	return set
}

// setMuxOptions sets options of an output's muxer. It refuses those that the muxer does not have, and values that they do not take.
func setMuxOptions(output *astiav.FormatContext, options map[string]string) error {
	for key, value := range options {
		if !av.HasMuxerOption(output, key) {
			return fault.New(fault.Usage, "Output.MuxOptions %s: the %s container has no such option; see ffmpeg -h muxer=%[2]s", key, container.Name(output))
		}
		message, err := av.WithMessage(func() error { return av.SetMuxerOption(output, key, value) })
		if err != nil {
			return fault.New(fault.Usage, "Output.MuxOptions %s=%s: the %s container's option does not take this%s; see ffmpeg -h muxer=%[3]s", key, value, container.Name(output), detail(message))
		}
	}
	return nil
}

// addStreams adds the video stream, the other streams and the file's tags.
func (o *Output) addStreams(v videoStream) error {
	source, output, video := o.source.Source(), o.muxer.output, o.muxer.video
	video.SetTimeBase(v.base)
	video.SetAvgFrameRate(v.frameRate)
	p := video.CodecParameters()
	if err := v.describe(p); err != nil {
		return err
	}
	if p.CodecID() == astiav.CodecIDProres { // prores_ks states none, and the muxer of MXF asks for it
		p.SetProfile(astiav.Profile(ProResProfile(p)))
	}
	p.SetCodecTag(container.Tag(output, p))
	if late := av.VideoDelay(p); late > 0 && container.ShowsInOrder(output) && source.Streams.Input.InputFormat().Name() != "avi" {
		o.log.Warn("the container does not say when pictures that are coded out of order are shown, so that players show all of them late, against the sound as well",
			"frames", late, "container", container.Name(output))
	}
	if err := av.CopyStreamTags(video, source.Stream()); err != nil {
		return err
	}
	video.SetSampleAspectRatio(source.Aspect)
	p.SetSampleAspectRatio(source.Aspect) // what the codec states may differ, as in DV
	if source.Turned {
		av.StreamTags(video).Remove("rotate")
	}
	lost, err := describePictures(output, video, source, v.encoder)
	if err != nil {
		return err
	}
	if o.opt.Complete == nil {
		lost = append(lost, source.undecoded.lost...)
	}
	if clean := o.source.demuxer.aperture(); clean != "" {
		lost = append(lost, clean)
	}
	code, err := o.timecode()
	if err != nil {
		o.log.Warn("the timecode is left out", "timecode", source.Video.Timecode.Text, "because", err, "container", container.Name(output))
	}
	if len(lost) > 0 {
		o.log.Warn("the output cannot hold this of the picture's description", "lost", strings.Join(lost, ", "),
			"container", container.Name(output), "encoder", v.encoder)
	}
	if err := o.addTags(v.encoder, code); err != nil {
		return err
	}
	others := o.opt.StreamOptions
	if o.muxer.plain {
		others.Log = slog.New(slog.DiscardHandler) // none is left out
	}
	o.streams, err = streams.Add(o.muxer, video, source.Streams, others)
	return err
}

// addTags copies the source's tags, with another timecode and without the tags that describe
// its packets and container, and logs the tags that the output's container cannot store.
func (o *Output) addTags(encoder, timecode string) error {
	output, video := o.muxer.output, av.StreamTags(o.muxer.video)
	file := av.FileTags(output)
	if err := file.CopyFrom(av.FileTags(o.source.Source().Streams.Input)); err != nil {
		return err
	}
	container.DropPacketTags(video)
	container.DropFileTags(file)
	o.placeTimecode(timecode)
	video.Set("encoder", av.CodecLibrary+" "+encoder)
	var lost []string
	for _, key := range file.Keys() {
		if !container.HoldsTag(output, key) {
			lost = append(lost, key)
		}
	}
	hint, all := "", "use_metadata_tags"
	if container.HoldsAllTags(output) {
		if flags := o.opt.Container.Options["movflags"]; strings.Contains(flags, all) && !strings.Contains(flags, "-"+all) {
			return nil
		}
		hint = "; Output.MuxOptions movflags=+" + all + " writes all tags, where fewer players look"
	}
	if len(lost) > 0 {
		o.log.Warn("tags left out: the container has no place for them"+hint, "tags", strings.Join(lost, ", "), "container", container.Name(output))
	}
	return nil
}

// Name returns the name that the output will have.
func (o *Output) Name() string { return o.target.name }

// Fates returns what becomes of the source's other streams.
func (o *Output) Fates() []Fate { return o.streams.Fates() }

// Container returns FFmpeg's name of the container.
func (o *Output) Container() string { return container.Name(o.muxer.output) }

// PixelFormat returns the format of the samples of the output's video, as FFmpeg names it.
func (o *Output) PixelFormat() string { return o.muxer.video.CodecParameters().PixelFormat().Name() }

// Follow carries the other streams from r from now on. r reads the part of the source
// that run i of the curve plays.
func (o *Output) Follow(r *Reader, i int) error {
	o.detach()
	if err := o.streams.Begin(&o.opt.Curve.Runs()[i]); err != nil {
		return o.muxer.cannot(err)
	}
	o.detach = r.Attach(o.streams.Packet)
	return nil
}

// Complete reads on from r until what r's file holds of the other streams before t, in seconds
// after the file's start, has come, which may lie behind the pictures.
func (o *Output) Complete(r *Reader, t *big.Rat) error {
	return r.skimBehind(t, func() bool { return o.streams.Lags(t) })
}

// WritePacket writes p as if the encoder had made it. Do not mix it with WriteFrame in
// one output.
func (o *Output) WritePacket(p Packet) error {
	if err := p.fill(o.packet); err != nil {
		return o.muxer.cannot(err)
	}
	return o.write(o.packet)
}

// write writes a packet of the video, whose times are in o.unit, and unreferences it.
func (o *Output) write(p *astiav.Packet) error {
	if err := o.ctx.Err(); err != nil {
		return err
	}
	video := o.muxer.video
	timebase.Shift(p, -o.zero)
	p.RescaleTs(o.unit, video.TimeBase())
	timebase.Shift(p, o.start)
	p.SetStreamIndex(video.Index())
	return o.muxer.Write(p)
}

// writePicture is write for a packet of the encoder's.
func (o *Output) writePicture(p *astiav.Packet) error {
	if o.opt.Complete == nil {
		return o.write(p)
	}
	data, err := o.opt.Complete(p.Data())
	if err != nil {
		return err
	}
	return o.WritePacket(withData(p, data))
}

// finish writes what is left, verifies the file if asked to, and gives it its name.
// frames is the number of frames that were encoded.
func (o *Output) finish(partial bool, frames int64) (string, error) {
	o.detach()
	o.detach = func() {}
	if err := o.streams.Finish(); err != nil {
		return "", o.muxer.cannot(err)
	}
	if err := o.muxer.finish(); err != nil {
		return "", o.blame(err)
	}
	var mismatch error
	empty := o.muxer.recordOf(o.muxer.video.Index()).Packets == 0 // some containers then drop the video
	if o.opt.Verify && (!partial || !empty) && o.target.reread() && container.IsRereadable(o.muxer.output) {
		mismatch = o.check(partial, frames)
		if err := o.ctx.Err(); err != nil && mismatch != nil {
			return "", err
		}
	}
	name, err := o.target.commit(partial || mismatch != nil)
	if err != nil {
		return "", o.muxer.cannot(err)
	}
	if mismatch != nil {
		mismatch = fault.New(fault.Mismatch, "verify %q: %w; it is kept as %q, and Output.NoVerify leaves out the check", o.target.name, mismatch, name)
	}
	return name, mismatch
}

// check reads the file again and compares it with what was written.
func (o *Output) check(partial bool, frames int64) error {
	output := o.muxer.output
	f := verify.File{
		Streams: o.muxer.written(), Video: o.muxer.video.Index(), Frames: frames, Timed: container.KeepsTimes(output),
		Damaged: partial || !o.source.Intact(), Demuxer: container.Demuxer(output), Alone: o.opt.Confine.On(),
	}
	if o.opt.Unit == nil {
		f.Rate = o.opt.Rate
	}
	if container.IsISO(output) {
		f.Slack = big.NewRat(2, container.MovieTimescale) // one unit for each stream's start
	}
	return f.Check(o.ctx, o.target.url)
}

// Finish writes what is left and gives the file its name, which it returns; see
// Writer.Finish.
func (o *Output) Finish(partial bool) (string, error) {
	defer o.Abort()
	return o.finish(partial, 0)
}

// Abort frees the output and removes its file, unless Finish has named the file. It may
// be called more than once.
func (o *Output) Abort() {
	o.detach()
	o.detach = func() {}
	if o.streams != nil {
		o.streams.Free()
		o.streams = nil
	}
	if o.packet != nil {
		o.packet.Free()
		o.packet = nil
	}
	if o.muxer != nil {
		o.muxer.close()
	}
	if o.target.destination != nil {
		o.target.discard()
	}
}

// keepsDV reports whether a file of DV gets the packets of another such file, with all streams, which lie in them. FFmpeg's muxer
// would write timecodes and recording dates of its own into all packets.
func (o *Output) keepsDV() bool {
	s := &o.source.Source().Streams
	for _, in := range s.Input.Streams() {
		if in.Index() != s.Video.Index() && !s.Chosen[in.Index()] {
			return false
		}
	}
	return container.Name(o.muxer.output) == "dv" && s.Input.InputFormat().Name() == "dv" && o.opt.Sound.Codec == ""
}

// CodecError is the error for a container that does not take a codec.
type CodecError struct{ Container, Codec string }

func (e *CodecError) Error() string {
	return fmt.Sprintf("the %s container does not take %s", e.Container, e.Codec)
}

// CreateCopy opens a file called name as Create does, for packets of the source and of an
// encoder whose packets can be mixed with them. WritePacket takes these packets, with
// times in the source's time base. header replaces the codec's header of the source,
// unless it is empty. Packets and header have the file's Framing. If the container does not take the source's codec, the error is a
// *CodecError.
func CreateCopy(ctx context.Context, name string, source *Reader, opt WriterOptions, encoder string, header []byte) (*Output, error) {
	o, err := newOutput(ctx, name, source, opt)
	if err != nil {
		return nil, err
	}
	output, in := o.muxer.output, source.Source().Codec()
	if !container.Holds(output, in) {
		err = &CodecError{container.Name(output), in.CodecID().String()}
	} else {
		stream := source.Source().Stream()
		v := source.Video()
		base, zero, frameRate := stream.TimeBase(), v.Start, stream.AvgFrameRate()
		if rate := v.GridRate(); rate != nil && container.CountsFrames(output) {
			base = astiav.NewRational(int(rate.Denom().Int64()), int(rate.Num().Int64()))
			if frameRate.Num() == 0 { // MXF's muxer divides by it
				frameRate = astiav.NewRational(base.Den(), base.Num())
			}
			// The first frame stands on the grid, so that jitter does not round some times up and others down.
			first := timebase.Seconds(v.FirstPTS, stream.TimeBase())
			places := timebase.Ticks(new(big.Rat).Sub(first, zero), base)
			zero = first.Sub(first, timebase.Seconds(places, base))
		}
		o.muxer.plain = o.keepsDV()
		err = o.begin(videoStream{
			unit: stream.TimeBase(), base: base, zero: zero, frameRate: frameRate, encoder: encoder,
			describe: func(out *astiav.CodecParameters) error {
				if err := in.Copy(out); err != nil {
					return err
				}
				if container.WantsStartCodes(output, in.CodecID()) {
					out.SetCodecTag(0) // the source's may stand for lengths
				} else {
					out.SetCodecTag(astiav.CodecTag(av.KeptTag(output, in)))
				}
				if len(header) == 0 {
					return nil
				}
				return out.SetExtraData(header)
			},
		})
	}
	if err != nil {
		o.Abort()
		return nil, err
	}
	return o, nil
}
