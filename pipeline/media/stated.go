package media

import (
	"math/big"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
	"retime/pipeline/timeline/rational"
)

// This file reads what a container states of the times of its streams.

// start returns the start of the earliest stream in microseconds.
func (d *demuxer) start() int64 { return startTime(d.input) }

func startTime(input *astiav.FormatContext) int64 {
	if t := av.StartTime(input); t != av.NoTimestamp {
		return t
	}
	return 0
}

// exactStart returns startTime in seconds, without FFmpeg's rounding to microseconds.
func exactStart(input *astiav.FormatContext) *big.Rat {
	start := startTime(input)
	for _, s := range input.Streams() {
		if t, tb := s.StartTime(), s.TimeBase(); t != av.NoTimestamp && tb.Den() > 0 {
			if off := timebase.Microseconds(t, tb) - start; off >= -1 && off <= 1 {
				return timebase.Seconds(t, tb)
			}
		}
	}
	return big.NewRat(start, 1e6)
}

// duration returns the input's duration in microseconds, 0 if only the bit rate indicates
// it.
func (d *demuxer) duration() int64 { return statedDuration(d.input) }

func statedDuration(input *astiav.FormatContext) int64 {
	t := input.Duration()
	if t <= 0 || av.DurationGuessed(input) {
		return 0
	}
	if statesEnd(input) {
		t -= startTime(input)
	}
	return max(t, 0)
}

// statesEnd reports whether the input's duration is the time of its end. In Matroska,
// FFmpeg and others write that time, and MKVToolNix, by libebml, the length.
func statesEnd(input *astiav.FormatContext) bool {
	switch input.InputFormat().Name() {
	case "nut":
		return true
	case "matroska,webm":
		app, _ := av.FileTags(input).Get("encoder")
		return !strings.HasPrefix(app, "libebml")
	}
	return false
}

// seconds converts t from the video's time base to seconds after the input's start.
func (d *demuxer) seconds(t int64) *big.Rat {
	v := timebase.Seconds(t, d.video.TimeBase())
	return v.Sub(v, d.zero)
}

// placed is seconds for a picture, which stands at its place if the timestamps jitter.
func (d *demuxer) placed(t int64) *big.Rat {
	return d.meant(timebase.Seconds(t, d.video.TimeBase()))
}

// meant returns the time that t, in seconds of the stream's clock, is meant for, in seconds after the
// input's start.
func (d *demuxer) meant(t *big.Rat) *big.Rat {
	if g := d.found.grid; g != nil {
		t = g.Place(t)
	}
	return new(big.Rat).Sub(t, d.zero)
}

// isAVI reports whether the input is an AVI file. If it has no index, FFmpeg estimates its
// duration from its size.
func (d *demuxer) isAVI() bool { return d.input.InputFormat().Name() == "avi" }

// isISO reports whether the input is MP4, MOV or a relative.
func (d *demuxer) isISO() bool { return strings.HasPrefix(d.input.InputFormat().Name(), "mov,mp4,") }

// frameLength returns the usual duration of the video's frames, in its time base.
func (d *demuxer) frameLength() int64 {
	if d.found.rate != nil {
		return d.lengthAt(d.found.rate)
	}
	return d.lengthAt(timebase.Rat(d.video.AvgFrameRate()))
}

// lengthAt returns the duration of a frame at a rate, in the video's time base; 1 if rate is nil.
func (d *demuxer) lengthAt(rate *big.Rat) int64 {
	tb := timebase.Rat(d.video.TimeBase())
	if rate == nil || tb == nil {
		return 1
	}
	return max(1, rational.Nearest(new(big.Rat).Inv(tb.Mul(tb, rate))))
}

// statedEnd returns when the video ends, in its time base, if the container states that of
// the stream itself.
func (d *demuxer) statedEnd() (t int64, ok bool) {
	begin := d.video.StartTime() // negative if the clock of a broadcast has wrapped around
	if begin == av.NoTimestamp {
		begin = 0
	}
	length := d.video.Duration()
	if name := d.input.InputFormat().Name(); name == "asf" || name == "wtv" || av.DurationGuessed(d.input) {
		return 0, false // FFmpeg has given the stream the duration of the file
	}
	if d.isAVI() {
		const unknown = 1 << 30 // frames, in what FFmpeg writes to a pipe
		if length = d.video.NbFrames() * d.lengthAt(timebase.Rat(d.video.AvgFrameRate())); d.video.NbFrames() >= unknown {
			length = 0
		}
	}
	return begin + length, length > 0
}

// tolerance is how much earlier than its stated end the video may end, in microseconds.
func (d *demuxer) tolerance() int64 {
	return max(500_000, 3*timebase.Microseconds(d.frameLength(), d.video.TimeBase()))
}
