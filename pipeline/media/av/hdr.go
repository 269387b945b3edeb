package av

/*
#cgo pkg-config: libavutil
#include <stdint.h>
#include <libavutil/hdr_dynamic_metadata.h>
#include <libavutil/mastering_display_metadata.h>
#include "compat.h"
struct bits { uint8_t *data; int at, size; };

static void put(struct bits *b, uint32_t v, int n)
{
	while (n-- > 0 && b->at < 8 * b->size) {
		b->data[b->at >> 3] |= (v >> n & 1) << (7 - (b->at & 7));
		b->at++;
	}
}

// Writes a fraction in units of 1/unit.
static void put_fraction(struct bits *b, AVRational v, int unit, int n)
{
	put(b, v.den ? ((int64_t)v.num * unit + v.den / 2) / v.den : 0, n);
}

static void put_peaks(struct bits *b, int flag, int rows, int columns, const AVRational peaks[25][25])
{
	put(b, flag, 1);
	if (!flag)
		return;
	put(b, rows, 5);
	put(b, columns, 5);
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < columns; j++)
			put_fraction(b, peaks[i][j], 15, 4);
}

// Writes f's metadata as the user data of SMPTE ST 2094-40 (section 8 and annex of
// registered user data by ITU-T T.35) into data, which must be zeroed. It returns the
// number of bytes, 0 if f has no metadata or metadata for more than one window.
static int hdr10plus(const AVFrame *f, uint8_t *data, int size)
{
	const AVFrameSideData *sd = av_frame_get_side_data(f, AV_FRAME_DATA_DYNAMIC_HDR_PLUS);
	const AVDynamicHDRPlus *m = sd ? (const AVDynamicHDRPlus *)sd->data : NULL;
	struct bits b = { data, 0, size };
	if (!m || m->num_windows != 1)
		return 0;
	const AVHDRPlusColorTransformParams *w = &m->params[0];
	put(&b, 0xb5, 8);    // United States
	put(&b, 0x003c, 16); // the provider: Samsung
	put(&b, 0x0001, 16);
	put(&b, 4, 8); // application 4
	put(&b, m->application_version, 8);
	put(&b, 1, 2);
	put_fraction(&b, m->targeted_system_display_maximum_luminance, 1, 27);
	put_peaks(&b, m->targeted_system_display_actual_peak_luminance_flag, m->num_rows_targeted_system_display_actual_peak_luminance,
		m->num_cols_targeted_system_display_actual_peak_luminance, m->targeted_system_display_actual_peak_luminance);
	for (int i = 0; i < 3; i++)
		put_fraction(&b, w->maxscl[i], 100000, 17);
	put_fraction(&b, w->average_maxrgb, 100000, 17);
	put(&b, w->num_distribution_maxrgb_percentiles, 4);
	for (int i = 0; i < w->num_distribution_maxrgb_percentiles; i++) {
		put(&b, w->distribution_maxrgb[i].percentage, 7);
		put_fraction(&b, w->distribution_maxrgb[i].percentile, 100000, 17);
	}
	put_fraction(&b, w->fraction_bright_pixels, 1000, 10);
	put_peaks(&b, m->mastering_display_actual_peak_luminance_flag, m->num_rows_mastering_display_actual_peak_luminance,
		m->num_cols_mastering_display_actual_peak_luminance, m->mastering_display_actual_peak_luminance);
	put(&b, w->tone_mapping_flag, 1);
	if (w->tone_mapping_flag) {
		put_fraction(&b, w->knee_point_x, 4095, 12);
		put_fraction(&b, w->knee_point_y, 4095, 12);
		put(&b, w->num_bezier_curve_anchors, 4);
		for (int i = 0; i < w->num_bezier_curve_anchors; i++)
			put_fraction(&b, w->bezier_curve_anchors[i], 1023, 10);
	}
	put(&b, w->color_saturation_mapping_flag, 1);
	if (w->color_saturation_mapping_flag)
		put_fraction(&b, w->color_saturation_weight, 8, 6);
	return b.at < 8 * size ? (b.at + 7) / 8 : 0;
}
*/
import "C"

import (
	"bytes"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// HDR10PlusUserData returns f's HDR10+ metadata as registered user data of ITU-T T.35,
// nil if there is none. It does what av_dynamic_hdr_plus_to_t35 does, which FFmpeg has
// from 6.1 on.
func HDR10PlusUserData(f *astiav.Frame) []byte {
	var data [4096]byte
	n := C.hdr10plus(raw(f), (*C.uint8_t)(&data[0]), C.int(len(data)))
	return bytes.Clone(data[:n])
}

// WritesHDR10Plus reports whether FFmpeg passes the HDR10+ metadata of frames to an encoder:
// to libaom's, with FFmpeg 9.
func WritesHDR10Plus(encoder string) bool {
	return encoder == "libaom-av1" && C.compat_libaom_writes_hdr10plus() != 0
}

// MasteringDisplay holds an AVMasteringDisplayMetadata: CIE 1931 chromaticities (x, y)
// and luminances in cd/m².
type MasteringDisplay struct {
	Red, Green, Blue, White [2]astiav.Rational
	Least, Greatest         astiav.Rational // luminance
}

// ParseMasteringDisplay reads the side data of an AVMasteringDisplayMetadata; ok is false
// unless it has both primaries and luminance.
func ParseMasteringDisplay(data []byte) (m MasteringDisplay, ok bool) {
	if len(data) < C.sizeof_AVMasteringDisplayMetadata {
		return m, false
	}
	c := (*C.AVMasteringDisplayMetadata)(unsafe.Pointer(unsafe.SliceData(data)))
	if c.has_primaries == 0 || c.has_luminance == 0 {
		return m, false
	}
	number := func(v C.AVRational) astiav.Rational { return astiav.NewRational(int(v.num), int(v.den)) }
	pair := func(v [2]C.AVRational) [2]astiav.Rational { return [2]astiav.Rational{number(v[0]), number(v[1])} }
	return MasteringDisplay{
		pair(c.display_primaries[0]), pair(c.display_primaries[1]), pair(c.display_primaries[2]), pair(c.white_point),
		number(c.min_luminance), number(c.max_luminance),
	}, true
}

// ParseContentLight reads the side data of an AVContentLightMetadata: the greatest
// luminance of a pixel (MaxCLL) and the greatest mean luminance of a picture (MaxFALL),
// both in cd/m². ok is false if data is too short.
func ParseContentLight(data []byte) (pixel, mean int, ok bool) {
	if len(data) < C.sizeof_AVContentLightMetadata {
		return 0, 0, false
	}
	l := (*C.AVContentLightMetadata)(unsafe.Pointer(unsafe.SliceData(data)))
	return int(l.MaxCLL), int(l.MaxFALL), true
}
