// Package container knows what the containers can hold: its tables add to, and correct,
// the information from FFmpeg's muxers. Every function is about an output.
package container

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// Name returns FFmpeg's name of an output's container.
func Name(c *astiav.FormatContext) string { return c.OutputFormat().Name() }

// HoldsVideo reports whether c holds video. Some containers of sound call the codec of
// their cover pictures a video codec.
func HoldsVideo(c *astiav.FormatContext) bool {
	return UsualVideo(c) != astiav.CodecIDNone && !av.IsMuxer(c, "mp3,flac,aiff,oga,opus,spx,tta,oma,wv")
}

// IsSingle reports whether c takes no more than one stream of a kind.
func IsSingle(c *astiav.FormatContext, kind astiav.MediaType) bool {
	return av.IsMuxer(c, "flv,swf,dv,rm,roq,amv,ivf,mxf_opatom,"+elementary) || kind == astiav.MediaTypeVideo && av.IsMuxer(c, "mxf,mxf_d10")
}

// PrefersUsual reports whether readers of c expect its usual video codec, although it
// takes others.
func PrefersUsual(c *astiav.FormatContext) bool {
	return av.IsMuxer(c, "vcd,svcd,dvd,vob,mxf,rawvideo")
}

// IsDisc reports whether c is a format of discs, whose players take MPEG-1 or MPEG-2 alone.
func IsDisc(c *astiav.FormatContext) bool { return av.IsMuxer(c, "vcd,svcd,dvd,vob") }

// HoldsPictures reports whether c is an image format: it holds pictures without sound, in
// a codec of its own.
func HoldsPictures(c *astiav.FormatContext) bool {
	return av.IsMuxer(c, "image2,image2pipe,gif,apng,webp,webp_anim,avif")
}

// IsNumbered reports whether c writes each picture to a numbered file.
func IsNumbered(c *astiav.FormatContext) bool { return av.IsMuxer(c, "image2") }

// CountsFrames reports whether c tells when a picture is shown by its number, at the one rate that c states.
func CountsFrames(c *astiav.FormatContext) bool {
	flags := c.OutputFormat().Flags()
	return av.IsMuxer(c, "avi,dv,filmstrip,gxf,swf,yuv4mpegpipe") ||
		flags.Has(astiav.IOFormatFlagNotimestamps) && !flags.Has(astiav.IOFormatFlagVariableFps) // null and hashes have both
}

// HoldsGaps reports whether c can show a picture for longer than others. In AVI, empty packets follow it.
func HoldsGaps(c *astiav.FormatContext) bool { return !CountsFrames(c) || av.IsMuxer(c, "avi") }

// ShowsInOrder reports whether pictures in c come late, against the sound as well, if some are coded before they are shown, as B-frames
// need it: c states no times of presentation, or FFmpeg's readers take those that it states for later ones.
func ShowsInOrder(c *astiav.FormatContext) bool { return av.IsMuxer(c, "avi,ismv") }

// PlaysOption returns the muxer's option, and its value, by which c states that players show it as often as plays says, 0 for ever;
// empty if c states no such thing.
func PlaysOption(c *astiav.FormatContext, plays func() int) (key, value string) {
	const most = 1<<16 - 1
	switch Name(c) {
	case "gif":
		n := plays()
		if n > 0 {
			n-- // how often it is shown again
			if n == 0 {
				n = -1
			}
		}
		return "loop", strconv.Itoa(min(n, most))
	case "webp":
		return "loop", strconv.Itoa(min(plays(), most))
	case "apng":
		return "plays", strconv.Itoa(min(plays(), most))
	}
	return "", ""
}

// IsManifest reports whether c writes a manifest and, as it goes, files that the manifest
// names.
func IsManifest(c *astiav.FormatContext) bool {
	return av.IsMuxer(c, "hls,dash,hds,smoothstreaming,tee,webm_chunk")
}

// IsSegments reports whether c writes files of a few seconds each.
func IsSegments(c *astiav.FormatContext) bool {
	return av.IsMuxer(c, "segment,stream_segment,ssegment")
}

// LeastStep returns how many ticks the next frame must come after one in c, at least.
// Players show a frame of a GIF for a tenth of a second if it states less than two of the
// 100 ticks of a second.
func LeastStep(c *astiav.FormatContext) int64 {
	switch {
	case Name(c) == "gif":
		return 2
	case av.MayRepeat(c):
		return 0
	}
	return 1
}

// InMilliseconds reports whether c states times in whole milliseconds, so that it cannot tell apart
// frames that come faster.
func InMilliseconds(c *astiav.FormatContext) bool {
	return av.IsMuxer(c, "matroska,webm,flv,asf,asf_stream")
}

// MaxRate returns the highest rate, in frames per second, at which players show the
// format with this name in FFmpeg; nil if there is no limit.
func MaxRate(format string) *big.Rat {
	if format == "gif" {
		return big.NewRat(50, 1)
	}
	return nil
}

// HoldsChapters reports whether c supports chapters.
func HoldsChapters(c *astiav.FormatContext) bool {
	return av.IsMuxer(c, "matroska,webm,mp4,mov,ipod,ismv,3gp,3g2,psp,f4v,nut,ogg,ogv,asf,mp3,ffmetadata")
}

// HoldsAttachments reports whether c supports attached files.
func HoldsAttachments(c *astiav.FormatContext) bool { return av.IsMuxer(c, "matroska") }

// HoldsCovers reports whether c supports cover pictures as video streams.
func HoldsCovers(c *astiav.FormatContext) bool { return av.IsMuxer(c, "mp4,ipod,3gp,3g2,psp,f4v") }

// HoldsPrograms reports whether c supports programs.
func HoldsPrograms(c *astiav.FormatContext) bool { return av.IsMuxer(c, "mpegts") }

// LosesTextDurations reports whether c does not store the duration of text subtitles.
func LosesTextDurations(c *astiav.FormatContext) bool { return av.IsMuxer(c, "nut") }

// rereadable are the containers that FFmpeg can read back. timed are the rereadable
// containers that keep every timestamp.
var (
	rereadable = []string{"matroska", "webm", "mp4", "mov", "ipod", "3gp", "3g2", "nut", "mpegts", "flv", "avi", "yuv4mpegpipe"}
	timed      = []string{"matroska", "webm", "mp4", "mov", "ipod", "3gp", "3g2", "nut", "mpegts"}
)

// IsRereadable reports whether FFmpeg can read back what it has written to c.
func IsRereadable(c *astiav.FormatContext) bool { return slices.Contains(rereadable, Name(c)) }

// Demuxer returns FFmpeg's name of the demuxer that reads back what c's muxer has written, if c is
// rereadable.
func Demuxer(c *astiav.FormatContext) string {
	switch {
	case IsISO(c):
		return "mov"
	case av.IsMuxer(c, "webm"):
		return "matroska"
	}
	return Name(c)
}

// KeepsTimes reports whether c, if it is rereadable, keeps every timestamp.
func KeepsTimes(c *astiav.FormatContext) bool { return slices.Contains(timed, Name(c)) }

// ReadDelay returns the number, in ticks of tb, that demuxers subtract from timestamps that
// a stream has in c: in Matroska, those of Opus include the encoder's delay.
func ReadDelay(c *astiav.FormatContext, s *astiav.Stream, tb astiav.Rational) int64 {
	p := s.CodecParameters()
	if p.CodecID() != astiav.CodecIDOpus || !av.IsMuxer(c, "matroska,webm") {
		return 0
	}
	return astiav.RescaleQ(int64(av.InitialPadding(p)), astiav.NewRational(1, 48_000), tb)
}

// OmittedDelay returns the part of ReadDelay, in ticks of tb, that c's muxer does not add
// itself: all of it before FFmpeg 6.0.
func OmittedDelay(c *astiav.FormatContext, s *astiav.Stream, tb astiav.Rational) int64 {
	if !av.MatroskaOmitsOpusDelay() {
		return 0
	}
	return ReadDelay(c, s, tb)
}

// Rescale converts p's timestamps from tb to those of stream s in c, to which muxers may
// add ReadDelay. The sum is rounded once.
func Rescale(c *astiav.FormatContext, s *astiav.Stream, p *astiav.Packet, tb astiav.Rational) {
	to := s.TimeBase()
	timebase.Shift(p, ReadDelay(c, s, tb))
	p.RescaleTs(tb, to)
	timebase.Shift(p, OmittedDelay(c, s, to)-ReadDelay(c, s, to))
}

// Side is a kind of side data that describes all pictures of a stream.
type Side struct {
	Kind   av.PacketSideKind
	Name   string // for messages
	Coded  bool   // packets may state it, too
	muxers []string
}

// Sides are the kinds of side data that describe all pictures of a stream, with the containers that FFmpeg 5.1 writes them to.
var Sides = []Side{
	{av.PacketMasteringDisplay, "mastering display", true, []string{"matroska", "webm", "mp4", "mov"}},
	{av.PacketContentLight, "content light level", true, []string{"matroska", "webm", "mp4", "mov"}},
	{av.PacketDisplayMatrix, "display matrix", false, ISO},
	{av.PacketStereo3D, "stereoscopic layout", false, []string{"matroska", "webm", "mp4"}},
	{av.PacketSpherical, "spherical projection", false, []string{"matroska", "webm", "mp4"}},
	{av.PacketICCProfile, "ICC profile", true, []string{"mov", "mp4"}},
}

// IsHeldBy reports whether c stores side data of the kind for a whole stream.
func (s *Side) IsHeldBy(c *astiav.FormatContext) bool { return slices.Contains(s.muxers, Name(c)) }

// HoldsAspect reports whether c stores the shape of pixels, or else a codec's packets do.
func HoldsAspect(c *astiav.FormatContext, id astiav.CodecID) bool {
	switch id {
	case astiav.CodecIDVp8, astiav.CodecIDVp9, av.CodecIDAV1, astiav.CodecIDFlv1, astiav.CodecIDProres, astiav.CodecIDDnxhd,
		astiav.CodecIDHuffyuv, astiav.CodecIDUtvideo, astiav.CodecIDRawvideo:
		return av.IsMuxer(c, "matroska,webm,mp4,mov,ipod,3gp,3g2,psp,ismv,f4v,avi,nut,asf,asf_stream,mxf,mxf_opatom")
	}
	return true
}

// quickTimeLanguages maps the ISO 639-2 codes that FFmpeg's MOV muxer does not know to
// the codes that it knows for the same languages.
var quickTimeLanguages = map[string]string{
	"fre": "fra", "deu": "ger", "nld": "dut", "swe": "sve", "ell": "gre", "isl": "ice", "hrv": "hr ", "zho": "chi", "fao": "fo ",
	"sqi": "alb", "rum": "ron", "cze": "ces", "slo": "slk", "srp": "sr ", "mkd": "mac", "hye": "arm", "kat": "geo", "bod": "tib",
	"mya": "bur", "msa": "may", "cym": "wel", "eus": "baq",
}

// Language returns c's code for a language; ok is false if c uses the same code.
func Language(c *astiav.FormatContext, name string) (other string, ok bool) {
	if !av.IsMuxer(c, "mov") {
		return "", false
	}
	other, ok = quickTimeLanguages[name]
	return other, ok
}

// isoTags are the file's tags that FFmpeg 5.1 writes to ISO containers.
var isoTags = []string{
	"title", "artist", "album_artist", "author", "composer", "album", "date", "comment", "genre", "copyright", "grouping", "lyrics",
	"description", "synopsis", "show", "episode_id", "network", "keywords", "episode_sort", "season_number", "media_type", "hd_video",
	"gapless_playback", "compilation", "track", "disc", "location", "creation_time", "language", "make", "model", "timecode", "rating",
	"performer", "sort_name", "sort_artist", "sort_album", "sort_album_artist", "sort_composer", "sort_show", "itunes_account",
}

// otherTags are the file's tags that FFmpeg 5.1 writes to other containers; those that are missing here have places for all.
// AVI also keeps tags that have RIFF's names.
var otherTags = []struct {
	muxers string
	tags   []string
}{
	{"avi", []string{"title", "artist", "album", "comment", "copyright", "date", "genre", "language", "track", "encoded_by", "timecode"}},
	{"mpegts", []string{"title", "service_name", "service_provider"}},
	{"dv,gxf", []string{"timecode"}},
	{"mxf,mxf_d10,mxf_opatom", []string{ // of the file and the program that wrote it, which change
		"timecode", "uid", "generation_uid", "company_name", "product_name", "product_version", "product_version_num", "product_uid", "application_platform",
		"toolkit_version", "toolkit_version_num", "modification_date", "operational_pattern_ul", "material_package_umid", "material_package_name",
	}},
	{"mpeg,vob,dvd,svcd,vcd,swf,ivf,yuv4mpegpipe," + elementary, nil},
}

// HoldsTag reports whether c can store a tag of the file.
func HoldsTag(c *astiav.FormatContext, key string) bool {
	key = strings.ToLower(key)
	if IsISO(c) {
		base, language, _ := strings.Cut(key, "-")
		return slices.Contains(isoTags, key) || len(language) == 3 && slices.Contains(isoTags, base)
	}
	for _, o := range otherTags {
		if av.IsMuxer(c, o.muxers) {
			riff := Name(c) == "avi" && len(key) == 4 && key[0] == 'i'
			return riff || slices.Contains(o.tags, key)
		}
	}
	return true
}

// HoldsStreamTag reports whether c can store a stream's language or title, by the tag's key.
func HoldsStreamTag(c *astiav.FormatContext, key string) bool {
	const neither = "mpeg,vob,dvd,svcd,vcd,mxf,mxf_d10,mxf_opatom,gxf,flv,swf,dv,ivf,yuv4mpegpipe," + elementary
	switch {
	case av.IsMuxer(c, neither):
		return false
	case key == "language":
		return !av.IsMuxer(c, "avi")
	}
	return !av.IsMuxer(c, "mpegts,asf,asf_stream")
}

// HoldsTimecode reports whether c stores the timecode of the first frame.
func HoldsTimecode(c *astiav.FormatContext) bool {
	return HoldsFileTimecode(c) || av.IsMuxer(c, "mov,mp4,matroska,webm,nut,ogg,ogv,mxf,mxf_d10,mxf_opatom")
}

// HoldsFileTimecode reports whether c stores the timecode as a tag of the file alone, and
// not as a tag of the video.
func HoldsFileTimecode(c *astiav.FormatContext) bool { return av.IsMuxer(c, "avi,asf,gxf,dv") }

// HoldsAllTags reports whether c stores every tag of the file if the muxer's option
// movflags has use_metadata_tags.
func HoldsAllTags(c *astiav.FormatContext) bool { return av.IsMuxer(c, "mp4,mov,ipod") }

// packetTags are prefixes of stream tags that describe the packets of the source.
// fileTags are file tags that describe the source's container.
var (
	packetTags = []string{"encoder", "duration", "bps", "number_of_frames", "number_of_bytes", "_statistics_"}
	fileTags   = []string{"major_brand", "minor_version", "compatible_brands", "encoder", "duration", "timecode_at_mark_in", "timecode_at_mark_out"}
)

// DropPacketTags removes the tags that describe a stream's former packets. Call it for a
// stream that is encoded again.
func DropPacketTags(t av.Tags) {
	for _, stale := range packetTags {
		for {
			keys := t.Keys()
			i := slices.IndexFunc(keys, func(k string) bool { return len(k) >= len(stale) && strings.EqualFold(k[:len(stale)], stale) })
			if i < 0 {
				break
			}
			t.Remove(keys[i])
		}
	}
}

// DropFileTags removes the tags that describe a file's former container.
func DropFileTags(t av.Tags) {
	for _, stale := range fileTags {
		t.Remove(stale)
	}
}
