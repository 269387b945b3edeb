package media

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/fault"
)

// pickEncoder finds the encoder named, or one that suits the container. Those
// for raw frames, such as YUV4MPEG2, take them wrapped.
func (w *Writer) pickEncoder() (*astiav.Codec, error) {
	wraps := defaultVideoCodec(w.output) == wrappedFrame
	if name := w.opt.Codec; name != "" && (!wraps || name != "rawvideo") {
		codec := astiav.FindEncoderByName(name)
		if codec == nil {
			return nil, fault.New(fault.Usage, "encoder %q is not in this FFmpeg build%s; see ffmpeg -encoders", name, insteadOf(name))
		}
		if refuses(w.output, codec.ID()) {
			return nil, fault.New(fault.Usage, "output %q: the %s container does not take %s; choose another Output.VideoCodec or file name",
				w.target.name, w.output.OutputFormat().Name(), name)
		}
		return codec, nil
	}
	pictures := w.isContainer("image2,image2pipe,gif,apng,webp,webp_anim,avif")
	if codec := astiav.FindEncoderByName("libx264"); codec != nil && !refuses(w.output, codec.ID()) && !wraps && !pictures {
		return codec, nil
	}
	if codec := astiav.FindEncoder(defaultVideoCodec(w.output)); codec != nil {
		return codec, nil
	}
	return nil, fault.New(fault.Usage, "output %q: the %s container holds no video that this FFmpeg build encodes",
		w.target.name, w.output.OutputFormat().Name())
}

// openEncoder opens codec with the sample format that suits it.
func (w *Writer) openEncoder(codec *astiav.Codec) error {
	v, source := w.source.Video(), w.carried()
	format, lost, err := w.pickFormat(codec, source)
	if err != nil {
		return err
	}
	err = w.tryEncoder(codec, format)
	if whole := wholeBlocks(v.Width, v.Height); err != nil && w.opt.PixelFormat == "" && !whole(format) {
		// Some take only sizes that are whole blocks of chroma samples.
		if other, l, ok := nearestFormat(source, w.formats(codec), whole); ok && w.tryEncoder(codec, other) == nil {
			format, lost, err = other, l, nil
		}
	}
	if err != nil {
		return err
	}
	switch {
	case format == source || w.opt.PixelFormat != "":
	case lost == loss{}:
		w.log.Info("the encoder does not take such pictures in the source's sample format; another one holds all of it",
			"encoder", codec.Name(), "source", source, "written", format)
	default:
		w.log.Warn("the encoder takes no sample format that holds all of the source",
			"encoder", codec.Name(), "source", source, "written", format, "lost", lost)
	}
	return nil
}

// wholeBlocks says of a format whether each chroma sample of such pictures
// stands for a whole block.
func wholeBlocks(width, height int) func(astiav.PixelFormat) bool {
	return func(p astiav.PixelFormat) bool {
		d := describe(p)
		return width&(1<<d.log2_chroma_w-1) == 0 && height&(1<<d.log2_chroma_h-1) == 0
	}
}

func anySize(astiav.PixelFormat) bool { return true }

func (w *Writer) tryEncoder(codec *astiav.Codec, format astiav.PixelFormat) error {
	v := w.source.Video()
	num, den := w.opt.Rate.Num(), w.opt.Rate.Denom()
	if !num.IsInt64() || !den.IsInt64() || num.Int64() > 1<<31-1 || den.Int64() > 1<<31-1 {
		return fault.New(fault.Usage, "rate %s: numerator and denominator must be below 2^31", w.opt.Rate.RatString())
	}
	w.describeSamples(format)
	e := astiav.AllocCodecContext(codec)
	e.SetWidth(v.Width)
	e.SetHeight(v.Height)
	e.SetPixelFormat(format)
	e.SetTimeBase(astiav.NewRational(int(den.Int64()), int(num.Int64())))
	if u := w.opt.Unit; u != nil {
		e.SetTimeBase(astiav.NewRational(int(u.Num().Int64()), int(u.Denom().Int64())))
	}
	e.SetFramerate(astiav.NewRational(int(num.Int64()), int(den.Int64())))
	e.SetSampleAspectRatio(w.source.input.GuessSampleAspectRatio(w.source.stream, nil))
	e.SetThreadCount(w.opt.Threads)
	if globalHeader(w.output) || w.apart {
		e.SetFlags(e.Flags().Add(astiav.CodecContextFlagGlobalHeader))
	}
	options, err := w.encoderOptions(codec)
	if err != nil {
		e.Free()
		return err
	}
	defer options.Free()
	var message string
	if onlyOnDevice(codec) {
		message, err = prepareUpload(e, codec, format)
	}
	if err == nil {
		message, err = withMessage(func() error { return e.Open(codec, options) })
	}
	if err != nil {
		e.Free()
		return fault.New(fault.Usage, "encoder %s refuses %dx%d %s with these options: %w%s%s%s",
			codec.Name(), v.Width, v.Height, format, err, detail(message), oddSizeHint(v, format), insteadOf(codec.Name()))
	}
	if left := options.Get("", nil, astiav.NewDictionaryFlags(astiav.DictionaryFlagIgnoreSuffix)); left != nil {
		err := fault.New(fault.Usage, "encoder %s has no option %q", codec.Name(), left.Key())
		e.Free()
		return err
	}
	w.encoder, w.codec, w.unit = e, codec, e.TimeBase()
	return nil
}

// describeSamples settles how pictures go to an encoder that takes them in
// format, and what their samples stand for there.
func (w *Writer) describeSamples(format astiav.PixelFormat) {
	v, source, c := w.source.Video(), w.carried(), w.source.colour
	w.colour = c.in(format, source, v.Height)
	w.repack.to = w.colour.layout(v.Width, v.Height, format)
	w.restore = repacker{to: c.layout(v.Width, v.Height, source), twin: true}
}

// oddSizeHint says what helps where an encoder takes even sizes only.
func oddSizeHint(v Video, format astiav.PixelFormat) string {
	if wholeBlocks(v.Width, v.Height)(format) {
		return ""
	}
	return "; the size is odd: Output.PixelFormat yuv444p or another Output.VideoCodec, such as libvpx-vp9, keeps every pixel"
}

// pickFormat chooses the encoder's sample format and says what is lost by it.
func (w *Writer) pickFormat(codec *astiav.Codec, source astiav.PixelFormat) (astiav.PixelFormat, loss, error) {
	name := w.opt.PixelFormat
	if name != "" {
		p := astiav.FindPixelFormatByName(name)
		if p == astiav.PixelFormatNone {
			return 0, loss{}, fault.New(fault.Usage, "sample format %q does not exist; see ffmpeg -pix_fmts", name)
		}
		if taken := w.formats(codec); len(taken) > 0 && !slices.Contains(taken, p) {
			return 0, loss{}, fault.New(fault.Usage, "encoder %s does not take %s; it takes %s", codec.Name(), name, formatNames(taken))
		}
		return p, lossBetween(source, p), nil
	}
	best, lost, _ := nearestFormat(source, w.formats(codec), anySize)
	return best, lost, nil
}

// carried is the source's sample format, or the planar one that stands for it
// where frames cannot be made in it.
func (w *Writer) carried() astiav.PixelFormat {
	if w.source.planes.only {
		return w.source.planes.repack.to.format
	}
	return astiav.FindPixelFormatByName(w.source.Video().Source)
}

// formats are the sample formats that an encoder takes; empty where it takes all.
func (w *Writer) formats(codec *astiav.Codec) []astiav.PixelFormat {
	switch {
	case codec.ID() == wrappedFrame:
		return filterFormats(yuv4mpegHolds)
	case codec.Name() == "rawvideo":
		return filterFormats(hasRawTag)
	case codec.Name() == "mjpeg":
		return slices.DeleteFunc(codec.PixelFormats(), func(p astiav.PixelFormat) bool { return !alwaysFull(p) }) // as JPEG is
	}
	if onlyOnDevice(codec) {
		return filterFormats(func(p astiav.PixelFormat) bool { return slices.Contains(uploadable, p.Name()) })
	}
	return slices.DeleteFunc(inMemory(codec.PixelFormats()), func(p astiav.PixelFormat) bool { return has(describe(p), paletted) })
}

func formatNames(formats []astiav.PixelFormat) string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name()
	}
	return strings.Join(names, ", ")
}

func (w *Writer) encoderOptions(codec *astiav.Codec) (*astiav.Dictionary, error) {
	c := w.colour
	set := map[string]string{
		"color_primaries":        strconv.Itoa(int(c.primaries)),
		"color_trc":              strconv.Itoa(int(c.transfer)),
		"colorspace":             strconv.Itoa(int(c.matrix)),
		"color_range":            strconv.Itoa(int(c.extent)),
		"chroma_sample_location": strconv.Itoa(int(c.chroma)),
	}
	hasCRF := encoderHasOption(codec, "crf")
	switch {
	case w.opt.CRF >= 0 && !hasCRF:
		return nil, fault.New(fault.Usage, "encoder %s has no constant rate factor; leave Output.CRF out or set its quality with Output.VideoOptions", codec.Name())
	case w.opt.CRF >= 0:
		set["crf"] = strconv.Itoa(w.opt.CRF)
	case codec.Name() == "libx264":
		set["crf"] = strconv.Itoa(DefaultCRF)
	}
	if v := w.source.Video(); codec.Name() == "libx264" && v.Width*v.Height > largePicture {
		set["rc-lookahead"] = "20"
	}
	if codec.Name() == "libvpx" && hasAlpha(describe(w.repack.to.format)) {
		set["auto-alt-ref"] = "0" // which VP8 has for pictures without alpha only
	}
	if _, own := w.opt.Options["qp"]; own && w.opt.CRF < 0 {
		delete(set, "crf")
	}
	maps.Copy(set, w.opt.Options)
	// The user's own parameters come behind, so that they prevail.
	prepend := func(key, value string) { set[key] = strings.TrimSuffix(value+":"+set[key], ":") }
	if key, value := hdrOption(codec.Name(), w.source); key != "" {
		prepend(key, value)
	}
	if codec.Name() == "libx265" {
		prepend("x265-params", "log-level=error") // it would write to standard error past FFmpeg's log
	}
	options := astiav.NewDictionary()
	for _, k := range slices.Sorted(maps.Keys(set)) {
		if err := options.Set(k, set[k], 0); err != nil {
			return nil, fmt.Errorf("encoder option %s=%s: %w", k, set[k], err)
		}
	}
	return options, nil
}

// encodable returns a new reference to f's picture in the encoder's format.
func (w *Writer) encodable(f *frame.Frame) (*astiav.Frame, error) {
	picture, ok := f.Native.(*astiav.Frame)
	if !ok {
		return nil, errors.New("frame does not come from this writer or its source")
	}
	want := w.repack.to
	made := w.source.planes.light && picture.PixelFormat() == w.source.planes.repack.to.format
	if !made && picture.PixelFormat() == want.format && picture.Width() == want.width && picture.Height() == want.height {
		if c := picture.Clone(); c != nil {
			return c, nil
		}
		return nil, errors.New("out of memory")
	}
	from := w.source.colour.layout(picture.Width(), picture.Height(), picture.PixelFormat())
	if from.format != w.source.planes.repack.to.format {
		return w.repacked(picture, from)
	}
	// Frames that were made go the way that the source's do.
	from.full = w.restore.to.full
	if !made && (from.format == w.restore.to.format || w.repack.moves(from) && w.repack.moves(w.restore.to)) {
		return w.repacked(picture, from)
	}
	restored, err := w.restore.convert(picture, from)
	if err != nil {
		return nil, err
	}
	if made && w.restore.to.format == want.format {
		w.colour.tag(restored)
		return restored, nil
	}
	defer restored.Free()
	return w.repacked(restored, w.restore.to)
}

func (w *Writer) repacked(picture *astiav.Frame, from layout) (*astiav.Frame, error) {
	out, err := w.repack.convert(picture, from)
	if err == nil {
		w.colour.tag(out)
	}
	return out, err
}
