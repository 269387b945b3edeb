package media

import (
	"fmt"
	"slices"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
)

// properties are the kinds of side data that hold for all pictures of a stream.
var properties = []struct {
	name   string
	packet av.PacketSideKind
	frame  av.FrameSideKind
}{
	{"mastering display", av.PacketMasteringDisplay, av.FrameMasteringDisplay},
	{"content light level", av.PacketContentLight, av.FrameContentLight},
	{"display matrix", av.PacketDisplayMatrix, av.FrameDisplayMatrix},
	{"stereoscopic layout", av.PacketStereo3D, av.FrameStereo3D},
	{"spherical projection", av.PacketSpherical, av.FrameSpherical},
	{"ICC profile", av.PacketICCProfile, av.FrameICCProfile},
}

// sideData returns what is said of all pictures, by the container or else with the first
// picture.
func sideData(s *astiav.Stream, first *astiav.Frame) map[av.PacketSideKind][]byte {
	out := map[av.PacketSideKind][]byte{}
	for _, p := range properties {
		if data, ok := av.StreamSideData(s, p.packet); ok {
			out[p.packet] = data
		} else if data, ok := av.FrameSideData(first, p.frame); ok {
			out[p.packet] = data
		}
	}
	return out
}

// nameHDR10Plus is what HDR10+ is called in messages.
const nameHDR10Plus = "HDR10+ dynamic metadata"

// dynamicHDR names the metadata of f that changes with each picture, which no encoder
// of FFmpeg 5.1 writes by itself.
func dynamicHDR(f *astiav.Frame) string {
	for _, d := range []struct {
		kind av.FrameSideKind
		name string
	}{
		{av.FrameHDR10Plus, nameHDR10Plus},
		{av.FrameDolbyVision, "Dolby Vision metadata"},
		{av.FrameDolbyVisionRPU, "Dolby Vision metadata"},
		{av.FrameHDRVivid, "HDR Vivid dynamic metadata"},
	} {
		if _, ok := av.FrameSideData(f, d.kind); ok {
			return d.name
		}
	}
	return ""
}

// describePictures says of the output's pictures what is said of the source's, and
// returns what its container and encoder cannot say.
func describePictures(output *astiav.FormatContext, video *astiav.Stream, source *Source, encoder string) (lost []string, err error) {
	for _, p := range properties {
		data, ok := source.Side[p.packet]
		if !ok {
			continue
		}
		if err := av.SetStreamSideData(video, p.packet, data); err != nil {
			return nil, err
		}
		if !container.HoldsSideData(output, p.packet) && !encoderSays(encoder, p.packet) {
			lost = append(lost, p.name)
		}
	}
	if source.Dynamic != "" && !writesHDR10Plus(source, encoder) {
		lost = append(lost, source.Dynamic)
	}
	return lost, nil
}

// encoderSays says whether an encoder writes a kind of side data into its stream.
func encoderSays(encoder string, kind av.PacketSideKind) bool {
	switch kind {
	case av.PacketMasteringDisplay, av.PacketContentLight:
		_, ok := hdrParameters[encoder]
		return ok
	case av.PacketICCProfile:
		return slices.Contains([]string{"png", "apng", "mjpeg", "libjxl", "libwebp"}, encoder)
	}
	return false
}

// hdrParameters are the encoders that are told HDR10's static metadata in a list
// of parameters of their own: the option that holds it, the keys for mastering
// display and content light level, and the units that they count in.
var hdrParameters = map[string]struct {
	option, mastering, light string
	chroma, luminance        int
}{
	"libx264":   {"x264-params", "mastering-display", "cll", 50000, 10000},
	"libx265":   {"x265-params", "master-display", "max-cll", 50000, 10000},
	"libsvtav1": {"svtav1-params", "mastering-display", "content-light", 0, 0},
}

// hdrOption returns the encoder option that says HDR10's static metadata, with an empty
// key if there is nothing to say.
func hdrOption(encoder string, side map[av.PacketSideKind][]byte) (key, value string) {
	p, ok := hdrParameters[encoder]
	if !ok {
		return "", ""
	}
	var list []string
	if m, ok := av.ParseMasteringDisplay(side[av.PacketMasteringDisplay]); ok {
		list = append(list, p.mastering+"="+masteringDisplay(m, p.chroma, p.luminance))
	}
	if pixel, mean, ok := av.ParseContentLight(side[av.PacketContentLight]); ok {
		list = append(list, fmt.Sprintf("%s=%d,%d", p.light, pixel, mean))
	}
	if len(list) == 0 {
		return "", ""
	}
	return p.option, strings.Join(list, ":")
}

// masteringDisplay writes m as encoders read it: chromaticities and luminances in
// the units given, or as decimals if these are 0.
func masteringDisplay(m av.MasteringDisplay, chroma, luminance int) string {
	number := func(v astiav.Rational, unit int) string {
		switch {
		case unit == 0:
			return fmt.Sprintf("%.5f", float64(v.Num())/float64(max(1, v.Den())))
		case v.Den() == 0:
			return "0"
		}
		return fmt.Sprint((int64(v.Num())*int64(unit) + int64(v.Den()/2)) / int64(v.Den()))
	}
	pair := func(v [2]astiav.Rational) string { return number(v[0], chroma) + "," + number(v[1], chroma) }
	return fmt.Sprintf("G(%s)B(%s)R(%s)WP(%s)L(%s,%s)", pair(m.Green), pair(m.Blue), pair(m.Red), pair(m.White),
		number(m.Greatest, luminance), number(m.Least, luminance))
}
