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

// marks decodes an encoder's packets to see how their frames are marked: all, if one frame's packets depend on others', or
// else those of the frames that are to be interlaced.
type marks struct {
	parameters *astiav.CodecParameters // of the source
	header     []byte                  // of the output
	dependent  bool
	none       bool // no frame can be interlaced

	decoder   *astiav.CodecContext // nil before the first packet to decode
	fields    media.FieldMarks
	packet    *astiav.Packet
	frame     *astiav.Frame
	want, got []mark
}

func (s *Splicer) newMarks() *marks {
	source := s.source.Source()
	// The first frame decides how the encoders of H.264 and HEVC code all.
	dependent := s.config != nil
	return &marks{parameters: source.Codec(), header: s.header, dependent: dependent, none: dependent && !source.Video.Interlaced}
}

func (m *marks) open() error {
	codec := astiav.FindDecoder(m.parameters.CodecID())
	decoder := astiav.AllocCodecContext(codec)
	err := m.parameters.ToCodecContext(decoder)
	if err == nil && len(m.header) > 0 {
		err = decoder.SetExtraData(m.header)
	}
	if err == nil {
		decoder.SetThreadCount(1)
		err = decoder.Open(codec, nil)
	}
	if err != nil {
		decoder.Free()
		return unsuited(err)
	}
	m.fields = media.NewFieldMarks(m.parameters)
	m.decoder, m.packet, m.frame = decoder, astiav.AllocPacket(), astiav.AllocFrame()
	return nil
}

// wanted reports whether the packet of a frame is to be decoded.
func (m *marks) wanted(n int64) bool {
	return !m.none && (m.dependent || n >= 0 && n < int64(len(m.want)) && m.want[n].interlaced)
}

// decode decodes the packet of frame p.PTS if that matters.
func (m *marks) decode(p media.Packet) error {
	if !m.wanted(p.PTS) {
		return nil
	}
	if m.decoder == nil {
		if err := m.open(); err != nil {
			return err
		}
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
			m.fields.Correct(m.frame)
			order := av.FrameFieldOrder(m.frame)
			m.got = append(m.got, mark{order == av.TopFirst, order != av.Progressive})
			m.frame.Unref()
		}
	}
}

// check compares the marks once all packets have come. A frame that does not decode has none.
func (m *marks) check(encoder string) error {
	progressive := func(w mark) bool { return !w.interlaced }
	want := m.want
	if !m.dependent {
		want = slices.DeleteFunc(slices.Clone(want), progressive)
	}
	if !slices.ContainsFunc(want, func(w mark) bool { return w.interlaced }) {
		return nil
	}
	if m.decoder != nil {
		m.receive(m.decoder.SendPacket(nil))
	}
	if !slices.Equal(m.got, want) {
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
