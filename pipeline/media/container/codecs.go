package container

import (
	"bytes"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// transportCodecs are the codecs that readers of transport streams know. FFmpeg's muxer
// takes any codec, but writes most others as private data, which nobody can read.
var transportCodecs = []astiav.CodecID{
	astiav.CodecIDMpeg1Video, astiav.CodecIDMpeg2Video, astiav.CodecIDMpeg4, astiav.CodecIDH264, astiav.CodecIDHevc,
	astiav.CodecIDCavs, astiav.CodecIDDirac, astiav.CodecIDVc1,
	astiav.CodecIDMp1, astiav.CodecIDMp2, astiav.CodecIDMp3, astiav.CodecIDAac, astiav.CodecIDAacLatm, astiav.CodecIDAc3,
	astiav.CodecIDEac3, astiav.CodecIDDts, astiav.CodecIDTruehd, astiav.CodecIDOpus, astiav.CodecIDS302M,
	astiav.CodecIDDvbSubtitle, astiav.CodecIDDvbTeletext,
	astiav.CodecIDSmpteKlv, astiav.CodecIDTimedId3,
}

// blurayCodecs are the codecs that readers know in the transport streams of Blu-ray and AVCHD only.
var blurayCodecs = []astiav.CodecID{astiav.CodecIDHdmvPgsSubtitle, astiav.CodecIDPcmBluray}

// notBluray are the codecs among transportCodecs for which FFmpeg's muxer has no identifiers in such streams.
var notBluray = []astiav.CodecID{astiav.CodecIDDvbSubtitle, astiav.CodecIDDvbTeletext, astiav.CodecIDSmpteKlv, astiav.CodecIDTimedId3}

// BlurayOption is the option of FFmpeg's muxer that writes transport streams as Blu-ray and AVCHD have them, with
// packets of 192 bytes.
const BlurayOption = "mpegts_m2ts_mode"

// IsBluray reports whether c is such a transport stream.
func IsBluray(c *astiav.FormatContext) bool {
	return av.IsMuxer(c, "mpegts") && av.MuxerOption(c, BlurayOption) > 0
}

// onlyCodecs lists the codecs of the containers whose muxers do not list them.
var onlyCodecs = []struct {
	muxers string
	codecs []astiav.CodecID
}{
	{"mpeg,vcd,vob,svcd,dvd", []astiav.CodecID{
		astiav.CodecIDMpeg1Video, astiav.CodecIDMpeg2Video, astiav.CodecIDH264,
		astiav.CodecIDMp1, astiav.CodecIDMp2, astiav.CodecIDMp3, astiav.CodecIDAc3, astiav.CodecIDDts, astiav.CodecIDPcmS16Be, astiav.CodecIDPcmDvd,
		astiav.CodecIDDvdSubtitle,
	}},
	{"mxf", []astiav.CodecID{
		astiav.CodecIDMpeg2Video, astiav.CodecIDDnxhd, astiav.CodecIDDvvideo, astiav.CodecIDProres, astiav.CodecIDH264, astiav.CodecIDJpeg2000,
		astiav.CodecIDPcmS16Le, astiav.CodecIDPcmS24Le,
	}},
	{"mxf_d10", []astiav.CodecID{astiav.CodecIDMpeg2Video, astiav.CodecIDPcmS16Le, astiav.CodecIDPcmS24Le}},
	{"mxf_opatom", []astiav.CodecID{astiav.CodecIDDnxhd, astiav.CodecIDMpeg2Video, astiav.CodecIDDvvideo, astiav.CodecIDProres}}, // one stream a file
	{"gxf", []astiav.CodecID{
		astiav.CodecIDMpeg1Video, astiav.CodecIDMpeg2Video, astiav.CodecIDDvvideo, astiav.CodecIDMjpeg, astiav.CodecIDPcmS16Le,
	}},
	{"dv", []astiav.CodecID{astiav.CodecIDDvvideo, astiav.CodecIDPcmS16Le}},
	{"swf", []astiav.CodecID{
		astiav.CodecIDFlv1, astiav.CodecIDVp6, astiav.CodecIDVp6F, astiav.CodecIDVp6A, astiav.CodecIDFlashsv, astiav.CodecIDFlashsv2,
		astiav.CodecIDPng, astiav.CodecIDMjpeg, astiav.CodecIDMp3,
	}},
	{"amv", []astiav.CodecID{astiav.CodecIDAmv, astiav.CodecIDAdpcmImaAmv}},
	{"roq", []astiav.CodecID{astiav.CodecIDRoq, astiav.CodecIDRoqDpcm}},
	{"ogg,ogv", []astiav.CodecID{
		astiav.CodecIDTheora, astiav.CodecIDVp8,
		astiav.CodecIDVorbis, astiav.CodecIDOpus, astiav.CodecIDFlac, astiav.CodecIDSpeex,
	}},
	{"oga,opus,spx", []astiav.CodecID{astiav.CodecIDVorbis, astiav.CodecIDOpus, astiav.CodecIDFlac, astiav.CodecIDSpeex}},
	{"mpegts", transportCodecs},
}

// elementary are the containers that hold pictures of the one codec that their name
// states. FFmpeg's muxers write any codec to most of them, without saying which.
const elementary = "h264,hevc,m4v,mjpeg,mpjpeg,mpeg1video,mpeg2video,obu,vc1,vc1test,h261,h263,cavsvideo,avs2,avs3,dirac,dnxhd,gif,apng,webp"

// misstated maps each codec that some muxers list wrongly to the names of these muxers.
// They refuse the codec, except for NUT's, which garbles it.
var misstated = map[astiav.CodecID]string{
	astiav.CodecIDFlac: misstatedISO, astiav.CodecIDOpus: misstatedISO, astiav.CodecIDTruehd: misstatedISO,
	astiav.CodecIDVp8: misstatedISO, astiav.CodecIDVp9: misstatedISO, av.CodecIDAV1: misstatedISO,
	astiav.CodecIDMp3: "nut",
}

const misstatedISO = "mov,3gp,3g2,psp,ipod,ismv,f4v"

// query returns 1 if c takes a codec, 0 if it does not, and a negative number if FFmpeg
// does not know.
func query(c *astiav.FormatContext, id astiav.CodecID) int {
	switch {
	case slices.Contains(blurayCodecs, id) && IsBluray(c):
		return 1
	case slices.Contains(notBluray, id) && IsBluray(c):
		return 0
	}
	for _, l := range onlyCodecs {
		switch {
		case !av.IsMuxer(c, l.muxers):
		case slices.Contains(l.codecs, id):
			return 1
		default:
			return 0
		}
	}
	switch {
	case av.IsMuxer(c, elementary):
		if id == av.DefaultCodec(c, astiav.MediaTypeVideo) {
			return 1
		}
		return 0
	case misstated[id] != "" && av.IsMuxer(c, misstated[id]):
		return 0
	case av.IsMuxer(c, "matroska") && av.HasRIFFTag(id):
		return 1 // in the compatibility modes, which the muxer leaves out of its list
	}
	if av.IsMuxer(c, "mov") && slices.Contains(taggedAsInAVI, id) {
		return -1 // FFmpeg reads it; whether other players do is not known
	}
	return av.QueryCodec(c, id)
}

// taggedAsInAVI are codecs without losses that FFmpeg's MOV muxer writes with AVI's tag.
var taggedAsInAVI = []astiav.CodecID{astiav.CodecIDFfv1, astiav.CodecIDHuffyuv, astiav.CodecIDFfvhuff}

// Holds reports whether c takes the stream. If FFmpeg does not know, it reports whether c
// takes any stream of this kind.
func Holds(c *astiav.FormatContext, p *astiav.CodecParameters) bool {
	known := query(c, p.CodecID())
	if known >= 0 {
		return known != 0
	}
	// A container without a default codec for a kind of stream takes no such streams.
	return av.DefaultCodec(c, p.MediaType()) != astiav.CodecIDNone
}

// WantsStartCodes reports whether c's readers find units of a codec by start codes (Annex B of ITU-T H.264 and H.265).
func WantsStartCodes(c *astiav.FormatContext, id astiav.CodecID) bool {
	return (id == astiav.CodecIDH264 || id == astiav.CodecIDHevc) && av.IsMuxer(c, "avi,mpeg,vob,dvd,svcd,vcd,mxf,mxf_opatom,wtv,"+addStartCodes)
}

// addStartCodes are the muxers that put start codes in place of lengths. They leave out the parameter sets of a second key
// frame if the first one has its own.
const addStartCodes = "mpegts,h264,hevc"

// AddsStartCodes reports whether c's muxer puts start codes in place of lengths. Others fail then, or write what nobody can read.
func AddsStartCodes(c *astiav.FormatContext) bool { return av.IsMuxer(c, addStartCodes) }

// StatesLengths reports whether p's packets, of H.264 or HEVC, state the lengths of their units, as in MP4 and Matroska.
func StatesLengths(p *astiav.CodecParameters) bool {
	header := p.ExtraData()
	return len(header) > 0 && !bytes.HasPrefix(header, []byte{0, 0, 1}) && !bytes.HasPrefix(header, []byte{0, 0, 0, 1})
}

// Refuses reports whether c is known not to take the codec.
func Refuses(c *astiav.FormatContext, id astiav.CodecID) bool { return query(c, id) == 0 }

// Takes reports whether c is known to take the codec.
func Takes(c *astiav.FormatContext, id astiav.CodecID) bool { return query(c, id) == 1 }

// UsualVideo returns the usual video codec of c, AV_CODEC_ID_NONE if it has none.
func UsualVideo(c *astiav.FormatContext) astiav.CodecID {
	return av.GuessCodec(c, astiav.MediaTypeVideo)
}

// UsualAudio returns the usual audio codec of c, AV_CODEC_ID_NONE if it takes no sound.
func UsualAudio(c *astiav.FormatContext) astiav.CodecID {
	if av.IsMuxer(c, "mpegts") {
		return astiav.CodecIDAac // FFmpeg's choice, MP2, sounds worse
	}
	return usualAudio(c, av.GuessCodec(c, astiav.MediaTypeAudio))
}

// usualAudio returns guess, which is FFmpeg's choice for c, or what takes its place.
func usualAudio(c *astiav.FormatContext, guess astiav.CodecID) astiav.CodecID {
	switch {
	case !Refuses(c, guess):
		return guess
	case guess == astiav.CodecIDMp3 && av.IsMuxer(c, misstated[guess]):
		return astiav.CodecIDAac // an FFmpeg without Vorbis has MP3 in NUT
	}
	return astiav.CodecIDNone
}
