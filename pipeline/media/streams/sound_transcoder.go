package streams

import (
	"math"
	"math/big"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/timebase"
	"retime/pipeline/media/timestretch"
	"retime/pipeline/timeline/curve"
)

// soundTranscoder decodes sound, stretches it and encodes it again. A position counts
// samples at the encoder's rate, from the source's Start or from the output's 0.
type soundTranscoder struct {
	track
	decoder  *soundDecoder
	encoder  *soundEncoder
	run      curve.Run              // the run, or the part of it between two jumps, that is playing
	later    []curve.Run            // the parts of the run that follow
	stretch  *timestretch.Stretcher // of the current part; nil until its first sample has come
	position int64                  // position in the source of the next sample
	stop     int64                  // position in the source at which the sound ends
	leapt    bool                   // a timestamp was too far ahead
	backward backwardSound
}

// maxJitter is how far timestamps may deviate from the count of samples, in seconds,
// before they override it.
const maxJitter = 0.01

// longestGap is the longest silence within sound, in seconds. A later timestamp counts as
// damage, as do those of pictures.
const longestGap = 3600

// newSoundTranscoder prepares a stream. The error says why the sound cannot be converted.
func (s *Set) newSoundTranscoder(in *astiav.Stream) (_ *soundTranscoder, err error) {
	t := &soundTranscoder{stop: math.MaxInt64}
	t.start(&s.opt.Curve.Runs()[0])
	defer func() {
		if err != nil {
			t.free()
		}
	}()
	if t.decoder, err = newSoundDecoder(in); err != nil {
		return nil, err
	}
	t.decoder.tape = s.isTapeSound(in)
	if t.encoder, err = s.newSoundEncoder(in, t.decoder.context); err != nil {
		return nil, err
	}
	t.backward = backwardSound{limit: maxBackward, warn: func() {
		s.log.Warn("sound that plays backward is too long to be held; the rest of it is silent", "stream", in.Index(), "seconds", maxBackward/t.encoder.rate)
	}}
	if s.opt.End != nil {
		t.stop = t.sample(s.opt.End)
	}
	t.track = s.newTrack(in)
	if err := t.encoder.context.ToCodecParameters(t.out.CodecParameters()); err != nil {
		return nil, err
	}
	t.out.SetTimeBase(t.encoder.context.TimeBase())
	if err := s.copyTags(t.out, in); err != nil {
		return nil, err
	}
	container.DropPacketTags(av.StreamTags(t.out))
	t.encoder.put = t.put
	return t, nil
}

// sample returns the position of a time in seconds, rounded to nearest.
func (t *soundTranscoder) sample(at *big.Rat) int64 {
	return timebase.Ticks(at, astiav.NewRational(1, t.encoder.rate))
}

// time returns the time of a position, in seconds.
func (t *soundTranscoder) time(position int64) *big.Rat {
	return big.NewRat(position, int64(t.encoder.rate))
}

// heard returns the position in the output of a position in the source.
func (t *soundTranscoder) heard(position int64) int64 {
	return t.sample(t.run.Output(t.time(position)))
}

// packet decodes p, or the decoder's rest if p is nil, and encodes all full frames.
func (t *soundTranscoder) packet(p *astiav.Packet) error {
	return t.decoder.decode(p, t.encoder, func(next piece) error {
		if err := t.add(next); err != nil {
			return err
		}
		return t.encodeReady()
	})
}

// add passes decoded samples to the stretcher.
func (t *soundTranscoder) add(next piece) error {
	at, samples := t.position, next.samples
	if next.at != nil {
		at = t.sample(next.at.Sub(next.at, t.set.source.Start)) - next.held
	}
	if d := at - t.position; t.stretch != nil && math.Abs(float64(d)) <= maxJitter*float64(t.encoder.rate) {
		at = t.position
	} else if t.stretch != nil && d > longestGap*int64(t.encoder.rate) {
		t.warnLeap(d)
		at = t.position
	}
	if over := at + int64(len(samples[0])) - t.stop; over > 0 {
		samples = upTo(samples, int64(len(samples[0]))-over)
	}
	if !t.run.Backward {
		return t.stretchOut(samples, at)
	}
	if under := t.sample(t.run.To) - at; under > 0 {
		samples, at = after(samples, under), at+under
	}
	if len(samples[0]) > 0 {
		t.backward.hold(samples, at)
	}
	return nil
}

// warnLeap warns of the first timestamp that is some samples too far ahead.
func (t *soundTranscoder) warnLeap(by int64) {
	if t.leapt {
		return
	}
	t.leapt = true
	t.set.log.Warn("a timestamp lies too far ahead; its sound follows what came before", "stream", t.decoder.in.Index(),
		"after", t.time(t.position).FloatString(3)+" s", "by", t.time(by).FloatString(0)+" s")
}

// upTo returns the first n samples of each channel.
func upTo(samples [][]float32, n int64) [][]float32 {
	out := make([][]float32, len(samples))
	for c, x := range samples {
		out[c] = x[:min(max(n, 0), int64(len(x)))]
	}
	return out
}

// after returns the samples of each channel that follow the first n.
func after(samples [][]float32, n int64) [][]float32 {
	out := make([][]float32, len(samples))
	for c, x := range samples {
		out[c] = x[min(max(n, 0), int64(len(x))):]
	}
	return out
}

// stretchOut passes samples from a position on to the stretchers of the parts of the run
// that play them. It encodes the silence of a gap before them piece by piece.
func (t *soundTranscoder) stretchOut(samples [][]float32, at int64) error {
	if t.stretch == nil || len(samples[0]) == 0 {
		return t.stretchPiece(samples, at)
	}
	silence := slices.Repeat([][]float32{make([]float32, min(max(at-t.position, 0), int64(t.encoder.rate)))}, len(samples))
	for t.position < at {
		if err := t.stretchPiece(upTo(silence, at-t.position), t.position); err != nil {
			return err
		}
		if err := t.encodeReady(); err != nil {
			return err
		}
	}
	return t.stretchPiece(samples, at)
}

// stretchPiece is stretchOut for samples that no gap comes before.
func (t *soundTranscoder) stretchPiece(samples [][]float32, at int64) error {
	for len(samples[0]) > 0 {
		n := int64(len(samples[0]))
		if len(t.later) > 0 {
			n = min(max(t.sample(t.run.To)-at, 0), n)
		}
		t.position = at
		if t.stretch == nil {
			if err := t.open(t.heard(at)); err != nil {
				return err
			}
		}
		t.stretch.Write(upTo(samples, n), at)
		t.position += n
		if samples, at = after(samples, n), t.position; len(samples[0]) > 0 {
			if err := t.close(t.sample(t.run.End)); err != nil {
				return err
			}
			t.run, t.later = t.later[0], t.later[1:]
		}
	}
	return nil
}

// open starts the stretcher for the current run, from a position in the output on.
func (t *soundTranscoder) open(from int64) error {
	if err := t.encoder.silence(from); err != nil {
		return err
	}
	end := int64(math.MaxInt64)
	if t.run.End != nil {
		end = t.sample(t.run.End)
	}
	t.stretch = timestretch.New(t.encoder.channels, t.encoder.rate, t.run, t.encoder.position(), end)
	return nil
}

// encodeReady encodes all full frames that the stretcher can supply.
func (t *soundTranscoder) encodeReady() error {
	for t.stretch != nil {
		full, err := t.encoder.fill(t.stretch.Read)
		if err != nil || !full {
			return err
		}
	}
	return nil
}

// put writes a packet of the encoder.
func (t *soundTranscoder) put(p *astiav.Packet) error {
	container.Rescale(t.set.out, t.out, p, t.encoder.context.TimeBase())
	p.SetStreamIndex(t.out.Index())
	return t.unlessRefused(t.set.muxer.Write(p))
}

// start makes a run the one that plays.
func (t *soundTranscoder) start(run *curve.Run) {
	t.run, t.later = *run, nil
	if !run.Backward { // sound that plays backward waits for the run's end
		parts := run.Stretches()
		t.run, t.later = parts[0], parts[1:]
	}
}

func (t *soundTranscoder) begin(run *curve.Run) {
	t.stop = math.MaxInt64
	t.start(run)
	if end := run.To; end != nil {
		if run.Backward {
			end = run.From
		}
		t.stop = t.sample(end)
	}
	t.decoder.restart()
}

// end encodes the rest of the run.
func (t *soundTranscoder) end() error {
	if err := t.packet(nil); err != nil {
		return err
	}
	if t.run.Backward {
		if err := t.playBackward(); err != nil {
			return err
		}
	}
	return t.close(t.heard(t.position))
}

// close ends the stretcher, if any, at a position in the output.
func (t *soundTranscoder) close(end int64) error {
	if t.stretch == nil {
		return nil
	}
	t.stretch.Close(end)
	if err := t.encodeReady(); err != nil {
		return err
	}
	t.stretch = nil
	return nil
}

// playBackward stretches the held samples in reverse order.
func (t *soundTranscoder) playBackward() error {
	samples, from := t.backward.reverse()
	if samples == nil {
		return nil
	}
	mirror := t.run.Mirror()
	t.start(&mirror)
	return t.stretchOut(samples, -(from + int64(len(samples[0]))))
}

func (t *soundTranscoder) finish() error { return t.encoder.finish() }

func (t *soundTranscoder) free() {
	if t.decoder != nil {
		t.decoder.free()
	}
	if t.encoder != nil {
		t.encoder.free()
	}
	if t.next != nil {
		t.next.Free()
	}
}

// backwardSound holds all samples of a run that plays backward, by channel.
type backwardSound struct {
	held  [][]float32
	from  int64  // position in the source of the first sample
	limit int64  // most samples per channel
	warn  func() // called once if the limit is exceeded, then nil
}

// maxBackward is the most samples per channel to hold: 20 minutes at 48 kHz.
const maxBackward = 20 * 60 * 48_000

// hold appends samples that begin at a position. It fills a gap with silence and skips
// samples that it already has.
func (b *backwardSound) hold(samples [][]float32, at int64) {
	if b.held == nil {
		b.held, b.from = make([][]float32, len(samples)), at
	}
	have := int64(len(b.held[0]))
	gap := at - b.from - have
	if have+max(gap, 0)+int64(len(samples[0])) > b.limit {
		if b.warn != nil {
			b.warn()
			b.warn = nil
		}
		return
	}
	skip := min(max(-gap, 0), int64(len(samples[0])))
	for c := range b.held {
		b.held[c] = append(append(b.held[c], make([]float32, max(gap, 0))...), samples[c][skip:]...)
	}
}

// reverse returns the held samples in reverse order and empties b. from is the position
// in the source of the last sample returned. samples is nil if b holds none.
func (b *backwardSound) reverse() (samples [][]float32, from int64) {
	if b.held == nil || len(b.held[0]) == 0 {
		return nil, 0
	}
	samples, b.held = b.held, nil
	for c := range samples {
		slices.Reverse(samples[c])
	}
	return samples, b.from
}
