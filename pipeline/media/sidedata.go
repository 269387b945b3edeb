package media

import (
	"fmt"
	"slices"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
)

// frameSides maps the kinds of side data of streams to those of frames.
var frameSides = map[av.PacketSideKind]av.FrameSideKind{
	av.PacketMasteringDisplay: av.FrameMasteringDisplay,
	av.PacketContentLight:     av.FrameContentLight,
	av.PacketDisplayMatrix:    av.FrameDisplayMatrix,
	av.PacketStereo3D:         av.FrameStereo3D,
	av.PacketSpherical:        av.FrameSpherical,
	av.PacketICCProfile:       av.FrameICCProfile,
}

// sideData returns the side data that applies to all pictures, from the container or else
// from the first picture.
func sideData(s *astiav.Stream, first *astiav.Frame) map[av.PacketSideKind][]byte {
	out := map[av.PacketSideKind][]byte{}
	for _, side := range container.Sides {
		if data, ok := av.StreamSideData(s, side.Kind); ok {
			out[side.Kind] = data
		} else if data, ok := av.FrameSideData(first, frameSides[side.Kind]); ok {
			out[side.Kind] = data
		}
	}
	return out
}

// nameHDR10Plus is the name of HDR10+ in messages.
const nameHDR10Plus = "HDR10+ dynamic metadata"

// dynamicHDR returns the name of f's HDR metadata that changes with each picture, empty
// if there is none.
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

// describePictures copies the source's side data to the output's video stream and returns
// the names of the kinds that neither the container nor the encoder can write.
func describePictures(output *astiav.FormatContext, video *astiav.Stream, source *Source, encoder string) (lost []string, err error) {
	for _, side := range container.Sides {
		data, ok := source.Side[side.Kind]
		if !ok {
			continue
		}
		if err := av.SetStreamSideData(video, side.Kind, data); err != nil {
			return nil, err
		}
		if !side.IsHeldBy(output) && !encoderSays(encoder, side.Kind) {
			lost = append(lost, side.Name)
		}
	}
	if a := source.Aspect; a.Num() > 0 && a.Num() != a.Den() && !container.HoldsAspect(output, video.CodecParameters().CodecID()) {
		lost = append(lost, fmt.Sprintf("pixel aspect ratio %d:%d", a.Num(), a.Den()))
	}
	if c := source.Pixels.Colour.Chroma; losesChromaPlace(encoder, video.CodecParameters(), c) {
		lost = append(lost, "chroma location")
	}
	if source.Dynamic != "" && !keepsHDR10Plus(source, encoder) {
		lost = append(lost, source.Dynamic)
	}
	return lost, nil
}

// losesChromaPlace reports whether an encoder does not state where chroma samples lie, and that is not
// where readers take it to be.
func losesChromaPlace(encoder string, p *astiav.CodecParameters, place int) bool {
	d := av.DescribePixels(p.PixelFormat())
	if d == nil || d.Log2ChromaW == 0 && d.Log2ChromaH == 0 || place == av.ChromaUnspecified || place == av.ChromaLeft {
		return false
	}
	return slices.Contains([]string{"prores_ks", "prores_aw", "prores", "dnxhd", "cfhd"}, encoder)
}

// encoderSays reports whether an encoder writes a kind of side data into its packets.
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

// hdrParameters describes the encoders that take HDR10's static metadata in a list of
// their own parameters: the option that holds the list, the keys of the mastering display
// and of the content light level, and the units per 1 of chromaticity and per cd/m² of
// luminance.
var hdrParameters = map[string]struct {
	option, mastering, light string
	chroma, luminance        int
}{
	"libx264":   {"x264-params", "mastering-display", "cll", 50000, 10000},
	"libx265":   {"x265-params", "master-display", "max-cll", 50000, 10000},
	"libsvtav1": {"svtav1-params", "mastering-display", "content-light", 0, 0},
}

// hdrOption returns the encoder option for HDR10's static metadata. key is empty if there
// is none.
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

// masteringDisplay formats m for an encoder, in chroma units per 1 of chromaticity and
// luminance units per cd/m², or in decimals if these are 0.
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
