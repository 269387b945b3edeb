package streams

import (
	"math"
	"math/big"
	"slices"
	"unicode/utf8"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/subtitle"
	"retime/pipeline/media/timebase"
)

// textCodecs are the subtitle codecs whose packets are complete texts.
var textCodecs = []astiav.CodecID{
	astiav.CodecIDSubrip, astiav.CodecIDSrt, astiav.CodecIDText, astiav.CodecIDAss, astiav.CodecIDSsa, astiav.CodecIDWebvtt, astiav.CodecIDMovText,
}

// textTargets are the formats that subtitleTranscoder writes, the richest first.
var textTargets = []astiav.CodecID{astiav.CodecIDSubrip, astiav.CodecIDWebvtt, astiav.CodecIDMovText}

// subtitleTranscoder converts subtitles to another format, because the container does not
// take their own.
type subtitleTranscoder struct {
	subtitleCopier
	decoder *astiav.CodecContext
	script  *subtitle.Script
	kind    astiav.CodecID // the written format
	height  int            // of the pictures, in pixels
	lost    subtitle.Loss
	garbled bool // the text had bytes that are not UTF-8
	// Timed text shows one sample at a time, so a cue waits until all cues that overlap
	// it are known. from is the end of the last sample that was written.
	showing []showing
	from    int64
}

// showing is a cue that is shown until end, in the output's time base.
type showing struct {
	end int64
	cue subtitle.Cue
}

// carryText carries subtitles in another format, if there is one that the container
// takes.
func (s *Set) carryText(in *astiav.Stream) (stream, error) {
	source := in.CodecParameters().CodecID()
	i := slices.IndexFunc(textTargets, func(id astiav.CodecID) bool { return container.Takes(s.out, id) })
	codec := astiav.FindDecoder(source)
	if i < 0 || codec == nil || !slices.Contains(textCodecs, source) {
		return s.notTaken(in)
	}
	t := &subtitleTranscoder{subtitleCopier: subtitleCopier{run: s.opt.Curve.Runs()[0]}, kind: textTargets[i], decoder: astiav.AllocCodecContext(codec)}
	if err := t.open(s, in, codec); err != nil {
		t.free()
		return nil, err
	}
	s.log.Info("subtitles are written in another format", "stream", in.Index(), "source", source, "written", t.kind)
	return t, nil
}

func (t *subtitleTranscoder) open(s *Set, in *astiav.Stream, codec *astiav.Codec) error {
	source := in.CodecParameters()
	t.next = astiav.AllocPacket()
	if err := source.ToCodecContext(t.decoder); err != nil {
		return err
	}
	av.SetPacketTimeBase(t.decoder, in.TimeBase())
	if err := av.OpenText(t.decoder, codec); err != nil {
		return err
	}
	t.script = subtitle.NewScript(av.SubtitleHeader(t.decoder), authored(source.CodecID()))
	t.set, t.in, t.out = s, in, s.out.NewStream(nil)
	t.out.SetTimeBase(in.TimeBase())
	if t.kind == astiav.CodecIDMovText {
		t.out.SetTimeBase(timedTextUnit(in.TimeBase()))
	}
	p := t.out.CodecParameters()
	p.SetMediaType(astiav.MediaTypeSubtitle)
	p.SetCodecID(t.kind)
	if t.kind == astiav.CodecIDMovText {
		p.SetWidth(s.source.Width)
		p.SetHeight(s.source.Height)
		t.height = s.source.Height
		if err := p.SetExtraData(subtitle.TimedTextHeader(t.height)); err != nil {
			return err
		}
	}
	if err := s.copyTags(t.out, in); err != nil {
		return err
	}
	container.DropPacketTags(av.StreamTags(t.out))
	return nil
}

// timedTextUnit returns the time base for a track of timed text; tb is a multiple of it.
// FFmpeg 5.1 ends a sample as soon as the timestamp of any stream, in whatever unit,
// exceeds the sample's end. So this time base must be finer than the other streams' to
// keep the samples in order.
func timedTextUnit(tb astiav.Rational) astiav.Rational {
	const finest = 200_000
	if tb.Num() != 1 || tb.Den() <= 0 || tb.Den() >= finest {
		return tb
	}
	n := (finest + tb.Den() - 1) / tb.Den()
	return astiav.NewRational(1, n*tb.Den())
}

// authored reports whether a codec's own header may choose fonts and positions.
func authored(id astiav.CodecID) bool { return id == astiav.CodecIDAss || id == astiav.CodecIDSsa }

func (t *subtitleTranscoder) packet(p *astiav.Packet) error {
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
	return t.writeData([]byte(cue.SubRip()), begin, end)
}

// decode returns the events of a packet, none if the packet is damaged.
func (t *subtitleTranscoder) decode(p *astiav.Packet) []string {
	events, ok := av.DecodeText(t.decoder, p)
	if ok && av.HasPacketSide(p, av.PacketWebVTTSettings) {
		t.lost |= subtitle.Places
	}
	for _, e := range events {
		t.garbled = t.garbled || !utf8.ValidString(e)
	}
	return events
}

// parse joins events into one cue.
func (t *subtitleTranscoder) parse(events []string) (all subtitle.Cue) {
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
func (t *subtitleTranscoder) show(cue subtitle.Cue, begin, end int64) error {
	if err := t.until(begin, begin); err != nil {
		return err
	}
	t.from = begin // an earlier sample that lasts longer is cut short
	t.showing = append(t.showing, showing{max(end, begin+1), cue})
	return nil
}

// passed writes the cues that begin before the source's time at.
func (t *subtitleTranscoder) passed(at *big.Rat) error {
	if len(t.showing) == 0 || t.run.Backward {
		return nil
	}
	return t.until(timebase.Ticks(t.run.Output(at), t.out.TimeBase()), math.MaxInt64)
}

// until writes the samples of timed text that begin before begin. They end no later than
// end.
func (t *subtitleTranscoder) until(begin, end int64) error {
	for t.from < begin {
		t.showing = slices.DeleteFunc(t.showing, func(s showing) bool { return s.end <= t.from })
		if len(t.showing) == 0 {
			break
		}
		var cues []subtitle.Cue
		stop := min(end, t.from+longestSample)
		for _, s := range t.showing {
			stop = min(stop, s.end)
			cues = append(cues, s.cue)
		}
		sample, lost := subtitle.TimedText(cues, t.height)
		t.lost |= lost
		if len(sample) > 2 {
			if err := t.writeData(sample, t.from, stop); err != nil {
				return err
			}
		}
		t.from = stop
	}
	return nil
}

func (t *subtitleTranscoder) writeWebVTT(cue subtitle.Cue, begin, end int64) error {
	payload, settings, lost := cue.WebVTT()
	t.lost |= lost
	if err := av.FillPacket(t.next, []byte(payload)); err != nil {
		return err
	}
	if settings != "" {
		if err := av.AddPacketSide(t.next, av.PacketSide{Kind: av.PacketWebVTTSettings, Data: []byte(settings)}); err != nil {
			return err
		}
	}
	return t.putText(begin, end)
}

func (t *subtitleTranscoder) writeData(data []byte, begin, end int64) error {
	if err := av.FillPacket(t.next, data); err != nil {
		return err
	}
	return t.putText(begin, end)
}

// putText writes the packet next, unless it is empty.
func (t *subtitleTranscoder) putText(begin, end int64) error {
	if t.next.Size() == 0 {
		t.next.Unref()
		return nil
	}
	t.next.SetFlags(astiav.NewPacketFlags(astiav.PacketFlagKey))
	return t.writeAt(begin, end)
}

// finish writes the cues that are still waiting and logs what the conversion has lost.
func (t *subtitleTranscoder) finish() error {
	if err := t.until(math.MaxInt64, math.MaxInt64); err != nil {
		return err
	}
	if t.lost != 0 {
		t.set.log.Warn("the format of the output's subtitles does not hold all that they were", "stream", t.in.Index(), "written", t.kind, "lost", t.lost)
	}
	if t.garbled {
		t.set.log.Warn("subtitles are not in UTF-8; what is no character there is replaced", "stream", t.in.Index())
	}
	return nil
}

func (t *subtitleTranscoder) free() {
	t.decoder.Free()
	t.next.Free()
}
