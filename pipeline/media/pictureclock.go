package media

import (
	"fmt"
	"log/slog"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/timebase"
)

// pictureClock gives decoded pictures their times, in the video's time base.
type pictureClock struct {
	demuxer *demuxer
	unit    astiav.Rational
	last    int64 // time of the last picture, av.NoTimestamp before the first
	step    int64 // from the last but one to the last
	end     int64 // of the last picture
	late    int   // pictures dropped because their timestamps do not advance
	leapt   bool  // a timestamp lay too far ahead
	log     *slog.Logger
}

func newPictureClock(d *demuxer, log *slog.Logger) pictureClock {
	return pictureClock{demuxer: d, unit: d.video.TimeBase(), last: av.NoTimestamp, log: log}
}

// stamp gives f its time, as PTS; false drops it. damage is what the input has so far.
func (c *pictureClock) stamp(f *astiav.Frame, damage Damage) bool {
	t, d := av.FrameTime(f), c.length(f)
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
	if c.last != av.NoTimestamp {
		c.step = t - c.last
	}
	c.last, c.end = t, t+d
	return true
}

// note takes over the time of a packet that is not decoded.
func (c *pictureClock) note(p Packet) {
	if p.PTS == av.NoTimestamp {
		return
	}
	c.last, c.end = max(c.last, p.PTS), max(c.end, p.PTS+max(p.Duration, 0))
}

// In microseconds: how long a picture may stand before its follower's timestamp
// counts as damage, if the input states its length and the follower lies within,
// if it does not or is damaged already, and behind the stated end.
const (
	longestStill   = 3600e6
	longestUnknown = 600e6
	longestBehind  = 10e6
)

// leaps says whether no picture can come so long after the last one's end.
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

// length is how long f is shown.
func (c *pictureClock) length(f *astiav.Frame) int64 {
	if d := av.FrameDuration(f); d > 0 && timebase.Microseconds(d, c.unit) <= longestUnknown {
		return d
	}
	return c.demuxer.frameLength()
}

// position is the time of the last picture's end, for messages.
func (c *pictureClock) position() string {
	if c.last == av.NoTimestamp {
		return "no frame"
	}
	return fmt.Sprintf("%.3f s", float64(timebase.Microseconds(c.end, c.unit)-c.demuxer.start())/1e6)
}
