package streams

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
)

// soundEncoder encodes planar floats in frames of frameSize samples.
type soundEncoder struct {
	context        *astiav.CodecContext
	channels, rate int
	frameSize      int                          // samples per channel
	put            func(p *astiav.Packet) error // receives each packet and unreferences it

	chunk, packed *astiav.Frame // the frame to fill, and its samples in the encoder's format
	packet        *astiav.Packet
	repack        *av.Resampler
	first         int64 // position in the output of the chunk's first sample
	filled        int   // samples in chunk
	begun         bool  // first is set
}

// minBitRate is the least bit rate per channel, in bit/s, for sound that was already
// coded with losses; freshBitRate is the bit rate for sound that was not. maxBitRate is
// the highest bit rate per channel in another codec than the source's: every encoder
// takes it.
const (
	minBitRate   = 64_000
	freshBitRate = 128_000
	maxBitRate   = 192_000
)

// layerIIBitRates are the bit rates in bit/s of MPEG-1 and MPEG-2 audio layer II.
var layerIIBitRates = map[bool][]int64{
	false: {32_000, 48_000, 56_000, 64_000, 80_000, 96_000, 112_000, 128_000, 160_000, 192_000, 224_000, 256_000, 320_000, 384_000},
	true:  {8_000, 16_000, 24_000, 32_000, 40_000, 48_000, 56_000, 64_000, 80_000, 96_000, 112_000, 128_000, 144_000, 160_000}, // below 32 kHz
}

// newSoundEncoder opens an encoder for a decoder's sound, and says if its channels lose their meaning.
func (s *Set) newSoundEncoder(in *astiav.Stream, decoder *astiav.CodecContext) (*soundEncoder, error) {
	e, err := s.findSoundEncoder(in, decoder)
	if err == nil && av.IsAmbisonic(decoder) && (e.context.CodecID() != astiav.CodecIDOpus || !av.IsAmbisonic(e.context)) {
		s.log.Warn("the sound is ambisonic, and players take what is written for sound of loudspeakers; Opus in Matroska, WebM and MP4 keeps it",
			"stream", in.Index(), "written", e.context.CodecID().Name())
	}
	return e, err
}

// findSoundEncoder opens the encoder that the options name. If they name none, it tries
// the source's own codec and then those in which the container usually holds sound. It
// prefers an encoder that keeps all channels.
func (s *Set) findSoundEncoder(in *astiav.Stream, decoder *astiav.CodecContext) (*soundEncoder, error) {
	if s.opt.Sound.Codec != "" {
		codec, err := s.namedSoundEncoder()
		if err != nil {
			return nil, err
		}
		s.announceRounding(in, decoder, codec.ID())
		return s.openSoundEncoder(codec, in, decoder, cmp.Or(container.SoundChannels(s.out, codec.ID()), av.Channels(decoder)))
	}
	source := in.CodecParameters().CodecID()
	lossless := s.losslessCodecs(in, decoder)
	candidates := slices.DeleteFunc(slices.Concat([]astiav.CodecID{source}, lossless, container.EncodedSound(s.out)), func(id astiav.CodecID) bool {
		return astiav.FindEncoder(id) == nil || container.Refuses(s.out, id)
	})
	var failed error
	all := av.Channels(decoder)
	for _, channels := range []int{all, min(all, 2)} { // every encoder takes two
		for _, id := range candidates {
			n := cmp.Or(container.SoundChannels(s.out, id), channels)
			e, err := s.openSoundEncoder(astiav.FindEncoder(id), in, decoder, n)
			switch {
			case err == nil:
				if id != source {
					s.announceCodec(in, decoder, id, slices.Contains(lossless, id))
				} else {
					s.announceRounding(in, decoder, id)
				}
				if n < all {
					s.log.Warn("sound is mixed to fewer channels, as the container takes no more", "stream", in.Index(), "source", all, "written", n)
				}
				return e, nil
			case fault.KindOf(err) == fault.Usage:
				return nil, err // another codec would fail, too
			}
			failed = cmp.Or(failed, err)
		}
	}
	return nil, cmp.Or(failed, fmt.Errorf("this FFmpeg build has no encoder of it that the %s container takes", container.Name(s.out)))
}

// namedSoundEncoder returns the encoder that the options name.
func (s *Set) namedSoundEncoder() (*astiav.Codec, error) {
	name := s.opt.Sound.Codec
	codec := astiav.FindEncoderByName(name)
	switch {
	case name == "copy":
		return nil, fault.New(fault.Usage, "Output.AudioCodec copy: retime copies sound wherever it can without being told; leave it out")
	case codec == nil || !av.EncodesSound(codec):
		return nil, fault.New(fault.Usage, "Output.AudioCodec %s: no encoder of sound goes by that name in this FFmpeg build; for the %s container it has %s",
			name, container.Name(s.out), strings.Join(s.soundEncoders(), ", "))
	case container.Refuses(s.out, codec.ID()):
		return nil, fault.New(fault.Usage, "output %q: the %s container does not take %s; of this build's encoders it takes %s",
			s.muxer.Name(), container.Name(s.out), name, strings.Join(s.soundEncoders(), ", "))
	}
	return codec, nil
}

// soundEncoders returns the names of the audio encoders whose codec the container may
// take.
func (s *Set) soundEncoders() (names []string) {
	for _, c := range av.Encoders(astiav.CodecIDNone) {
		if av.EncodesSound(c) && av.QueryCodec(s.out, c.ID()) != 0 {
			names = append(names, c.Name())
		}
	}
	return names
}

// openSoundEncoder opens codec for a number of channels, if it is the decoder's in the
// decoder's layout. Some encoders support only one layout per number of channels, such as 5.1 but not 5.1(side). FFmpeg's AAC encoder
// writes unusual layouts in a way that few players can read, so it always gets the usual
// one.
func (s *Set) openSoundEncoder(codec *astiav.Codec, in *astiav.Stream, decoder *astiav.CodecContext, channels int) (*soundEncoder, error) {
	switch {
	case channels != av.Channels(decoder):
		return s.tryEncoder(codec, in, decoder, channels)
	case av.HasUsualLayout(decoder):
		return s.tryEncoder(codec, in, decoder, 0)
	}
	var err error
	if codec.ID() != astiav.CodecIDAac {
		var e *soundEncoder
		if e, err = s.tryEncoder(codec, in, decoder, 0); err == nil {
			return e, nil
		}
	}
	e, other := s.tryEncoder(codec, in, decoder, channels)
	if other != nil {
		return nil, cmp.Or(err, other)
	}
	s.log.Info("the encoder has another name for the channels", "stream", in.Index(), "encoder", codec.Name())
	return e, nil
}

// tryEncoder opens codec with the usual layout for a number of channels or, if that is 0,
// with the decoder's layout.
func (s *Set) tryEncoder(codec *astiav.Codec, in *astiav.Stream, decoder *astiav.CodecContext, channels int) (*soundEncoder, error) {
	e := &soundEncoder{
		context: astiav.AllocCodecContext(codec),
		chunk:   astiav.AllocFrame(), packed: astiav.AllocFrame(), packet: astiav.AllocPacket(), repack: av.NewResampler(),
	}
	if err := e.open(codec, in, decoder, channels, s.out, &s.opt.Sound); err != nil {
		e.free()
		return nil, err
	}
	return e, nil
}

func (e *soundEncoder) open(codec *astiav.Codec, in *astiav.Stream, decoder *astiav.CodecContext, channels int, out *astiav.FormatContext, opt *SoundOptions) error {
	c := e.context
	if err := av.CopyChannels(c, decoder, channels); err != nil {
		return err
	}
	rates := commonRates(av.SampleRates(codec), container.SoundRates(out, codec.ID()))
	e.channels, e.rate = av.Channels(c), pickSampleRate(rates, decoder.SampleRate())
	if e.channels <= 0 || e.rate <= 0 {
		return errors.New("it states no channels or no sample rate")
	}
	c.SetSampleRate(e.rate)
	c.SetSampleFormat(pickSampleFormat(av.SampleFormats(codec), decoder.SampleFormat()))
	c.SetTimeBase(astiav.NewRational(1, e.rate))
	if !av.IsLossless(codec.ID()) {
		c.SetBitRate(bitRate(in.CodecParameters(), codec.ID(), e.channels, e.rate))
	}
	if av.WantsGlobalHeader(out) {
		c.SetFlags(c.Flags().Add(astiav.CodecContextFlagGlobalHeader))
	}
	options := astiav.NewDictionary()
	defer options.Free()
	if codec.Name() == "libopus" && av.IsAmbisonic(c) {
		const family = "2" // of channels (RFC 8486), without which the encoder refuses them
		if err := options.Set("mapping_family", family, 0); err != nil {
			return fmt.Errorf("encoder option mapping_family: %w", err)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(opt.Options)) {
		if err := options.Set(k, opt.Options[k], 0); err != nil {
			return fmt.Errorf("encoder option %s=%s: %w", k, opt.Options[k], err)
		}
	}
	message, err := av.WithMessage(func() error { return c.Open(codec, options) })
	if message != "" {
		message = " (" + message + ")"
	}
	switch {
	case err != nil && opt.Codec != "":
		return fault.New(fault.Usage, "Output.AudioCodec: encoder %s refuses %d channels at %d Hz with these options: %w%s", codec.Name(), e.channels, e.rate, err, message)
	case err != nil:
		return fmt.Errorf("encoder %s: %w%s", codec.Name(), err, message)
	}
	if left := options.Get("", nil, astiav.NewDictionaryFlags(astiav.DictionaryFlagIgnoreSuffix)); left != nil {
		return fault.New(fault.Usage, "Output.AudioOptions %s: encoder %s has no such option", left.Key(), codec.Name())
	}
	if e.frameSize = c.FrameSize(); e.frameSize == 0 || av.TakesAnySize(codec) {
		e.frameSize = 1024
	}
	return nil
}

// bitRate returns a bit rate in bit/s for a codec: the source's, but at least minBitRate
// per channel and, in another codec, at most maxBitRate; freshBitRate per channel if the
// source is lossless.
func bitRate(source *astiav.CodecParameters, codec astiav.CodecID, channels, rate int) int64 {
	want := max(source.BitRate(), minBitRate*int64(channels))
	if codec != source.CodecID() {
		want = min(want, maxBitRate*int64(channels))
	}
	if av.IsLossless(source.CodecID()) {
		want = freshBitRate * int64(channels)
	}
	if codec != astiav.CodecIDMp2 {
		return want
	}
	list := layerIIBitRates[rate < 32_000]
	i, _ := slices.BinarySearch(list, want)
	return list[min(i, len(list)-1)]
}

// commonRates returns the sample rates in both a and b; an empty list stands for all.
func commonRates(a, b []int) []int {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return slices.DeleteFunc(slices.Clone(a), func(r int) bool { return !slices.Contains(b, r) })
}

// pickSampleRate returns rate, in Hz, if taken contains it or is empty, otherwise the
// next higher rate in taken, otherwise the highest.
func pickSampleRate(taken []int, rate int) int {
	if len(taken) == 0 {
		return rate
	}
	best := 0
	for _, r := range taken {
		if r >= rate && (best < rate || r < best) || r < rate && best < rate && r > best {
			best = r
		}
	}
	return best
}

// sampleFormats are the formats that soundEncoder writes, the richest first.
var sampleFormats = []astiav.SampleFormat{
	astiav.SampleFormatFltp, astiav.SampleFormatFlt, astiav.SampleFormatS32P, astiav.SampleFormatS32, astiav.SampleFormatS16P, astiav.SampleFormatS16,
}

// pickSampleFormat returns the format in taken with the same kind of samples as like,
// otherwise the richest in taken. It returns like if taken is empty.
func pickSampleFormat(taken []astiav.SampleFormat, like astiav.SampleFormat) astiav.SampleFormat {
	if len(taken) == 0 {
		return like
	}
	for _, f := range taken {
		if av.PackedFormat(f) == av.PackedFormat(like) {
			return f
		}
	}
	for _, f := range sampleFormats {
		if slices.Contains(taken, f) {
			return f
		}
	}
	return taken[0]
}

// position returns the position in the output of the next sample.
func (e *soundEncoder) position() int64 { return e.first + int64(e.filled) }

// room returns the unfilled part of the chunk, by channel.
func (e *soundEncoder) room() ([][]float32, error) {
	if e.chunk.NbSamples() == 0 {
		if err := av.NewSamples(e.chunk, e.context, e.frameSize); err != nil {
			return nil, err
		}
	}
	rest := av.FloatPlanes(e.chunk, e.channels)
	for c := range rest {
		rest[c] = rest[c][e.filled:]
	}
	return rest, nil
}

// fill calls read to fill the rest of the chunk and encodes the chunk if it is full.
func (e *soundEncoder) fill(read func([][]float32) int) (full bool, err error) {
	rest, err := e.room()
	if err != nil {
		return false, err
	}
	if e.filled += read(rest); e.filled < e.frameSize {
		return false, nil
	}
	return true, e.encode()
}

// silence starts the output at a position or, if it has already started, appends silence
// up to it.
func (e *soundEncoder) silence(position int64) error {
	if !e.begun {
		e.begun, e.first = true, position
		return nil
	}
	for gap := position - e.position(); gap > 0; {
		_, err := e.fill(func(rest [][]float32) int {
			n := min(gap, int64(len(rest[0])))
			for c := range rest {
				clear(rest[c][:n])
			}
			gap -= n
			return int(n)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *soundEncoder) encode() error {
	e.chunk.SetNbSamples(e.filled)
	f := e.chunk
	if e.context.SampleFormat() != astiav.SampleFormatFltp {
		if err := e.repack.Repack(e.packed, e.chunk, e.context.SampleFormat()); err != nil {
			return err
		}
		f = e.packed
	}
	f.SetPts(e.first)
	e.first += int64(e.filled)
	e.filled = 0
	err := e.context.SendFrame(f)
	e.chunk.Unref()
	e.packed.Unref()
	if err != nil {
		return err
	}
	return e.drain()
}

func (e *soundEncoder) drain() error {
	for {
		err := e.context.ReceivePacket(e.packet)
		if errors.Is(err, astiav.ErrEagain) || errors.Is(err, astiav.ErrEof) {
			return nil
		} else if err != nil {
			return err
		}
		if err := e.put(e.packet); err != nil {
			return err
		}
	}
}

// finish encodes the last chunk and drains the encoder.
func (e *soundEncoder) finish() error {
	if e.filled > 0 {
		if err := e.encode(); err != nil {
			return err
		}
	}
	if err := e.context.SendFrame(nil); err != nil && !errors.Is(err, astiav.ErrEof) {
		return err
	}
	return e.drain()
}

func (e *soundEncoder) free() {
	e.chunk.Free()
	e.packed.Free()
	e.packet.Free()
	e.repack.Free()
	e.context.Free()
}
