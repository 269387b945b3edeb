// Package container knows what files of each format hold, by tables of what FFmpeg's
// muxers do not tell, or tell wrongly. All functions are about an output.
package container

import (
	"slices"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// ISO are FFmpeg's names for the containers of the ISO base media family.
var ISO = []string{"mov", "mp4", "ipod", "3gp", "3g2", "f4v", "ismv", "psp"}

// MovieTimescale is the units of a second in which the containers of ISO say when their
// streams begin.
const MovieTimescale = 90_000

// Name returns FFmpeg's name of an output's container.
func Name(c *astiav.FormatContext) string { return c.OutputFormat().Name() }

// IsISO says whether an output's container is one of ISO.
func IsISO(c *astiav.FormatContext) bool { return slices.Contains(ISO, Name(c)) }

// transportCodecs are what readers of transport streams know. FFmpeg writes anything to
// them, much of it as private data that nobody reads.
var transportCodecs = []astiav.CodecID{
	astiav.CodecIDMpeg1Video, astiav.CodecIDMpeg2Video, astiav.CodecIDMpeg4, astiav.CodecIDH264, astiav.CodecIDHevc,
	astiav.CodecIDCavs, astiav.CodecIDDirac, astiav.CodecIDVc1,
	astiav.CodecIDMp1, astiav.CodecIDMp2, astiav.CodecIDMp3, astiav.CodecIDAac, astiav.CodecIDAacLatm, astiav.CodecIDAc3,
	astiav.CodecIDEac3, astiav.CodecIDDts, astiav.CodecIDTruehd, astiav.CodecIDOpus, astiav.CodecIDS302M,
	astiav.CodecIDDvbSubtitle, astiav.CodecIDDvbTeletext, astiav.CodecIDHdmvPgsSubtitle,
	astiav.CodecIDSmpteKlv, astiav.CodecIDTimedId3,
}

// oggCodecs are what Ogg's muxer takes, which does not tell.
var oggCodecs = []astiav.CodecID{
	astiav.CodecIDTheora, astiav.CodecIDVp8,
	astiav.CodecIDVorbis, astiav.CodecIDOpus, astiav.CodecIDFlac, astiav.CodecIDSpeex,
}

// misstated are the codecs that muxers list but refuse, or in NUT garble, by the names of
// the muxers.
var misstated = map[astiav.CodecID]string{
	astiav.CodecIDFlac: misstatedISO, astiav.CodecIDOpus: misstatedISO, astiav.CodecIDTruehd: misstatedISO,
	astiav.CodecIDVp9: misstatedISO, av.CodecIDAV1: misstatedISO,
	astiav.CodecIDMp3: "nut",
}

const misstatedISO = "mov,3gp,3g2,psp,ipod,ismv,f4v"

// query returns 1 if c takes a codec, 0 if it does not, and a negative number if FFmpeg
// does not know.
func query(c *astiav.FormatContext, id astiav.CodecID) int {
	member := func(list []astiav.CodecID) int {
		if slices.Contains(list, id) {
			return 1
		}
		return 0
	}
	switch {
	case misstated[id] != "" && av.IsMuxer(c, misstated[id]):
		return 0
	case av.IsMuxer(c, "ogg,ogv,oga,opus,spx"):
		return member(oggCodecs)
	case Name(c) == "mpegts":
		return member(transportCodecs)
	}
	return av.QueryCodec(c, id)
}

// Holds says whether c takes the stream; if FFmpeg does not know, whether it takes any of
// its kind.
func Holds(c *astiav.FormatContext, p *astiav.CodecParameters) bool {
	known := query(c, p.CodecID())
	if known >= 0 {
		return known != 0
	}
	// A container that has no default codec for a kind of stream holds none of it.
	return av.DefaultCodec(c, p.CodecType()) != astiav.CodecIDNone
}

// Refuses says whether c is known not to take the codec.
func Refuses(c *astiav.FormatContext, id astiav.CodecID) bool { return query(c, id) == 0 }

// Takes says whether c is known to take the codec.
func Takes(c *astiav.FormatContext, id astiav.CodecID) bool { return query(c, id) == 1 }

// UsualVideo is the codec of video that c is usually filled with.
func UsualVideo(c *astiav.FormatContext) astiav.CodecID {
	return av.GuessCodec(c, astiav.MediaTypeVideo)
}

// UsualAudio is the codec of sound that c is usually filled with.
func UsualAudio(c *astiav.FormatContext) astiav.CodecID {
	if av.IsMuxer(c, "mpegts") {
		return astiav.CodecIDAac // FFmpeg's usual one is MP2, which is worse
	}
	return av.GuessCodec(c, astiav.MediaTypeAudio)
}

// HoldsPictures says whether c is made for pictures without sound, of codecs of their
// own.
func HoldsPictures(c *astiav.FormatContext) bool {
	return av.IsMuxer(c, "image2,image2pipe,gif,apng,webp,webp_anim,avif")
}

// IsNumbered says whether c writes each picture to a file of its own.
func IsNumbered(c *astiav.FormatContext) bool { return av.IsMuxer(c, "image2") }

// HoldsChapters says whether c has chapters.
func HoldsChapters(c *astiav.FormatContext) bool {
	return av.IsMuxer(c, "matroska,webm,mp4,mov,ipod,ismv,3gp,3g2,psp,f4v,nut,ogg,ogv,asf,mp3,ffmetadata")
}

// HoldsAttachments says whether c has files inside.
func HoldsAttachments(c *astiav.FormatContext) bool { return av.IsMuxer(c, "matroska") }

// HoldsCovers says whether c has pictures that stand for the file, as streams.
func HoldsCovers(c *astiav.FormatContext) bool { return av.IsMuxer(c, "mp4,ipod,3gp,3g2,psp,f4v") }

// HoldsPrograms says whether c has programs.
func HoldsPrograms(c *astiav.FormatContext) bool { return av.IsMuxer(c, "mpegts") }

// LosesTextDurations says whether c does not say how long subtitles are shown.
func LosesTextDurations(c *astiav.FormatContext) bool { return av.IsMuxer(c, "nut") }

// rereadable are the containers that are read again, and timed those of them that keep
// every timestamp.
var (
	rereadable = []string{"matroska", "webm", "mp4", "mov", "ipod", "3gp", "3g2", "nut", "mpegts", "flv", "avi", "yuv4mpegpipe"}
	timed      = []string{"matroska", "webm", "mp4", "mov", "ipod", "3gp", "3g2", "nut", "mpegts"}
)

// IsRereadable says whether FFmpeg reads from c what it has written.
func IsRereadable(c *astiav.FormatContext) bool { return slices.Contains(rereadable, Name(c)) }

// KeepsTimes says whether a rereadable c keeps every timestamp.
func KeepsTimes(c *astiav.FormatContext) bool { return slices.Contains(timed, Name(c)) }

// OmittedDelay is what must be added to a stream's timestamps, in units of tb, because
// c's muxer states the coder's delay without it: Matroska's timestamps of Opus stand
// behind the delay, which demuxers subtract.
func OmittedDelay(c *astiav.FormatContext, s *astiav.Stream, tb astiav.Rational) int64 {
	p := s.CodecParameters()
	if p.CodecID() != astiav.CodecIDOpus || !av.IsMuxer(c, "matroska,webm") {
		return 0
	}
	return astiav.RescaleQ(int64(av.InitialPadding(p)), astiav.NewRational(1, 48_000), tb)
}

// sideMuxers are the containers that FFmpeg 5.1 writes a kind of side data to.
var sideMuxers = map[av.PacketSideKind][]string{
	av.PacketMasteringDisplay: {"matroska", "webm", "mp4", "mov"},
	av.PacketContentLight:     {"matroska", "webm", "mp4", "mov"},
	av.PacketDisplayMatrix:    ISO,
	av.PacketStereo3D:         {"matroska", "webm", "mp4"},
	av.PacketSpherical:        {"matroska", "webm", "mp4"},
	av.PacketICCProfile:       {"mov", "mp4"},
}

// HoldsSideData says whether c keeps what is said of all pictures.
func HoldsSideData(c *astiav.FormatContext, kind av.PacketSideKind) bool {
	return slices.Contains(sideMuxers[kind], Name(c))
}

// quickTimeLanguages are the names that FFmpeg's MOV muxer has for some languages
// whose ISO 639-2 codes it does not know.
var quickTimeLanguages = map[string]string{
	"fre": "fra", "deu": "ger", "nld": "dut", "swe": "sve", "ell": "gre", "isl": "ice", "hrv": "hr ", "zho": "chi", "fao": "fo ",
	"sqi": "alb", "rum": "ron", "cze": "ces", "slo": "slk", "srp": "sr ", "mkd": "mac", "hye": "arm", "kat": "geo", "bod": "tib",
	"mya": "bur", "msa": "may", "cym": "wel", "eus": "baq",
}

// Language returns c's name for a language; ok is false if it is the same.
func Language(c *astiav.FormatContext, name string) (other string, ok bool) {
	if !av.IsMuxer(c, "mov") {
		return "", false
	}
	other, ok = quickTimeLanguages[name]
	return other, ok
}

// isoTags are the tags of a file that FFmpeg 5.1 writes to the containers of ISO.
var isoTags = []string{
	"title", "artist", "album_artist", "author", "composer", "album", "date", "comment", "genre", "copyright", "grouping", "lyrics",
	"description", "synopsis", "show", "episode_id", "network", "keywords", "episode_sort", "season_number", "media_type", "hd_video",
	"gapless_playback", "compilation", "track", "disc", "location", "creation_time", "language", "make", "model", "timecode", "rating",
	"performer", "sort_name", "sort_artist", "sort_album", "sort_album_artist", "sort_composer", "sort_show", "itunes_account",
}

// HoldsTag says whether c has a place for a tag of the file.
func HoldsTag(c *astiav.FormatContext, key string) bool {
	if !IsISO(c) {
		return true
	}
	key = strings.ToLower(key)
	base, language, _ := strings.Cut(key, "-")
	return slices.Contains(isoTags, key) || len(language) == 3 && slices.Contains(isoTags, base)
}

// packetTags begin the names of tags that say of a stream's packets what they were before
// they were encoded again, and fileTags are those that say of a file what its container
// was.
var (
	packetTags = []string{"encoder", "duration", "bps", "number_of_frames", "number_of_bytes", "_statistics_"}
	fileTags   = []string{"major_brand", "minor_version", "compatible_brands", "encoder", "duration"}
)

// DropPacketTags drops what the tags of a stream that is encoded again say of the
// source's packets.
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

// DropFileTags drops what a file's tags say of its container.
func DropFileTags(t av.Tags) {
	for _, stale := range fileTags {
		t.Remove(stale)
	}
}
