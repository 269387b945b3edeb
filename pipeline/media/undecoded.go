package media

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/asticode/go-astiav"
)

// undecoded is what a video's packets hold and FFmpeg's decoders leave out, as far as the first packet
// tells.
type undecoded struct {
	lost []string // names for messages
	half bool     // the samples are half floats, which FFmpeg before 6.0 makes floats
	// The packet was coded without losses in a codec that may have some.
	lossless bool
}

// inspect returns what the decoder leaves out of packets like the first. header is the codec's.
func inspect(codec astiav.CodecID, header, packet []byte) undecoded {
	switch codec {
	case astiav.CodecIDExr:
		return inspectEXR(packet)
	case astiav.CodecIDHevc:
		if hasLayers(header, packet) {
			return undecoded{lost: []string{"further layers of HEVC, such as the second eye or alpha"}}
		}
	}
	return undecoded{}
}

// ownAttributes are the attributes of OpenEXR that say how the file is laid out, which an encoder
// writes anew.
var ownAttributes = []string{
	"channels", "compression", "dataWindow", "displayWindow", "lineOrder", "pixelAspectRatio", "screenWindowCenter", "screenWindowWidth",
	"tiles", "type", "version", "chunkCount", "name", "dwaCompressionLevel", "framesPerSecond", "gamma", "writer",
}

// inspectEXR reads the header of an OpenEXR file: attributes, each with a name and a type that end with
// a zero, a size and its data, until an empty name.
func inspectEXR(data []byte) (u undecoded) {
	const magic = "\x76\x2f\x31\x01"
	data, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok || len(data) < 4 {
		return u
	}
	data = data[4:] // version and flags
	var attributes, channels []string
	for {
		name, rest, ok := bytes.Cut(data, []byte{0})
		if !ok || len(name) == 0 {
			break
		}
		_, rest, ok = bytes.Cut(rest, []byte{0})
		if !ok || len(rest) < 4 {
			break
		}
		size := int64(binary.LittleEndian.Uint32(rest))
		if rest = rest[4:]; size > int64(len(rest)) {
			break
		}
		if string(name) == "channels" {
			channels, u.half = channelsOf(rest[:size])
		} else if !slices.Contains(ownAttributes, string(name)) {
			attributes = append(attributes, string(name))
		}
		data = rest[size:]
	}
	if len(channels) > 0 {
		u.lost = append(u.lost, "channels of OpenEXR: "+some(channels))
	}
	if len(attributes) > 0 {
		u.lost = append(u.lost, "attributes of OpenEXR: "+some(attributes))
	}
	return u
}

// channelsOf returns the channels of OpenEXR besides colour and alpha; half is set if those are half
// floats. A channel has a name that ends with a zero, a type, and 12 bytes more.
func channelsOf(list []byte) (further []string, half bool) {
	floats := false
	for {
		name, rest, ok := bytes.Cut(list, []byte{0})
		if !ok || len(name) == 0 || len(rest) < 16 {
			return further, half && !floats
		}
		kind := binary.LittleEndian.Uint32(rest)
		if slices.Contains([]string{"R", "G", "B", "A", "Y"}, string(name)) {
			half, floats = half || kind == 1, floats || kind == 2
		} else {
			further = append(further, string(name))
		}
		list = rest[16:]
	}
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
	if len(header) < 23 || header[0] != 1 {
		return slices.ContainsFunc(bytes.Split(packet, []byte{0, 0, 1})[1:], above)
	}
	length := int(header[21]&3) + 1
	for len(packet) > length {
		n := 0
		for _, b := range packet[:length] {
			n = n<<8 | int(b)
		}
		if packet = packet[length:]; n > len(packet) {
			return false
		}
		if above(packet[:n]) {
			return true
		}
		packet = packet[n:]
	}
	return false
}
