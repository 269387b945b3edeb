package streams

import (
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
)

// isLossless reports whether a stream of sound was coded without losses.
func isLossless(p *astiav.CodecParameters) bool {
	return av.IsLossless(p.CodecID()) || av.LosslessProfile(p)
}

// isPCM reports whether a codec is PCM, of a disc or a broadcast, too.
func isPCM(id astiav.CodecID) bool {
	return av.ExactBits(id) > 0 || slices.Contains([]astiav.CodecID{astiav.CodecIDPcmBluray, astiav.CodecIDPcmDvd, astiav.CodecIDS302M}, id)
}

// losslessCodecs returns the codecs in which the output holds sound without losses, with all its
// channels at its rate; none if it already was coded with losses.
func (s *Set) losslessCodecs(in *astiav.Stream, decoder *astiav.CodecContext) []astiav.CodecID {
	if !isLossless(in.CodecParameters()) {
		return nil
	}
	bits, float := av.SampleBits(decoder)
	return container.LosslessSound(s.out, container.Samples{
		Rate: decoder.SampleRate(), Channels: av.Channels(decoder), Bits: bits, Float: float, Packed: !isPCM(in.CodecParameters().CodecID()),
	})
}

// announceCodec says that sound is encoded in another codec than the source's, and what that loses.
func (s *Set) announceCodec(in *astiav.Stream, decoder *astiav.CodecContext, id astiav.CodecID, lossless bool) {
	source := in.CodecParameters().CodecID()
	switch {
	case lossless && keepsSamples(decoder, id):
		s.log.Info("sound is encoded in another codec, without losses; Output.AudioCodec chooses another", "stream", in.Index(), "source", source, "written", id)
	case lossless:
		s.log.Warn("sound is encoded in another codec, rounded to 24 bits a sample; Output.AudioCodec chooses another", "stream", in.Index(), "source", source, "written", id)
	case isLossless(in.CodecParameters()):
		s.log.Warn("sound without losses is encoded in another codec, with losses; Output.AudioCodec chooses another, and Matroska or MOV hold it without",
			"stream", in.Index(), "source", source, "written", id, "container", container.Name(s.out))
	default:
		s.log.Warn("sound is encoded in another codec", "stream", in.Index(), "source", source, "written", id)
	}
}

// keepsSamples reports whether sound that is decoded and encoded in a codec without losses has
// the same samples: 32-bit floats, as all sound here, hold integers of 24 bits.
func keepsSamples(decoder *astiav.CodecContext, id astiav.CodecID) bool {
	bits, float := av.SampleBits(decoder)
	return float && bits == 32 && (id == astiav.CodecIDPcmF32Le || id == astiav.CodecIDPcmF32Be) || !float && bits <= 24
}

// announceRounding says if sound of the same speed loses bits although it is encoded in a codec
// without losses that the user, or the source, has chosen.
func (s *Set) announceRounding(in *astiav.Stream, decoder *astiav.CodecContext, id astiav.CodecID) {
	if s.keepsTime() && isLossless(in.CodecParameters()) && (isPCM(id) || av.IsLossless(id)) && !keepsSamples(decoder, id) {
		s.log.Warn("sound is rounded to 24 bits a sample, as it is encoded again", "stream", in.Index(), "written", id)
	}
}
