package av

/*
#cgo pkg-config: libavcodec libavutil
#include <string.h>
#include <libavcodec/avcodec.h>
#include <libavutil/crc.h>

static int side_count(const AVPacket *p) { return p->side_data_elems; }
static const AVPacketSideData *side(const AVPacket *p, int i) { return &p->side_data[i]; }
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// EndsWithCRC32 reports whether data ends with the checksum of what comes before, by the generator 0x04C11DB7, most significant bits
// first, from 0 on (av_crc, AV_CRC_32_IEEE).
func EndsWithCRC32(data []byte) bool {
	return C.av_crc(C.av_crc_get_table(C.AV_CRC_32_IEEE), 0, (*C.uint8_t)(unsafe.SliceData(data)), C.size_t(len(data))) == 0
}

// PacketSideKind is an AVPacketSideDataType.
type PacketSideKind C.enum_AVPacketSideDataType

// The kinds of side data that the media packages distinguish.
const (
	PacketMasteringDisplay = PacketSideKind(C.AV_PKT_DATA_MASTERING_DISPLAY_METADATA)
	PacketContentLight     = PacketSideKind(C.AV_PKT_DATA_CONTENT_LIGHT_LEVEL)
	PacketDisplayMatrix    = PacketSideKind(C.AV_PKT_DATA_DISPLAYMATRIX)
	PacketStereo3D         = PacketSideKind(C.AV_PKT_DATA_STEREO3D)
	PacketSpherical        = PacketSideKind(C.AV_PKT_DATA_SPHERICAL)
	PacketICCProfile       = PacketSideKind(C.AV_PKT_DATA_ICC_PROFILE)
	PacketNewExtradata     = PacketSideKind(C.AV_PKT_DATA_NEW_EXTRADATA)
	PacketParamChange      = PacketSideKind(C.AV_PKT_DATA_PARAM_CHANGE)
	PacketWebVTTSettings   = PacketSideKind(C.AV_PKT_DATA_WEBVTT_SETTINGS)
	PacketEncryption       = PacketSideKind(C.AV_PKT_DATA_ENCRYPTION_INFO)
)

// PacketSide is an AVPacketSideData: data that accompanies a packet, such as its alpha
// channel.
type PacketSide struct {
	Kind PacketSideKind
	Data []byte
}

// PacketSides returns copies of all of p's side data, in order (AVPacket.side_data).
func PacketSides(p *astiav.Packet) (list []PacketSide) {
	c := packet(p)
	for i := range C.side_count(c) {
		s := C.side(c, i)
		list = append(list, PacketSide{PacketSideKind(s._type), C.GoBytes(unsafe.Pointer(s.data), C.int(s.size))})
	}
	return list
}

// HasPacketSide reports whether p has side data of a kind that is not empty
// (av_packet_get_side_data).
func HasPacketSide(p *astiav.Packet, kind PacketSideKind) bool {
	var size C.size_t
	return C.av_packet_get_side_data(packet(p), C.enum_AVPacketSideDataType(kind), &size) != nil && size > 0
}

// AddPacketSide adds a copy of side data to p (av_packet_new_side_data).
func AddPacketSide(p *astiav.Packet, s PacketSide) error {
	d := C.av_packet_new_side_data(packet(p), C.enum_AVPacketSideDataType(s.Kind), C.size_t(len(s.Data)))
	if d == nil {
		return astiav.Error(-C.ENOMEM)
	}
	C.memcpy(unsafe.Pointer(d), unsafe.Pointer(unsafe.SliceData(s.Data)), C.size_t(len(s.Data)))
	return nil
}

// FillPacket replaces everything in p by a copy of data (av_new_packet).
func FillPacket(p *astiav.Packet, data []byte) error {
	p.Unref()
	if err := p.AllocPayload(len(data)); err != nil {
		return err
	}
	if len(data) > 0 {
		C.memcpy(unsafe.Pointer(packet(p).data), unsafe.Pointer(&data[0]), C.size_t(len(data)))
	}
	return nil
}

// AttachedPicture returns a copy of the data of AVStream.attached_pic, empty if there is
// none.
func AttachedPicture(s *astiav.Stream) []byte {
	p := &stream(s).attached_pic
	return C.GoBytes(unsafe.Pointer(p.data), p.size)
}

// RefAttachedPicture makes p a new reference to AVStream.attached_pic (av_packet_ref).
func RefAttachedPicture(p *astiav.Packet, s *astiav.Stream) error {
	if C.av_packet_ref(packet(p), &stream(s).attached_pic) < 0 {
		return errors.New("out of memory")
	}
	return nil
}
