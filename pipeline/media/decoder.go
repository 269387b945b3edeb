package media

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// decoder decodes the packets of a demuxer's video to pictures.
type decoder struct {
	demuxer  *demuxer
	options  *ReaderOptions
	context  *astiav.CodecContext
	clock    pictureClock
	fields   FieldMarks
	fetch    fetcher  // brings pictures to main memory
	failed   error    // why no further picture can come
	ahead    *fetched // the second picture, if first has decoded it
	draining bool     // no packets are left in the input
	ended    bool     // no pictures are left
	takeover

	undecoded undecoded
	inspected bool // undecoded is known
	damageCount
}

// damageCount counts the damage of a decoder's pictures.
type damageCount struct {
	errors  av.ErrorCount // of the decoder
	damage  Damage        // that the decoder has found, less errors; see found
	before  Damage        // that does not count, since nothing that is wanted shows it
	packets packetDamage  // that decoders do not mark
}

func openDecoder(d *demuxer, opt *ReaderOptions) (*decoder, error) {
	c := &decoder{demuxer: d, options: opt, damageCount: damageCount{errors: av.NewErrorCount()}, fetch: downloads{}}
	c.clock, c.fields = newPictureClock(d, opt.Log), NewFieldMarks(d.video.CodecParameters())
	c.packets.codec = d.video.CodecParameters().CodecID()
	if err := c.open(opt); err != nil {
		c.close()
		return nil, err
	}
	c.protect()
	return c, nil
}

// codecName returns the name of a stream's codec, or the container's name for it if FFmpeg knows none.
func codecName(p *astiav.CodecParameters) string {
	if p.CodecID() != astiav.CodecIDNone {
		return p.CodecID().String()
	}
	return fmt.Sprintf("%q", binary.LittleEndian.AppendUint32(nil, uint32(p.CodecTag())))
}

func (c *decoder) open(opt *ReaderOptions) error {
	stream := c.demuxer.video
	p, codec := stream.CodecParameters(), decoderOf(stream)
	if codec == nil {
		return c.demuxer.bad(fmt.Errorf("stream %d: %s: no decoder in this FFmpeg build", stream.Index(), codecName(p)))
	}
	c.context = astiav.AllocCodecContext(codec)
	if err := p.ToCodecContext(c.context); err != nil {
		return c.demuxer.bad(err)
	}
	c.errors.Decoder(c.context)
	av.SetPacketTimeBase(c.context, stream.TimeBase())
	c.context.SetFlags(c.context.Flags().Add(astiav.CodecContextFlagUnaligned)) // without it FFmpeg rounds the cropping
	threads := opt.Threads
	if opt.MarkDamage && !av.MarksInThreads(p) {
		threads = 1
	}
	c.context.SetThreadCount(threads)
	c.context.SetThreadType(astiav.ThreadTypeFrame | astiav.ThreadTypeSlice)
	var err error
	if c.fetch, err = useDevice(c.context, codec, opt); err != nil {
		return err
	}
	message, err := av.WithMessage(func() error { return c.context.Open(codec, nil) })
	if misleads(err) {
		err = astiav.ErrInvaliddata
	}
	if err != nil {
		return c.demuxer.bad(fmt.Errorf("stream %d: %s: %w%s", stream.Index(), codec.Name(), err, detail(message)))
	}
	return nil
}

// decoderOf returns the decoder for a stream, nil if there is none. For VP8 and VP9 with
// an alpha channel it prefers libvpx, because FFmpeg's own decoders ignore alpha.
func decoderOf(s *astiav.Stream) *astiav.Codec {
	id := s.CodecParameters().CodecID()
	name := map[astiav.CodecID]string{astiav.CodecIDVp8: "libvpx", astiav.CodecIDVp9: "libvpx-vp9"}[id]
	if alpha, _ := av.StreamTags(s).Get("alpha_mode"); name != "" && alpha == "1" {
		if c := astiav.FindDecoderByName(name); c != nil {
			return c
		}
	}
	return astiav.FindDecoder(id)
}

// first returns the picture that start begins with. What the decoder complains of before, such as
// pictures whose references lie before the place sought, is no damage. (Threads may complain of the
// part's first pictures as early; their own marks count.)
func (c *decoder) first(start Start) (*fetched, error) {
	if start.At == nil || start.At.Sign() <= 0 {
		return c.decode()
	}
	p, err := c.find(start)
	c.forgive(Damage{Errors: c.total().Errors})
	return p, err
}

// find returns the picture that start begins with, which lies behind the input's beginning.
func (c *decoder) find(start Start) (*fetched, error) {
	from := c.demuxer.meant(new(big.Rat).Add(start.At, c.demuxer.zero))
	tb := c.demuxer.video.TimeBase()
	goal := timebase.TicksBefore(new(big.Rat).Add(from, c.demuxer.zero), tb)
	// A sound decoder's first one or two packets do not give complete sound.
	begin := goal - timebase.Ticks(big.NewRat(1, 10), tb)
	// Before the first picture there may be sound, and a demuxer may search the whole file for an
	// earlier time.
	sought := begin > c.demuxer.video.StartTime() && c.demuxer.seek(begin, start.Subtitles)
	first, err := c.decode()
	if sought && c.demuxer.ctx.Err() == nil && (err != nil || c.demuxer.placed(first.Pts()).Cmp(from) > 0) {
		// The container's index was wrong, or no key frame comes after the place sought.
		if err == nil {
			first.Free()
		}
		c.rewind()
		first, err = c.decode()
	}
	for err == nil {
		next, e := c.decode()
		if errors.Is(e, io.EOF) {
			return first, nil // from lies in or after the last frame
		} else if e != nil {
			first.Free()
			return nil, e
		}
		if c.demuxer.placed(next.Pts()).Cmp(from) > 0 {
			if start.Onward && Misses(c.demuxer.placed(first.Pts()), from) {
				first.Free()
				return next, nil
			}
			c.ahead = next
			return first, nil
		}
		first.Free()
		first = next
	}
	return nil, err
}

func (c *decoder) rewind() {
	c.demuxer.rewind()
	av.FlushCoder(c.context)
	c.forgive(c.total())
	c.again.free()
	c.skip = nil
	if c.backlog != nil {
		c.protect()
	}
	c.draining, c.ended, c.clock.last, c.clock.count = false, false, av.NoTimestamp, 0
}

// next returns the next picture. Its PTS is its time, which is later than the last
// picture's. After the last picture it returns the error of end.
func (c *decoder) next() (*fetched, error) {
	if f := c.ahead; f != nil {
		c.ahead = nil
		return f, nil
	}
	return c.decode()
}

func (c *decoder) decode() (*fetched, error) {
	f := astiav.AllocFrame()
	for failed := 0; ; {
		if err := cmp.Or(c.demuxer.ctx.Err(), c.failed); err != nil || c.ended {
			f.Free()
			return nil, cmp.Or(err, c.end())
		}
		err := c.context.ReceiveFrame(f)
		switch {
		case err == nil:
			p, err := c.fetch.fetch(f)
			if err != nil {
				if c.takeOver() {
					f = astiav.AllocFrame()
					continue
				}
				return nil, c.demuxer.bad(err)
			}
			if c.note(av.FrameTime(p.Frame)) && c.clock.stamp(p.Frame, c.total()) {
				if p.damaged = c.damaged(p.Frame); p.damaged {
					c.damage.Frames++
				}
				c.fields.Correct(p.Frame)
				return p, nil
			}
			f = p.Frame
			f.Unref()
		case errors.Is(err, astiav.ErrEof):
			c.ended = true
		case errors.Is(err, astiav.ErrEagain):
			c.feed()
		case c.takeOver():
		default:
			c.damage.Packets++
			c.options.Log.Debug("frame could not be decoded", "input", c.demuxer.name, "error", err)
			if failed++; c.draining && len(c.again.list) == 0 && failed >= maxReadErrors {
				c.ended = true
			}
		}
	}
}

// damaged reports whether f, which has just been decoded, has errors. Where H.264 codes some pictures as fields and others as
// frames, several threads of FFmpeg's say of sound ones that slices were lost.
func (c *decoder) damaged(f *astiav.Frame) bool {
	return c.packets.take(f) || av.FrameDamaged(f) || av.FrameSuspect(f) && c.context.ThreadCount() == 1
}

// feed sends the video's next packet to the decoder, or starts draining the decoder if
// there is none.
func (c *decoder) feed() {
	if len(c.again.list) > 0 {
		p := c.again.take()
		defer p.Free()
		c.send(p)
		return
	}
	if c.draining {
		c.drain() // the processor's decoder, after the device's
		return
	}
	p, err := c.demuxer.readVideo()
	switch {
	case errors.Is(err, io.EOF):
		c.drain()
	case err != nil: // ctx's error, or the packet is encrypted
		c.failed = err
	case c.isPast(p):
		c.drain()
	case p.Size() == 0:
		// The picture stays as it was. FFmpeg would refuse the packet, or take it for the end.
	default:
		if !c.inspected {
			c.inspected = true
			v := c.demuxer.video.CodecParameters()
			c.undecoded = inspect(v.CodecID(), v.ExtraData(), p.Data())
			c.undecoded.size = p.Size()
			c.undecoded.lossless = isLosslessPacket(v.CodecID(), v.ExtraData(), p.Data())
			if why := c.undecoded.refused; why != nil {
				c.failed = c.demuxer.bad(why)
				return
			}
		}
		c.packets.look(p)
		q := c.decodable(p)
		if c.failed != nil {
			return
		}
		if q != nil {
			defer q.Free()
			p = q
		}
		c.keep(p)
		c.send(p)
	}
}

func (c *decoder) send(p *astiav.Packet) {
	if err := c.context.SendPacket(p); err != nil && !c.takeOver() {
		c.damage.Packets++
		c.options.Log.Debug("packet could not be decoded", "input", c.demuxer.name, "pts", p.Pts(), "error", err)
	}
}

func (c *decoder) drain() {
	c.draining = true
	_ = c.context.SendPacket(nil)
}

// isPast reports whether p lies so far after Options.To that nothing before that time can follow.
func (c *decoder) isPast(p *astiav.Packet) bool {
	to := c.options.To
	return to != nil && p.Dts() != av.NoTimestamp && c.demuxer.paced == nil && c.demuxer.seconds(p.Dts()).Cmp(lagging(to)) > 0
}

// lagging returns the decoding time, in seconds, of a video's packets behind which a file holds
// nothing that is shown or heard before t. Decoding order is ahead of presentation order, and
// sound may lie behind the picture that it goes with: in a fragmented MP4 file a second.
func lagging(t *big.Rat) *big.Rat {
	const lag = 5 // seconds
	return new(big.Rat).Add(t, big.NewRat(lag, 1))
}

// total returns all damage so far that counts.
func (c *decoder) total() Damage {
	d, lost := c.found(), &c.demuxer.lost
	d.Packets += lost.failed + lost.corrupt - c.before.Packets
	d.Frames -= c.before.Frames
	d.Errors += c.demuxer.errors.Value() - c.before.Errors
	return d
}

// forgive makes d, which is part of the total, count no more.
func (c *decoder) forgive(d Damage) {
	c.before.Packets += d.Packets
	c.before.Frames += d.Frames
	c.before.Errors += d.Errors
}

// found returns the damage that the decoder has found so far.
func (c *decoder) found() Damage {
	d := c.damage
	d.Errors += c.errors.Value()
	return d
}

// setBack makes found return d, with the damaged frames so far.
func (c *decoder) setBack(d Damage) {
	d.Errors -= c.errors.Value()
	d.Frames = c.damage.Frames
	c.damage = d
}

// end returns io.EOF if the input ended as it should, and a fault.BadData error if it
// ended too early.
func (c *decoder) end() error {
	d := c.demuxer
	if err := d.lost.stopped; err != nil {
		hint := ""
		if c.clock.last == av.NoTimestamp && av.IsStreamed(d.input) && d.isISO() {
			hint = "; MP4 and MOV whose index lies at the end cannot be read from a pipe, so name the file"
		}
		return d.bad(fmt.Errorf("reading stopped after %s: %w%s", c.clock.position(), err, hint))
	}
	if c.options.To != nil || c.clock.leapt || d.times.joined() || d.late.video { // the stated end may be another video's
		return io.EOF
	}
	// The stream's own duration is the most precise. Containers without it state the
	// duration of the longest stream.
	tb := d.video.TimeBase()
	var missing int64
	if end, ok := d.statedEnd(); ok {
		missing = timebase.Microseconds(end-c.clock.end, tb)
	} else if t := d.duration(); t > 0 && !d.isAVI() {
		missing = t - (d.end - d.start())
	}
	if missing > d.tolerance() {
		return d.bad(fmt.Errorf("ends after %s, %.3f s before its stated end: the file is truncated or damaged", c.clock.position(), float64(missing)/1e6))
	}
	if d.lost.cut && !d.padded() {
		return d.bad(fmt.Errorf("ends after %s within a packet: the file is truncated", c.clock.position()))
	}
	if d.lacksEnd() {
		return d.bad(fmt.Errorf("ends after %s without the mark of its end: the file is truncated", c.clock.position()))
	}
	return io.EOF
}

func (c *decoder) close() {
	if c.ahead != nil {
		c.ahead.Free()
	}
	c.expose()
	c.again.free()
	if c.context != nil {
		c.context.Free()
	}
	c.fetch.close() // after the decoder, which may work on its stream
	c.errors.Free()
}
