package media

import (
	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

// fieldPairs finds the packets that hold the second field of a frame. Only H.264 has a packet for each field, as on
// Blu-ray and in broadcasts; in other codecs, the zero value finds none.
type fieldPairs struct {
	parser *av.Parser
	first  av.PictureStructure // the field that the packet before holds, if its frame lacks the other one
}

func newFieldPairs(p *astiav.CodecParameters) (f fieldPairs) {
	if p.CodecID() == astiav.CodecIDH264 {
		f.parser = av.NewParser(p)
	}
	return f
}

// second reports whether p, which comes next in decoding order, holds the second field of a frame. A packet of both fields
// begins with the first, so the next one like it does not complete it.
func (f *fieldPairs) second(p *astiav.Packet) bool {
	if f.parser == nil {
		return false
	}
	is, before := f.parser.Structure(p), f.first
	if before == av.TopField && is == av.BottomField || before == av.BottomField && is == av.TopField {
		f.first = av.UnknownStructure
		return true
	}
	f.first = is
	return false
}

func (f *fieldPairs) close() {
	if f.parser != nil {
		f.parser.Close()
	}
}
