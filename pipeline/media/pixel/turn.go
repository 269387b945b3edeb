package pixel

import (
	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/media/av"
)

// Turn is a rotation by right angles, with or without mirroring. It takes the pixel at x,
// y to XX*x+XY*y, YX*x+YY*y, moved so that the picture begins at 0, 0 again. Two of the
// numbers are 1 or -1, the others 0.
type Turn struct{ XX, XY, YX, YY int }

// Sideways reports whether the turn exchanges width and height.
func (t Turn) Sideways() bool { return t.XY != 0 && t.YX != 0 && t.XX == 0 && t.YY == 0 }

// Source returns the description of a source whose frames are turned, as if it were
// decoded to them, and the frames' format. ok is false if no format has a place for the
// turned samples.
func (t Turn) Source(s Source) (turned Source, format frame.Format, ok bool) {
	if s.linear() {
		return s, format, false
	}
	turned = s
	if t.Sideways() {
		turned.Width, turned.Height = s.Height, s.Width
		if turned.Planar, ok = transposed(s.Planar); !ok {
			return s, format, false
		}
	}
	turned.Format = turned.Planar
	turned.Colour.Chroma = t.chroma(s.Colour.Chroma)
	format, ok = PlanarFormat(turned.Planar)
	return turned, format, ok
}

// transposed returns the format like p whose chroma resolution is exchanged between width
// and height.
func transposed(p astiav.PixelFormat) (astiav.PixelFormat, bool) {
	want, ok := PlanarFormat(p)
	if !ok || want.ChromaX == want.ChromaY {
		return p, ok
	}
	want.ChromaX, want.ChromaY = want.ChromaY, want.ChromaX
	for _, id := range av.PixelFormats() {
		f, planar := PlanarFormat(id)
		if want.Name = f.Name; planar && f == want && alwaysFull(id) == alwaysFull(p) {
			return id, true
		}
	}
	return p, false
}

// chromaPlaces are the places of chroma samples between the luma samples that share them,
// across and down, by FFmpeg's AVChromaLocation: -1 for the first luma sample, 0 for the
// middle.
var chromaPlaces = [...][2]int{1: {-1, 0}, 2: {0, 0}, 3: {-1, -1}, 4: {0, -1}, 5: {-1, 1}, 6: {0, 1}}

// chroma returns the place of turned chroma samples, 0 if it is unknown or FFmpeg has no
// name for it.
func (t Turn) chroma(place int) int {
	if place < 1 || place >= len(chromaPlaces) {
		return place
	}
	p := chromaPlaces[place]
	for i, q := range chromaPlaces {
		if i > 0 && q == [2]int{t.XX*p[0] + t.XY*p[1], t.YX*p[0] + t.YY*p[1]} {
			return i
		}
	}
	return 0
}

// Plane sets the samples of dst, which has the turned size, to those of src. size is the
// size of a sample in bytes.
func (t Turn) Plane(dst, src *frame.Plane, size int) {
	var from, right, down int // the first sample in src, and the steps there for one to the right and one down in dst
	if t.Sideways() {
		right, down = src.Stride*t.XY, size*t.YX
		from = max(0, -t.XY)*(src.Height-1)*src.Stride + max(0, -t.YX)*(src.Width-1)*size
	} else {
		right, down = size*t.XX, src.Stride*t.YY
		from = max(0, -t.XX)*(src.Width-1)*size + max(0, -t.YY)*(src.Height-1)*src.Stride
	}
	for y := range dst.Height {
		row, at := dst.Pix[y*dst.Stride:][:dst.Width*size], from+y*down
		if size == 1 {
			for x := range row {
				row[x] = src.Pix[at]
				at += right
			}
			continue
		}
		for x := 0; x < len(row); x += 2 {
			row[x], row[x+1] = src.Pix[at], src.Pix[at+1]
			at += right
		}
	}
}
