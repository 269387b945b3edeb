package container

import (
	"slices"
	"testing"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

func output(t *testing.T, format string) *astiav.FormatContext {
	t.Helper()
	c, err := astiav.AllocOutputFormatContext(nil, format, "out."+format)
	if err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	t.Cleanup(c.Free)
	return c
}

func TestCodecs(t *testing.T) {
	const refuses, unknown, takes = 0, -1, 1
	for _, c := range []struct {
		format string
		codec  astiav.CodecID
		want   int
	}{
		{"mp4", astiav.CodecIDH264, takes}, {"mp4", astiav.CodecIDFlac, takes}, {"mov", astiav.CodecIDFlac, refuses}, {"mov", astiav.CodecIDVp9, refuses},
		{"mov", av.CodecIDAV1, refuses}, {"webm", astiav.CodecIDH264, refuses}, {"webm", astiav.CodecIDVp9, takes},
		{"mpegts", astiav.CodecIDFlac, refuses}, {"mpegts", astiav.CodecIDAac, takes}, {"mpegts", astiav.CodecIDSubrip, refuses},
		{"ogv", astiav.CodecIDTheora, takes}, {"ogg", astiav.CodecIDH264, refuses}, {"nut", astiav.CodecIDMp3, refuses},
		{"matroska", astiav.CodecIDFfv1, takes}, {"yuv4mpegpipe", astiav.CodecIDFfv1, unknown},
	} {
		out := output(t, c.format)
		if got := query(out, c.codec); got != c.want && (got >= 0 || c.want >= 0) {
			t.Errorf("%s in %s: %d, want %d", c.codec, c.format, got, c.want)
		}
		if Refuses(out, c.codec) != (c.want == refuses) || Takes(out, c.codec) != (c.want == takes) {
			t.Errorf("%s in %s: refused %v, taken %v", c.codec, c.format, Refuses(out, c.codec), Takes(out, c.codec))
		}
	}
}

// A container that FFmpeg cannot be asked about takes the kinds of streams that it has a
// default codec for.
func TestHoldsByKind(t *testing.T) {
	p := astiav.AllocCodecParameters()
	defer p.Free()
	out := output(t, "yuv4mpegpipe")
	p.SetCodecID(astiav.CodecIDFfv1)
	for kind, want := range map[astiav.MediaType]bool{astiav.MediaTypeVideo: true, astiav.MediaTypeAudio: false, astiav.MediaTypeSubtitle: false, astiav.MediaTypeData: false} {
		p.SetMediaType(kind)
		if got := Holds(out, p); got != want {
			t.Errorf("%s: %v", kind, got)
		}
	}
}

func TestUsualCodecs(t *testing.T) {
	for _, c := range []struct {
		format                                                                          string
		iso, pictures, numbered, chapters, attachments, covers, programs, reread, times bool
		sound                                                                           astiav.CodecID
	}{
		{"mp4", true, false, false, true, false, true, false, true, true, astiav.CodecIDAac},
		{"mov", true, false, false, true, false, false, false, true, true, astiav.CodecIDAac},
		{"matroska", false, false, false, true, true, false, false, true, true, astiav.CodecIDVorbis},
		{"mpegts", false, false, false, false, false, false, true, true, true, astiav.CodecIDAac},
		{"avi", false, false, false, false, false, false, false, true, false, astiav.CodecIDMp3},
		{"image2", false, true, true, false, false, false, false, false, false, astiav.CodecIDNone},
		{"gif", false, true, false, false, false, false, false, false, false, astiav.CodecIDNone},
	} {
		o := output(t, c.format)
		got := []bool{IsISO(o), HoldsPictures(o), IsNumbered(o), HoldsChapters(o), HoldsAttachments(o), HoldsCovers(o), HoldsPrograms(o), IsRereadable(o), KeepsTimes(o)}
		want := []bool{c.iso, c.pictures, c.numbered, c.chapters, c.attachments, c.covers, c.programs, c.reread, c.times}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.format, got, want)
		}
		if id := UsualAudio(o); id != c.sound {
			t.Errorf("%s: sound is usually %s, want %s", c.format, id, c.sound)
		}
	}
}

// NUT takes sound from an FFmpeg whose choice for it is MP3, which NUT garbles, too.
func TestSoundInNUT(t *testing.T) {
	if id := usualAudio(output(t, "nut"), astiav.CodecIDMp3); id != astiav.CodecIDAac {
		t.Errorf("sound in NUT is usually %s, want AAC", id)
	}
}

func TestTags(t *testing.T) {
	for _, c := range []struct {
		format, key string
		want        bool
	}{
		{"mp4", "title", true}, {"mp4", "TITLE", true}, {"mp4", "title-ger", true}, {"mp4", "title-german", false}, {"mp4", "weird", false}, {"matroska", "weird", true},
		{"avi", "Artist", true}, {"avi", "IARL", true}, {"avi", "weird", false}, {"mpegts", "title", true}, {"mpegts", "artist", false}, {"vob", "title", false},
	} {
		if got := HoldsTag(output(t, c.format), c.key); got != c.want {
			t.Errorf("%s in %s: %v", c.key, c.format, got)
		}
	}
	o := output(t, "matroska")
	tags := av.FileTags(o)
	for _, k := range []string{"title", "ENCODER", "DURATION-eng", "BPS", "NUMBER_OF_FRAMES-eng", "_STATISTICS_TAGS", "major_brand", "comment"} {
		tags.Set(k, "x")
	}
	DropPacketTags(tags)
	if got := tags.Keys(); len(got) != 3 || slices.Contains(got, "ENCODER") {
		t.Errorf("%q are left", got)
	}
	DropFileTags(tags)
	if got := tags.Keys(); len(got) != 2 {
		t.Errorf("%q are left", got)
	}
	if name, ok := Language(output(t, "mov"), "deu"); !ok || name != "ger" {
		t.Errorf("German is %q", name)
	}
	if _, ok := Language(o, "deu"); ok {
		t.Error("Matroska has names of its own for languages")
	}
}
