package media

import (
	"math/big"
	"slices"
	"sync"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/media/av"
	"retime/pipeline/timeline/rational"
)

// captions are the closed captions (CEA-608 and 708, as ATSC A/53 part 4 puts them beside pictures) of
// the pictures that a reader has decoded. They wait for the frames of the output that show their
// moments. The reader's goroutine adds them, and the encoder's takes them.
type captions struct {
	mu      sync.Mutex
	fields  []triplet // of CEA-608
	packets []triplet // of CEA-708
	last    *big.Rat  // time of the picture that came last
	seen    bool      // a picture had captions
	crowded bool      // some did not fit
	lost    func()    // called once if there are any; nil if they are wanted
}

// triplet is a pair of bytes with its kind.
type triplet struct {
	at   *big.Rat // in seconds after the source's start
	data [3]byte
}

// valid is the bit of a triplet that is no padding.
const valid = 1 << 2

// mostTriplets is how many triplets of a kind wait, of which no encoder may take any.
const mostTriplets = 1 << 16

// longestCaption is the longest time, in seconds, over which a picture's triplets are spread.
var longestCaption = big.NewRat(1, 5)

// add adds the captions of a picture, if it has any. Its triplets stand for the time since the
// picture before, and are spread over it, each kind on its own: so frames of another rate have
// equally many, and the two fields of CEA-608 are as far apart as in the source.
func (c *captions) add(f *astiav.Frame, at *big.Rat) {
	data, ok := av.FrameSideData(f, av.FrameCaptions)
	c.mu.Lock()
	defer c.mu.Unlock()
	span := new(big.Rat)
	if c.last != nil && c.last.Cmp(at) < 0 {
		span.Sub(at, c.last)
	}
	c.last = at
	if !ok || len(data) < 3 {
		return
	}
	if c.seen = true; c.lost != nil {
		c.lost()
		c.lost = func() {}
		return
	}
	if span.Cmp(longestCaption) > 0 {
		span = longestCaption
	}
	var fields, packets [][3]byte
	for t := range slices.Chunk(data[:len(data)/3*3], 3) {
		switch {
		case t[0]&valid == 0: // the encoder pads again
		case t[0]&2 == 0:
			fields = append(fields, [3]byte(t))
		default:
			packets = append(packets, [3]byte(t))
		}
	}
	c.fields = spreadTriplets(c.fields, fields, at, span)
	c.packets = spreadTriplets(c.packets, packets, at, span)
}

// CaptionFor has the closed captions of r, a second reader of s's file, wait for the encoders of s.
func (r *Reader) CaptionFor(s *Reader) {
	own, c := r.source.captions, s.source.captions
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fields, c.packets, c.last = own.fields, own.packets, own.last
	if own.seen && c.lost != nil && !c.seen {
		c.lost()
		c.lost = func() {}
	}
	c.seen = c.seen || own.seen
	r.source.captions = c
}

// spreadTriplets appends triplets that stand for the time span before at. Each lies within its share of
// that time, so that rounded timestamps do not make it another frame's.
func spreadTriplets(list []triplet, data [][3]byte, at, span *big.Rat) []triplet {
	for i, d := range data {
		back := new(big.Rat).Mul(span, big.NewRat(int64(4*(len(data)-1-i)+1), int64(4*len(data))))
		list = append(list, triplet{new(big.Rat).Sub(at, back), d})
	}
	return list[max(0, len(list)-mostTriplets):]
}

// refuse says that nobody takes captions. It calls lost once if there are any, at once or later.
func (c *captions) refuse(lost func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost != nil {
		return
	}
	if c.lost = lost; c.seen {
		c.lost()
		c.lost = func() {}
	}
	c.fields, c.packets = nil, nil
}

// take returns the captions after one time, up to another, and forgets those before. It pads them
// to count triplets if the source has any. crowded is true the first time that some do not fit.
func (c *captions) take(after, to *big.Rat, count int) (data []byte, crowded bool) {
	const most = 31 // in a picture
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.seen {
		return nil, false
	}
	for _, list := range []*[]triplet{&c.fields, &c.packets} {
		for len(*list) > 0 && (*list)[0].at.Cmp(to) <= 0 {
			if t := (*list)[0]; t.at.Cmp(after) > 0 {
				data = append(data, t.data[:]...)
			}
			*list = (*list)[1:]
		}
	}
	if len(data) > 3*most {
		data, whole := fitting(data, most)
		crowded, c.crowded = !whole && !c.crowded, c.crowded || !whole
		return data, crowded
	}
	for len(data) < 3*min(count, most) {
		data = append(data, 0xfa, 0, 0)
	}
	return data, false
}

// fitting returns up to most triplets. Pairs of CEA-608 that say nothing go first.
func fitting(data []byte, most int) (out []byte, whole bool) {
	empty := len(data)/3 - most
	for ; len(data) >= 3 && len(out) < 3*most; data = data[3:] {
		if data[0]&2 == 0 && data[1]&0x7f == 0 && data[2]&0x7f == 0 && empty > 0 {
			empty--
			continue
		}
		out = append(out, data[:3]...)
	}
	return out, len(data) == 0
}

// carriesCaptions reports whether FFmpeg passes captions of frames to an encoder.
func carriesCaptions(codec *astiav.Codec) bool { return av.HasOption(codec, "a53cc") }

// openCaptions has the encoder take the source's captions, or says that they are lost.
func (e *Encoder) openCaptions(opt *WriterOptions) {
	c := e.source.captions
	switch {
	case c == nil || opt.Curve == nil:
	case !carriesCaptions(e.codec) || opt.Passes:
		why := "the encoder does not carry them"
		if opt.Passes {
			why = "they cannot follow a curve that turns"
		}
		c.refuse(func() {
			e.log.Warn("closed captions are left out: "+why+"; "+
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

// Captions returns the closed captions of a Reader's frame, as the decoder found them; nil without.
func Captions(f *frame.Frame) []byte {
	native, ok := f.Native.(*astiav.Frame)
	if !ok {
		return nil
	}
	data, _ := av.FrameSideData(native, av.FrameCaptions)
	return data
}

// Caption gives the next frame that is written these closed captions and no others. It reports whether the encoder
// carries any. It is for encoders without a curve, which leave frames their own.
func (e *Encoder) Caption(data []byte) bool {
	e.next = &data
	return carriesCaptions(e.codec)
}

// setCaptions replaces a picture's closed captions.
func setCaptions(picture *astiav.Frame, data []byte) error {
	av.RemoveFrameSideData(picture, av.FrameCaptions)
	if len(data) > 0 {
		return av.AddFrameSideData(picture, av.FrameCaptions, data)
	}
	return nil
}

// tripletsPerSecond is how many triplets decoders expect in a second (CTA-708).
const tripletsPerSecond = 600

// caption gives the picture that is shown at a time of the output those captions whose moments came
// since a time before.
func (e *Encoder) caption(picture *astiav.Frame, before, now *big.Rat) error {
	length := new(big.Rat).Sub(now, before)
	length.Mul(length, big.NewRat(tripletsPerSecond, 1))
	count := rational.Floor(length.Add(length, big.NewRat(1, 2)))
	data, crowded := e.captions.take(e.moment(before), e.moment(now), int(min(count, 31)))
	if crowded {
		e.log.Warn("closed captions are left out: more come at once than a picture may have", "output", e.file)
	}
	return setCaptions(picture, data)
}
