package container

import (
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// ISO lists FFmpeg's names of the containers in the ISO base media family.
var ISO = []string{"mov", "mp4", "ipod", "3gp", "3g2", "f4v", "ismv", "psp"}

// MovieTimescale is the ISO containers' time scale, in ticks per second, for the start of
// each stream.
const MovieTimescale = 90_000

// IsISO reports whether an output's container is one of ISO.
func IsISO(c *astiav.FormatContext) bool { return slices.Contains(ISO, Name(c)) }

// MovieFlags returns the flags of an ISO container, whose file is open, as FFmpeg writes
// them: the index goes before the content, so that players can begin before they have the
// whole file. What cannot be written out of order, such as a pipe, is written in
// fragments, whose description waits for the first one, because edit lists belong to it.
func MovieFlags(c *astiav.FormatContext) string {
	switch {
	case Name(c) == "ismv": // in fragments by itself
		return "+delay_moov"
	case av.IsSeekable(c):
		return "+faststart"
	}
	return "+frag_keyframe+delay_moov+default_base_moof"
}

// Tag returns the tag to write for p, whose own tag fits c or is 0, for FFmpeg's choice.
// Apple's players take HEVC in ISO containers only by the name hvc1.
func Tag(c *astiav.FormatContext, p *astiav.CodecParameters) astiav.CodecTag {
	const hvc1, hev1 = 'h' | 'v'<<8 | 'c'<<16 | '1'<<24, 'h' | 'e'<<8 | 'v'<<16 | '1'<<24
	if t := p.CodecTag(); IsISO(c) && p.CodecID() == astiav.CodecIDHevc && (t == 0 || t == hev1) {
		return hvc1
	}
	if p.CodecID() == astiav.CodecIDRawvideo {
		if tag, ok := rawTag(c, p.PixelFormat()); ok {
			return tag
		}
	}
	return p.CodecTag()
}
