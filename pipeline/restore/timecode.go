package restore

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/timeline/rational"
)

// Timecode is an address of SMPTE ST 12-1: hours, minutes, seconds and frames of the
// second. With Drop, it skips some frame numbers to keep up with a clock at 30000/1001
// frames per second or a multiple of that.
type Timecode struct {
	Hours, Minutes, Seconds, Frames int
	Drop                            bool
}

// ParseTimecode reads HH:MM:SS:FF, or HH:MM:SS;FF for drop-frame timecode.
func ParseTimecode(s string) (Timecode, error) {
	bad := fault.New(fault.Usage, "timecode %q: want HH:MM:SS:FF, or HH:MM:SS;FF where frames are dropped", s)
	at := strings.LastIndexAny(s, ":;")
	if at < 0 {
		return Timecode{}, bad
	}
	t := Timecode{Drop: s[at] == ';'}
	parts := append(strings.Split(s[:at], ":"), s[at+1:])
	if len(parts) != 4 {
		return Timecode{}, bad
	}
	limits := [...]int{24, 60, 60, maxPerSecond}
	for i, to := range []*int{&t.Hours, &t.Minutes, &t.Seconds, &t.Frames} {
		n, err := strconv.ParseUint(parts[i], 10, 16)
		if err != nil || int(n) >= limits[i] || len(parts[i]) > 3 {
			return Timecode{}, bad
		}
		*to = int(n)
	}
	return t, nil
}

// maxPerSecond bounds the frames in a second.
const maxPerSecond = 1000

func (t Timecode) String() string {
	mark := ":"
	if t.Drop {
		mark = ";"
	}
	return fmt.Sprintf("%02d:%02d:%02d%s%02d", t.Hours, t.Minutes, t.Seconds, mark, t.Frames)
}

// count returns the number of frames before t, at base frames in a counted second.
func (t Timecode) count(base int64) (int64, error) {
	if int64(t.Frames) >= base {
		return 0, fault.New(fault.Usage, "timecode %v: the video counts %d frames a second, from 0 to %d", t, base, base-1)
	}
	minutes := int64(t.Hours*60 + t.Minutes)
	n := (minutes*60+int64(t.Seconds))*base + int64(t.Frames)
	if !t.Drop {
		return n, nil
	}
	if base%30 != 0 {
		return 0, fault.New(fault.Usage, "timecode %v: frames are dropped at 29.97 frames a second and multiples of it; the video counts %d: write it with a colon", t, base)
	}
	dropped := base / 15 // in every minute except each tenth
	if t.Seconds == 0 && int64(t.Frames) < dropped && t.Minutes%10 != 0 {
		return 0, fault.New(fault.Usage, "timecode %v: that number is dropped; the next is %v", t, Timecode{t.Hours, t.Minutes, 0, int(dropped), true})
	}
	return n - dropped*(minutes-minutes/10), nil
}

// TimecodeAt returns the timecode of the n-th frame after the one that has the timecode first, at a frame rate. If first
// drops numbers but the rate cannot, none are dropped.
func TimecodeAt(first Timecode, n int64, rate *big.Rat) Timecode {
	base := max(rational.Nearest(rate), 1)
	zero, err := first.count(base)
	if err != nil {
		first, zero = Timecode{}, 0
	}
	n += zero
	if first.Drop {
		dropped := base / 15
		minute, ten := 60*base-dropped, 600*base-9*dropped
		tens, rest := n/ten, n%ten
		n += 9 * dropped * tens
		if rest >= 60*base {
			n += dropped * (1 + (rest-60*base)/minute)
		}
	}
	seconds := n / base
	return Timecode{int(seconds / 3600 % 24), int(seconds / 60 % 60), int(seconds % 60), int(n % base), first.Drop}
}

// CountedRate returns the rate at which timecodes count the frames of a video; nil if none is known.
func CountedRate(v media.Video) *big.Rat {
	if a := v.Average; v.Rate == nil || a != nil && v.Rate.Cmp(new(big.Rat).Add(a, a)) > 0 {
		return a // the times of the frames are on no grid
	}
	return v.Rate
}

// after returns the time from the timecode first to t, in seconds, at a frame rate. If
// first drops numbers, so does t.
func (t Timecode) after(first Timecode, rate *big.Rat) (*big.Rat, error) {
	t.Drop = first.Drop
	perSecond := rational.Nearest(rate)
	n, err := t.count(perSecond)
	if err != nil {
		return nil, err
	}
	zero, err := first.count(perSecond)
	if err != nil {
		return nil, err
	}
	if n -= zero; n < 0 { // past midnight
		day, err := Timecode{23, 59, 59, int(perSecond) - 1, t.Drop}.count(perSecond)
		if err != nil {
			return nil, err
		}
		n += day + 1
	}
	return new(big.Rat).Quo(big.NewRat(n, 1), rate), nil
}
