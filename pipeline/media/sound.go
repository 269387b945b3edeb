package media

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/pipeline/curve"
	"retime/pipeline/stretch"
)

// sound is a stream of sound whose time changes: decoded, stretched and encoded
// again. Positions count samples at the encoder's rate from the source's Start
// and from the output's zero.
type sound struct {
	w                *Writer
	in, out          *astiav.Stream
	decoder, encoder *astiav.CodecContext
	channels, rate   int
	frameSize        int
	run              curve.Run
	start            *big.Rat // the source's

	decoded, floats, chunk, packed *astiav.Frame
	packet                         *astiav.Packet
	unpack, repack                 resampler

	stretch  *stretch.Stretcher // nil until the first sample is there
	position int64              // of the next sample in the source
	put      int64              // of the next sample in the output
	end      int64              // no sample at or behind it, in the source
	filled   int                // samples in chunk
}

// maxJitter is how far, in seconds, timestamps may stray from the count of
// samples before the samples follow them.
const maxJitter = 0.01

// minBitRate is the least bit rate for a channel that is encoded again.
const minBitRate = 64_000

// newSound prepares a stream; an error says why it cannot be kept.
func (w *Writer) newSound(in *astiav.Stream) (s *sound, err error) {
	s = &sound{
		w: w, in: in, run: w.opt.Curve.Runs()[0], start: w.source.Video().Start, end: math.MaxInt64,
		decoded: astiav.AllocFrame(), floats: astiav.AllocFrame(), chunk: astiav.AllocFrame(), packed: astiav.AllocFrame(),
		packet: astiav.AllocPacket(), unpack: newResampler(), repack: newResampler(),
	}
	defer func() {
		if err != nil {
			s.free()
		}
	}()
	p := in.CodecParameters()
	codec := astiav.FindDecoder(p.CodecID())
	if codec == nil {
		return s, errors.New("no decoder in this FFmpeg build")
	}
	s.decoder = astiav.AllocCodecContext(codec)
	if err := p.ToCodecContext(s.decoder); err != nil {
		return s, err
	}
	setPacketTimeBase(s.decoder, in.TimeBase())
	if err := s.decoder.Open(codec, nil); err != nil {
		return s, err
	}
	if err := w.openSoundEncoder(s); err != nil {
		return s, err
	}
	if w.opt.End != nil {
		s.end = s.sample(w.opt.End)
	}
	s.out = w.output.NewStream(nil)
	if err := s.encoder.ToCodecParameters(s.out.CodecParameters()); err != nil {
		return s, err
	}
	s.out.SetTimeBase(s.encoder.TimeBase())
	return s, copyStreamMetadata(s.out, in)
}

// openSoundEncoder opens the source's own codec again, or else the container's
// usual one.
func (w *Writer) openSoundEncoder(s *sound) error {
	source := s.in.CodecParameters().CodecID()
	var failed error
	for _, id := range []astiav.CodecID{source, defaultAudioCodec(w.output)} {
		codec := astiav.FindEncoder(id)
		if codec == nil || refuses(w.output, id) {
			continue
		}
		if failed = s.openEncoder(codec, globalHeader(w.output)); failed == nil {
			if id != source {
				w.log.Warn("sound is encoded in another codec", "stream", s.in.Index(), "source", source, "written", id)
			}
			return nil
		}
	}
	if failed != nil {
		return failed
	}
	return fmt.Errorf("this FFmpeg build has no encoder of it that the %s container takes", w.output.OutputFormat().Name())
}

func (s *sound) openEncoder(codec *astiav.Codec, globalHeader bool) error {
	e := astiav.AllocCodecContext(codec)
	if err := copySound(e, s.decoder); err != nil {
		e.Free()
		return err
	}
	s.channels, s.rate = channelCount(e), pickSampleRate(codec, s.decoder.SampleRate())
	if s.channels <= 0 || s.rate <= 0 {
		e.Free()
		return errors.New("it states no channels or no sample rate")
	}
	e.SetSampleRate(s.rate)
	e.SetSampleFormat(pickSampleFormat(codec, s.decoder.SampleFormat()))
	e.SetTimeBase(astiav.NewRational(1, s.rate))
	if !lossless(codec.ID()) {
		e.SetBitRate(max(s.in.CodecParameters().BitRate(), minBitRate*int64(s.channels)))
	}
	if globalHeader {
		e.SetFlags(e.Flags().Add(astiav.CodecContextFlagGlobalHeader))
	}
	message, err := withMessage(func() error { return e.Open(codec, nil) })
	if err != nil {
		e.Free()
		return fmt.Errorf("encoder %s: %w%s", codec.Name(), err, detail(message))
	}
	s.encoder, s.frameSize = e, e.FrameSize()
	if s.frameSize == 0 || takesAnySize(codec) {
		s.frameSize = 1024
	}
	return nil
}

// sample is the position of a time in seconds, rounded to nearest.
func (s *sound) sample(t *big.Rat) int64 {
	return ticks(t, astiav.NewRational(1, s.rate))
}

// time is the time of a position in seconds.
func (s *sound) time(position int64) *big.Rat { return big.NewRat(position, int64(s.rate)) }

// take decodes a packet, nil at the end, and writes what can be put out.
func (s *sound) take(p *astiav.Packet) error {
	if err := s.decoder.SendPacket(p); err != nil && p != nil {
		return nil // damage, which the decoder's log counts; a gap follows
	}
	for s.decoder.ReceiveFrame(s.decoded) == nil {
		if err := s.add(s.decoded); err != nil {
			return err
		}
		s.decoded.Unref()
		if err := s.encodeReady(); err != nil {
			return err
		}
	}
	return nil
}

// add gives a decoded frame's samples to the stretcher.
func (s *sound) add(f *astiav.Frame) error {
	at := s.position
	if t := frameTime(f); t != noTimestamp {
		v := new(big.Rat).Mul(big.NewRat(t, 1), rat(s.in.TimeBase()))
		at = s.sample(v.Sub(v, s.start)) - s.unpack.delay(s.rate)
	}
	if err := s.unpack.floats(s.floats, f, s.rate); err != nil {
		return err
	}
	if d := at - s.position; s.stretch != nil && math.Abs(float64(d)) <= maxJitter*float64(s.rate) {
		at = s.position
	}
	samples := floatPlanes(s.floats, s.channels)
	if over := at + int64(len(samples[0])) - s.end; over > 0 {
		for c := range samples {
			samples[c] = samples[c][:max(int64(len(samples[c]))-over, 0)]
		}
	}
	if len(samples[0]) == 0 {
		return nil
	}
	s.position = at
	if s.stretch == nil {
		s.put = s.heard(s.position)
		s.stretch = stretch.New(s.channels, s.rate, s.run, s.put, math.MaxInt64)
	}
	s.stretch.Write(samples, s.position)
	s.position += int64(len(samples[0]))
	return nil
}

// heard is where a position of the source lies in the output.
func (s *sound) heard(position int64) int64 { return s.sample(s.run.Output(s.time(position))) }

// encodeReady encodes all full frames that the stretcher has ready.
func (s *sound) encodeReady() error {
	for s.stretch != nil {
		if s.chunk.NbSamples() == 0 {
			if err := newSamples(s.chunk, s.encoder, s.frameSize); err != nil {
				return err
			}
		}
		rest := floatPlanes(s.chunk, s.channels)
		for c := range rest {
			rest[c] = rest[c][s.filled:]
		}
		s.filled += s.stretch.Read(rest)
		if s.filled < s.frameSize {
			return nil
		}
		if err := s.encode(); err != nil {
			return err
		}
	}
	return nil
}

// encode encodes the chunk.
func (s *sound) encode() error {
	s.chunk.SetNbSamples(s.filled)
	f := s.chunk
	if s.encoder.SampleFormat() != astiav.SampleFormatFltp {
		if err := s.repack.repack(s.packed, s.chunk, s.encoder.SampleFormat()); err != nil {
			return err
		}
		f = s.packed
	}
	f.SetPts(s.put)
	s.put += int64(s.filled)
	s.filled = 0
	err := s.encoder.SendFrame(f)
	s.chunk.Unref()
	s.packed.Unref()
	if err != nil {
		return err
	}
	return s.drain()
}

func (s *sound) drain() error {
	for {
		err := s.encoder.ReceivePacket(s.packet)
		if errors.Is(err, astiav.ErrEagain) || errors.Is(err, astiav.ErrEof) {
			return nil
		} else if err != nil {
			return err
		}
		s.packet.RescaleTs(s.encoder.TimeBase(), s.out.TimeBase())
		shift(s.packet, delayLeftOut(s.w.output, s.out))
		s.packet.SetStreamIndex(s.out.Index())
		if err := s.w.mux(s.packet); err != nil {
			return err
		}
	}
}

// finish puts out the rest.
func (s *sound) finish() error {
	if err := s.take(nil); err != nil {
		return err
	}
	if s.stretch != nil {
		s.stretch.Close(s.heard(s.position))
		if err := s.encodeReady(); err != nil {
			return err
		}
		if s.filled > 0 {
			if err := s.encode(); err != nil {
				return err
			}
		}
	}
	if err := s.encoder.SendFrame(nil); err != nil && !errors.Is(err, astiav.ErrEof) {
		return err
	}
	return s.drain()
}

func (s *sound) free() {
	for _, f := range []*astiav.Frame{s.decoded, s.floats, s.chunk, s.packed} {
		f.Free()
	}
	s.packet.Free()
	s.unpack.free()
	s.repack.free()
	for _, c := range []*astiav.CodecContext{s.decoder, s.encoder} {
		if c != nil {
			c.Free()
		}
	}
}
