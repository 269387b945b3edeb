// Package streams carries the streams beside the converted video to the output: sound,
// subtitles, chapters, attachments, covers and data. Each kind of stream has a type,
// which turns the packets of one source stream into packets of one output stream.
package streams

import (
	"fmt"
	"log/slog"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/timebase"
	"retime/pipeline/timeline/curve"
)

// Source is the file whose streams are carried.
type Source struct {
	Input         *astiav.FormatContext
	Video         *astiav.Stream // the converted stream
	Chosen        map[int]bool   // indices of the streams to carry
	Scrambled     map[int]bool   // indices of those that a broadcaster has scrambled
	Start         *big.Rat       // the source's timestamp that counts as 0, in seconds
	Width, Height int            // of the video's pictures, in pixels
}

// Muxer is the file that receives the streams.
type Muxer interface {
	// Output returns the file's context. Add adds streams to it before its header is
	// written.
	Output() *astiav.FormatContext
	// Write writes a packet, whose timestamps are in the time base of its stream, and
	// then unreferences it. After a RefusedError other packets may follow.
	Write(p *astiav.Packet) error
	// Name returns the file's name for messages.
	Name() string
	// Fail makes the next Write return err.
	Fail(err error)
}

// RefusedError is the error for a packet that the output leaves out, because the container
// cannot store it, such as a damaged one, or because it is not of its stream's codec.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "a packet is left out: " + e.Reason }

// Audio says what happens to sound if the output plays at another speed.
type Audio string

// The choices for sound.
const (
	StretchAudio Audio = "stretch" // stretch sound to the length of the picture and keep its pitch
	KeepAudio    Audio = "keep"    // copy sound unchanged; it may end before or after the picture
	DropAudio    Audio = "drop"    // leave sound out, even if the speed does not change
)

// SoundOptions say how to write sound.
type SoundOptions struct {
	Mode Audio // empty means StretchAudio
	// Codec is the name of an encoder for all sound. If it is empty, sound that cannot be
	// copied is encoded in its own codec, or else in the container's usual one.
	Codec   string
	Options map[string]string // further options of the encoder
}

// Options say when the output shows which times of the source.
type Options struct {
	// Curve maps the output's time to the source's time, in seconds after its Start.
	// Sound and subtitles before its beginning, or from End on, are left out.
	Curve *curve.Curve
	End   *big.Rat
	// Passes is set if the caller announces each run of the curve by Begin. Otherwise it
	// reads the source once, for the curve's only run.
	Passes bool
	Sound  SoundOptions
	Log    *slog.Logger
}

// stream carries one stream of the source to the output.
type stream interface {
	// header is called once, after the file's header is written.
	header() error
	// begin is called before the packets of a run, and end after them.
	begin(run *curve.Run)
	end() error
	// packet receives each packet of the stream and must not keep it.
	packet(p *astiav.Packet) error
	// passed is called after the source has been read up to t, in seconds after its
	// Start.
	passed(t *big.Rat) error
	// finish is called once, after the last packet.
	finish() error
	free()
}

// Set is the set of streams that are carried. Packet may run in another goroutine than
// the muxer's other callers. Call the other methods only while Packet is not running.
type Set struct {
	source  Source
	muxer   Muxer
	out     *astiav.FormatContext
	opt     Options
	log     *slog.Logger
	list    []stream // by the source's stream index; nil for a stream that is not carried
	ends    []int64  // by the source's stream index, where the last packet ends, in microseconds
	secret  []bool   // by the source's stream index, whether an encrypted packet was left out
	running bool     // between Begin and End
	fates   []Fate
}

// Fate is what becomes of a stream of the source.
type Fate struct {
	Index       int    // in the source
	Kind, Codec string // as FFmpeg names them
	// Written is the codec in the output: Codec if the stream is copied, another one or the same if
	// Encoded is set, and empty if the stream is left out.
	Written string
	Encoded bool
}

// Fates returns what becomes of the source's streams, other than the converted one.
func (s *Set) Fates() []Fate { return s.fates }

// fate says what becomes of in, which c carries; nil if it is left out.
func (s *Set) fate(in *astiav.Stream, c stream, added int) Fate {
	p := in.CodecParameters()
	f := Fate{Index: in.Index(), Kind: p.MediaType().String(), Codec: p.CodecID().String()}
	if c == nil {
		return f
	}
	f.Written = f.Codec
	if s.out.NbStreams() > added {
		f.Written = s.out.Streams()[added].CodecParameters().CodecID().String()
	}
	switch c.(type) {
	case *soundTranscoder, *subtitleTranscoder:
		f.Encoded = true
	}
	return f
}

// Add adds the streams of source that the container can hold to the muxer's file, which
// already has the video stream. It logs each stream that it leaves out. If an option does
// not fit, the error is a fault.Usage error.
func Add(muxer Muxer, video *astiav.Stream, source Source, opt Options) (*Set, error) {
	s := &Set{source: source, muxer: muxer, out: muxer.Output(), opt: opt, log: opt.Log}
	if err := s.add(video); err != nil {
		s.Free()
		return nil, err
	}
	return s, nil
}

func (s *Set) add(video *astiav.Stream) error {
	inputs := s.source.Input.Streams()
	s.list = make([]stream, len(inputs))
	s.ends = make([]int64, len(inputs))
	s.secret = make([]bool, len(inputs))
	s.forgetEnds()
	outputs := make([]int, len(inputs))
	for i, in := range inputs {
		outputs[i] = -1
		if i == s.source.Video.Index() {
			outputs[i] = video.Index()
			continue
		}
		if !s.source.Chosen[i] {
			s.fates = append(s.fates, s.fate(in, nil, 0))
			continue
		}
		added := s.out.NbStreams()
		c, err := s.carry(in)
		if err != nil {
			return err
		}
		s.fates = append(s.fates, s.fate(in, c, added))
		s.list[i] = c
		if s.out.NbStreams() > added {
			outputs[i] = added
		}
	}
	if container.HoldsPrograms(s.out) {
		if err := av.CopyPrograms(s.out, s.source.Input, outputs); err != nil {
			return err
		}
	}
	if err := s.addChapters(); err != nil {
		return err
	}
	s.nameLanguages()
	return nil
}

// carry returns the stream that carries in, nil if in is left out.
func (s *Set) carry(in *astiav.Stream) (stream, error) {
	if why := s.unreadable(in); why != "" {
		return s.leaveOut(in, why)
	}
	switch in.CodecParameters().MediaType() {
	case astiav.MediaTypeAudio:
		return s.carrySound(in)
	case astiav.MediaTypeSubtitle:
		return s.carrySubtitles(in)
	case astiav.MediaTypeAttachment:
		return s.carryAttachment(in)
	case astiav.MediaTypeVideo:
		return s.carryVideo(in)
	case astiav.MediaTypeData:
		return s.carryData(in)
	}
	return s.leaveOut(in, "it is of no known kind")
}

// leaveOut logs why in is left out.
func (s *Set) leaveOut(in *astiav.Stream, why string) (stream, error) {
	p := in.CodecParameters()
	codec := p.CodecID().String()
	if tag := av.FourCC(p.CodecTag()); p.CodecID() == astiav.CodecIDNone && tag != "" {
		codec = tag
	}
	s.log.Warn("stream left out: "+why, "stream", in.Index(), "kind", p.MediaType(), "codec", codec, "container", container.Name(s.out))
	return nil, nil
}

// notTaken logs that the container does not take in, which is left out.
func (s *Set) notTaken(in *astiav.Stream) (stream, error) {
	if in.CodecParameters().CodecID() == astiav.CodecIDNone {
		return s.leaveOut(in, "this FFmpeg does not know its format")
	}
	return s.leaveOut(in, "the container does not take it")
}

func (s *Set) carrySound(in *astiav.Stream) (stream, error) {
	p, opt := in.CodecParameters(), &s.opt.Sound
	switch {
	case opt.Mode == DropAudio:
		return nil, nil
	case p.SampleRate() <= 0 || av.ParameterChannels(p) <= 0: // damaged data may look like a stream
		return s.leaveOut(in, "its sample rate or its channels are unknown, as none of its sound comes early enough or it is damaged")
	case container.UsualAudio(s.out) == astiav.CodecIDNone:
		return s.leaveOut(in, "the container takes no sound")
	case s.full(astiav.MediaTypeAudio):
		return s.leaveOut(in, "the container takes one stream of this kind")
	case opt.Mode == KeepAudio && !s.keepsTime() || s.keepsTime() && opt.Codec == "" && container.HoldsSound(s.out, p) && !s.isTapeSound(in):
		if !container.HoldsSound(s.out, p) {
			return s.notTaken(in)
		}
		if len(opt.Options) > 0 {
			s.log.Warn("sound is copied, for which Output.AudioOptions do nothing; Output.AudioCodec encodes it", "stream", in.Index())
		}
		return s.newCopier(in)
	}
	t, err := s.newSoundTranscoder(in)
	if fault.KindOf(err) == fault.Usage {
		return nil, err
	} else if err != nil {
		s.log.Warn("sound left out: it cannot be encoded again", "stream", in.Index(), "codec", p.CodecID(), "reason", err)
		return nil, nil
	}
	return t, nil
}

// full reports whether the output has all the streams of a kind that its container takes.
func (s *Set) full(kind astiav.MediaType) bool {
	return container.IsSingle(s.out, kind) && slices.ContainsFunc(s.out.Streams(), func(o *astiav.Stream) bool {
		return o.CodecParameters().MediaType() == kind
	})
}

// carryVideo carries a video stream other than the converted one.
func (s *Set) carryVideo(in *astiav.Stream) (stream, error) {
	switch {
	case av.IsAttachedPicture(in):
		return s.carryCover(in)
	case in.CodecParameters().Width() <= 0 || in.CodecParameters().Height() <= 0:
		return s.leaveOut(in, "its size is unknown, as none of its pictures comes early enough or it is damaged")
	case !container.Holds(s.out, in.CodecParameters()):
		return s.notTaken(in)
	case container.WantsStartCodes(s.out, in.CodecParameters().CodecID()) && !container.AddsStartCodes(s.out) && container.StatesLengths(in.CodecParameters()):
		return s.leaveOut(in, "its packets state lengths, and the container wants start codes")
	case s.full(astiav.MediaTypeVideo):
		return s.leaveOut(in, "the container takes one stream of this kind")
	case !s.keepsTime():
		return s.leaveOut(in, "one video stream is converted at a time; Input.Map chooses it")
	}
	s.log.Info("this video stream is copied as it is; Input.Map chooses the one that is converted", "stream", in.Index(), "converted", s.source.Video.Index())
	return s.newCopier(in)
}

// carryAttachment carries an attached file.
func (s *Set) carryAttachment(in *astiav.Stream) (stream, error) {
	if !container.HoldsAttachments(s.out) {
		return s.leaveOut(in, "the container takes no attached files")
	}
	return s.newCopier(in)
}

// carryData carries a data stream. It ignores tracks of time codes and chapters, because
// muxers make these again.
func (s *Set) carryData(in *astiav.Stream) (stream, error) {
	const timecode, text = 'd'<<24 | 'c'<<16 | 'm'<<8 | 't', 't'<<24 | 'x'<<16 | 'e'<<8 | 't'
	p := in.CodecParameters()
	_, stated := av.StreamTags(in).Get("timecode")
	switch {
	case p.CodecTag() == timecode && stated, p.CodecTag() == text && len(av.Chapters(s.source.Input)) > 0:
		return nil, nil
	case p.CodecID() == astiav.CodecIDNone || !container.Holds(s.out, p):
		return s.notTaken(in)
	case !s.keepsTime():
		return s.leaveOut(in, "its time cannot be changed")
	}
	return s.newCopier(in)
}

// keepsTime reports whether the output plays at the source's speed.
func (s *Set) keepsTime() bool {
	slow := s.opt.Curve.Line()
	return slow != nil && slow.Cmp(big.NewRat(1, 1)) == 0
}

// whole reports whether the output shows all of the source.
func (s *Set) whole() bool {
	return s.opt.End == nil && s.opt.Curve.Source(new(big.Rat)).Sign() == 0
}

// shown returns when the output shows the source's times from begin to end within the run
// r, all in seconds. ok is false if it does not show them or plays backward.
func (s *Set) shown(r *curve.Run, begin, end *big.Rat) (from, to *big.Rat, ok bool) {
	if r.Backward {
		return nil, nil, false
	}
	limit := s.opt.End
	if r.To != nil && (limit == nil || r.To.Cmp(limit) < 0) {
		limit = r.To
	}
	if limit != nil && (begin.Cmp(limit) >= 0) || end.Cmp(r.From) <= 0 && begin.Cmp(r.From) < 0 {
		return nil, nil, false
	}
	if limit != nil && end.Cmp(limit) > 0 {
		end = limit
	}
	return r.Output(begin), r.Output(end), true
}

// sinceStart converts t from a time base to seconds after the source's Start.
func (s *Set) sinceStart(t int64, tb astiav.Rational) *big.Rat {
	v := timebase.Seconds(t, tb)
	return v.Sub(v, s.source.Start)
}

// nameLanguages replaces the streams' language codes by the codes that the output's
// container uses, and logs the languages and titles that it cannot store.
func (s *Set) nameLanguages() {
	var lost []string
	for _, out := range s.out.Streams() {
		tags := av.StreamTags(out)
		language, _ := tags.Get("language")
		if name, ok := container.Language(s.out, language); ok {
			tags.Set("language", name)
		}
		for _, key := range []string{"language", "title"} {
			if v, ok := tags.Get(key); ok && v != "und" && !container.HoldsStreamTag(s.out, key) {
				lost = append(lost, fmt.Sprintf("%s %s of stream %d", key, v, out.Index()))
			}
		}
	}
	if len(lost) > 0 {
		s.log.Warn("tags left out: the container has no place for them", "tags", strings.Join(lost, ", "), "container", container.Name(s.out))
	}
}

// each calls f for each stream that is carried, in the source's order.
func (s *Set) each(f func(stream) error) error {
	for _, t := range s.list {
		if t == nil {
			continue
		}
		if err := f(t); err != nil {
			return err
		}
	}
	return nil
}

// Empty reports whether no stream needs packets.
func (s *Set) Empty() bool {
	for _, t := range s.list {
		if t != nil {
			return false
		}
	}
	return true
}

// WriteHeader writes the packets that belong right after the file's header, such as
// covers. Call it once, after the header is written.
func (s *Set) WriteHeader() error { return s.each(stream.header) }

// Packet carries a packet of any stream of the source to the output. The muxer's next
// Write returns its error.
func (s *Set) Packet(p *astiav.Packet) {
	i := p.StreamIndex()
	if i < len(s.list) && s.list[i] != nil && !s.locked(p) {
		if t := p.Pts(); t != av.NoTimestamp {
			s.ends[i] = max(s.ends[i], timebase.Microseconds(t+p.Duration(), s.source.Input.Streams()[i].TimeBase()))
		}
		if err := s.list[i].packet(p); err != nil {
			s.muxer.Fail(err)
		}
	}
	if i != s.source.Video.Index() || p.Dts() == av.NoTimestamp {
		return
	}
	t := s.sinceStart(p.Dts(), s.source.Video.TimeBase())
	if err := s.each(func(c stream) error { return c.passed(t) }); err != nil {
		s.muxer.Fail(err)
	}
}

// Lags reports whether a stream that is carried may have more packets before t, in seconds after
// the source's Start, in the current run.
func (s *Set) Lags(t *big.Rat) bool {
	goal := new(big.Rat).Add(t, s.source.Start)
	for i, c := range s.list {
		if c == nil {
			continue
		}
		in := s.source.Input.Streams()[i]
		switch in.CodecParameters().MediaType() {
		case astiav.MediaTypeAudio, astiav.MediaTypeVideo:
			if !av.IsAttachedPicture(in) && big.NewRat(s.ends[i], 1e6).Cmp(goal) < 0 {
				return true
			}
		case astiav.MediaTypeAttachment:
		default: // subtitles and data may pause
			return true
		}
	}
	return false
}

// forgetEnds forgets the packets of the run before.
func (s *Set) forgetEnds() {
	for i := range s.ends {
		s.ends[i] = math.MinInt64
	}
}

// Begin ends the current run, if any, and begins run.
func (s *Set) Begin(run *curve.Run) error {
	if err := s.End(); err != nil {
		return err
	}
	s.running = true
	s.forgetEnds()
	return s.each(func(c stream) error { c.begin(run); return nil })
}

// End ends the current run, if any.
func (s *Set) End() error {
	if !s.running {
		return nil
	}
	s.running = false
	return s.each(stream.end)
}

// Finish writes everything that the streams still hold.
func (s *Set) Finish() error {
	if s.opt.Passes {
		if err := s.End(); err != nil {
			return err
		}
		return s.each(stream.finish)
	}
	return s.each(func(c stream) error {
		if err := c.end(); err != nil {
			return err
		}
		return c.finish()
	})
}

// Free frees the streams. It may be called more than once.
func (s *Set) Free() {
	_ = s.each(func(c stream) error { c.free(); return nil })
	s.list = nil
}
