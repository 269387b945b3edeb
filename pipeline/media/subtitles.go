package media

import (
	"math/big"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// earlierSubtitles are subtitles that lie before the place that a demuxer has sought and last
// beyond it, or do not say how long they last.
type earlierSubtitles []*astiav.Packet

// read finds those that begin within a minute before t, in the video's time base. The caller then
// seeks t.
func (e *earlierSubtitles) read(d *demuxer, t int64) {
	wanted := func(s *astiav.Stream) bool {
		return d.chosen[s.Index()] && s.CodecParameters().MediaType() == astiav.MediaTypeSubtitle
	}
	if !slices.ContainsFunc(d.input.Streams(), wanted) {
		return
	}
	tb := d.video.TimeBase()
	begin := t - timebase.Ticks(big.NewRat(60, 1), tb)
	if d.input.SeekFrame(d.video.Index(), begin, astiav.NewSeekFlags(astiav.SeekFlagBackward)) != nil {
		return
	}
	p := astiav.AllocPacket()
	defer p.Free()
	for d.input.ReadFrame(p) == nil {
		s := d.input.Streams()[p.StreamIndex()]
		switch {
		case d.isVideo(p) && p.Dts() != av.NoTimestamp && p.Dts() >= t:
			return
		case wanted(s) && p.Pts() != av.NoTimestamp && (p.Duration() == 0 || timebase.Microseconds(p.Pts()+p.Duration(), s.TimeBase()) > timebase.Microseconds(t, tb)):
			*e = append(*e, p.Clone())
		}
		p.Unref()
	}
}

// send passes those that lie before pos, a place in the file, to f, and forgets all.
func (e *earlierSubtitles) send(f *fanout, pos int64) {
	for _, p := range *e {
		if p.Pos() < pos {
			f.send(p, true)
		}
	}
	e.drop()
}

func (e *earlierSubtitles) drop() {
	for _, p := range *e {
		p.Free()
	}
	*e = nil
}
