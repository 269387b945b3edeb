package media

import (
	"errors"
	"slices"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/exr"
	"retime/pipeline/media/nalunit"
)

// undecoded is what a video's packets hold and FFmpeg's decoders leave out, as far as the first packet
// tells.
type undecoded struct {
	lost    []string // names for messages
	half    bool     // the samples are half floats, which FFmpeg before 6.0 makes floats
	refused error    // why the video is not read, because FFmpeg decodes it to something else; nil if it is read
	// The packet was coded without losses in a codec that may have some.
	lossless bool
	size     int // of the packet, in bytes
}

// inspect returns what the decoder leaves out of packets like the first. header is the codec's.
func inspect(codec astiav.CodecID, header, packet []byte) undecoded {
	switch codec {
	case astiav.CodecIDExr:
		return inspectEXR(packet)
	case astiav.CodecIDTiff:
		if _, tiled := tiffTag(packet, tiffTileWidth); tiled { // FFmpeg decodes black
			return undecoded{refused: errors.New("TIFF in tiles is not supported; write it in strips")}
		}
		if kind, ok := tiffTag(packet, tiffExtraSamples); ok && kind == tiffPremultiplied {
			return undecoded{lost: []string{"that alpha of TIFF is premultiplied"}}
		}
	case astiav.CodecIDHevc:
		if hasLayers(header, packet) {
			return undecoded{lost: []string{"further layers of HEVC, such as the second eye or alpha"}}
		}
	}
	return undecoded{}
}

// inspectEXR returns what FFmpeg leaves out of an OpenEXR picture.
func inspectEXR(data []byte) (u undecoded) {
	h, _ := exr.ReadHeader(data) // a damaged one is for the decoder to judge
	u.half = h.Half
	if len(h.Further) > 0 {
		u.lost = append(u.lost, "channels of OpenEXR: "+some(h.Further))
	}
	if len(h.Attributes) > 0 {
		u.lost = append(u.lost, "attributes of OpenEXR: "+some(h.Attributes))
	}
	if h.Parts {
		u.lost = append(u.lost, "parts of OpenEXR after the first")
	}
	if h.Cropped {
		u.lost = append(u.lost, "data window of OpenEXR")
	}
	return u
}

// some joins names, but not too many.
func some(names []string) string {
	const most = 8
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "...")
	}
	return strings.Join(names, " ")
}

// hasLayers reports whether a packet of HEVC has units of a layer above the base (nuh_layer_id,
// ITU-T H.265, 7.3.1.2). header is the codec's: hvcC if the units have lengths.
func hasLayers(header, packet []byte) bool {
	above := func(unit []byte) bool { return len(unit) > 2 && int(unit[0]&1)<<5|int(unit[1]>>3) > 0 }
	length := 0
	if len(header) >= 23 && header[0] == 1 {
		length = int(header[21]&3) + 1
	}
	units, _ := nalunit.Split(packet, length)
	return slices.ContainsFunc(units, above)
}
