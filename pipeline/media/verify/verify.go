// Package verify reads a finished file again and compares its frames, their timestamps
// and its sound with the packets that the muxer was given.
package verify

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// Record sums up a stream's packets, as the muxer was given them or as they were read
// back.
type Record struct {
	Packets, Bytes int64
	First, Last    *big.Rat // least and greatest timestamp of a sound stream, in seconds; nil if there is none yet
	PTS            []int64  // timestamps of a video stream, in its time base
}

// Add adds a packet to the record; tb is the unit of its timestamps. It skips empty
// packets, which some encoders send at the end.
func (r *Record) Add(p *astiav.Packet, tb astiav.Rational, picture bool) {
	if p.Size() == 0 {
		return
	}
	r.Packets++
	r.Bytes += int64(p.Size())
	if picture {
		r.PTS = append(r.PTS, p.Pts())
		return
	}
	if p.Pts() == av.NoTimestamp || timebase.Rat(tb) == nil {
		return
	}
	t := timebase.Seconds(p.Pts(), tb)
	if r.First == nil || t.Cmp(r.First) < 0 {
		r.First = t
	}
	if r.Last == nil || t.Cmp(r.Last) > 0 {
		r.Last = t
	}
}

// Stream describes a stream as it was written.
type Stream struct {
	Kind     astiav.MediaType
	Codec    astiav.CodecID
	Cover    bool // a cover picture
	TimeBase astiav.Rational
	Delay    int64 // ticks that were added to its timestamps; readers subtract them again
	Record   Record
}

// seconds converts t from s's time base.
func (s *Stream) seconds(t int64) *big.Rat { return timebase.Seconds(t, s.TimeBase) }

// File describes what a file should hold.
type File struct {
	Streams []Stream
	Video   int   // index of the encoded stream
	Frames  int64 // frames that its encoder was given
	// Rate is the frame rate in frames per second if it is constant, and nil if it is
	// not.
	Rate *big.Rat
	// Timed is set if the container keeps every timestamp. If it is not set, Check only
	// counts pictures.
	Timed bool
	// Damaged is set if the sound's packets may have other lengths than written, as after
	// damage. Check then does not compare the sound.
	Damaged bool
	// Slack is how far the container may shift streams against each other, in seconds,
	// beyond one tick of each stream. Nil means 0.
	Slack *big.Rat
	// Demuxer is FFmpeg's name of the demuxer; empty to let FFmpeg tell by the content, which it cannot
	// of very short files.
	Demuxer string
	// Alone keeps FFmpeg from opening further files that this one names, whatever it is
	// taken for.
	Alone bool
}

// Check reads the file at url, which is in FFmpeg's form, and compares it with f. The
// error describes the first difference, or is ctx's error. Check sorts the timestamps of
// f's pictures.
func (f *File) Check(ctx context.Context, url string) error {
	file := astiav.AllocFormatContext()
	var options *astiav.Dictionary
	if f.Alone {
		only, err := av.OpenFile(url)
		if err != nil {
			file.Free()
			return fmt.Errorf("it cannot be opened: %w", err)
		}
		defer only.Close()
		only.Use(file)
		options = astiav.NewDictionary()
		defer options.Free()
		if err := options.Set("protocol_whitelist", "none", 0); err != nil {
			file.Free()
			return err
		}
	}
	if err := file.OpenInput(url, astiav.FindInputFormat(f.Demuxer), options); err != nil {
		file.Free()
		return fmt.Errorf("it cannot be opened: %w", err)
	}
	defer file.CloseInput()
	if err := file.FindStreamInfo(nil); err != nil {
		return fmt.Errorf("no stream can be read: %w", err)
	}
	found := streamsOf(file)
	video := f.in(found, f.Video)
	if video == nil {
		return errors.New("the video is not in it")
	}
	if err := read(ctx, file, found, video); err != nil {
		return err
	}
	return f.compare(found, video)
}

func streamsOf(file *astiav.FormatContext) []*Stream {
	var list []*Stream
	for _, s := range file.Streams() {
		p := s.CodecParameters()
		list = append(list, &Stream{Kind: p.MediaType(), Codec: p.CodecID(), Cover: av.IsAttachedPicture(s), TimeBase: s.TimeBase()})
	}
	return list
}

func read(ctx context.Context, file *astiav.FormatContext, found []*Stream, video *Stream) error {
	packet := astiav.AllocPacket()
	defer packet.Free()
	for {
		err := file.ReadFrame(packet)
		if errors.Is(err, astiav.ErrEof) {
			return nil
		} else if err != nil {
			return fmt.Errorf("it cannot be read to its end: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if i := packet.StreamIndex(); i < len(found) {
			found[i].Record.Add(packet, found[i].TimeBase, found[i] == video)
		}
		packet.Unref()
	}
}

// compare compares the streams found in the file with f's streams.
func (f *File) compare(found []*Stream, video *Stream) error {
	pictures := &f.Streams[f.Video]
	if n := pictures.Record.Packets; n < f.Frames {
		return fmt.Errorf("%d frames were encoded to %d pictures", f.Frames, n)
	} else if video.Record.Packets != n {
		return fmt.Errorf("it has %d pictures, %d were written", video.Record.Packets, n)
	}
	if !f.Timed {
		return nil
	}
	if video.Codec == astiav.CodecIDNone {
		return errors.New("nobody can tell what its video is coded in")
	}
	if err := f.compareTimes(pictures, video); err != nil {
		return err
	}
	for i := range f.Streams {
		want := &f.Streams[i]
		if f.Damaged {
			continue
		}
		got := f.in(found, i)
		if want.Kind == astiav.MediaTypeSubtitle && got == nil && want.Record.Packets > 0 {
			return fmt.Errorf("the subtitles of stream %d are not in it", i)
		}
		if want.Kind != astiav.MediaTypeAudio {
			continue
		}
		switch {
		case got == nil && want.Record.Packets == 0:
			continue
		case got == nil:
			return fmt.Errorf("the sound of stream %d is not in it", i)
		}
		err := compareSound(want, got)
		if err == nil {
			err = f.compareSync(want, got, pictures, video)
		}
		if err != nil {
			return fmt.Errorf("its sound in stream %d %w", i, err)
		}
	}
	return nil
}

// resplit are the codecs whose packets FFmpeg's demuxers may divide differently.
var resplit = []astiav.CodecID{astiav.CodecIDTruehd, astiav.CodecIDMlp}

func uncompressed(id astiav.CodecID) bool { return av.ExactBits(id) > 0 }

// compareSound checks that the sound is complete: it compares PCM by bytes and other
// codecs by packets.
func compareSound(want, got *Stream) error {
	switch id := want.Codec; {
	case uncompressed(id):
		if got.Record.Bytes != want.Record.Bytes && got.Codec == id {
			return fmt.Errorf("has %d bytes, %d were written", got.Record.Bytes, want.Record.Bytes)
		}
	case got.Record.Packets != want.Record.Packets && !slices.Contains(resplit, id):
		return fmt.Errorf("has %d packets, %d were written", got.Record.Packets, want.Record.Packets)
	}
	return nil
}

// compareSync compares the times from the first picture to the first and to the last
// sound packet. They may differ by the sum of both streams' ticks, plus f.Slack.
func (f *File) compareSync(want, got, wantVideo, gotVideo *Stream) error {
	w, g := &want.Record, &got.Record
	if len(gotVideo.Record.PTS) == 0 || len(wantVideo.Record.PTS) == 0 || w.First == nil || g.First == nil {
		return nil
	}
	tolerance := new(big.Rat).Add(timebase.Rat(got.TimeBase), timebase.Rat(gotVideo.TimeBase))
	if f.Slack != nil {
		tolerance.Add(tolerance, f.Slack)
	}
	zero := wantVideo.seconds(slices.Min(wantVideo.Record.PTS))
	zero.Add(zero, want.seconds(want.Delay))
	begin := gotVideo.seconds(slices.Min(gotVideo.Record.PTS))
	for _, t := range []struct {
		what      string
		want, got *big.Rat
	}{{"begins", w.First, g.First}, {"has its last packet", w.Last, g.Last}} {
		if uncompressed(want.Codec) && t.got == g.Last {
			continue // demuxers choose the length of PCM packets
		}
		a, b := new(big.Rat).Sub(t.want, zero), new(big.Rat).Sub(t.got, begin)
		if d := new(big.Rat).Sub(b, a); d.Abs(d).Cmp(tolerance) > 0 {
			return fmt.Errorf("%s %s s behind the first picture, not %s", t.what, b.FloatString(6), a.FloatString(6))
		}
	}
	return nil
}

// compareTimes checks that no two pictures share a timestamp and that their distances are
// the written ones, to within a tick of the container's time base. At a constant rate it
// also checks that they are one frame apart.
func (f *File) compareTimes(pictures, video *Stream) error {
	got, want, unit := video.Record.PTS, pictures.Record.PTS, timebase.Rat(video.TimeBase)
	slices.Sort(got)
	slices.Sort(want)
	if len(got) == 0 || got[0] == av.NoTimestamp || unit == nil {
		return nil // the container stores no timestamps
	}
	for k := 1; k < len(got); k++ {
		if got[k] == got[k-1] {
			return fmt.Errorf("two pictures are at %s s", video.seconds(got[k]).FloatString(6))
		}
	}
	constant := f.Rate != nil && int64(len(got)) == f.Frames // otherwise some pictures are not shown
	for k, t := range got {
		at := video.seconds(t - got[0])
		moments := []*big.Rat{pictures.seconds(want[k] - want[0])}
		if constant {
			moments = append(moments, new(big.Rat).Quo(big.NewRat(int64(k), 1), f.Rate))
		}
		for _, m := range moments {
			if d := new(big.Rat).Sub(at, m); d.Abs(d).Cmp(unit) > 0 {
				return fmt.Errorf("picture %d is %s s behind the first, not %s", k, at.FloatString(6), m.FloatString(6))
			}
		}
	}
	return nil
}

// in returns the stream of list, a file's, that stream i became, nil if there is none. Covers do
// not count; nor, if the file has fewer streams of the kind, do those without packets, which
// FFmpeg's muxer of MOV and MP4 leaves out.
func (f *File) in(list []*Stream, i int) *Stream {
	kind := f.Streams[i].Kind
	var written, found []*Stream
	for k := range f.Streams {
		written = append(written, &f.Streams[k])
	}
	written, found = ofKind(written, kind), ofKind(list, kind)
	if len(found) < len(written) {
		written = slices.DeleteFunc(written, func(s *Stream) bool { return s.Record.Packets == 0 })
	}
	n := slices.Index(written, &f.Streams[i])
	if n < 0 || n >= len(found) {
		return nil
	}
	return found[n]
}

// ofKind returns the streams of one kind but for covers.
func ofKind(list []*Stream, kind astiav.MediaType) (of []*Stream) {
	for _, s := range list {
		if s.Kind == kind && !s.Cover {
			of = append(of, s)
		}
	}
	return of
}
