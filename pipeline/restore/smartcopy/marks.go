package smartcopy

import (
	"fmt"
	"slices"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media"
	"retime/pipeline/media/av"
)

// Encoder is an encoder of a Splicer. It makes sure that its packets mark interlaced frames as expected.
type Encoder struct {
	*media.Encoder
	marks *marks
}

// Expect says how the next frame that is written is marked, as media.TopFieldFirst reports it.
func (e *Encoder) Expect(topFirst, interlaced bool) {
	e.marks.want = append(e.marks.want, mark{topFirst, interlaced})
}

// Finish encodes the frames that the encoder still holds. It returns a fault.Usage error if a decoder takes any frame for
// one of another field order.
func (e *Encoder) Finish() error {
	if err := e.Encoder.Finish(); err != nil {
		return err
	}
	return e.marks.check(e.CodecName())
}

// Abort frees the encoder.
func (e *Encoder) Abort() {
	e.Encoder.Abort()
	e.marks.close()
}

// mark says how a frame is marked.
type mark struct{ topFirst, interlaced bool }

// marks decodes an encoder's packets to see how their frames are marked.
type marks struct {
	decoder   *astiav.CodecContext // nil if no frame is to be interlaced
	packet    *astiav.Packet
	frame     *astiav.Frame
	want, got []mark
}

func (s *Splicer) newMarks() (*marks, error) {
	source := s.source.Source()
	if s.config != nil && !source.Video.Interlaced { // the first frame decides how these encoders code all
		return &marks{}, nil
	}
	p := source.Codec()
	m := &marks{decoder: astiav.AllocCodecContext(astiav.FindDecoder(p.CodecID())), packet: astiav.AllocPacket(), frame: astiav.AllocFrame()}
	err := p.ToCodecContext(m.decoder)
	if err == nil && len(s.header) > 0 {
		err = m.decoder.SetExtraData(s.header)
	}
	if err == nil {
		m.decoder.SetThreadCount(1)
		err = m.decoder.Open(astiav.FindDecoder(p.CodecID()), nil)
	}
	if err != nil {
		m.close()
		return nil, unsuited(err)
	}
	return m, nil
}

func (m *marks) decode(p media.Packet) error {
	if m.decoder == nil {
		return nil
	}
	if err := av.FillPacket(m.packet, p.Data); err != nil {
		return err
	}
	defer m.packet.Unref()
	m.packet.SetPts(p.PTS)
	m.receive(m.decoder.SendPacket(m.packet))
	return nil
}

// receive notes how the decoder's frames are marked, if err is nil.
func (m *marks) receive(err error) {
	for err == nil {
		if err = m.decoder.ReceiveFrame(m.frame); err == nil {
			order := av.FrameFieldOrder(m.frame)
			m.got = append(m.got, mark{order == av.TopFirst, order != av.Progressive})
			m.frame.Unref()
		}
	}
}

// check compares the marks once all packets have come. A frame that does not decode has none.
func (m *marks) check(encoder string) error {
	if !slices.ContainsFunc(m.want, func(w mark) bool { return w.interlaced }) {
		return nil
	}
	if m.decoder != nil {
		m.receive(m.decoder.SendPacket(nil))
	}
	if !slices.Equal(m.got, m.want) {
		return unsuited(fmt.Errorf("encoder %s does not mark frames as interlaced, or with their field order, as the input does", encoder))
	}
	return nil
}

func (m *marks) close() {
	if m.decoder != nil {
		m.frame.Free()
		m.packet.Free()
		m.decoder.Free()
		m.decoder = nil
	}
}
