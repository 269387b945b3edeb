package media

import (
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/pixel"
)

// pickEncoder returns the encoder that opt names or, if it names none, one that suits the
// container and the source; docs/encoding.md has the rule. Containers for raw frames, such
// as YUV4MPEG2, get the encoder that wraps frames.
func pickEncoder(output *astiav.FormatContext, file string, source *Source, opt *EncoderOptions) (*astiav.Codec, error) {
	if !container.HoldsVideo(output) {
		return nil, fault.New(fault.Usage, "output %q: the %s container holds no video; choose another Output.Format or file name", file, container.Name(output))
	}
	name, usual := opt.Codec, container.UsualVideo(output)
	wraps := usual == av.CodecIDWrapped
	if name != "" && (!wraps || name != "rawvideo") {
		codec := astiav.FindEncoderByName(name)
		if codec == nil {
			return nil, fault.New(fault.Usage, "encoder %q is not in this FFmpeg build%s; see ffmpeg -encoders", name, insteadOf(name))
		}
		if container.Refuses(output, codec.ID()) {
			return nil, fault.New(fault.Usage, "output %q: the %s container does not take %s; choose another Output.VideoCodec or file name",
				file, container.Name(output), name)
		}
		return codec, nil
	}
	if !wraps && !container.HoldsPictures(output) {
		codec := keepingEncoder(output, source, opt)
		if codec == nil && !container.PrefersUsual(output) {
			codec = suitingEncoder(output, source, opt)
		}
		if codec != nil {
			return codec, nil
		}
	}
	codec := astiav.FindEncoder(usual)
	if codec != nil && codec.Name() == "libwebp_anim" && container.IsNumbered(output) {
		codec = astiav.FindEncoderByName("libwebp") // the other one puts all pictures into one file
	}
	if codec != nil {
		return codec, nil
	}
	return nil, fault.New(fault.Usage, "output %q: the %s container holds %s, which this FFmpeg build does not encode", file, container.Name(output), usual)
}

// rgbEncoders are the encoders of RGB for video files, and alphaEncoders those of YUV and grey with
// alpha, the preferred first.
var (
	rgbEncoders   = []string{"libx264rgb", "libx265", "ffv1"}
	alphaEncoders = []string{"ffv1", "prores_ks"}
)

// keptBy returns a function that returns the encoder of a name, nil if the output does not take its
// codec.
func keptBy(output *astiav.FormatContext) func(name string) *astiav.Codec {
	iso := container.IsISO(output)
	return func(name string) *astiav.Codec {
		if iso && name == "ffv1" { // FFmpeg writes it to MOV, since 8 to MP4, and hardly anything else reads it
			return nil
		}
		if codec := astiav.FindEncoderByName(name); codec != nil && !container.Refuses(output, codec.ID()) {
			return codec
		}
		return nil
	}
}

// keepingEncoder returns the encoder that keeps pictures without losses as they are, and those of a
// mezzanine in its codec. It returns nil if the source is neither, the container takes none, or the
// caller sets the quality.
func keepingEncoder(output *astiav.FormatContext, source *Source, opt *EncoderOptions) *astiav.Codec {
	kept := keptBy(output)
	named := func(name string) *astiav.Codec {
		if codec := kept(name); codec != nil && container.Takes(output, codec.ID()) { // not only perhaps
			return codec
		}
		return nil
	}
	switch {
	case opt.setsQuality() || container.IsDisc(output):
		return nil
	case source.Lossless:
		return losslessEncoder(source, named)
	case source.mezzanine() != "":
		return named(source.mezzanine())
	}
	return nil
}

// suitingEncoder returns the encoder for the source's pictures, in the format that opt names if it names
// one, in a container of no codec of its own; nil if the container takes none of ours.
func suitingEncoder(output *astiav.FormatContext, source *Source, opt *EncoderOptions) *astiav.Codec {
	named := keptBy(output)
	format, colour := source.Pixels.Carried(), source.Pixels.Colour
	if p := astiav.FindPixelFormatByName(opt.PixelFormat); opt.PixelFormat != "" && p != astiav.PixelFormatNone {
		format = p
	}
	among := func(names []string, kind func(astiav.PixelFormat) bool) *astiav.Codec {
		if opt.PixelFormat != "" { // which the encoder must take as it is
			if codec := leastLossy(format, names, func(p astiav.PixelFormat) bool { return p == format }, named); codec != nil {
				return codec
			}
		}
		return leastLossy(format, names, kind, named)
	}
	switch {
	case pixel.IsRGB(format):
		names := rgbEncoders
		if container.Name(output) == "mov" { // few players know PNG elsewhere
			names = append(slices.Clone(names), "png")
		}
		if codec := among(names, pixel.IsRGB); codec != nil {
			return codec
		}
	case pixel.HasAlpha(format):
		if codec := among(alphaEncoders, pixel.HasAlpha); codec != nil {
			return codec
		}
	case (pixel.Depth(format) > 8 || colour.IsHDR()) && source.Fields == av.Progressive: // libx265 marks no fields
		if codec := named("libx265"); codec != nil {
			return codec
		}
	}
	return named("libx264")
}

// leastLossy returns the first of the encoders in which pictures in a format lose least, written in
// a format that fits. It returns nil if named has none of them.
func leastLossy(format astiav.PixelFormat, names []string, fits func(astiav.PixelFormat) bool, named func(string) *astiav.Codec) (best *astiav.Codec) {
	var least pixel.Loss
	for _, name := range names {
		codec := named(name)
		if codec == nil {
			continue
		}
		_, lost, ok := pixel.Nearest(format, encoderFormats(codec), fits)
		if ok && (best == nil || lost.Compare(least) < 0) {
			best, least = codec, lost
		}
	}
	return best
}

// chosenCRF are the constant rate factors of encoders that were chosen for a source, and
// not by the caller. Their own defaults are coarser.
var chosenCRF = map[string]int{"libx264rgb": DefaultCRF, "libx265": 18}

// isChosen reports whether the encoder was chosen for the source.
func (o *EncoderOptions) isChosen() bool { return o.Codec == "" || o.Chosen }

// announce says what the choice of an encoder means, if the caller has not made it.
func (e *Encoder) announce(opt *EncoderOptions, format astiav.PixelFormat) {
	name, source := e.codec.Name(), e.source
	chosen := func(why string) {
		e.log.Info(why+"; Output.VideoCodec chooses another", "encoder", name, "source", source.Video.Codec, "written", format)
	}
	switch {
	case !opt.isChosen() || IsSequence(e.file): // the caller or the file's name decides
	case !opt.setsQuality() && source.Lossless && e.codec.ID() == astiav.CodecIDH264:
		chosen("the source has no losses, and what is written has none, but few devices play it")
	case !opt.setsQuality() && source.Lossless && isLosslessEncoder(e.codec):
		chosen("the source has no losses, and what is written has none")
	case !opt.setsQuality() && source.Lossless:
		e.log.Warn("the source has no losses, but what is written has; Output.VideoCodec chooses another encoder, such as ffv1 for Matroska", "encoder", name, "source", source.Video.Codec)
	case !opt.setsQuality() && source.mezzanine() == name:
		chosen("what is written is of the source's codec")
	case !opt.setsQuality() && source.mezzanine() != "":
		e.log.Warn("the source's codec is made for further work, and what is written is not; Output.VideoCodec "+source.mezzanine()+" keeps it, in MOV",
			"encoder", name, "source", source.Video.Codec)
	case name == "libx264rgb" && opt.PixelFormat == "":
		e.log.Info("few devices play H.264 in RGB; Output.PixelFormat yuv420p plays on all of them", "source", source.Video.Codec, "written", format)
	case name == "libx265" || pixel.IsRGB(format) && (name == "libx264rgb" || name == "ffv1" || name == "png"),
		pixel.HasAlpha(format) && slices.Contains(alphaEncoders, name):
		chosen("the source's pictures decide the encoder")
	case name == "libx264" && opt.PixelFormat == "" && pixel.Depth(format) > 8 && source.Fields == av.Progressive:
		e.log.Warn("few devices play H.264 of more than 8 bits; in MP4, MOV and Matroska, Output.VideoCodec libx265 writes HEVC", "written", format)
	case name == "libx264" && opt.PixelFormat == "" && !playsAnywhere(format):
		if !pixel.WholeBlocks(source.Video.Width, source.Video.Height)(astiav.PixelFormatYuv420P) {
			e.log.Info("few devices play H.264 with as much chroma as the odd size needs", "written", format)
			return
		}
		e.log.Info("few devices play H.264 in this sample format; Output.PixelFormat yuv420p plays on all of them", "written", format)
	}
}

// playsAnywhere reports whether all players of H.264 take a sample format.
func playsAnywhere(format astiav.PixelFormat) bool {
	switch format {
	case astiav.PixelFormatYuv420P, astiav.PixelFormatYuvj420P, astiav.PixelFormatNv12:
		return true
	}
	return false
}
