// Package streams carries what travels beside the video that is converted: sound,
// subtitles, chapters, attachments, covers and data. Each kind has a type, which takes
// the packets of one stream of the source to one of the output.
package streams

import (
	"log/slog"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/pipeline/curve"
	"retime/pipeline/fault"
	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/timebase"
)

// Source is the file that the streams come from.
type Source struct {
	Input         *astiav.FormatContext
	Video         *astiav.Stream // the one that is converted
	Chosen        map[int]bool   // indices of the streams that are wanted
	Start         *big.Rat       // the time that counts as 0, in seconds
	Width, Height int            // of the video's pictures
}

// Muxer is the file that the streams go to.
type Muxer interface {
	// Output is the file's context, to which streams are added before its header is
	// written.
	Output() *astiav.FormatContext
	// Write writes a packet, whose times are in its stream's time base, and empties it.
	Write(p *astiav.Packet) error
	// Name is what messages call the file.
	Name() string
	// Fail keeps an error for the next Write.
	Fail(err error)
}

// Audio says what becomes of sound if the time changes.
type Audio string

// What becomes of it.
const (
	StretchAudio Audio = "stretch" // it lasts as long as the picture, at its pitch
	KeepAudio    Audio = "keep"    // it is copied as it is and ends when it ends
	DropAudio    Audio = "drop"    // it is left out, whether the time changes or not
)

// SoundOptions say how sound is written.
type SoundOptions struct {
	Mode Audio // StretchAudio if empty
	// Codec is an encoder's name, for all sound; if it is empty, sound that cannot be
	// copied is encoded in its own codec, or the container's usual one.
	Codec   string
	Options map[string]string // further options of the encoder
}

// Options say which moments of the source are shown when.
type Options struct {
	// Curve says which moment of the source, in seconds after its Start, the output
	// shows when. Sound and subtitles before its begin, or at or after End, are left out.
	Curve *curve.Curve
	End   *big.Rat
	// Passes is set if Begin tells of each run of the curve; else the source is read once,
	// for the one run.
	Passes bool
	Sound  SoundOptions
	Log    *slog.Logger
}

// stream takes one stream of the source to the output.
type stream interface {
	// header is called once, behind the file's header.
	header() error
	// begin is called before the packets of a run come, and end behind them.
	begin(run *curve.Run)
	end() error
	// packet gets each packet of the stream, which it must not keep.
	packet(p *astiav.Packet) error
	// passed is called when the source has been read up to a time in seconds.
	passed(t *big.Rat) error
	// finish is called once, behind the last packet.
	finish() error
	free()
}

// Set is the streams that travel. Packet may be called by another goroutine than the
// muxer's other users; all other methods are called while nobody calls it.
type Set struct {
	source  Source
	muxer   Muxer
	out     *astiav.FormatContext
	opt     Options
	log     *slog.Logger
	list    []stream // by the source's index, nil for those that do not travel
	running bool     // a run, by Begin
}

// Add adds to the muxer's file, which has the video's stream, the streams of source that
// its container holds, and names the others once. A fault.Usage error says which option
// does not fit.
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
	outputs := make([]int, len(inputs))
	for i, in := range inputs {
		outputs[i] = -1
		if i == s.source.Video.Index() {
			outputs[i] = video.Index()
			continue
		}
		if !s.source.Chosen[i] {
			continue
		}
		added := s.out.NbStreams()
		c, err := s.carry(in)
		if err != nil {
			return err
		}
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

// carry returns what carries a stream, nil for a stream that is left out.
func (s *Set) carry(in *astiav.Stream) (stream, error) {
	switch in.CodecParameters().CodecType() {
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

// leaveOut says why a stream does not travel.
func (s *Set) leaveOut(in *astiav.Stream, why string) (stream, error) {
	s.log.Warn("stream left out: "+why, "stream", in.Index(), "kind", in.CodecParameters().MediaType(),
		"codec", in.CodecParameters().CodecID(), "container", container.Name(s.out))
	return nil, nil
}

func (s *Set) carrySound(in *astiav.Stream) (stream, error) {
	p, opt := in.CodecParameters(), &s.opt.Sound
	switch {
	case opt.Mode == DropAudio:
		return nil, nil
	case p.SampleRate() <= 0 || p.Channels() <= 0: // damage may look like a stream
		return s.leaveOut(in, "it states no sample rate or no channels")
	case opt.Mode == KeepAudio && !s.keepsTime() || s.keepsTime() && opt.Codec == "" && container.Holds(s.out, p):
		if !container.Holds(s.out, p) {
			return s.leaveOut(in, "the container does not take it")
		}
		return s.newCopier(in)
	case container.UsualAudio(s.out) == astiav.CodecIDNone:
		return s.leaveOut(in, "the container takes no sound")
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

// carryVideo carries a video stream that is not the one converted.
func (s *Set) carryVideo(in *astiav.Stream) (stream, error) {
	switch {
	case av.IsAttachedPicture(in):
		return s.carryCover(in)
	case !container.Holds(s.out, in.CodecParameters()):
		return s.leaveOut(in, "the container does not take it")
	case !s.keepsTime():
		return s.leaveOut(in, "one video stream is converted at a time; Input.Map chooses it")
	}
	return s.newCopier(in)
}

// carryAttachment carries a file inside the file.
func (s *Set) carryAttachment(in *astiav.Stream) (stream, error) {
	if !container.HoldsAttachments(s.out) {
		return s.leaveOut(in, "the container does not take it")
	}
	return s.newCopier(in)
}

// carryData carries what is neither picture, sound nor text. Time codes and
// chapters are tracks of their own in some containers; muxers make them again.
func (s *Set) carryData(in *astiav.Stream) (stream, error) {
	const timecode, text = 'd'<<24 | 'c'<<16 | 'm'<<8 | 't', 't'<<24 | 'x'<<16 | 'e'<<8 | 't'
	p := in.CodecParameters()
	_, stated := av.StreamTags(in).Get("timecode")
	switch {
	case p.CodecTag() == timecode && stated, p.CodecTag() == text && len(av.Chapters(s.source.Input)) > 0:
		return nil, nil
	case p.CodecID() == astiav.CodecIDNone || !container.Holds(s.out, p):
		return s.leaveOut(in, "the container does not take it")
	case !s.keepsTime():
		return s.leaveOut(in, "its time cannot be changed")
	}
	return s.newCopier(in)
}

// keepsTime says whether the output plays as fast as the source.
func (s *Set) keepsTime() bool {
	slow := s.opt.Curve.Line()
	return slow != nil && slow.Cmp(big.NewRat(1, 1)) == 0
}

// whole says whether all of the source is kept.
func (s *Set) whole() bool {
	return s.opt.End == nil && s.opt.Curve.Source(new(big.Rat)).Sign() == 0
}

// shown is when the output shows what the source shows from begin to end, within a
// run that plays forward; ok is false if it does not.
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

// sinceStart converts t from a stream's time base to seconds after the source's Start.
func (s *Set) sinceStart(t int64, tb astiav.Rational) *big.Rat {
	v := timebase.Seconds(t, tb)
	return v.Sub(v, s.source.Start)
}

// nameLanguages gives the output's streams the names of languages that its container
// has.
func (s *Set) nameLanguages() {
	for _, out := range s.out.Streams() {
		tags := av.StreamTags(out)
		language, _ := tags.Get("language")
		if name, ok := container.Language(s.out, language); ok {
			tags.Set("language", name)
		}
	}
}

// each calls f with all streams that travel, in the source's order.
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

// Empty says whether no packets are wanted.
func (s *Set) Empty() bool {
	for _, t := range s.list {
		if t != nil {
			return false
		}
	}
	return true
}

// WriteHeader is called once, behind the file's header.
func (s *Set) WriteHeader() error { return s.each(stream.header) }

// Packet takes a packet of the source, of whatever stream, to the output. Errors are the
// muxer's for its next packet.
func (s *Set) Packet(p *astiav.Packet) {
	i := p.StreamIndex()
	if i < len(s.list) && s.list[i] != nil {
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

// Begin ends the run whose packets came and begins another.
func (s *Set) Begin(run *curve.Run) error {
	if err := s.End(); err != nil {
		return err
	}
	s.running = true
	return s.each(func(c stream) error { c.begin(run); return nil })
}

// End ends the run that began, if any.
func (s *Set) End() error {
	if !s.running {
		return nil
	}
	s.running = false
	return s.each(stream.end)
}

// Finish writes what the streams still hold.
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

// Free frees everything.
func (s *Set) Free() {
	_ = s.each(func(c stream) error { c.free(); return nil })
	s.list = nil
}
