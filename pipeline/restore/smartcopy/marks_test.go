package smartcopy

import (
	"testing"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media"
)

// A decoder that does not open is not taken for one that has opened.
func TestMarksOfAnUnusableHeader(t *testing.T) {
	p := astiav.AllocCodecParameters()
	defer p.Free()
	p.SetCodecID(astiav.CodecIDFfv1)
	p.SetMediaType(astiav.MediaTypeVideo)
	m := marks{parameters: p, header: []byte("no header"), dependent: true}
	defer m.close()
	for n := range int64(2) {
		if err := m.decode(media.Packet{PTS: n, Data: []byte("packet")}); err == nil {
			t.Errorf("packet %d is decoded", n)
		}
	}
}
