package media

import (
	"fmt"
	"log/slog"
	"math/big"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
	"retime/pipeline/timeline/rational"
)

// pictureClock determines the times of decoded pictures, in the video's time base.
type pictureClock struct {
	demuxer *demuxer
	unit    astiav.Rational
	last    int64 // time of the last picture; av.NoTimestamp before the first
	step    int64 // from the last picture but one to the last
	end     int64 // time at which the last picture ends
	late    int   // number of pictures dropped because their timestamps do not advance
	count   int64 // number of pictures that have no times of their own
	leapt   bool  // a timestamp was too far ahead
	log     *slog.Logger
}

func newPictureClock(d *demuxer, log *slog.Logger) pictureClock {
	return pictureClock{demuxer: d, unit: d.video.TimeBase(), last: av.NoTimestamp, log: log}
}

// stamp sets f's PTS to its time. It returns false if f must be dropped. damage is the
// input's damage so far.
func (c *pictureClock) stamp(f *astiav.Frame, damage Damage) bool {
	t := av.FrameTime(f)
	if c.demuxer.paced != nil {
		t = c.paced(c.count)
		c.count++
	}
	if t == av.NoTimestamp {
		if t = c.end; c.step > 0 {
			t = c.last + c.step
		}
	}
	if c.last != av.NoTimestamp && c.leaps(t-c.end, damage) {
		t = c.end
	}
	if c.last != av.NoTimestamp && t <= c.last {
		if c.late++; c.late == 1 {
			c.log.Warn("frames are dropped whose timestamps do not advance", "input", c.demuxer.name, "first", t)
		}
		return false
	}
	f.SetPts(t)
	d := c.length(f)
	if c.last != av.NoTimestamp {
		c.step = t - c.last
	}
	c.last, c.end = t, t+d
	return true
}

// paced returns when picture k of a stream without times of its own is shown.
func (c *pictureClock) paced(k int64) int64 {
	return timebase.Ticks(new(big.Rat).Quo(big.NewRat(k, 1), c.demuxer.paced), c.unit)
}

// note advances the clock by a packet that is not decoded.
func (c *pictureClock) note(p Packet) {
	if p.PTS == av.NoTimestamp {
		return
	}
	c.last, c.end = max(c.last, p.PTS), max(c.end, p.PTS+max(p.Duration, 0))
}

// The longest gaps after a picture, in microseconds. A later timestamp counts as damage.
// longestStill applies if the input states its duration and is undamaged so far,
// longestUnknown if not, and longestBehind after the stated end.
const (
	longestStill   = 3600e6
	longestUnknown = 600e6
	longestBehind  = 10e6
)

// leaps reports whether the gap after the last picture, in the video's time base, is too
// long to be true.
func (c *pictureClock) leaps(gap int64, damage Damage) bool {
	limit, end := int64(longestUnknown), c.demuxer.duration()
	if behind := timebase.Microseconds(c.end+gap, c.unit)/2 - (c.demuxer.start()+end)/2; end > 0 && behind > longestBehind/2 {
		limit = longestBehind
	} else if end > 0 && damage == (Damage{}) {
		limit = longestStill
	}
	if timebase.Microseconds(gap, c.unit) <= limit {
		return false
	}
	if !c.leapt {
		c.leapt = true
		c.log.Warn("a timestamp lies too far ahead; its picture follows the last one", "input", c.demuxer.name,
			"after", c.position(), "by", fmt.Sprintf("%.0f s", float64(timebase.Microseconds(gap, c.unit))/1e6))
	}
	return true
}

// length returns how long f is shown, in the video's time base. A frame that does not say
// so is shown for the mean time, or until the stream's stated end if that is near.
func (c *pictureClock) length(f *astiav.Frame) int64 {
	if rate := c.demuxer.paced; rate != nil {
		k := rational.Nearest(new(big.Rat).Mul(timebase.Seconds(f.Pts(), c.unit), rate))
		return c.paced(k+1) - f.Pts()
	}
	mean := c.demuxer.frameLength()
	if d := av.FrameDuration(f); d > 0 && timebase.Microseconds(d, c.unit) <= longestUnknown {
		if c.demuxer.paired {
			return max(d, mean)
		}
		return d
	}
	if end, ok := c.demuxer.statedEnd(); ok {
		// What is much shorter is rounding, or the last frame's duration is left out.
		if rest := end - f.Pts(); rest > mean/8 && timebase.Microseconds(rest, c.unit) <= c.demuxer.tolerance() {
			return rest
		}
	}
	return mean
}

// position returns the time at which the last picture ends, for messages.
func (c *pictureClock) position() string {
	if c.last == av.NoTimestamp {
		return "no frame"
	}
	return fmt.Sprintf("%.3f s", float64(timebase.Microseconds(c.end, c.unit)-c.demuxer.start())/1e6)
}
