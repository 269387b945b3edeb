package av

/*
#cgo pkg-config: libavformat libavutil
#include <string.h>
#include <libavformat/avformat.h>
#include <libavutil/dict.h>
#include "compat.h"

static const AVDictionaryEntry *next_tag(const AVDictionary *d, const AVDictionaryEntry *e) { return av_dict_get(d, "", e, AV_DICT_IGNORE_SUFFIX); }
static const char *tag(const AVDictionary *d, const char *key)
{
	const AVDictionaryEntry *e = av_dict_get(d, key, NULL, 0);
	return e ? e->value : NULL;
}
*/
import "C"

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// IsAttachedPicture reports whether s is a cover picture (AV_DISPOSITION_ATTACHED_PIC).
func IsAttachedPicture(s *astiav.Stream) bool {
	return stream(s).disposition&C.AV_DISPOSITION_ATTACHED_PIC != 0
}

// IsDefault reports whether s is marked as what a player shows first (AV_DISPOSITION_DEFAULT).
func IsDefault(s *astiav.Stream) bool { return stream(s).disposition&C.AV_DISPOSITION_DEFAULT != 0 }

// protections are the codec tags of MP4 and MOV whose samples only a key opens.
var protections = []string{"encv", "enca", "drmi", "drms"}

// StatesEncryption reports whether the container says that a stream's packets are encrypted
// and FFmpeg has no key to them. Of Common Encryption in MP4 only the packets tell; see
// PacketEncryption.
func StatesEncryption(input *astiav.FormatContext, s *astiav.Stream) bool {
	tag := uint32(stream(s).codecpar.codec_tag)
	_, asf := FileTags(input).Get("ASF_Protection_Type")
	return slices.Contains(protections, string(binary.LittleEndian.AppendUint32(nil, tag))) ||
		slices.Contains(StreamTags(s).Keys(), "enc_key_id") || // WebM; FFmpeg writes tags of its own in capitals
		asf && input.InputFormat().Name() == "asf"
}

// FourCC returns a codec tag as text; empty if it is none.
func FourCC(tag astiav.CodecTag) string {
	text := binary.LittleEndian.AppendUint32(nil, uint32(tag))
	if slices.ContainsFunc(text, func(b byte) bool { return b < ' ' || b > '~' }) {
		return ""
	}
	return string(text)
}

// ClearDisposition sets AVStream.disposition to 0.
func ClearDisposition(s *astiav.Stream) { stream(s).disposition = 0 }

// CopyStreamTags copies AVStream.disposition, sample_aspect_ratio and metadata from src
// to dst (av_dict_copy).
func CopyStreamTags(dst, src *astiav.Stream) error {
	d, s := stream(dst), stream(src)
	d.disposition = s.disposition
	d.sample_aspect_ratio = s.sample_aspect_ratio
	return status(C.av_dict_copy(&d.metadata, s.metadata, 0))
}

// StreamSideData returns a copy of side data that the container stores for the whole
// stream s; ok is false if there is none of that kind (av_stream_get_side_data).
func StreamSideData(s *astiav.Stream, kind PacketSideKind) (data []byte, ok bool) {
	var size C.size_t
	p := C.compat_stream_side_data(stream(s), C.enum_AVPacketSideDataType(kind), &size)
	if p == nil {
		return nil, false
	}
	return C.GoBytes(unsafe.Pointer(p), C.int(size)), true
}

// SetStreamSideData stores a copy of data as side data for the whole stream s
// (av_stream_new_side_data).
func SetStreamSideData(s *astiav.Stream, kind PacketSideKind, data []byte) error {
	p := C.compat_new_stream_side_data(stream(s), C.enum_AVPacketSideDataType(kind), C.size_t(len(data)))
	if p == nil {
		return astiav.Error(-C.ENOMEM)
	}
	C.memcpy(unsafe.Pointer(p), unsafe.Pointer(unsafe.SliceData(data)), C.size_t(len(data)))
	return nil
}

// CopyStreamSideData adds all side data that the container stores for the whole stream src to dst, which has src's parameters.
func CopyStreamSideData(dst, src *astiav.Stream) error {
	return status(C.compat_copy_stream_side_data(stream(dst), stream(src)))
}

// Tags is the metadata of a file or of a stream.
type Tags struct{ d **C.AVDictionary }

// StreamTags returns AVStream.metadata.
func StreamTags(s *astiav.Stream) Tags { return Tags{&stream(s).metadata} }

// FileTags returns AVFormatContext.metadata.
func FileTags(c *astiav.FormatContext) Tags { return Tags{&context(c).metadata} }

// Get returns the value of a key, whose case it ignores; ok is false if the key is
// missing (av_dict_get).
func (t Tags) Get(key string) (value string, ok bool) {
	v := withString(key, func(k *C.char) *C.char { return C.tag(*t.d, k) })
	return C.GoString(v), v != nil
}

// Set sets the value of a key (av_dict_set).
func (t Tags) Set(key, value string) {
	withString(key, func(k *C.char) C.int {
		return withString(value, func(v *C.char) C.int { return C.av_dict_set(t.d, k, v, 0) })
	})
}

// Remove removes a key (av_dict_set).
func (t Tags) Remove(key string) {
	withString(key, func(k *C.char) C.int { return C.av_dict_set(t.d, k, nil, 0) })
}

// Keys returns all keys in order (av_dict_get).
func (t Tags) Keys() (keys []string) {
	for e := C.next_tag(*t.d, nil); e != nil; e = C.next_tag(*t.d, e) {
		keys = append(keys, C.GoString(e.key))
	}
	return keys
}

// CopyFrom adds all of src's keys and values to t (av_dict_copy).
func (t Tags) CopyFrom(src Tags) error { return status(C.av_dict_copy(t.d, *src.d, 0)) }
