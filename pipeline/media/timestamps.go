package media

import (
	"log/slog"
	"math"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// In microseconds of decoding time: a stream that falls back by more than maxFallback has
// a new clock, and so has a stream that leaps ahead by more than maxLeap. Outside
// containers for broadcasts, a leap only counts if it ends more than maxLeap after the
// stated end.
const (
	maxFallback = 500_000
	maxLeap     = 10_000_000
)

// timestamps joins the clocks of an input whose timestamps jump, as in recordings that
// were interrupted or put together. If one stream gets a new clock, its time continues
// without a gap. The other streams' times move by the same distance, so that sound and
// picture stay together.
type timestamps struct {
	name    string
	log     *slog.Logger
	leaps   bool  // a leap ahead in this container means a new clock
	end     int64 // the stated end in microseconds, 0 if there is none
	streams map[int]*streamClock
	offsets []int64 // of each clock so far from the first, in microseconds
	warned  bool
}

// streamClock says how far a stream has come, in microseconds.
type streamClock struct {
	clock int   // index into offsets
	last  int64 // last decoding time on the joined clock
	next  int64 // end of its last packet on the joined clock
}

func newTimestamps(name string, input *astiav.FormatContext, log *slog.Logger) timestamps {
	t := timestamps{
		name: name, log: log, leaps: av.MayJump(input),
		streams: map[int]*streamClock{}, offsets: []int64{0},
	}
	if d := statedDuration(input); d > 0 {
		t.end = startTime(input) + d
	}
	return t
}

// joined reports whether timestamps have jumped.
func (t *timestamps) joined() bool { return len(t.offsets) > 1 }

// restart forgets the streams' times, as after a seek.
func (t *timestamps) restart() {
	clear(t.streams)
	t.offsets = t.offsets[:1]
}

// join moves p's timestamps to the joined clock.
func (t *timestamps) join(p *astiav.Packet, stream *astiav.Stream) {
	tb := stream.TimeBase()
	if k := stream.CodecParameters().MediaType(); k != astiav.MediaTypeVideo && k != astiav.MediaTypeAudio {
		// A long time without subtitles means nothing.
		if d := t.offsets[len(t.offsets)-1]; d != 0 {
			timebase.Shift(p, timebase.Ticks(big.NewRat(d, 1e6), tb))
		}
		return
	}
	at := p.Dts()
	if at == av.NoTimestamp {
		at = p.Pts()
	}
	if at == av.NoTimestamp || tb.Den() == 0 {
		return
	}
	now := timebase.Microseconds(at, tb)
	s := t.streams[p.StreamIndex()]
	if p.Flags().Has(astiav.PacketFlagDiscard) { // decoded only, between two parts that an edit list plays
		if s != nil && t.offsets[s.clock] != 0 {
			timebase.Shift(p, timebase.Ticks(big.NewRat(t.offsets[s.clock], 1e6), tb))
		}
		return
	}
	if s == nil {
		s = &streamClock{clock: len(t.offsets) - 1, last: math.MinInt64, next: now + t.offsets[len(t.offsets)-1]}
		t.streams[p.StreamIndex()] = s
	}
	if t.jumps(s, now+t.offsets[s.clock]) {
		// Take the latest clock, which another stream may have started, or else a new
		// one.
		s.clock = len(t.offsets) - 1
		if d := s.next - now - t.offsets[s.clock]; d > 0 && d < maxFallback {
			t.offsets[s.clock] += d // keep this stream's packets after its earlier ones
		}
		if t.jumps(s, now+t.offsets[s.clock]) {
			t.offsets = append(t.offsets, s.next-now)
			s.clock++
			if !t.warned {
				t.warned = true
				t.log.Warn("timestamps jump; what follows is joined to what came before", "input", t.name,
					"at", float64(s.next)/1e6, "by", float64(now+t.offsets[s.clock-1]-s.next)/1e6)
			}
		}
	}
	d := t.offsets[s.clock]
	if now += d; now > s.last {
		s.last = now
	}
	s.next = max(s.next, now+max(timebase.Microseconds(p.Duration(), tb), 0))
	if d != 0 {
		timebase.Shift(p, timebase.Ticks(big.NewRat(d, 1e6), tb))
	}
}

// jumps reports whether decoding time now, on the joined clock, cannot follow s's last
// one.
func (t *timestamps) jumps(s *streamClock, now int64) bool {
	switch {
	case s.last == math.MinInt64:
		return false
	case now < s.last-maxFallback:
		return true
	case t.leaps:
		return now > s.next+maxLeap
	}
	return t.end > 0 && now > s.next+maxLeap && now > t.end+maxLeap
}
