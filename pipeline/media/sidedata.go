package media

/*
#cgo pkg-config: libavcodec libavformat libavutil
#include <string.h>
#include <libavcodec/packet.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
#include <libavutil/mastering_display_metadata.h>

static int copy_side_data(AVStream *dst, enum AVPacketSideDataType type, const uint8_t *data, size_t size)
{
	uint8_t *to = av_stream_new_side_data(dst, type, size);
	if (!to)
		return AVERROR(ENOMEM);
	memcpy(to, data, size);
	return 0;
}

// Values in units of 1/unit, rounded.
static int in_units(AVRational v, int unit) { return v.den ? (int)(((int64_t)v.num * unit + v.den / 2) / v.den) : 0; }
*/
import "C"

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// property is a kind of side data that holds for all pictures of a stream.
type property struct {
	name   string
	packet C.enum_AVPacketSideDataType
	frame  C.enum_AVFrameSideDataType
	muxers []string // of FFmpeg 5.1 that write it
}

// isoMuxers are FFmpeg's names for the containers of the ISO base media family.
var isoMuxers = []string{"mov", "mp4", "ipod", "3gp", "3g2", "f4v", "ismv", "psp"}

var properties = []property{
	{"mastering display", C.AV_PKT_DATA_MASTERING_DISPLAY_METADATA, C.AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, []string{"matroska", "webm", "mp4", "mov"}},
	{"content light level", C.AV_PKT_DATA_CONTENT_LIGHT_LEVEL, C.AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, []string{"matroska", "webm", "mp4", "mov"}},
	{"display matrix", C.AV_PKT_DATA_DISPLAYMATRIX, C.AV_FRAME_DATA_DISPLAYMATRIX, isoMuxers},
	{"stereoscopic layout", C.AV_PKT_DATA_STEREO3D, C.AV_FRAME_DATA_STEREO3D, []string{"matroska", "webm", "mp4"}},
	{"spherical projection", C.AV_PKT_DATA_SPHERICAL, C.AV_FRAME_DATA_SPHERICAL, []string{"matroska", "webm", "mp4"}},
	{"ICC profile", C.AV_PKT_DATA_ICC_PROFILE, C.AV_FRAME_DATA_ICC_PROFILE, []string{"mov", "mp4"}},
}

// readProperties returns what is said of all pictures, by the container or else
// with the first picture.
func readProperties(s *astiav.Stream, first *astiav.Frame) map[uint32][]byte {
	out := map[uint32][]byte{}
	for _, p := range properties {
		var size C.size_t
		if data := C.av_stream_get_side_data(native[C.AVStream](s), p.packet, &size); data != nil {
			out[p.packet] = C.GoBytes(unsafe.Pointer(data), C.int(size))
		} else if d := C.av_frame_get_side_data(rawFrame(first), p.frame); d != nil {
			out[p.packet] = C.GoBytes(unsafe.Pointer(d.data), C.int(d.size))
		}
	}
	return out
}

// writeProperties describes the output's pictures as the source's are, and says
// what its container and encoder cannot.
func (w *Writer) writeProperties() error {
	container := w.output.OutputFormat().Name()
	var lost []string
	for _, p := range properties {
		data, ok := w.source.properties[p.packet]
		if !ok {
			continue
		}
		if r := C.copy_side_data(native[C.AVStream](w.video), p.packet, (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(data))), C.size_t(len(data))); r < 0 {
			return astiav.Error(r)
		}
		if !slices.Contains(p.muxers, container) && !w.encoderKeeps(p.packet) {
			lost = append(lost, p.name)
		}
	}
	if w.source.dynamicHDR != "" && !w.keepsHDR10Plus() {
		lost = append(lost, w.source.dynamicHDR)
	}
	if len(lost) > 0 {
		w.log.Warn("the output cannot hold this of the picture's description", "lost", strings.Join(lost, ", "),
			"container", container, "encoder", w.codec.Name())
	}
	return nil
}

// hasProfile says whether an ICC profile tells more of the colours than their tags.
func (w *Writer) hasProfile() bool { return len(w.source.properties[C.AV_PKT_DATA_ICC_PROFILE]) > 0 }

// dynamicHDR names the metadata of f that changes with each picture, which no encoder
// of FFmpeg 5.1 writes by itself.
func dynamicHDR(f *astiav.Frame) string {
	for _, d := range []struct {
		kind C.enum_AVFrameSideDataType
		name string
	}{
		{C.AV_FRAME_DATA_DYNAMIC_HDR_PLUS, nameHDR10Plus},
		{C.AV_FRAME_DATA_DOVI_METADATA, "Dolby Vision metadata"},
		{C.AV_FRAME_DATA_DOVI_RPU_BUFFER, "Dolby Vision metadata"},
		{C.AV_FRAME_DATA_DYNAMIC_HDR_VIVID, "HDR Vivid dynamic metadata"},
	} {
		if C.av_frame_get_side_data(rawFrame(f), d.kind) != nil {
			return d.name
		}
	}
	return ""
}

// encoderKeeps says whether the encoder writes the property into its stream.
func (w *Writer) encoderKeeps(kind C.enum_AVPacketSideDataType) bool {
	switch kind {
	case C.AV_PKT_DATA_MASTERING_DISPLAY_METADATA, C.AV_PKT_DATA_CONTENT_LIGHT_LEVEL:
		_, ok := hdrParameters[w.codec.Name()]
		return ok
	case C.AV_PKT_DATA_ICC_PROFILE:
		return slices.Contains([]string{"png", "apng", "mjpeg", "libjxl", "libwebp"}, w.codec.Name())
	}
	return false
}

// hdrParameters are the encoders that are told HDR10's static metadata in a list
// of parameters of their own: the option that holds it, the keys for mastering
// display and content light level, and the units that they count in.
var hdrParameters = map[string]struct {
	option, mastering, light string
	chroma, luminance        int
}{
	"libx264":   {"x264-params", "mastering-display", "cll", 50000, 10000},
	"libx265":   {"x265-params", "master-display", "max-cll", 50000, 10000},
	"libsvtav1": {"svtav1-params", "mastering-display", "content-light", 0, 0},
}

// hdrOption returns the encoder option that says what r tells of HDR10's static
// metadata, with an empty key where there is nothing to say.
func hdrOption(encoder string, r *Reader) (key, value string) {
	p, ok := hdrParameters[encoder]
	if !ok {
		return "", ""
	}
	var list []string
	if data := r.properties[C.AV_PKT_DATA_MASTERING_DISPLAY_METADATA]; len(data) >= C.sizeof_AVMasteringDisplayMetadata {
		m := (*C.AVMasteringDisplayMetadata)(unsafe.Pointer(unsafe.SliceData(data)))
		if m.has_primaries != 0 && m.has_luminance != 0 {
			list = append(list, p.mastering+"="+masteringDisplay(m, p.chroma, p.luminance))
		}
	}
	if data := r.properties[C.AV_PKT_DATA_CONTENT_LIGHT_LEVEL]; len(data) >= C.sizeof_AVContentLightMetadata {
		l := (*C.AVContentLightMetadata)(unsafe.Pointer(unsafe.SliceData(data)))
		list = append(list, fmt.Sprintf("%s=%d,%d", p.light, l.MaxCLL, l.MaxFALL))
	}
	if len(list) == 0 {
		return "", ""
	}
	return p.option, strings.Join(list, ":")
}

// masteringDisplay writes m as encoders read it: chromaticities and luminances in
// the units given, or as decimals where these are 0.
func masteringDisplay(m *C.AVMasteringDisplayMetadata, chroma, luminance int) string {
	number := func(v C.AVRational, unit int) string {
		if unit == 0 {
			return fmt.Sprintf("%.5f", float64(v.num)/float64(max(1, v.den)))
		}
		return fmt.Sprint(C.in_units(v, C.int(unit)))
	}
	pair := func(v [2]C.AVRational) string { return number(v[0], chroma) + "," + number(v[1], chroma) }
	red, green, blue := m.display_primaries[0], m.display_primaries[1], m.display_primaries[2]
	return fmt.Sprintf("G(%s)B(%s)R(%s)WP(%s)L(%s,%s)", pair(green), pair(blue), pair(red), pair(m.white_point),
		number(m.max_luminance, luminance), number(m.min_luminance, luminance))
}
