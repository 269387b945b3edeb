package media

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/fault"
)

// written is what the muxer was given of a stream, or what was read of it.
type written struct {
	packets, bytes int64
	first, last    *big.Rat // timestamps in seconds; nil before the first
	pts            []int64  // of pictures, in their stream's time base
}

// note adds a packet whose timestamps are in tb. Packets without data, with which
// some encoders end, are none.
func (s *written) note(p *astiav.Packet, tb *big.Rat, picture bool) {
	if p.Size() == 0 {
		return
	}
	s.packets++
	s.bytes += int64(p.Size())
	if picture {
		s.pts = append(s.pts, p.Pts())
		return
	}
	if p.Pts() == noTimestamp || tb == nil {
		return
	}
	t := new(big.Rat).Mul(big.NewRat(p.Pts(), 1), tb)
	if s.first == nil || t.Cmp(s.first) < 0 {
		s.first = t
	}
	if s.last == nil || t.Cmp(s.last) > 0 {
		s.last = t
	}
}

// Containers that are read again, and those of them that keep every timestamp.
var (
	verified = []string{"matroska", "webm", "mp4", "mov", "ipod", "3gp", "3g2", "nut", "mpegts", "flv", "avi", "yuv4mpegpipe"}
	timed    = []string{"matroska", "webm", "mp4", "mov", "ipod", "3gp", "3g2", "nut", "mpegts"}
)

// verify reads the file that was written and compares its frames, their times and
// its sound with what they should be. Of a damaged input only the picture's are
// compared.
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
			found[i].note(packet, rat(file.Streams()[i].TimeBase()), i == video.Index())
		}
		packet.Unref()
	}
	pictures := &written{}
	if m := w.muxed[w.video.Index()]; m != nil {
		pictures = m
	}
	got := &found[video.Index()]
	if pictures.packets < w.frames {
		return fmt.Errorf("%d frames were encoded to %d pictures", w.frames, pictures.packets)
	}
	if got.packets != pictures.packets {
		return fmt.Errorf("it has %d pictures, %d were written", got.packets, pictures.packets)
	}
	if !timed {
		return nil
	}
	if err := w.compareTimes(got.pts, pictures.pts, rat(video.TimeBase())); err != nil {
		return err
	}
	for _, out := range w.output.Streams() {
		if out.CodecParameters().CodecType() != astiav.MediaTypeAudio || damaged {
			continue // damaged sound has packets of any length
		}
		in := nthOf(file, astiav.MediaTypeAudio, ordinal(w.output, out))
		if in == nil {
			return fmt.Errorf("the sound of stream %d is not in it", out.Index())
		}
		m := w.muxed[out.Index()]
		if m == nil {
			m = &written{}
		}
		g := &found[in.Index()]
		if err := w.compareSound(m, g, out, in); err != nil {
			return fmt.Errorf("its sound in stream %d %w", out.Index(), err)
		}
		if len(got.pts) == 0 || len(pictures.pts) == 0 || m.first == nil || g.first == nil {
			continue
		}
		if err := w.compareSync(m, g, slices.Min(pictures.pts), slices.Min(got.pts), out, in, video); err != nil {
			return fmt.Errorf("its sound in stream %d %w", out.Index(), err)
		}
	}
	return nil
}

// resplit are the codecs whose packets FFmpeg's readers may divide in another way.
var resplit = []astiav.CodecID{astiav.CodecIDTruehd, astiav.CodecIDMlp}

// compareSound checks that all samples are there: those of PCM by their bytes,
// others by their packets.
func (w *Writer) compareSound(want, got *written, out, in *astiav.Stream) error {
	switch id := out.CodecParameters().CodecID(); {
	case uncompressed(id):
		if got.bytes != want.bytes && in.CodecParameters().CodecID() == id {
			return fmt.Errorf("has %d bytes, %d were written", got.bytes, want.bytes)
		}
	case got.packets != want.packets && !slices.Contains(resplit, id):
		return fmt.Errorf("has %d packets, %d were written", got.packets, want.packets)
	}
	return nil
}

// compareSync checks when the first and the last packet of sound come after the first
// picture, within the units of both their timestamps.
func (w *Writer) compareSync(want, got *written, wantPicture, gotPicture int64, out, in, video *astiav.Stream) error {
	seconds := func(t int64, s *astiav.Stream) *big.Rat { return new(big.Rat).Mul(big.NewRat(t, 1), rat(s.TimeBase())) }
	tolerance := new(big.Rat).Add(rat(in.TimeBase()), rat(video.TimeBase()))
	if slices.Contains(isoMuxers, w.output.OutputFormat().Name()) {
		tolerance.Add(tolerance, big.NewRat(2, movieTimescale)) // one for the beginning of each
	}
	delay := seconds(delayLeftOut(w.output, out, out.TimeBase()), out)
	for _, t := range []struct {
		what      string
		want, got *big.Rat
	}{{"begins", want.first, got.first}, {"has its last packet", want.last, got.last}} {
		if uncompressed(out.CodecParameters().CodecID()) && t.got == got.last {
			continue // packets are of any length
		}
		a := new(big.Rat).Sub(t.want, seconds(wantPicture, w.video))
		a.Sub(a, delay)
		b := new(big.Rat).Sub(t.got, seconds(gotPicture, video))
		if d := new(big.Rat).Sub(b, a); d.Abs(d).Cmp(tolerance) > 0 {
			return fmt.Errorf("%s %s s behind the first picture, not %s", t.what, b.FloatString(6), a.FloatString(6))
		}
	}
	return nil
}

// compareTimes checks that pictures are at different times, as far apart as they were
// written and, at a constant rate, a frame's time apart, as nearly as the container's
// unit allows.
func (w *Writer) compareTimes(got, want []int64, unit *big.Rat) error {
	slices.Sort(got)
	slices.Sort(want)
	if len(got) == 0 || got[0] == noTimestamp || unit == nil {
		return nil // the container has none
	}
	for k := 1; k < len(got); k++ {
		if got[k] == got[k-1] {
			return fmt.Errorf("two pictures are at %s s", new(big.Rat).Mul(big.NewRat(got[k], 1), unit).FloatString(6))
		}
	}
	constant := w.opt.Unit == nil && int64(len(got)) == w.frames // else some are not shown
	written := rat(w.video.TimeBase())
	for k, t := range got {
		at := new(big.Rat).Mul(big.NewRat(t-got[0], 1), unit)
		moments := []*big.Rat{new(big.Rat).Mul(big.NewRat(want[k]-want[0], 1), written)}
		if constant {
			moments = append(moments, new(big.Rat).Quo(big.NewRat(int64(k), 1), w.opt.Rate))
		}
		for _, m := range moments {
			if d := new(big.Rat).Sub(at, m); d.Abs(d).Cmp(unit) > 0 {
				return fmt.Errorf("picture %d is %s s behind the first, not %s", k, at.FloatString(6), m.FloatString(6))
			}
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
	return fault.New(fault.Mismatch, "%w; it is kept as %q, and Output.NoVerify leaves out the check", err, name)
}
