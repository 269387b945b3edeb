package av

/*
#cgo pkg-config: libavutil libswscale
#include <libswscale/swscale.h>

static int set_colour(struct SwsContext *c, int from_matrix, int from_full, int to_matrix, int to_full)
{
	return sws_setColorspaceDetails(c, sws_getCoefficients(from_matrix), from_full, sws_getCoefficients(to_matrix), to_full, 0, 1 << 16, 1 << 16);
}
*/
import "C"

import (
	"unsafe"

	"github.com/asticode/go-astiav"
)

// ExactScale are swscale's flags against shortcuts that change samples.
const ExactScale = C.SWS_ACCURATE_RND | C.SWS_FULL_CHR_H_INT | C.SWS_FULL_CHR_H_INP | C.SWS_BITEXACT

// ScaleColour is what swscale must know of samples: their AVColorSpace, and whether they
// use their whole range.
type ScaleColour struct {
	Matrix int
	Full   bool
}

// SetScaleColour lets samples keep what they stand for from one colour to another
// (sws_setColorspaceDetails). FFmpeg leaves formats alone that have no matrix.
func SetScaleColour(s *astiav.SoftwareScaleContext, from, to ScaleColour) {
	C.set_colour(*(**C.struct_SwsContext)(unsafe.Pointer(s)), C.int(from.Matrix), integer(from.Full), C.int(to.Matrix), integer(to.Full))
}
