package media

import (
	"bytes"
	"fmt"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
	"retime/pipeline/media/nalunit"
)

// NoTimestamp is the value of a packet's missing timestamp.
const NoTimestamp = av.NoTimestamp

// Packet is an encoded picture. Its times are in the encoder's time base, or in the
// stream's if a reader has read it.
type Packet struct {
	PTS, DTS, Duration int64
	Flags              int  // FFmpeg's AV_PKT_FLAG_*
	SecondField        bool // the packet before holds the frame's first field; only readers set it
	Data               []byte
	Side               []PacketSide
}

// PacketSide is data that accompanies a packet, such as its alpha channel.
type PacketSide struct {
	Kind int // FFmpeg's AVPacketSideDataType
	Data []byte
}

// IsKey reports whether p is a key frame.
func (p Packet) IsKey() bool { return astiav.PacketFlags(p.Flags).Has(astiav.PacketFlagKey) }

// ChangesStream reports whether p carries a new header or changes the parameters of its
// stream.
func (p Packet) ChangesStream() bool {
	for _, s := range p.Side {
		if k := av.PacketSideKind(s.Kind); k == av.PacketNewExtradata || k == av.PacketParamChange {
			return true
		}
	}
	return false
}

// withData returns a packet of data with the times and flags of p.
func withData(p *astiav.Packet, data []byte) Packet {
	return Packet{PTS: p.Pts(), DTS: p.Dts(), Duration: p.Duration(), Flags: int(p.Flags()), Data: data}
}

// takePacket returns a copy of p and unreferences p.
func takePacket(p *astiav.Packet) Packet {
	out := withData(p, p.Data())
	for _, s := range av.PacketSides(p) {
		out.Side = append(out.Side, PacketSide{int(s.Kind), s.Data})
	}
	p.Unref()
	return out
}

// fill makes to a copy of p.
func (p Packet) fill(to *astiav.Packet) error {
	if err := av.FillPacket(to, p.Data); err != nil {
		return err
	}
	for _, s := range p.Side {
		if len(s.Data) == 0 {
			continue
		}
		if err := av.AddPacketSide(to, av.PacketSide{Kind: av.PacketSideKind(s.Kind), Data: s.Data}); err != nil {
			return err
		}
	}
	to.SetPts(p.PTS)
	to.SetDts(p.DTS)
	to.SetDuration(p.Duration)
	to.SetFlags(astiav.PacketFlags(p.Flags))
	return nil
}

// Parameters are the parameters that all packets of a stream must share.
type Parameters struct {
	Encoder       string
	Width, Height int
	PixelFormat   string
	TimeBase      [2]int // in seconds, as numerator and denominator
	Header        []byte // the codec's extradata
}

// Equal reports whether packets with the parameters p and q may be in one stream.
func (p Parameters) Equal(q Parameters) bool {
	same := bytes.Equal(p.Header, q.Header) || p.Encoder == "libx265" && bytes.Equal(withoutSEI(p.Header), withoutSEI(q.Header))
	p.Header, q.Header = nil, nil
	return same && fmt.Sprint(p) == fmt.Sprint(q)
}

// withoutSEI returns an HEVC header in start codes without its SEI messages. x265 writes
// its settings there, such as the number of threads.
func withoutSEI(header []byte) []byte {
	const suffixSEI = 40
	var sets [][]byte
	for _, unit := range nalunit.SplitStartCodes(header) {
		if kind := unit[0] >> 1 & 0x3f; kind != prefixSEI && kind != suffixSEI {
			sets = append(sets, unit)
		}
	}
	return nalunit.Join(sets, 0)
}
