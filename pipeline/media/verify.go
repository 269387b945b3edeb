package media

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
)

// written is what the muxer was given of a stream.
type written struct {
	packets    int64
	begin, end *big.Rat // seconds; nil before the first timestamp
}

// note adds a packet whose timestamps are in tb.
func (s *written) note(p *astiav.Packet, tb *big.Rat) {
	s.packets++
	if p.Pts() == noTimestamp || tb == nil {
		return
	}
	begin := new(big.Rat).Mul(big.NewRat(p.Pts(), 1), tb)
	if s.begin == nil || begin.Cmp(s.begin) < 0 {
		s.begin = begin
	}
	if end := new(big.Rat).Mul(big.NewRat(p.Pts()+max(p.Duration(), 0), 1), tb); s.end == nil || end.Cmp(s.end) > 0 {
		s.end = end
	}
}

// length is 0 without timestamps.
func (s *written) length() *big.Rat {
	if s.begin == nil {
		return new(big.Rat)
	}
	return new(big.Rat).Sub(s.end, s.begin)
}

// Containers that are read again, and those of them that keep every timestamp.
var (
	verified = []string{"matroska", "webm", "mp4", "mov", "ipod", "3gp", "3g2", "nut", "mpegts", "flv", "avi", "yuv4mpegpipe"}
	timed    = []string{"matroska", "webm", "mp4", "mov", "ipod", "3gp", "3g2", "nut", "mpegts"}
)

// soundTolerance is how far, in seconds, the length of sound in the file may be off:
// coders pad their first and last frames, and containers say so in their own ways.
var soundTolerance = big.NewRat(1, 10)

// verify reads the file that was written and compares its frames, their times and
// the length of its sound with what they should be.
// Of a damaged input only the picture's are compared.
func (w *Writer) verify(damaged bool) error {
	name := w.output.OutputFormat().Name()
	if w.target.temp == "" || !slices.Contains(verified, name) {
		return nil
	}
	if err := w.compare(slices.Contains(timed, name), damaged); err != nil {
		if e := w.ctx.Err(); e != nil {
			return e
		}
		return fault.New(fault.Mismatch, "verify %q: %w", w.target.name, err)
	}
	return nil
}

func (w *Writer) compare(timed, damaged bool) error {
	file := astiav.AllocFormatContext()
	if err := file.OpenInput(w.target.url, nil, nil); err != nil {
		file.Free()
		return fmt.Errorf("it cannot be opened: %w", err)
	}
	defer file.CloseInput()
	if err := file.FindStreamInfo(nil); err != nil {
		return fmt.Errorf("no stream can be read: %w", err)
	}
	video := nthOf(file, astiav.MediaTypeVideo, ordinal(w.output, w.video))
	if video == nil {
		return errors.New("the video is not in it")
	}
	found := make([]written, len(file.Streams()))
	var frames []int64 // the pictures' timestamps
	packet := astiav.AllocPacket()
	defer packet.Free()
	for {
		err := file.ReadFrame(packet)
		if errors.Is(err, astiav.ErrEof) {
			break
		} else if err != nil {
			return fmt.Errorf("it cannot be read to its end: %w", err)
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if i := packet.StreamIndex(); i < len(found) {
			found[i].note(packet, rat(file.Streams()[i].TimeBase()))
			if i == video.Index() {
				frames = append(frames, packet.Pts())
			}
		}
		packet.Unref()
	}
	var n int64
	if m := w.muxed[w.video.Index()]; m != nil {
		n = m.packets
	}
	if n < w.frames {
		return fmt.Errorf("%d frames were encoded to %d pictures", w.frames, n)
	}
	if int64(len(frames)) != n {
		return fmt.Errorf("it has %d pictures, %d were written", len(frames), n)
	}
	if timed {
		if err := w.compareTimes(frames, rat(video.TimeBase())); err != nil {
			return err
		}
	}
	for _, out := range w.output.Streams() {
		if out.CodecParameters().CodecType() != astiav.MediaTypeAudio || !timed || damaged {
			continue // damaged sound has packets of any length
		}
		in := nthOf(file, astiav.MediaTypeAudio, ordinal(w.output, out))
		if in == nil {
			return fmt.Errorf("the sound of stream %d is not in it", out.Index())
		}
		want := new(big.Rat)
		if m := w.muxed[out.Index()]; m != nil {
			want = m.length()
		}
		got := found[in.Index()].length()
		if d := new(big.Rat).Sub(got, want); d.Abs(d).Cmp(soundTolerance) > 0 {
			return fmt.Errorf("its sound in stream %d lasts %s s, not %s", out.Index(), got.FloatString(3), want.FloatString(3))
		}
	}
	return nil
}

// compareTimes checks that pictures are at different times and, at a constant rate,
// a frame's time apart, as nearly as the container's unit allows.
func (w *Writer) compareTimes(pts []int64, unit *big.Rat) error {
	slices.Sort(pts)
	if len(pts) == 0 || pts[0] == noTimestamp || unit == nil {
		return nil // the container has none
	}
	for k := 1; k < len(pts); k++ {
		if pts[k] == pts[k-1] {
			return fmt.Errorf("two pictures are at %s s", new(big.Rat).Mul(big.NewRat(pts[k], 1), unit).FloatString(6))
		}
	}
	if w.opt.Unit != nil || int64(len(pts)) != w.frames {
		return nil // of variable rate, or with pictures that are not shown
	}
	for k, t := range pts {
		at := new(big.Rat).Mul(big.NewRat(t-pts[0], 1), unit)
		want := new(big.Rat).Quo(big.NewRat(int64(k), 1), w.opt.Rate)
		if d := new(big.Rat).Sub(at, want); d.Abs(d).Cmp(unit) > 0 {
			return fmt.Errorf("picture %d is %s s behind the first, not %s", k, at.FloatString(6), want.FloatString(6))
		}
	}
	return nil
}

// ordinal is how many streams of its kind come before s in c.
func ordinal(c *astiav.FormatContext, s *astiav.Stream) (n int) {
	for _, o := range c.Streams() {
		if o.Index() == s.Index() {
			break
		}
		if o.CodecParameters().CodecType() == s.CodecParameters().CodecType() && !attachedPicture(o) {
			n++
		}
	}
	return n
}

// nthOf returns the stream of a kind that n others come before, nil for none.
// Covers do not count.
func nthOf(c *astiav.FormatContext, kind astiav.MediaType, n int) *astiav.Stream {
	for _, s := range c.Streams() {
		if s.CodecParameters().CodecType() != kind || attachedPicture(s) {
			continue
		}
		if n--; n < 0 {
			return s
		}
	}
	return nil
}

// unverified names a file that failed verification.
func unverified(err error, name string) error {
	return fault.New(fault.Mismatch, "%w; it is kept as %q, and --no-verify leaves out the check", err, name)
}
