package container

import (
	"encoding/binary"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// rawTags are the tags of uncompressed pictures in MOV and AVI, by their format, where readers do not know those that FFmpeg's
// encoder gives them. In AVI, 0 is BI_RGB.
var rawTags = map[string]map[astiav.PixelFormat]string{
	"mov": {
		astiav.PixelFormatYuyv422: "yuvs", astiav.PixelFormatUyvy422: "2vuy", astiav.PixelFormatRgb24: "raw ", astiav.PixelFormatBgr24: "24BG",
		astiav.PixelFormatArgb: "raw ", astiav.PixelFormatBgra: "BGRA", astiav.PixelFormatRgba: "RGBA", astiav.PixelFormatAbgr: "ABGR",
		astiav.PixelFormatRgb48Be: "b48r", astiav.PixelFormatGray16Be: "b16g", astiav.PixelFormatGray8: "raw ",
	},
	"avi": {astiav.PixelFormatBgr24: "\x00\x00\x00\x00", astiav.PixelFormatBgra: "\x00\x00\x00\x00", astiav.PixelFormatRgb555Le: "\x00\x00\x00\x00"},
}

// rawTag returns the tag of MOV or AVI for uncompressed pictures in a format; ok is false if c is another container, or has none
// by which they can be read.
func rawTag(c *astiav.FormatContext, format astiav.PixelFormat) (tag astiav.CodecTag, ok bool) {
	name, own := rawTags[Name(c)][format]
	if own {
		return astiav.CodecTag(binary.LittleEndian.Uint32([]byte(name))), true
	}
	tag = astiav.CodecTag(av.RawTag(format))
	return tag, rawTags[Name(c)] != nil && av.RIFFCodec(uint32(tag)) == astiav.CodecIDRawvideo
}

// HoldsPixels reports whether pictures of a codec in a format can be read from c.
func HoldsPixels(c *astiav.FormatContext, id astiav.CodecID, format astiav.PixelFormat) bool {
	_, ok := rawTag(c, format)
	return ok || id != astiav.CodecIDRawvideo || rawTags[Name(c)] == nil
}
