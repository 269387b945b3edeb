package media

/*
#cgo pkg-config: libavcodec
#include <libavcodec/avcodec.h>

// Text is not checked to be UTF-8: the decoder would refuse all of a packet.
static int open_text(AVCodecContext *c, const AVCodec *codec)
{
	c->sub_charenc_mode = FF_SUB_CHARENC_MODE_IGNORE;
	return avcodec_open2(c, codec, NULL);
}
static const char *event(const AVSubtitle *s, unsigned i)
{
	return i < s->num_rects && s->rects[i]->type == SUBTITLE_ASS ? s->rects[i]->ass : NULL;
}
*/
import "C"

import (
	"math"
	"math/big"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/pipeline/subtitle"
)

// texts are the codecs of subtitles whose packets are whole texts.
var texts = []astiav.CodecID{
	astiav.CodecIDSubrip, astiav.CodecIDSrt, astiav.CodecIDText, astiav.CodecIDAss, astiav.CodecIDSsa, astiav.CodecIDWebvtt, astiav.CodecIDMovText,
}

// textTargets are the formats that text is written in, the richest first.
var textTargets = []astiav.CodecID{astiav.CodecIDSubrip, astiav.CodecIDWebvtt, astiav.CodecIDMovText}

// text is a stream of subtitles that are written in another format, as the container
// does not take theirs.
type text struct {
	*caption
	decoder *astiav.CodecContext
	script  *subtitle.Script
	kind    astiav.CodecID // written
	height  int            // of the pictures
	lost    subtitle.Loss
	garbled bool // bytes that are no characters came up
	// Timed text shows one sample at a time, so that cues wait for those that they
	// overlap. from is where what was written ends.
	showing []showing
	from    int64
}

// showing is a cue until a time in the output's time base.
type showing struct {
	end int64
	cue subtitle.Cue
}

// waiter is a carrier that holds back what it writes.
type waiter interface {
	// passed is called when the source has been read up to a time in seconds.
	passed(t *big.Rat) error
}

// carryText carries subtitles in another format; nil where there is none.
func (w *Writer) carryText(in *astiav.Stream) (carrier, error) {
	source := in.CodecParameters().CodecID()
	i := slices.IndexFunc(textTargets, func(id astiav.CodecID) bool { return takes(w.output, id) })
	codec := astiav.FindDecoder(source)
	if i < 0 || codec == nil || !slices.Contains(texts, source) {
		w.leaveOut(in, "the container does not take it")
		return nil, nil
	}
	t := &text{kind: textTargets[i], decoder: astiav.AllocCodecContext(codec)}
	if err := t.open(w, in, codec); err != nil {
		t.free()
		return nil, err
	}
	w.log.Info("subtitles are written in another format", "stream", in.Index(), "source", source, "written", t.kind)
	return t, nil
}

func (t *text) open(w *Writer, in *astiav.Stream, codec *astiav.Codec) error {
	source := in.CodecParameters()
	if err := source.ToCodecContext(t.decoder); err != nil {
		return err
	}
	setPacketTimeBase(t.decoder, in.TimeBase())
	c := native[C.AVCodecContext](t.decoder)
	if err := status(C.open_text(c, native[C.AVCodec](codec))); err != nil {
		return err
	}
	header := C.GoStringN((*C.char)(unsafe.Pointer(c.subtitle_header)), c.subtitle_header_size)
	t.script = subtitle.NewScript(header, authored(source.CodecID()))
	out := w.output.NewStream(nil)
	out.SetTimeBase(in.TimeBase())
	if t.kind == astiav.CodecIDMovText {
		out.SetTimeBase(timedTextUnit(in.TimeBase()))
	}
	p := out.CodecParameters()
	p.SetCodecType(astiav.MediaTypeSubtitle)
	p.SetCodecID(t.kind)
	if t.kind == astiav.CodecIDMovText {
		v := w.source.Video()
		p.SetWidth(v.Width)
		p.SetHeight(v.Height)
		t.height = v.Height
		if err := p.SetExtraData(subtitle.TimedTextHeader(v.Height)); err != nil {
			return err
		}
	}
	t.caption = w.captionTo(in, out)
	if err := copyStreamMetadata(out, in); err != nil {
		return err
	}
	dropPacketTags(out)
	return nil
}

// timedTextUnit is the time base for a track of timed text, of which tb is a
// multiple. FFmpeg 5.1 ends a sample where any stream's timestamp exceeds the end,
// whatever the units, so that this one must be finer than others' for the samples to
// stay in order; it is coarse enough for 4 hours without text in 32 bits.
func timedTextUnit(tb astiav.Rational) astiav.Rational {
	const finest = 200_000
	if tb.Num() != 1 || tb.Den() <= 0 || tb.Den() >= finest {
		return tb
	}
	n := (finest + tb.Den() - 1) / tb.Den()
	return astiav.NewRational(1, n*tb.Den())
}

// authored says whether a codec's own header may choose fonts and places.
func authored(id astiav.CodecID) bool { return id == astiav.CodecIDAss || id == astiav.CodecIDSsa }

func (t *text) take(p *astiav.Packet) error {
	begin, end, shown := t.times(p)
	if !shown {
		return nil
	}
	cue := t.parse(t.decode(p))
	switch t.kind {
	case astiav.CodecIDMovText:
		return t.show(cue, begin, end)
	case astiav.CodecIDWebvtt:
		return t.writeWebVTT(cue, begin, end)
	}
	return t.write([]byte(cue.SubRip()), begin, end)
}

// decode returns the events of a packet; a damaged one has none.
func (t *text) decode(p *astiav.Packet) (events []string) {
	var s C.AVSubtitle
	var got C.int
	if C.avcodec_decode_subtitle2(native[C.AVCodecContext](t.decoder), &s, &got, native[C.AVPacket](p)) < 0 || got == 0 {
		return nil
	}
	defer C.avsubtitle_free(&s)
	if len(p.SideData(astiav.PacketSideDataTypeWebvttSettings)) > 0 {
		t.lost |= subtitle.Places
	}
	for i := range s.num_rects {
		if e := C.event(&s, i); e != nil {
			events = append(events, C.GoString(e))
			t.garbled = t.garbled || !utf8.ValidString(events[len(events)-1])
		}
	}
	return events
}

// parse makes one cue of events.
func (t *text) parse(events []string) (all subtitle.Cue) {
	for _, e := range events {
		cue, lost := t.script.Parse(e)
		t.lost |= lost
		if len(all.Spans) > 0 && len(cue.Spans) > 0 {
			all.Spans[len(all.Spans)-1].Text += "\n"
		}
		all.Spans = append(all.Spans, cue.Spans...)
		all.Place = max(all.Place, cue.Place)
	}
	return all
}

// show adds a cue of timed text.
func (t *text) show(cue subtitle.Cue, begin, end int64) error {
	if err := t.until(begin, begin); err != nil {
		return err
	}
	t.from = begin // what was written beyond it is cut short
	t.showing = append(t.showing, showing{max(end, begin+1), cue})
	return nil
}

// passed writes what begins before a time of the source.
func (t *text) passed(at *big.Rat) error {
	if len(t.showing) == 0 || t.run.Backward {
		return nil
	}
	return t.until(ticks(t.run.Output(at), t.out.TimeBase()), math.MaxInt64)
}

// until writes the samples of timed text that begin before a time and end by
// another.
func (t *text) until(begin, end int64) error {
	for t.from < begin {
		t.showing = slices.DeleteFunc(t.showing, func(s showing) bool { return s.end <= t.from })
		if len(t.showing) == 0 {
			break
		}
		var cues []subtitle.Cue
		stop := end
		for _, s := range t.showing {
			stop = min(stop, s.end)
			cues = append(cues, s.cue)
		}
		sample, lost := subtitle.TimedText(cues, t.height)
		t.lost |= lost
		if len(sample) > 2 {
			if err := t.write(sample, t.from, stop); err != nil {
				return err
			}
		}
		t.from = stop
	}
	return nil
}

func (t *text) writeWebVTT(cue subtitle.Cue, begin, end int64) error {
	payload, settings, lost := cue.WebVTT()
	t.lost |= lost
	if err := fill(t.packet, []byte(payload)); err != nil {
		return err
	}
	if settings != "" {
		if err := t.packet.AddSideData(astiav.PacketSideDataTypeWebvttSettings, []byte(settings)); err != nil {
			return err
		}
	}
	return t.putText(begin, end)
}

// write writes data as a packet.
func (t *text) write(data []byte, begin, end int64) error {
	if err := fill(t.packet, data); err != nil {
		return err
	}
	return t.putText(begin, end)
}

// putText writes the packet, unless there is nothing in it.
func (t *text) putText(begin, end int64) error {
	if t.packet.Size() == 0 {
		t.packet.Unref()
		return nil
	}
	t.packet.SetFlags(astiav.NewPacketFlags(astiav.PacketFlagKey))
	return t.put(begin, end)
}

// finish writes what still waits and says what was lost.
func (t *text) finish() error {
	if err := t.until(math.MaxInt64, math.MaxInt64); err != nil {
		return err
	}
	if t.lost != 0 {
		t.w.log.Warn("the format of the output's subtitles does not hold all that they were", "stream", t.in.Index(), "written", t.kind, "lost", t.lost)
	}
	if t.garbled {
		t.w.log.Warn("subtitles are not in UTF-8; what is no character there is replaced", "stream", t.in.Index())
	}
	return nil
}

func (t *text) free() {
	if t.decoder != nil {
		t.decoder.Free()
		t.decoder = nil
	}
	if t.caption != nil {
		t.caption.free()
	}
}
