package media

/*
#cgo pkg-config: libavcodec libavformat libavutil
#include <string.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avstring.h>
#include <libavutil/dict.h>

static void set_tag(AVDictionary **d, const char *key, const char *value) { av_dict_set(d, key, value, 0); }

// What a stream's tags say of its packets before they were encoded again.
static void drop_packet_tags(AVDictionary **d)
{
	static const char *const stale[] = { "encoder", "duration", "bps", "number_of_frames", "number_of_bytes", "_statistics_" };
	for (int i = 0; i < sizeof stale / sizeof *stale; i++)
		for (const AVDictionaryEntry *e; (e = av_dict_get(*d, stale[i], NULL, AV_DICT_IGNORE_SUFFIX));)
			av_dict_set(d, e->key, NULL, 0);
}

// What a file's tags say of its container.
static void drop_container_tags(AVDictionary **d)
{
	static const char *const stale[] = { "major_brand", "minor_version", "compatible_brands", "encoder", "duration" };
	for (int i = 0; i < sizeof stale / sizeof *stale; i++)
		av_dict_set(d, stale[i], NULL, 0);
}

static int has_tag(const AVDictionary *d, const char *key) { return av_dict_get(d, key, NULL, 0) != NULL; }

static int is_muxer(const AVFormatContext *c, const char *names) { return av_match_name(c->oformat->name, names) != 0; }

static int copy_programs(AVFormatContext *dst, const AVFormatContext *src, const int *out)
{
	for (unsigned i = 0; i < src->nb_programs; i++) {
		const AVProgram *from = src->programs[i];
		AVProgram *to = NULL;
		for (unsigned j = 0; j < from->nb_stream_indexes; j++) {
			int index = out[from->stream_index[j]];
			if (index < 0)
				continue;
			if (!to && !(to = av_new_program(dst, from->id)))
				return AVERROR(ENOMEM);
			av_program_add_stream_index(dst, from->id, index);
		}
		if (to && av_dict_copy(&to->metadata, from->metadata, 0) < 0)
			return AVERROR(ENOMEM);
	}
	return 0;
}
*/
import "C"

import (
	"errors"
	"slices"
	"strings"
	"unsafe"

	"github.com/asticode/go-astiav"
)

// isContainer says whether the output is one of FFmpeg's muxers named, between
// commas.
func (w *Writer) isContainer(names string) bool {
	n := C.CString(names)
	defer C.free(unsafe.Pointer(n))
	return C.is_muxer(native[C.AVFormatContext](w.output), n) != 0
}

// carryAttachment carries a file inside the file.
func (w *Writer) carryAttachment(in *astiav.Stream) (carrier, error) {
	if !w.isContainer("matroska") {
		w.leaveOut(in, "the container does not take it")
		return nil, nil
	}
	return w.newCopy(in)
}

// carryData carries what is neither picture, sound nor text. Time codes and
// chapters are tracks of their own in some containers; muxers make them again.
func (w *Writer) carryData(in *astiav.Stream) (carrier, error) {
	p := native[C.AVCodecParameters](in.CodecParameters())
	const timecode, text = 'd'<<24 | 'c'<<16 | 'm'<<8 | 't', 't'<<24 | 'x'<<16 | 'e'<<8 | 't'
	key := C.CString("timecode")
	defer C.free(unsafe.Pointer(key))
	switch {
	case p.codec_tag == timecode && C.has_tag(native[C.AVStream](in).metadata, key) != 0,
		p.codec_tag == text && native[C.AVFormatContext](w.source.input).nb_chapters > 0:
		return nil, nil
	case p.codec_id == C.AV_CODEC_ID_NONE || !holds(w.output, in.CodecParameters()):
		w.leaveOut(in, "the container does not take it")
		return nil, nil
	case !w.keepsTime():
		w.leaveOut(in, "its time cannot be changed")
		return nil, nil
	}
	return w.newCopy(in)
}

// carryVideo carries a video stream that is not the one converted.
func (w *Writer) carryVideo(in *astiav.Stream) (carrier, error) {
	switch {
	case attachedPicture(in):
		return w.carryCover(in)
	case !holds(w.output, in.CodecParameters()):
		w.leaveOut(in, "the container does not take it")
		return nil, nil
	case !w.keepsTime():
		w.leaveOut(in, "one video stream is converted at a time; Input.Map chooses it")
		return nil, nil
	}
	return w.newCopy(in)
}

func (w *Writer) leaveOut(in *astiav.Stream, why string) {
	w.log.Warn("stream left out: "+why, "stream", in.Index(), "kind", in.CodecParameters().MediaType(),
		"codec", in.CodecParameters().CodecID(), "container", w.output.OutputFormat().Name())
}

// cover is a picture that stands for the whole file.
type cover struct {
	w      *Writer
	out    *astiav.Stream
	packet *astiav.Packet // nil once it is written
}

func (w *Writer) carryCover(in *astiav.Stream) (carrier, error) {
	picture := &native[C.AVStream](in).attached_pic
	switch {
	case picture.size == 0:
		return nil, nil
	case w.isContainer("matroska"):
		return nil, w.attach(in, picture)
	case !w.isContainer("mp4,ipod,3gp,3g2,psp,f4v") || !holds(w.output, in.CodecParameters()):
		w.leaveOut(in, "the container takes no cover picture of its kind")
		return nil, nil
	}
	out, err := w.twin(in)
	if err != nil {
		return nil, err
	}
	c := &cover{w: w, out: out, packet: astiav.AllocPacket()}
	if C.av_packet_ref(native[C.AVPacket](c.packet), picture) < 0 {
		c.free()
		return nil, errors.New("out of memory")
	}
	return c, nil
}

// attach makes an attachment of a cover picture, as Matroska keeps it.
func (w *Writer) attach(in *astiav.Stream, picture *C.AVPacket) error {
	out, err := w.twin(in)
	if err != nil {
		return err
	}
	p, s := out.CodecParameters(), native[C.AVStream](out)
	p.SetMediaType(astiav.MediaTypeAttachment)
	s.disposition = 0
	name, kind := "cover.jpg", "image/jpeg"
	if p.CodecID() == astiav.CodecIDPng {
		name, kind = "cover.png", "image/png"
	}
	for key, value := range map[string]string{"filename": name, "mimetype": kind} {
		k, v := C.CString(key), C.CString(value)
		if C.has_tag(s.metadata, k) == 0 {
			C.set_tag(&s.metadata, k, v)
		}
		C.free(unsafe.Pointer(k))
		C.free(unsafe.Pointer(v))
	}
	return p.SetExtraData(C.GoBytes(unsafe.Pointer(picture.data), picture.size))
}

// take is for the packet that some containers deliver once more.
func (c *cover) take(*astiav.Packet) error { return nil }

// begin writes the picture, behind the header.
func (c *cover) begin() error {
	c.packet.SetPts(0)
	c.packet.SetDts(0)
	c.packet.SetStreamIndex(c.out.Index())
	return c.w.mux(c.packet)
}

func (c *cover) finish() error { return nil }
func (c *cover) free()         { c.packet.Free() }

// renewTags drops from the output's tags what only the source's packets and
// container were.
func (w *Writer) renewTags() {
	video := native[C.AVStream](w.video)
	dropPacketTags(w.video)
	C.drop_container_tags(&native[C.AVFormatContext](w.output).metadata)
	key, value := C.CString("encoder"), C.CString(C.LIBAVCODEC_IDENT+" "+w.codec.Name())
	C.set_tag(&video.metadata, key, value)
	C.free(unsafe.Pointer(key))
	C.free(unsafe.Pointer(value))
	w.sayLostTags()
}

// dropPacketTags drops what the tags of a stream that is encoded again say of the
// source's packets.
func dropPacketTags(s *astiav.Stream) { C.drop_packet_tags(&native[C.AVStream](s).metadata) }

// quickTimeLanguages are the names that FFmpeg's MOV muxer has for some languages
// whose ISO 639-2 codes it does not know.
var quickTimeLanguages = map[string]string{
	"fre": "fra", "deu": "ger", "nld": "dut", "swe": "sve", "ell": "gre", "isl": "ice", "hrv": "hr ", "zho": "chi", "fao": "fo ",
	"sqi": "alb", "rum": "ron", "cze": "ces", "slo": "slk", "srp": "sr ", "mkd": "mac", "hye": "arm", "kat": "geo", "bod": "tib",
	"mya": "bur", "msa": "may", "cym": "wel", "eus": "baq",
}

// nameLanguages gives the output's streams the names of languages that its container
// has.
func (w *Writer) nameLanguages() {
	if !w.isContainer("mov") {
		return
	}
	key := C.CString("language")
	defer C.free(unsafe.Pointer(key))
	for _, s := range w.output.Streams() {
		if name, ok := quickTimeLanguages[streamTag(s, "language")]; ok {
			value := C.CString(name)
			C.set_tag(&native[C.AVStream](s).metadata, key, value)
			C.free(unsafe.Pointer(value))
		}
	}
}

// streamTag returns a tag of s, empty where it has none of that name.
func streamTag(s *astiav.Stream, name string) string {
	key := C.CString(name)
	defer C.free(unsafe.Pointer(key))
	if e := C.av_dict_get(native[C.AVStream](s).metadata, key, nil, 0); e != nil {
		return C.GoString(e.value)
	}
	return ""
}

// isoTags are the tags of a file that FFmpeg 5.1 writes to MP4 and its kin.
var isoTags = []string{
	"title", "artist", "album_artist", "author", "composer", "album", "date", "comment", "genre", "copyright", "grouping", "lyrics",
	"description", "synopsis", "show", "episode_id", "network", "keywords", "episode_sort", "season_number", "media_type", "hd_video",
	"gapless_playback", "compilation", "track", "disc", "location", "creation_time", "language", "make", "model", "timecode", "rating",
	"performer", "sort_name", "sort_artist", "sort_album", "sort_album_artist", "sort_composer", "sort_show", "itunes_account",
}

// sayLostTags names the tags that the container has no place for.
func (w *Writer) sayLostTags() {
	if !w.isContainer("mp4,mov,ipod,3gp,3g2,psp,f4v,ismv") {
		return
	}
	var lost []string
	empty := C.CString("")
	defer C.free(unsafe.Pointer(empty))
	tags := native[C.AVFormatContext](w.output).metadata
	for e := C.av_dict_get(tags, empty, nil, C.AV_DICT_IGNORE_SUFFIX); e != nil; e = C.av_dict_get(tags, empty, e, C.AV_DICT_IGNORE_SUFFIX) {
		key := strings.ToLower(C.GoString(e.key))
		base, language, _ := strings.Cut(key, "-")
		if !slices.Contains(isoTags, key) && (len(language) != 3 || !slices.Contains(isoTags, base)) {
			lost = append(lost, C.GoString(e.key))
		}
	}
	if len(lost) > 0 {
		w.log.Warn("tags left out: the container has no place for them", "tags", strings.Join(lost, ", "), "container", w.output.OutputFormat().Name())
	}
}

// outputIndex is an index among the output's streams, -1 for none.
type outputIndex = C.int

// addPrograms carries the names of programs. outputs are the output's stream
// indices by the source's, -1 for those left out.
func (w *Writer) addPrograms(outputs []outputIndex) error {
	if !w.isContainer("mpegts") || len(outputs) == 0 {
		return nil
	}
	return status(C.copy_programs(native[C.AVFormatContext](w.output), native[C.AVFormatContext](w.source.input), &outputs[0]))
}
