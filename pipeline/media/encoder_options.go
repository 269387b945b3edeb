package media

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/pixel"
)

// uploadable are the pixel formats that encoders on devices take as uploads.
var uploadable = []string{"nv12", "p010le"}

// onlyOnDevice reports whether an encoder takes no pictures in main memory.
func onlyOnDevice(codec *astiav.Codec) bool {
	formats := av.EncoderFormats(codec)
	return len(formats) > 0 && len(pixel.InMemory(formats)) == 0
}

// encoderFormats returns the pixel formats that an encoder takes, empty if it takes all.
func encoderFormats(codec *astiav.Codec) []astiav.PixelFormat {
	switch {
	case codec.ID() == av.CodecIDWrapped:
		return pixel.YUV4MPEG()
	case codec.Name() == "rawvideo":
		return pixel.RawVideo()
	case codec.Name() == "mjpeg":
		return pixel.FullRange(av.EncoderFormats(codec)) // JPEG has full range
	case onlyOnDevice(codec):
		return pixel.Named(uploadable...)
	}
	return pixel.WithoutPalette(pixel.InMemory(av.EncoderFormats(codec)))
}

// namedFormat returns the pixel format called name, which must be one of those that an encoder takes; any if taken is empty.
func namedFormat(codec *astiav.Codec, name string, taken []astiav.PixelFormat) (astiav.PixelFormat, error) {
	p := astiav.FindPixelFormatByName(name)
	if p == astiav.PixelFormatNone {
		return 0, fault.New(fault.Usage, "sample format %q does not exist; see ffmpeg -pix_fmts", name)
	}
	if len(taken) > 0 && !slices.Contains(taken, p) {
		names := make([]string, len(taken))
		for i, f := range taken {
			names[i] = f.Name()
		}
		return 0, fault.New(fault.Usage, "encoder %s does not take %s; it takes %s", codec.Name(), name, strings.Join(names, ", "))
	}
	return p, nil
}

// oddSizeHint returns a hint for messages if the size is odd and format needs even sizes.
func oddSizeHint(v *Video, format astiav.PixelFormat) fault.Words {
	if pixel.WholeBlocks(v.Width, v.Height)(format) {
		return ""
	}
	return "; the size is odd: Output.PixelFormat yuv444p or another Output.VideoCodec, such as libvpx-vp9, keeps every pixel"
}

// dnxhrHint returns a hint for messages: DNxHD has few sizes, rates and bit rates.
func dnxhrHint(codec *astiav.Codec, opt *EncoderOptions) fault.Words {
	if codec.Name() != "dnxhd" || strings.HasPrefix(opt.Options["profile"], "dnxhr") {
		return ""
	}
	return "; DNxHD needs one of its bit rates (Output.VideoOptions b=...), and DNxHR needs none: Output.VideoOptions profile=dnxhr_hq"
}

// relevant shortens an encoder's errors, a line each, to the first, the last, and some of
// those that are about v's size and format, such as the bit rates that DNxHD has for them.
func relevant(lines []string, v *Video, format astiav.PixelFormat) string {
	const most = 8
	size := fmt.Sprintf("%dx%d", v.Width, v.Height)
	var kept []string
	for i, line := range lines {
		words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' })
		switch about := strings.Contains(line, size) && slices.Contains(words, format.Name()); {
		case i == 0 || i == len(lines)-1:
			kept = append(kept, line)
		case about && len(kept) <= most:
			kept = append(kept, line)
		}
	}
	return strings.ReplaceAll(strings.Join(slices.Compact(kept), "; "), ":; ", ": ")
}

// largePicture is the size in pixels above which libx264 looks ahead 20 frames instead of
// 40, its default, which would take more than a gigabyte.
const largePicture = 4 << 20

// narrowPicture is the width in pixels below which x265 3.5 must not propagate costs
// through its tree of coding units (cutree): its assembler writes whole vectors, and a
// row of such a picture is shorter. Switching off the assembler for one encoder would not
// help, because x265 chooses it once per process.
const narrowPicture = 64

// maxCRF returns the largest constant rate factor of an encoder. x264 and x265 silently
// take a larger one for their largest.
func maxCRF(codec string) int {
	if prefersCRF(codec) {
		return 51
	}
	return 63
}

// codesFields reports whether an encoder with these options codes the fields of interlaced pictures, and
// marks the pictures, if it is told so. Others go by the pictures' own marks, as FFV1 does, or leave it to
// the container.
func codesFields(codec string, options map[string]string) bool {
	if strings.Contains(options["flags"], "-ildct") {
		return false
	}
	switch codec {
	case "mpeg2video", "mpeg4", "libx264", "prores", "prores_aw", "prores_ks", "dvvideo":
		return true
	case "dnxhd":
		return !strings.HasPrefix(options["profile"], "dnxhr")
	}
	return false
}

// encoderThreads returns the number of an encoder's threads where n are allowed, 0 for its own choice. libvpx codes VP8 differently
// with each number, and its threads wait for each other in loops that keep processors busy, so VP8 has one.
func encoderThreads(name string, n int) int {
	if name == "libvpx" {
		return 1
	}
	return n
}

// losesFields reports whether an encoder's codec has no marks for interlaced pictures, or it writes none.
func losesFields(codec string) bool {
	switch codec {
	case "libx265", "libvpx", "libvpx-vp9", "libaom-av1", "libsvtav1", "librav1e", "libtheora":
		return true
	}
	return false
}

// keptUnit returns the unit of frames' times that are kept, in seconds, and nil if they are written as the numbers of frames at
// the output's rate.
func keptUnit(output *astiav.FormatContext, codec *astiav.Codec, v *Video, opt *WriterOptions) *big.Rat {
	const finest = 1<<16 - 1 // of MPEG-4 Part 2, in ticks of a second
	unit, grid := opt.Unit, opt.keepsGrid(v)
	switch id := codec.ID(); {
	case unit == nil, id == astiav.CodecIDMpeg1Video, id == astiav.CodecIDMpeg2Video,
		container.CountsFrames(output) && (grid || !container.HoldsGaps(output)):
		return nil
	case id == astiav.CodecIDMpeg4 && unit.Denom().Cmp(big.NewInt(finest)) > 0:
		if grid {
			return nil
		}
		return big.NewRat(1, 60_000)
	}
	return unit
}

// prefersCRF reports whether an encoder takes a constant rate factor before a bit rate. Others
// take the two together.
func prefersCRF(codec string) bool {
	switch codec {
	case "libx264", "libx264rgb", "libx265":
		return true
	}
	return false
}

// encoderSettings returns the encoder's options for the source's pictures in format with
// the colour properties c, for an output. Options in opt override the others.
func encoderSettings(codec *astiav.Codec, opt *EncoderOptions, source *Source, format astiav.PixelFormat, c pixel.Colour, output *astiav.FormatContext) (*astiav.Dictionary, error) {
	set := map[string]string{
		"color_primaries":        strconv.Itoa(c.Primaries),
		"color_trc":              strconv.Itoa(c.Transfer),
		"colorspace":             strconv.Itoa(c.Matrix),
		"color_range":            strconv.Itoa(c.Range),
		"chroma_sample_location": strconv.Itoa(c.Chroma),
	}
	name, v := codec.Name(), &source.Video
	quality := defaultQuality(name, container.Name(output), opt.Options)
	maps.Copy(set, quality)
	switch {
	case opt.CRF >= 0 && !av.HasOption(codec, "crf"):
		return nil, fault.New(fault.Usage, "encoder %s has no constant rate factor; leave Output.CRF out or set its quality with Output.VideoOptions", name)
	case opt.CRF > maxCRF(codec.Name()):
		return nil, fault.New(fault.Usage, "Output.CRF %d: encoder %s takes 0 to %d", opt.CRF, name, maxCRF(codec.Name()))
	case opt.CRF >= 0:
		set["crf"] = strconv.Itoa(opt.CRF)
	case opt.isChosen() && !opt.setsQuality() && kindOptions(source, name, format) != nil:
		maps.Copy(set, kindOptions(source, name, format))
	case name == "libx264":
		set["crf"] = strconv.Itoa(DefaultCRF)
	case opt.isChosen() && chosenCRF[name] != 0:
		set["crf"] = strconv.Itoa(chosenCRF[name])
	}
	if name == "libx264" && v.Width*v.Height > largePicture {
		set["rc-lookahead"] = "20"
	}
	if container.ShowsInOrder(output) {
		set["bf"] = "0"
	}
	if name == "ffv1" && v.Width > 1 { // FFmpeg's own choice for small pictures has no checksums, no slices, and no marks of fields
		set["level"], set["g"] = "3", "1"
	}
	if name == "exr" && source.undecoded.half {
		set["format"] = "half"
	}
	if name == "libvpx" && pixel.HasAlpha(format) {
		set["auto-alt-ref"] = "0" // VP8 supports it only without alpha
	}
	for _, other := range []string{"b", "qp"} {
		value, own := opt.Options[other]
		if !own || !prefersCRF(name) {
			continue
		}
		if opt.CRF >= 0 {
			return nil, fault.New(fault.Usage, "Output.CRF %d and Output.VideoOptions %s=%s both set the quality; leave one out", opt.CRF, other, value)
		}
		delete(set, "crf")
	}
	maps.Copy(set, opt.Options)
	if flags, ok := quality["flags"]; ok {
		set["flags"] = flags // the caller's, and one more
	}
	// The user's own parameters come last, so that they override the others.
	prepend := func(key, value string) { set[key] = strings.TrimSuffix(value+":"+set[key], ":") }
	if key, value := hdrOption(name, source.Side); key != "" {
		prepend(key, value)
	}
	if name == "libx264" && source.Fields == av.BottomFirst && codesFields(name, opt.Options) {
		prepend("x264-params", "bff=1") // or else FFmpeg 5.1 has pic_struct say top field first, against the fields' order
	}
	if name == "libx265" {
		prepend("x265-params", "log-level=error") // x265 logs to standard error, not to FFmpeg's log
		if v.Width < narrowPicture {
			set["x265-params"] += ":cutree=0"
		}
	}
	options := astiav.NewDictionary()
	for _, k := range slices.Sorted(maps.Keys(set)) {
		if err := options.Set(k, set[k], 0); err != nil {
			options.Free()
			return nil, fmt.Errorf("encoder option %s=%s: %w", k, set[k], err)
		}
	}
	return options, nil
}
