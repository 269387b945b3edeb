package media

import (
	"errors"
	"math"
	"math/big"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/curve"
	"retime/pipeline/stretch"
)

// sound is a stream of sound whose time or codec changes: decoded, stretched and
// encoded again. Positions count samples at the encoder's rate from the source's Start
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

	stretch  *stretch.Stretcher // of the run, nil until its first sample is there
	position int64              // of the next sample in the source
	stop     int64              // no sample at or behind it, in the source
	put      int64              // of the chunk's first sample in the output
	filled   int                // samples in chunk
	begun    bool               // put is settled
	// Of a run that plays backward: all of its samples, by channel, and where the
	// first one lies in the source.
	held [][]float32
	from int64
	long bool // it was too long, which was said
}

// maxBackward is how many samples of a channel are held to be played backward: 20
// minutes at 48 kHz.
const maxBackward = 20 * 60 * 48_000

// maxJitter is how far, in seconds, timestamps may stray from the count of
// samples before the samples follow them.
const maxJitter = 0.01

// newSound prepares a stream; an error says why it cannot be kept.
func (w *Writer) newSound(in *astiav.Stream) (s *sound, err error) {
	s = &sound{
		w: w, in: in, run: w.opt.Curve.Runs()[0], start: w.source.Video().Start, stop: math.MaxInt64,
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
		s.stop = s.sample(w.opt.End)
	}
	s.out = w.output.NewStream(nil)
	if err := s.encoder.ToCodecParameters(s.out.CodecParameters()); err != nil {
		return s, err
	}
	s.out.SetTimeBase(s.encoder.TimeBase())
	if err := copyStreamMetadata(s.out, in); err != nil {
		return s, err
	}
	dropPacketTags(s.out)
	return s, nil
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
	if over := at + int64(len(samples[0])) - s.stop; over > 0 {
		for c := range samples {
			samples[c] = samples[c][:max(int64(len(samples[c]))-over, 0)]
		}
	}
	if len(samples[0]) == 0 {
		return nil
	}
	if s.run.Backward {
		s.hold(samples, at)
		return nil
	}
	s.position = at
	if s.stretch == nil {
		if err := s.open(s.run, s.heard(s.position)); err != nil {
			return err
		}
	}
	s.stretch.Write(samples, s.position)
	s.position += int64(len(samples[0]))
	return nil
}

// open begins to stretch what run plays, heard from a position of the output on.
// What is missing since the last run is silent.
func (s *sound) open(run curve.Run, from int64) error {
	if s.begun {
		for gap := from - s.put - int64(s.filled); gap > 0; {
			n := min(gap, int64(s.frameSize-s.filled))
			rest, err := s.room()
			if err != nil {
				return err
			}
			for c := range rest {
				clear(rest[c][:n])
			}
			gap -= n
			if s.filled += int(n); s.filled == s.frameSize {
				if err := s.encode(); err != nil {
					return err
				}
			}
		}
	} else {
		s.begun, s.put = true, from
	}
	end := int64(math.MaxInt64)
	if run.End != nil {
		end = s.sample(run.End)
	}
	s.stretch = stretch.New(s.channels, s.rate, run, s.put+int64(s.filled), end)
	return nil
}

// room is what is left of the chunk.
func (s *sound) room() ([][]float32, error) {
	if s.chunk.NbSamples() == 0 {
		if err := newSamples(s.chunk, s.encoder, s.frameSize); err != nil {
			return nil, err
		}
	}
	rest := floatPlanes(s.chunk, s.channels)
	for c := range rest {
		rest[c] = rest[c][s.filled:]
	}
	return rest, nil
}

// hold keeps samples of a run that plays backward.
func (s *sound) hold(samples [][]float32, at int64) {
	if s.held == nil {
		s.held, s.from = make([][]float32, s.channels), at
	}
	have := int64(len(s.held[0]))
	gap := at - s.from - have
	if have+max(gap, 0)+int64(len(samples[0])) > maxBackward {
		if !s.long {
			s.long = true
			s.w.log.Warn("sound that plays backward is too long to be held; the rest of it is silent", "stream", s.in.Index(), "seconds", maxBackward/s.rate)
		}
		return
	}
	skip := min(max(-gap, 0), int64(len(samples[0])))
	for c := range s.held {
		s.held[c] = append(append(s.held[c], make([]float32, max(gap, 0))...), samples[c][skip:]...)
	}
}

// playHeld stretches the held samples from the last to the first.
func (s *sound) playHeld() error {
	if s.held == nil || len(s.held[0]) == 0 {
		return nil
	}
	end := s.from + int64(len(s.held[0])) // which is where it begins to play
	for c := range s.held {
		slices.Reverse(s.held[c])
	}
	run := s.run.Mirror()
	if err := s.open(run, s.sample(run.Output(s.time(-end)))); err != nil {
		return err
	}
	s.stretch.Write(s.held, -end)
	s.run, s.position = run, -s.from
	s.held = nil
	return nil
}

func (s *sound) begin(r *curve.Run) {
	s.run, s.stop = *r, math.MaxInt64
	if end := r.To; end != nil {
		if r.Backward {
			end = r.From
		}
		s.stop = s.sample(end)
	}
	flushDecoder(s.decoder)
	s.unpack.free()
	s.unpack = newResampler()
}

// end puts out the rest of the run.
func (s *sound) end() error {
	if err := s.take(nil); err != nil {
		return err
	}
	if s.run.Backward {
		if err := s.playHeld(); err != nil {
			return err
		}
	}
	if s.stretch != nil {
		s.stretch.Close(s.heard(s.position))
		if err := s.encodeReady(); err != nil {
			return err
		}
		s.stretch = nil
	}
	return nil
}

// heard is where a position of the source lies in the output.
func (s *sound) heard(position int64) int64 { return s.sample(s.run.Output(s.time(position))) }

// encodeReady encodes all full frames that the stretcher has ready.
func (s *sound) encodeReady() error {
	for s.stretch != nil {
		rest, err := s.room()
		if err != nil {
			return err
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
		shift(s.packet, delayLeftOut(s.w.output, s.out, s.encoder.TimeBase()))
		s.packet.RescaleTs(s.encoder.TimeBase(), s.out.TimeBase())
		s.packet.SetStreamIndex(s.out.Index())
		if err := s.w.mux(s.packet); err != nil {
			return err
		}
	}
}

// finish puts out the rest.
func (s *sound) finish() error {
	if !s.w.opt.Passes {
		if err := s.end(); err != nil {
			return err
		}
	}
	if s.filled > 0 {
		if err := s.encode(); err != nil {
			return err
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
