package media

import (
	"math/big"
	"sync"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// captions are the closed captions (CEA-608 and 708, as ATSC A/53 part 4 puts them beside pictures) of
// the pictures that a reader has decoded. They wait for the frames of the output that show their
// moments. The reader's goroutine adds them, and the encoder's takes them.
type captions struct {
	mu   sync.Mutex
	list []caption
	lost func() // called once if there are any; nil if they are wanted
}

type caption struct {
	at   *big.Rat // in seconds after the source's start
	data []byte   // triplets of bytes
}

// mostCaptions is how many pictures' captions wait, of which no encoder may take any.
const mostCaptions = 4096

// add adds the captions of a picture, if it has any.
func (c *captions) add(f *astiav.Frame, at *big.Rat) {
	data, ok := av.FrameSideData(f, av.FrameCaptions)
	if !ok || len(data) < 3 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, caption{at, data})
	if c.lost != nil {
		c.lost()
		c.lost = func() {}
	}
	if len(c.list) > mostCaptions || c.lost != nil {
		c.list = c.list[1:]
	}
}

// refuse says that nobody takes captions. It calls lost once if there are any, at once or later.
func (c *captions) refuse(lost func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil {
		return
	}
	if c.lost = lost; len(c.list) > 0 {
		c.lost()
		c.lost = func() {}
	}
	c.list = nil
}

// take returns the captions after one time, up to another, and forgets those before.
func (c *captions) take(after, to *big.Rat) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	var data []byte
	for len(c.list) > 0 && c.list[0].at.Cmp(to) <= 0 {
		if c.list[0].at.Cmp(after) > 0 {
			data = append(data, c.list[0].data...)
		}
		c.list = c.list[1:]
	}
	return fitting(data)
}

// fitting returns what one picture may have of triplets: 31. Padding goes first.
func fitting(data []byte) []byte {
	const most, valid = 31, 1 << 2
	if len(data) <= 3*most {
		return data
	}
	var out []byte
	for ; len(data) >= 3 && len(out) < 3*most; data = data[3:] {
		if data[0]&valid != 0 {
			out = append(out, data[:3]...)
		}
	}
	return out
}

// carriesCaptions reports whether FFmpeg passes captions of frames to an encoder.
func carriesCaptions(codec *astiav.Codec) bool { return av.HasOption(codec, "a53cc") }

// openCaptions has the encoder take the source's captions, or says that they are lost.
func (e *Encoder) openCaptions(opt *WriterOptions) {
	c := e.source.captions
	switch {
	case c == nil || opt.Curve == nil:
	case !carriesCaptions(e.codec) || opt.Passes:
		c.refuse(func() {
			e.log.Warn("closed captions are left out: the encoder does not carry them, or the time turns; "+
				`Output.VideoCodec libx264 and mpeg2video do, and ffmpeg -f lavfi -i "movie=IN[out0+subcc]" -map 0:s OUT.srt saves them`, "encoder", e.codec.Name())
		})
	default:
		e.captions, e.moment = c, func(output *big.Rat) *big.Rat { return opt.Curve.Source(output) }
		e.start, e.period = new(big.Rat), new(big.Rat).Inv(opt.Rate)
		if opt.Start != nil {
			e.start = opt.Start
		}
	}
}

// caption gives the picture that is shown at a time of the output those captions whose moments came
// since a time before.
func (e *Encoder) caption(picture *astiav.Frame, before, now *big.Rat) error {
	av.RemoveFrameSideData(picture, av.FrameCaptions)
	if data := e.captions.take(e.moment(before), e.moment(now)); len(data) > 0 {
		return av.AddFrameSideData(picture, av.FrameCaptions, data)
	}
	return nil
}
