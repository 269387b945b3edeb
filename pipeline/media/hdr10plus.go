package media

/*
#cgo pkg-config: libavutil
#include <stdint.h>
#include <libavutil/frame.h>
#include <libavutil/hdr_dynamic_metadata.h>

struct bits { uint8_t *data; int at, size; };

static void put(struct bits *b, uint32_t v, int n)
{
	while (n-- > 0 && b->at < 8 * b->size) {
		b->data[b->at >> 3] |= (v >> n & 1) << (7 - (b->at & 7));
		b->at++;
	}
}

// A fraction counted in units of 1/unit.
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

// Writes the user data of SMPTE ST 2094-40 (section 8 and annex of registered user
// data by ITU-T T.35) for pictures of one window into data, which is zeroed. It
// returns their size, 0 where f has none.
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

	"github.com/asticode/go-astiav"
)

// HDR10+ describes the light of each picture anew. FFmpeg 5.1 reads it but gives it to
// no encoder, so that it is put into the stream of HEVC's pictures here.

// nameHDR10Plus is what the metadata is called in messages.
const nameHDR10Plus = "HDR10+ dynamic metadata"

// keepsHDR10Plus says whether w writes HDR10+.
func (w *Writer) keepsHDR10Plus() bool {
	return w.source.dynamicHDR == nameHDR10Plus && w.codec.Name() == "libx265"
}

// hdr10Plus returns the user data for f's picture, nil for none.
func hdr10Plus(f *astiav.Frame) []byte {
	var data [4096]byte
	n := C.hdr10plus(rawFrame(f), (*C.uint8_t)(&data[0]), C.int(len(data)))
	return bytes.Clone(data[:n])
}

// Kinds of NAL units, ITU-T H.265, table 7-1; those below 32 hold parts of pictures.
const (
	firstNonVCL = 32
	prefixSEI   = 39
)

// seiUserData is the payload type of registered user data, ITU-T H.265, section D.2.1.
const seiUserData = 4

// seiUnit is user data as a NAL unit behind its start code.
func seiUnit(data []byte) []byte {
	message := []byte{prefixSEI << 1, 1, seiUserData}
	n := len(data)
	for ; n >= 255; n -= 255 {
		message = append(message, 255)
	}
	message = append(append(append(message, byte(n)), data...), 0x80)
	unit := []byte{0, 0, 0, 1}
	zeros := 0
	for _, b := range message { // no start code may come up within
		if zeros >= 2 && b <= 3 {
			unit = append(unit, 3)
			zeros = 0
		}
		unit = append(unit, b)
		if zeros++; b != 0 {
			zeros = 0
		}
	}
	return unit
}

// withUnit returns an access unit of start codes and NAL units with one more before
// the first part of its picture; nil where there is no picture.
func withUnit(access, unit []byte) []byte {
	for at := 0; ; {
		i := bytes.Index(access[at:], []byte{0, 0, 1})
		if i < 0 || at+i+3 >= len(access) {
			return nil
		}
		begin := at + i
		if access[begin+3]>>1&63 < firstNonVCL {
			if begin > 0 && access[begin-1] == 0 {
				begin--
			}
			out := append([]byte(nil), access[:begin]...)
			return append(append(out, unit...), access[begin:]...)
		}
		at = begin + 3
	}
}

// keepHDR10Plus notes what is said of a picture that the encoder gets.
func (w *Writer) keepHDR10Plus(picture *astiav.Frame, pts int64) {
	if data := hdr10Plus(picture); data != nil {
		w.light[pts] = data
	}
}

// addHDR10Plus puts what was noted into the encoder's packet.
func (w *Writer) addHDR10Plus() error {
	pts := w.packet.Pts()
	data, ok := w.light[pts]
	if !ok {
		return nil
	}
	delete(w.light, pts)
	access := withUnit(w.packet.Data(), seiUnit(data))
	if access == nil {
		return nil
	}
	dts, length, flags := w.packet.Dts(), w.packet.Duration(), w.packet.Flags()
	if err := fill(w.packet, access); err != nil {
		return err
	}
	w.packet.SetPts(pts)
	w.packet.SetDts(dts)
	w.packet.SetDuration(length)
	w.packet.SetFlags(flags)
	return nil
}
