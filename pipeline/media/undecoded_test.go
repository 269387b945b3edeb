package media

import (
	"bytes"
	"testing"

	"github.com/asticode/go-astiav"
)

// Units of HEVC above the base layer are found in both forms of packets.
func TestLayersOfHEVC(t *testing.T) {
	hvcC := append([]byte{1}, make([]byte, 22)...)
	hvcC[21] = 3 // lengths of four bytes
	base, above := []byte{19 << 1, 1, 0x80, 7}, []byte{1 << 1, 1<<3 | 1, 0x80, 7}
	for _, c := range []struct {
		units [][]byte
		want  bool
	}{{[][]byte{base}, false}, {[][]byte{base, base}, false}, {[][]byte{base, above}, true}, {[][]byte{above, base}, true}, {nil, false}} {
		var lengths, codes []byte
		for _, u := range c.units {
			lengths = append(append(lengths, 0, 0, 0, byte(len(u))), u...)
			codes = append(append(codes, 0, 0, 0, 1), u...)
		}
		for _, p := range []struct{ header, packet []byte }{{hvcC, lengths}, {nil, codes}, {hvcC, append(bytes.Clone(lengths), 0xff)}} {
			if got := len(inspect(astiav.CodecIDHevc, p.header, p.packet).lost) > 0; got != c.want {
				t.Errorf("% x: %v", p.packet, got)
			}
		}
	}
}

// A packet may be anything.
func FuzzInspect(f *testing.F) {
	f.Add([]byte("II*\x00\x08\x00\x00\x00\x01\x00\x42\x01\x03\x00\x01\x00\x00\x00\x40\x00\x00\x00"))
	f.Add([]byte("\x76\x2f\x31\x01\x02\x00\x00\x00channels\x00chlist\x00\x13\x00\x00\x00R\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00owner\x00string\x00\x01\x00\x00\x00x\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		inspectEXR(data)
		tiffTag(data, tiffTileWidth)
		hasLayers(data, data)
		isLosslessH264(data)
		isLosslessHEVC(data)
		isLosslessVP9(data)
		isReversibleJPEG2000(data)
	})
}
