package av

/*
#cgo pkg-config: libavcodec
#include <libavcodec/avcodec.h>

// parse returns what a whole packet holds, AV_PICTURE_STRUCTURE_UNKNOWN if the parser cannot tell.
static enum AVPictureStructure parse(AVCodecParserContext *s, AVCodecContext *c, const uint8_t *data, int size)
{
	uint8_t *out;
	int n;
	s->picture_structure = AV_PICTURE_STRUCTURE_UNKNOWN;
	av_parser_parse2(s, c, &out, &n, data, size, AV_NOPTS_VALUE, AV_NOPTS_VALUE, 0);
	return s->picture_structure;
}
*/
import "C"

import "github.com/asticode/go-astiav"

// PictureStructure is what a packet holds: a frame or one of its fields (AVPictureStructure).
type PictureStructure int

// Structures of pictures.
const (
	UnknownStructure = PictureStructure(C.AV_PICTURE_STRUCTURE_UNKNOWN)
	TopField         = PictureStructure(C.AV_PICTURE_STRUCTURE_TOP_FIELD)
	BottomField      = PictureStructure(C.AV_PICTURE_STRUCTURE_BOTTOM_FIELD)
)

// Parser looks into the packets of a stream without decoding them (AVCodecParserContext).
type Parser struct {
	parser *C.AVCodecParserContext
	coder  *C.AVCodecContext
}

// NewParser returns a parser of a stream's packets, nil if FFmpeg has none for the codec. Its user closes it.
func NewParser(p *astiav.CodecParameters) *Parser {
	s, c := C.av_parser_init(C.int(params(p).codec_id)), C.avcodec_alloc_context3(nil)
	if s == nil || c == nil || C.avcodec_parameters_to_context(c, params(p)) < 0 {
		C.av_parser_close(s)
		C.avcodec_free_context(&c)
		return nil
	}
	s.flags |= C.PARSER_FLAG_COMPLETE_FRAMES
	return &Parser{s, c}
}

// Structure says what a packet holds. The packets come in the stream's order.
func (p *Parser) Structure(of *astiav.Packet) PictureStructure {
	c := packet(of)
	return PictureStructure(C.parse(p.parser, p.coder, c.data, c.size))
}

// Close frees p.
func (p *Parser) Close() {
	C.av_parser_close(p.parser)
	C.avcodec_free_context(&p.coder)
}
