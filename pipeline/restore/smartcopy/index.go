package smartcopy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/media/av"
	"retime/pipeline/media/nalunit"
)

// PacketTime describes a packet of the source. Times are in the stream's time base. Key
// is set for a key frame. Restart is set if no later packet in decoding order refers to
// an earlier one.
type PacketTime struct {
	PTS, DTS, Duration int64
	Key, Restart       bool
}

const headLength = 2

// Index reads all packets of a source opened with ReaderOptions.Packets. If the source ends too
// early, damage is the fault.BadData error that says where. If its packets cannot be copied, err is
// a fault.Usage error. head holds the first bytes of the first packet.
func Index(source *media.Reader) (index []PacketTime, head []byte, damage, err error) {
	restart, err := restarting(source.Source())
	if err != nil {
		return nil, nil, nil, unsuited(err)
	}
	name := source.Source().Name
	for {
		p, err := source.NextPacket()
		switch {
		case errors.Is(err, io.EOF):
		case fault.KindOf(err) == fault.BadData:
			damage = err
		case err != nil:
			return nil, nil, nil, err
		case p.PTS == media.NoTimestamp:
			return nil, nil, nil, unsuited(fmt.Errorf("packet %d of %q has no timestamp", len(index), name))
		case p.ChangesStream():
			return nil, nil, nil, unsuited(fmt.Errorf("the stream changes at packet %d of %q", len(index), name))
		case p.SecondField:
			return nil, nil, nil, unsuited(fmt.Errorf("packet %d of %q is the second field of a frame", len(index), name))
		default:
			if len(index) == 0 {
				if c := source.Source().Codec(); c.CodecID() == astiav.CodecIDMjpeg && ofFields(p.Data, c.Height()) {
					return nil, nil, nil, unsuited(fmt.Errorf("pictures of %q are pairs of fields, which encoder mjpeg does not make", name))
				}
				head = slices.Clone(p.Data[:min(len(p.Data), headLength)])
			}
			index = append(index, PacketTime{p.PTS, p.DTS, p.Duration, p.IsKey(), restart(p)})
			continue
		}
		break
	}
	if source.Jumps() {
		return nil, nil, nil, unsuited(fmt.Errorf("timestamps of %q jump", name))
	}
	return index, head, damage, nil
}

// restarting returns a function that reports whether decoding can restart at a packet: whether no
// later packet in decoding order refers to an earlier one. It fails if the package cannot tell for
// the codec.
func restarting(source *media.Source) (func(media.Packet) bool, error) {
	p := source.Codec()
	switch id := p.CodecID(); {
	case isNAL(id):
		config, err := parseConfig(id == astiav.CodecIDHevc, p.ExtraData())
		if err != nil {
			return nil, err
		}
		return func(p media.Packet) bool {
			nals, err := nalunit.Split(p.Data, config.length)
			return err == nil && p.IsKey() && restarts(config.hevc, nals)
		}, nil
	case id == astiav.CodecIDFfv1, slices.Contains(stills, id), av.IsIntraOnly(id):
		return media.Packet.IsKey, nil
	default:
		return nil, fmt.Errorf("input %q is %s; packets are copied only from h264, hevc, ffv1 and codecs in which every picture decodes on its own", source.Name, id)
	}
}

// ofFields reports whether a packet of MJPEG for frames of a height begins with a picture of one field.
func ofFields(b []byte, height int) bool {
	for at := 2; at+8 < len(b) && b[at] == 0xff; { // ITU-T T.81, B.2.1
		if marker := b[at+1]; marker >= 0xc0 && marker <= 0xc2 {
			return 4*int(binary.BigEndian.Uint16(b[at+5:])) < 3*height
		}
		at += 2 + int(binary.BigEndian.Uint16(b[at+2:]))
	}
	return false
}

// isNAL reports whether a codec's packets are NAL units with parameter sets.
func isNAL(id astiav.CodecID) bool { return id == astiav.CodecIDH264 || id == astiav.CodecIDHevc }

// stills are the image codecs. Each picture decodes on its own, but FFmpeg does not mark them as
// intra-only.
var stills = []astiav.CodecID{astiav.CodecIDPng, astiav.CodecIDTiff, astiav.CodecIDDpx, astiav.CodecIDExr, astiav.CodecIDBmp}
