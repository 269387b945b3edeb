package media

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
)

// minBitRate is the least bit rate for a channel that is encoded again, freshBitRate
// that of one that was not coded with losses before.
const (
	minBitRate   = 64_000
	freshBitRate = 128_000
)

// openSoundEncoder opens the encoder that is asked for, or else the source's own
// codec again, or the container's usual one.
func (w *Writer) openSoundEncoder(s *sound) error {
	if w.opt.AudioCodec != "" {
		codec, err := w.pickSoundEncoder()
		if err != nil {
			return err
		}
		return s.openEncoder(codec)
	}
	source, usual := s.in.CodecParameters().CodecID(), usualAudioCodec(w.output)
	var failed error
	for _, id := range []astiav.CodecID{source, usual} {
		codec := astiav.FindEncoder(id)
		if codec == nil || refuses(w.output, id) {
			continue
		}
		if failed = s.openEncoder(codec); failed == nil {
			if id != source {
				w.log.Warn("sound is encoded in another codec", "stream", s.in.Index(), "source", source, "written", id)
			}
			return nil
		}
		if fault.KindOf(failed) == fault.Usage {
			return failed // it is the same for all
		}
	}
	if failed != nil {
		return failed
	}
	return fmt.Errorf("this FFmpeg build has no encoder of it that the %s container takes", w.output.OutputFormat().Name())
}

// pickSoundEncoder finds the encoder named.
func (w *Writer) pickSoundEncoder() (*astiav.Codec, error) {
	name := w.opt.AudioCodec
	codec := astiav.FindEncoderByName(name)
	switch {
	case codec == nil || !encodesSound(codec):
		return nil, fault.New(fault.Usage, "Output.AudioCodec %s: no encoder of sound goes by that name in this FFmpeg build; for the %s container it has %s",
			name, w.output.OutputFormat().Name(), strings.Join(soundEncoders(w.output), ", "))
	case refuses(w.output, codec.ID()):
		return nil, fault.New(fault.Usage, "output %q: the %s container does not take %s; of this build's encoders it takes %s",
			w.target.name, w.output.OutputFormat().Name(), name, strings.Join(soundEncoders(w.output), ", "))
	}
	return codec, nil
}

// openEncoder opens codec for the source's channels. Some encoders know a number of
// channels by one layout only, such as 5.1 for 5.1(side), and AAC's writes others in a
// way that few players read.
func (s *sound) openEncoder(codec *astiav.Codec) error {
	if usualLayout(s.decoder) {
		return s.tryEncoder(codec, false)
	}
	var err error
	if codec.ID() != astiav.CodecIDAac {
		if err = s.tryEncoder(codec, false); err == nil {
			return nil
		}
	}
	if e := s.tryEncoder(codec, true); e != nil {
		return cmp.Or(err, e)
	}
	s.w.log.Info("the encoder has another name for the channels", "stream", s.in.Index(), "encoder", codec.Name())
	return nil
}

// tryEncoder opens codec, with the usual layout of as many channels or the source's.
func (s *sound) tryEncoder(codec *astiav.Codec, usual bool) error {
	e := astiav.AllocCodecContext(codec)
	opened := false
	defer func() {
		if !opened {
			e.Free()
		}
	}()
	if err := copySound(e, s.decoder, usual); err != nil {
		return err
	}
	s.channels, s.rate = channelCount(e), pickSampleRate(codec, s.decoder.SampleRate())
	if s.channels <= 0 || s.rate <= 0 {
		return errors.New("it states no channels or no sample rate")
	}
	e.SetSampleRate(s.rate)
	e.SetSampleFormat(pickSampleFormat(codec, s.decoder.SampleFormat()))
	e.SetTimeBase(astiav.NewRational(1, s.rate))
	if !lossless(codec.ID()) {
		e.SetBitRate(s.bitRate())
	}
	if globalHeader(s.w.output) {
		e.SetFlags(e.Flags().Add(astiav.CodecContextFlagGlobalHeader))
	}
	options := astiav.NewDictionary()
	defer options.Free()
	for _, k := range slices.Sorted(maps.Keys(s.w.opt.AudioOptions)) {
		if err := options.Set(k, s.w.opt.AudioOptions[k], 0); err != nil {
			return fmt.Errorf("encoder option %s=%s: %w", k, s.w.opt.AudioOptions[k], err)
		}
	}
	message, err := withMessage(func() error { return e.Open(codec, options) })
	switch {
	case err != nil && s.w.opt.AudioCodec != "":
		return fault.New(fault.Usage, "Output.AudioCodec: encoder %s refuses %d channels at %d Hz with these options: %w%s", codec.Name(), s.channels, s.rate, err, detail(message))
	case err != nil:
		return fmt.Errorf("encoder %s: %w%s", codec.Name(), err, detail(message))
	}
	if left := options.Get("", nil, astiav.NewDictionaryFlags(astiav.DictionaryFlagIgnoreSuffix)); left != nil {
		return fault.New(fault.Usage, "Output.AudioOptions %s: encoder %s has no such option", left.Key(), codec.Name())
	}
	opened = true
	s.encoder, s.frameSize = e, e.FrameSize()
	if s.frameSize == 0 || takesAnySize(codec) {
		s.frameSize = 1024
	}
	return nil
}

// bitRate is the source's, or more where a channel has too little, or where nothing of
// it was lost before.
func (s *sound) bitRate() int64 {
	p := s.in.CodecParameters()
	if lossless(p.CodecID()) {
		return freshBitRate * int64(s.channels)
	}
	return max(p.BitRate(), minBitRate*int64(s.channels))
}
