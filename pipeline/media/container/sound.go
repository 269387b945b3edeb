package container

import (
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// soundLimits are what some containers demand of sound, beyond its codec. The first entry
// that fits counts. FFmpeg's muxers tell of it only by refusing a file's header.
var soundLimits = []struct {
	muxers   string
	codecs   []astiav.CodecID // empty for all
	rates    []int            // sample rates in Hz; empty for any
	channels int              // 0 for any number
}{
	{"mpeg,vcd,vob,svcd,dvd", []astiav.CodecID{astiav.CodecIDPcmS16Be, astiav.CodecIDPcmDvd}, []int{32_000, 44_100, 48_000, 96_000}, 0},
	{"mxf,mxf_d10", nil, []int{48_000}, 0},
	{"dv", nil, []int{32_000, 44_100, 48_000}, 2},
	{"gxf", nil, []int{48_000}, 1},
	{"flv", []astiav.CodecID{astiav.CodecIDAac}, nil, 0},
	{"flv", []astiav.CodecID{astiav.CodecIDFlac, astiav.CodecIDOpus, astiav.CodecIDAc3, astiav.CodecIDEac3}, nil, 0}, // from FFmpeg 9 on
	{"flv", []astiav.CodecID{astiav.CodecIDMp3}, []int{11_025, 22_050, 44_100, 48_000}, 0},
	{"flv", []astiav.CodecID{astiav.CodecIDSpeex}, []int{16_000}, 1},
	{"flv,swf", nil, []int{11_025, 22_050, 44_100}, 0},
	{"roq", nil, []int{22_050}, 0},
}

func soundLimit(c *astiav.FormatContext, id astiav.CodecID) (rates []int, channels int) {
	for _, l := range soundLimits {
		if av.IsMuxer(c, l.muxers) && (len(l.codecs) == 0 || slices.Contains(l.codecs, id)) {
			return l.rates, l.channels
		}
	}
	return nil, 0
}

// SoundRates returns the sample rates in Hz at which c takes a codec, nil for all.
func SoundRates(c *astiav.FormatContext, id astiav.CodecID) []int {
	rates, _ := soundLimit(c, id)
	return rates
}

// SoundChannels returns the only number of channels with which c takes a codec, 0 for
// any number.
func SoundChannels(c *astiav.FormatContext, id astiav.CodecID) int {
	_, channels := soundLimit(c, id)
	return channels
}

// HoldsSound reports whether c takes a stream of sound as it is.
func HoldsSound(c *astiav.FormatContext, p *astiav.CodecParameters) bool {
	rates, channels := soundLimit(c, p.CodecID())
	return Holds(c, p) && !lacksBlocks(c, p) && (len(rates) == 0 || slices.Contains(rates, p.SampleRate())) && (channels == 0 || channels == av.ParameterChannels(p))
}

// lacksBlocks reports whether no decoder could read p from c: p does not state the size of
// its blocks, as in NUT, and decoders of its codec take the size from the container.
func lacksBlocks(c *astiav.FormatContext, p *astiav.CodecParameters) bool {
	return slices.Contains([]astiav.CodecID{astiav.CodecIDAdpcmMs, astiav.CodecIDAdpcmImaWav}, p.CodecID()) && av.BlockAlign(p) == 0 && !av.IsMuxer(c, "nut")
}

// NamesChannels reports whether c states the layout of p's channels and refuses p without
// one: FFmpeg's MP4 muxer does so for PCM, which it takes from FFmpeg 6.1 on.
func NamesChannels(c *astiav.FormatContext, p *astiav.CodecParameters) bool {
	return IsISO(c) && !av.IsMuxer(c, "mov") && av.ExactBits(p.CodecID()) > 0
}

// Samples describes sound without losses.
type Samples struct {
	Rate, Channels, Bits int  // Bits are those of a sample
	Float                bool // samples are floats
	Packed               bool // it was compressed
}

// LosslessSound returns the codecs in which c holds sound without loss, the best first: what was packed
// is packed again. Those that hold 24 bits at most are behind the others.
func LosslessSound(c *astiav.FormatContext, s Samples) []astiav.CodecID {
	const mostInPrograms = 6_144_000 // bit/s of a DVD's PCM
	if av.IsMuxer(c, "mpeg,vcd,vob,svcd,dvd") && s.Rate*s.Channels*s.Bits > mostInPrograms {
		return nil
	}
	var pcm []astiav.CodecID
	switch {
	case s.Float:
		pcm = []astiav.CodecID{astiav.CodecIDPcmF32Le, astiav.CodecIDPcmF32Be}
	case s.Bits > 24:
		pcm = []astiav.CodecID{astiav.CodecIDPcmS32Le, astiav.CodecIDPcmS32Be}
	case s.Bits <= 16:
		pcm = []astiav.CodecID{astiav.CodecIDPcmS16Le, astiav.CodecIDPcmS16Be}
	}
	pcm = append(pcm, astiav.CodecIDPcmS24Le, astiav.CodecIDPcmS24Be, astiav.CodecIDPcmDvd, astiav.CodecIDPcmBluray)
	packers := []astiav.CodecID{astiav.CodecIDFlac, astiav.CodecIDAlac}
	if IsISO(c) {
		slices.Reverse(packers) // Apple's players know ALAC alone
	}
	list := append(pcm, packers...)
	if few := IsISO(c) && !av.IsMuxer(c, "mov"); s.Bits <= 24 && !s.Float && s.Packed || few { // few players take PCM in MP4
		list = append(packers, pcm...)
	}
	return slices.DeleteFunc(list, func(id astiav.CodecID) bool {
		rates, channels := soundLimit(c, id)
		encoder := astiav.FindEncoder(id)
		if encoder == nil || !Takes(c, id) || channels != 0 && channels != s.Channels || len(rates) > 0 && !slices.Contains(rates, s.Rate) {
			return true
		}
		rates = av.SampleRates(encoder)
		return len(rates) > 0 && !slices.Contains(rates, s.Rate)
	})
}

// EncodedSound returns the codecs in which to encode sound for c, the best first: the
// container's usual one, and others for sound that this one does not hold.
func EncodedSound(c *astiav.FormatContext) (list []astiav.CodecID) {
	usual := UsualAudio(c)
	if usual == astiav.CodecIDNone {
		return nil
	}
	list = append(list, usual)
	for _, id := range []astiav.CodecID{astiav.CodecIDAac, astiav.CodecIDAc3, astiav.CodecIDMp2, astiav.CodecIDMp3, astiav.CodecIDPcmS16Le} {
		if id != usual && Takes(c, id) {
			list = append(list, id)
		}
	}
	return list
}
