package media

import (
	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/exr"
)

// packetDamage finds packets whose pictures are damaged, of codecs whose decoders conceal that and mark nothing. These
// have a picture in each packet, in order.
type packetDamage struct {
	codec   astiav.CodecID
	summed  bool           // FFV1: a slice had its checksum
	damaged map[int64]bool // times of packets whose frames have not come
}

// look examines a packet that goes to the decoder.
func (d *packetDamage) look(p *astiav.Packet) {
	bad := false
	switch d.codec {
	case astiav.CodecIDFfv1:
		good, all := checkSlices(p.Data())
		d.summed = d.summed || good > 0
		bad = d.summed && (good < all || all == 0)
	case astiav.CodecIDDvvideo:
		bad = isSpoilt(p.Data())
	case astiav.CodecIDExr:
		bad = exr.CheckComplete(p.Data()) != nil
	}
	if bad {
		d.mark(p)
	}
}

// mark has the picture of a packet count as damaged.
func (d *packetDamage) mark(p *astiav.Packet) {
	if d.damaged == nil {
		d.damaged = map[int64]bool{}
	}
	at := p.Pts()
	if at == av.NoTimestamp {
		at = p.Dts()
	}
	d.damaged[at] = true
}

// take reports whether the packet of a frame was damaged.
func (d *packetDamage) take(f *astiav.Frame) bool {
	at := av.FrameTime(f)
	bad := d.damaged[at]
	delete(d.damaged, at)
	return bad
}

// checkSlices walks backward through the slices of an FFV1 picture by their footers, each of a size and a checksum of all
// of the slice (RFC 9043, 4.9). It returns how many slices there are, 0 if the picture is not made of such, and how many of them
// have their checksum.
func checkSlices(picture []byte) (good, all int) {
	const footer = 3 + 1 + 4 // size, error status, checksum
	for end := len(picture); end > 0; all++ {
		if end < footer {
			return 0, 0
		}
		size := picture[end-footer:]
		begin := end - footer - (int(size[0])<<16 | int(size[1])<<8 | int(size[2]))
		if begin < 0 {
			return 0, 0
		}
		if av.EndsWithCRC32(picture[begin:end]) {
			good++
		}
		end = begin
	}
	return good, all
}
