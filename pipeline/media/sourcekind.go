package media

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/nalunit"
	"retime/pipeline/media/pixel"
	"retime/pipeline/timeline/rational"
)

// mezzanines are the encoders of codecs that are made to be worked on further.
var mezzanines = map[string]string{"prores": "prores_ks", "dnxhd": "dnxhd", "cfhd": "cfhd"}

// setsQuality reports whether the caller says how good the pictures shall be, or what they are. The
// source's own quality then does not count.
func (o *EncoderOptions) setsQuality() bool {
	return o.CRF >= 0 || len(o.Options) > 0 || o.PixelFormat != ""
}

// isLosslessVideo reports whether the video of an input was compressed without losses; packet says
// so of its first packet. Pictures, GIF and raw video, which programs hand on, do not count.
func isLosslessVideo(input *astiav.FormatContext, video *astiav.CodecParameters, packet bool) bool {
	id, format := video.CodecID(), input.InputFormat().Name()
	switch {
	case id == astiav.CodecIDH264:
		return isLosslessH264(video.ExtraData())
	case id == astiav.CodecIDRawvideo || id == av.CodecIDWrapped,
		strings.HasPrefix(format, "image2") || strings.HasSuffix(format, "_pipe") || format == "gif" || format == "apng":
		return false
	}
	return packet || av.IsLossless(id)
}

// mezzanine returns the encoder of the source's codec if that is a mezzanine, empty otherwise.
func (s *Source) mezzanine() string { return mezzanines[s.Video.Codec] }

// losslessEncoders are the encoders that write YUV, grey or RGB without losses, the preferred first, and
// the options by which they do so.
var losslessEncoders = []struct{ name, key, value string }{
	{"ffv1", "", ""}, {"libx264", "qp", "0"}, {"libx264rgb", "qp", "0"}, {"libx265", "x265-params", "lossless=1"}, {"libvpx-vp9", "lossless", "1"},
}

// losslessEncoder returns the encoder that writes the source's pictures without losses: its own codec's
// if there is one, or else one of losslessEncoders. named returns an encoder by name, nil if the output
// does not take its codec.
func losslessEncoder(source *Source, named func(string) *astiav.Codec) *astiav.Codec {
	format := source.Pixels.Carried()
	exact := func(codec *astiav.Codec) bool {
		if codec == nil {
			return false
		}
		_, lost, ok := pixel.Nearest(format, encoderFormats(codec), func(p astiav.PixelFormat) bool { return pixel.IsRGB(p) == pixel.IsRGB(format) })
		return ok && lost == pixel.Loss{}
	}
	names := []string{"libx264", "libx264rgb"}
	if id := av.CodecNamed(source.Video.Codec); id != astiav.CodecIDH264 {
		names = nil
		for _, c := range av.Encoders(id) {
			if isLosslessEncoder(c) {
				names = append(names, c.Name())
			}
		}
	}
	for _, e := range losslessEncoders {
		names = append(names, e.name)
	}
	for _, name := range names {
		if codec := named(name); exact(codec) {
			return codec
		}
	}
	return nil
}

// kindOptions returns the options by which a chosen encoder keeps what the source is: without losses,
// or its profile.
func kindOptions(source *Source, encoder string, format astiav.PixelFormat) map[string]string {
	switch {
	case source.Lossless:
		for _, e := range losslessEncoders {
			if e.name == encoder && e.key != "" {
				return map[string]string{e.key: e.value}
			}
		}
	case encoder == "prores_ks" && source.mezzanine() == encoder:
		profile := ProResProfile(source.Codec())
		if pixel.HasAlpha(format) {
			profile = max(profile, 4) // 4444
		}
		return map[string]string{"profile": strconv.Itoa(profile)}
	case encoder == "dnxhd" && source.mezzanine() == encoder:
		profile := source.Codec().Profile()
		switch deep := pixel.Depth(format) > 8; {
		case profile > 0:
			return map[string]string{"profile": strconv.Itoa(int(profile))}
		case deep:
			return map[string]string{"profile": "dnxhr_hqx"} // DNxHD has few sizes, and rates of its own
		}
		return map[string]string{"profile": "dnxhr_hq"}
	}
	return nil
}

// DNxHDSettings returns the options with which encoder dnxhd may write packets like the source's, which is in its codec, in the
// order to try them: the stated profile of DNxHR, or, for DNxHD, bit rates, of which the encoder takes the nominal ones.
func (s *Source) DNxHDSettings() (list []map[string]string) {
	if profile := int(s.Codec().Profile()); profile > 0 {
		return []map[string]string{{"profile": strconv.Itoa(profile)}}
	}
	const below = 18 // in Mbit/s; padding makes the stream's rate higher than the nominal rate
	rate := s.Codec().BitRate() / 1e6
	if v := s.Video.Rate; rate == 0 && v != nil { // as in MXF
		rate = rational.Floor(new(big.Rat).Mul(v, big.NewRat(8*int64(s.undecoded.size), 1e6))) // all packets have one size
	}
	rate += 1 + rate/100 // nominal rates are rounded
	for mega := rate; mega > max(rate-below, 0); mega-- {
		list = append(list, map[string]string{"b": strconv.FormatInt(mega, 10) + "M"})
	}
	return list
}

// ProResProfile returns the profile that p states or, if it states none, the one that its tag
// stands for, as FFmpeg numbers them.
func ProResProfile(p *astiav.CodecParameters) int {
	if stated := int(p.Profile()); stated >= 0 {
		return stated
	}
	for n, name := range []string{"apco", "apcs", "apcn", "apch", "ap4h", "ap4x"} {
		if uint32(p.CodecTag()) == uint32(name[0])|uint32(name[1])<<8|uint32(name[2])<<16|uint32(name[3])<<24 {
			return n
		}
	}
	return 3
}

// isLosslessH264 reports whether a header of H.264 has a sequence parameter set with
// qpprime_y_zero_transform_bypass_flag (ITU-T H.264, 7.3.2.1.1), which x264 sets for streams
// without losses.
func isLosslessH264(header []byte) bool {
	const high444 = 244
	var set []byte
	if len(header) > 8 && header[0] == 1 { // avcC
		n := int(header[6])<<8 | int(header[7])
		set = header[8:min(8+n, len(header))]
	} else {
		for _, unit := range nalunit.SplitStartCodes(header) {
			if unit[0]&0x1f == 7 {
				set = unit
				break
			}
		}
	}
	if len(set) < 5 || set[0]&0x1f != 7 || set[1] != high444 {
		return false
	}
	b := bitReader{data: nalunit.Unescape(set[4:])}
	b.number() // the set's
	if chroma := b.number(); chroma == 3 {
		b.bit() // separate planes
	}
	b.number() // bit depths
	b.number()
	return b.bit() == 1
}

// bitReader reads bits, the highest first, and zeros behind the end.
type bitReader struct {
	data []byte
	at   int
}

func (b *bitReader) bit() int {
	i := b.at
	b.at++
	if i/8 >= len(b.data) {
		return 0
	}
	return int(b.data[i/8]>>(7-i%8)) & 1
}

// number reads an Exp-Golomb number, ue(v), of up to 32 bits.
func (b *bitReader) number() int {
	zeros := 0
	for zeros < 32 && b.bit() == 0 {
		zeros++
	}
	v := 1
	for range zeros {
		v = v<<1 | b.bit()
	}
	return v - 1
}

// isLosslessEncoder reports whether an encoder that was chosen for a source without losses has none.
func isLosslessEncoder(codec *astiav.Codec) bool {
	for _, e := range losslessEncoders {
		if e.name == codec.Name() {
			return true
		}
	}
	return av.IsLossless(codec.ID())
}
