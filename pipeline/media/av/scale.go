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

// ExactScale is the set of swscale flags that forbid shortcuts which change samples.
const ExactScale = C.SWS_ACCURATE_RND | C.SWS_FULL_CHR_H_INT | C.SWS_FULL_CHR_H_INP | C.SWS_BITEXACT

// ScaleColour tells swscale how to interpret samples: Matrix is their AVColorSpace, and
// Full is set if they use the full range.
type ScaleColour struct {
	Matrix int
	Full   bool
}

// SetScaleColour makes s convert between two colour matrices and ranges so that colours
// stay the same (sws_setColorspaceDetails). FFmpeg ignores it for formats without a
// matrix.
func SetScaleColour(s *astiav.SoftwareScaleContext, from, to ScaleColour) {
	C.set_colour(*(**C.struct_SwsContext)(unsafe.Pointer(s)), C.int(from.Matrix), integer(from.Full), C.int(to.Matrix), integer(to.Full))
}
