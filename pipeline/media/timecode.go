package media

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/container"
	"retime/pipeline/media/timebase"
	"retime/pipeline/timeline/rational"
)

// timecode returns the container's timecode of the first frame.
func (d *demuxer) timecode(v *Video) Timecode {
	code, ok := av.StreamTags(d.video).Get("timecode")
	if !ok {
		code, _ = av.FileTags(d.input).Get("timecode")
	}
	rate := cmp.Or(v.Average, v.Rate)     // Rate may be that of fields
	for _, s := range d.input.Streams() { // a track of timecodes has a rate of its own
		if c, _ := av.StreamTags(s).Get("timecode"); c == code && s.CodecParameters().MediaType() == astiav.MediaTypeData {
			if r := timebase.Rat(s.AvgFrameRate()); r != nil {
				rate = r
			}
		}
	}
	return Timecode{Text: code, Rate: rate}
}

// timecode returns the timecode of the output's first frame, empty if the source has none.
// The error says why the output cannot have it.
func (o *Output) timecode() (string, error) {
	v := &o.source.Source().Video
	if v.Timecode.Text == "" {
		return "", nil
	}
	if !container.HoldsTimecode(o.muxer.output) {
		return "", errors.New("the container has no place for it")
	}
	rate := timebase.Rat(o.muxer.video.AvgFrameRate())
	if rate == nil || v.Timecode.Rate == nil {
		return "", errors.New("the frame rate is unknown")
	}
	start := o.opt.Start
	if start == nil {
		start = new(big.Rat)
	}
	at := new(big.Rat).Add(o.opt.Curve.Source(start), v.Start)
	at.Sub(at, new(big.Rat).Mul(v.TimeBase, big.NewRat(v.StreamPTS, 1)))
	return convertTimecode(v.Timecode.Text, v.Timecode.Rate, rate, at)
}

// mostTimecodeFrames is how many frames of a second MP4, MOV and MXF can count.
const mostTimecodeFrames = 255

// convertTimecode returns the timecode, at the rate to, of the moment that lies after, in
// seconds, behind that of a timecode at the rate from. Hours, minutes and seconds are
// those that the source's timecode counts, and the frames are as many as make the same
// part of a second. If frames are dropped, they are dropped at the new rate, too, unless
// it is no multiple of 29.97.
func convertTimecode(code string, from, to, after *big.Rat) (string, error) {
	counted, nominal := rational.Nearest(from), rational.Nearest(to)
	if nominal < 1 || nominal > mostTimecodeFrames {
		return "", fmt.Errorf("timecodes count 1 to %d frames a second", mostTimecodeFrames)
	}
	position := new(big.Rat).Mul(after, from)
	if whole := big.NewRat(rational.Nearest(position), 1); within(whole, position, big.NewRat(1, 10)) { // timestamps are rounded
		position = whole
	}
	if position.Sign() < 0 {
		position = new(big.Rat)
	}
	frames := rational.Floor(position)
	if !from.Num().IsInt64() || frames > 1<<30 {
		return "", errors.New("the frame rate or the time is too large")
	}
	first, err := av.TimecodeAfter(code, astiav.NewRational(int(from.Num().Int64()), int(from.Denom().Int64())), int(frames))
	if err != nil {
		return "", fmt.Errorf("%q is no timecode at %s frames a second", code, from.FloatString(3))
	}
	at := strings.LastIndexAny(first, ":;.")
	count, err := strconv.ParseInt(first[at+1:], 10, 64)
	if err != nil {
		return "", err
	}
	part := position.Sub(position, big.NewRat(frames-count, 1)) // of the second, in frames of the source
	count = rational.Floor(part.Mul(part, big.NewRat(nominal, counted)))
	separator := ":"
	if first[at] == ';' && to.Cmp(big.NewRat(nominal*1000, 1001)) == 0 && nominal%30 == 0 {
		separator = ";"
	}
	return fmt.Sprintf("%s%s%02d", first[:at], separator, count), nil
}

func within(a, b, distance *big.Rat) bool {
	d := new(big.Rat).Sub(a, b)
	return d.Abs(d).Cmp(distance) <= 0
}

// placeTimecode puts a timecode, empty for none, where the source has it, or where the
// container looks for it.
func (o *Output) placeTimecode(code string) {
	const key = "timecode"
	output := o.muxer.output
	stream, file := av.StreamTags(o.muxer.video), av.FileTags(output)
	_, first := stream.Get(key)
	stream.Remove(key)
	file.Remove(key)
	switch {
	case code == "":
	case first && !container.HoldsFileTimecode(output):
		stream.Set(key, code)
	default:
		file.Set(key, code)
	}
}
