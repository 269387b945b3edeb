package av

/*
#cgo pkg-config: libavutil
#include <string.h>
#include <libavutil/dict.h>
#include "compat.h"

static int frame_damaged(const AVFrame *f)
{
	return (f->decode_error_flags & ~FF_DECODE_ERROR_DECODE_SLICES) != 0 || (f->flags & AV_FRAME_FLAG_CORRUPT) != 0;
}
static int frame_suspect(const AVFrame *f) { return f->decode_error_flags == FF_DECODE_ERROR_DECODE_SLICES; }
static void reset_type(AVFrame *f) { f->pict_type = AV_PICTURE_TYPE_NONE; compat_frame_clear_key(f); }

static const char *frame_metadata(const AVFrame *f, const char *key)
{
	const AVDictionaryEntry *e = av_dict_get(f->metadata, key, NULL, 0);
	return e ? e->value : NULL;
}
*/
import "C"

import (
	"unsafe"

	"github.com/asticode/go-astiav"
)

// FrameTime returns AVFrame.best_effort_timestamp, in the unit of the packets'
// timestamps; it may be NoTimestamp.
func FrameTime(f *astiav.Frame) int64 { return int64(raw(f).best_effort_timestamp) }

// FrameDuration returns a frame's duration in the unit of the packets' timestamps, 0 if
// it is unknown (AVFrame.duration; pkt_duration in older versions).
func FrameDuration(f *astiav.Frame) int64 { return int64(C.compat_frame_duration(raw(f))) }

// FrameDamaged reports whether the decoder found errors in f (AV_FRAME_FLAG_CORRUPT,
// AVFrame.decode_error_flags). What FrameSuspect reports does not count.
func FrameDamaged(f *astiav.Frame) bool { return C.frame_damaged(raw(f)) != 0 }

// FrameSuspect reports whether the decoder reports lost slices in f and has concealed nothing
// (FF_DECODE_ERROR_DECODE_SLICES alone).
func FrameSuspect(f *astiav.Frame) bool { return C.frame_suspect(raw(f)) != 0 }

// FieldOrder says which field of a picture is shown first (AVFieldOrder).
type FieldOrder int

// The orders that frames have: Progressive for pictures without fields, TopFirst and BottomFirst for lines in their places
// of which the top field's, or the bottom field's, are shown first.
const (
	Progressive = FieldOrder(C.AV_FIELD_PROGRESSIVE)
	TopFirst    = FieldOrder(C.AV_FIELD_TB)
	BottomFirst = FieldOrder(C.AV_FIELD_BT)
)

// FrameFieldOrder returns f's field order (AV_FRAME_FLAG_INTERLACED and
// AV_FRAME_FLAG_TOP_FIELD_FIRST; AVFrame.interlaced_frame and top_field_first in older versions).
func FrameFieldOrder(f *astiav.Frame) FieldOrder { return FieldOrder(C.compat_frame_fields(raw(f))) }

// SetFrameFieldOrder marks f as FrameFieldOrder reports it.
func SetFrameFieldOrder(f *astiav.Frame, order FieldOrder) {
	C.compat_set_frame_fields(raw(f), C.enum_AVFieldOrder(order))
}

// CopyFrameProps copies all properties of src but its samples to dst
// (av_frame_copy_props).
func CopyFrameProps(dst, src *astiav.Frame) error {
	return status(C.av_frame_copy_props(raw(dst), raw(src)))
}

// ResetPictureType lets the encoder choose f's picture type: it clears AVFrame.pict_type
// and AV_FRAME_FLAG_KEY.
func ResetPictureType(f *astiav.Frame) { C.reset_type(raw(f)) }

// PlaneData returns AVFrame.data[i], the address of a plane's first sample; nil if f has
// no such plane.
func PlaneData(f *astiav.Frame, i int) unsafe.Pointer { return unsafe.Pointer(raw(f).data[i]) }

// PlaneStride returns AVFrame.linesize[i], the bytes from one row to the next; it is
// negative if rows run from the bottom up.
func PlaneStride(f *astiav.Frame, i int) int { return int(raw(f).linesize[i]) }

// FrameSideKind is an AVFrameSideDataType.
type FrameSideKind C.enum_AVFrameSideDataType

// The kinds of side data that the media packages read or remove.
const (
	FrameMasteringDisplay = FrameSideKind(C.AV_FRAME_DATA_MASTERING_DISPLAY_METADATA)
	FrameContentLight     = FrameSideKind(C.AV_FRAME_DATA_CONTENT_LIGHT_LEVEL)
	FrameDisplayMatrix    = FrameSideKind(C.AV_FRAME_DATA_DISPLAYMATRIX)
	FrameStereo3D         = FrameSideKind(C.AV_FRAME_DATA_STEREO3D)
	FrameSpherical        = FrameSideKind(C.AV_FRAME_DATA_SPHERICAL)
	FrameICCProfile       = FrameSideKind(C.AV_FRAME_DATA_ICC_PROFILE)
	FrameHDR10Plus        = FrameSideKind(C.AV_FRAME_DATA_DYNAMIC_HDR_PLUS)
	FrameDolbyVision      = FrameSideKind(C.AV_FRAME_DATA_DOVI_METADATA)
	FrameDolbyVisionRPU   = FrameSideKind(C.AV_FRAME_DATA_DOVI_RPU_BUFFER)
	FrameHDRVivid         = FrameSideKind(C.AV_FRAME_DATA_DYNAMIC_HDR_VIVID)
	FrameCaptions         = FrameSideKind(C.AV_FRAME_DATA_A53_CC)
	FrameTimecode         = FrameSideKind(C.AV_FRAME_DATA_S12M_TIMECODE)
	FrameGOPTimecode      = FrameSideKind(C.AV_FRAME_DATA_GOP_TIMECODE)
	FrameUserSEI          = FrameSideKind(C.AV_FRAME_DATA_SEI_UNREGISTERED)
	FrameMotionVectors    = FrameSideKind(C.AV_FRAME_DATA_MOTION_VECTORS)
	FrameEncodingParams   = FrameSideKind(C.AV_FRAME_DATA_VIDEO_ENC_PARAMS)
)

// FrameSideData returns a copy of f's side data of a kind; ok is false if there is none
// (av_frame_get_side_data).
func FrameSideData(f *astiav.Frame, kind FrameSideKind) (data []byte, ok bool) {
	d := C.av_frame_get_side_data(raw(f), C.enum_AVFrameSideDataType(kind))
	if d == nil {
		return nil, false
	}
	return C.GoBytes(unsafe.Pointer(d.data), C.int(d.size)), true
}

// AddFrameSideData adds a copy of data as side data of a kind to f (av_frame_new_side_data).
func AddFrameSideData(f *astiav.Frame, kind FrameSideKind, data []byte) error {
	d := C.av_frame_new_side_data(raw(f), C.enum_AVFrameSideDataType(kind), C.size_t(len(data)))
	if d == nil {
		return astiav.Error(-C.ENOMEM)
	}
	C.memcpy(unsafe.Pointer(d.data), unsafe.Pointer(unsafe.SliceData(data)), C.size_t(len(data)))
	return nil
}

// RemoveFrameSideData removes f's side data of a kind (av_frame_remove_side_data).
func RemoveFrameSideData(f *astiav.Frame, kind FrameSideKind) {
	C.av_frame_remove_side_data(raw(f), C.enum_AVFrameSideDataType(kind))
}

// FrameMetadata returns the value of a key in AVFrame.metadata; ok is false if the key is
// missing (av_dict_get).
func FrameMetadata(f *astiav.Frame, key string) (value string, ok bool) {
	v := withString(key, func(k *C.char) *C.char { return C.frame_metadata(raw(f), k) })
	return C.GoString(v), v != nil
}

// Colour holds FFmpeg's colour properties, numbered as in ITU-T H.273: AVColorPrimaries,
// AVColorTransferCharacteristic, AVColorSpace, AVColorRange and AVChromaLocation.
type Colour struct{ Primaries, Transfer, Matrix, Range, Chroma int }

// FrameColour returns f's colour properties (AVFrame.color_primaries and the fields
// beside it).
func FrameColour(f *astiav.Frame) Colour {
	p := raw(f)
	return Colour{int(p.color_primaries), int(p.color_trc), int(p.colorspace), int(p.color_range), int(p.chroma_location)}
}

// SetFrameColour sets f's colour properties to c.
func SetFrameColour(f *astiav.Frame, c Colour) {
	p := raw(f)
	p.color_primaries, p.color_trc, p.colorspace = uint32(c.Primaries), uint32(c.Transfer), uint32(c.Matrix)
	p.color_range, p.chroma_location = uint32(c.Range), uint32(c.Chroma)
}

// CoderColour returns the colour properties of a decoder or encoder
// (AVCodecContext.color_primaries and the fields beside it).
func CoderColour(c *astiav.CodecContext) Colour {
	p := coder(c)
	return Colour{int(p.color_primaries), int(p.color_trc), int(p.colorspace), int(p.color_range), int(p.chroma_sample_location)}
}

// ParameterColour returns the colour properties of a stream (AVCodecParameters.color_primaries and
// the fields beside it).
func ParameterColour(p *astiav.CodecParameters) Colour {
	c := params(p)
	return Colour{int(c.color_primaries), int(c.color_trc), int(c.color_space), int(c.color_range), int(c.chroma_location)}
}

// SetParameterColour sets the colour properties of a stream.
func SetParameterColour(p *astiav.CodecParameters, c Colour) {
	to := params(p)
	to.color_primaries, to.color_trc, to.color_space = uint32(c.Primaries), uint32(c.Transfer), uint32(c.Matrix)
	to.color_range, to.chroma_location = uint32(c.Range), uint32(c.Chroma)
}

// Or returns c with other's value in place of each one that c leaves unspecified.
func (c Colour) Or(other Colour) Colour {
	either := func(v, fallback, unspecified int) int {
		if v == unspecified {
			return fallback
		}
		return v
	}
	return Colour{
		Primaries: either(c.Primaries, other.Primaries, PrimariesUnspecified),
		Transfer:  either(c.Transfer, other.Transfer, TransferUnspecified),
		Matrix:    either(c.Matrix, other.Matrix, MatrixUnspecified),
		Range:     either(c.Range, other.Range, RangeUnspecified),
		Chroma:    either(c.Chroma, other.Chroma, ChromaUnspecified),
	}
}

// The values of Colour's fields that the media packages distinguish.
const (
	ColourReserved0      = C.AVCOL_PRI_RESERVED0 // of primaries and transfer
	ColourReserved       = C.AVCOL_PRI_RESERVED  // of primaries, transfer and matrix
	PrimariesUnspecified = C.AVCOL_PRI_UNSPECIFIED
	PrimariesBT2020      = C.AVCOL_PRI_BT2020
	PrimariesSMPTE170M   = C.AVCOL_PRI_SMPTE170M
	PrimariesBT470BG     = C.AVCOL_PRI_BT470BG
	TransferUnspecified  = C.AVCOL_TRC_UNSPECIFIED
	TransferGamma22      = C.AVCOL_TRC_GAMMA22
	TransferGamma28      = C.AVCOL_TRC_GAMMA28
	TransferLinear       = C.AVCOL_TRC_LINEAR
	TransferLog          = C.AVCOL_TRC_LOG
	TransferLogSqrt      = C.AVCOL_TRC_LOG_SQRT
	TransferSRGB         = C.AVCOL_TRC_IEC61966_2_1
	TransferPQ           = C.AVCOL_TRC_SMPTE2084
	TransferHLG          = C.AVCOL_TRC_ARIB_STD_B67
	MatrixUnspecified    = C.AVCOL_SPC_UNSPECIFIED
	MatrixRGB            = C.AVCOL_SPC_RGB
	MatrixBT2020         = C.AVCOL_SPC_BT2020_NCL
	MatrixSMPTE170M      = C.AVCOL_SPC_SMPTE170M
	MatrixBT709          = C.AVCOL_SPC_BT709
	RangeUnspecified     = C.AVCOL_RANGE_UNSPECIFIED
	RangeLimited         = C.AVCOL_RANGE_MPEG
	RangeFull            = C.AVCOL_RANGE_JPEG
	ChromaUnspecified    = C.AVCHROMA_LOC_UNSPECIFIED
	ChromaLeft           = C.AVCHROMA_LOC_LEFT
)
