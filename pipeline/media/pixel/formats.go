package pixel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/frame"
	"retime/pipeline/media/av"
)

// PlanarFormat describes p if programs can work on its planes directly: each plane has
// one component, and the samples are integers of one depth, from 8 to 16 bits, in the
// machine's byte order. ok is false for all other formats.
func PlanarFormat(p astiav.PixelFormat) (frame.Format, bool) {
	d := describe(p)
	if d == nil || len(d.Components) == 0 || d.Has(av.PixelHardware|av.PixelFloat|av.PixelBitstream|av.PixelPalette|av.PixelBayer) {
		return frame.Format{}, false
	}
	depth := d.Components[0].Depth
	if depth < 8 || depth > 16 || depth > 8 && d.Has(av.PixelBigEndian) != hostBigEndian {
		return frame.Format{}, false
	}
	f := frame.Format{
		Name: d.Name, Depth: depth, Planes: len(d.Components),
		ChromaX: d.Log2ChromaW, ChromaY: d.Log2ChromaH, RGB: d.Has(av.PixelRGB),
	}
	var planes [4]bool
	for _, c := range d.Components {
		if c.Depth != depth || c.Shift != 0 || c.Offset != 0 || c.Step != f.Bytes() || planes[c.Plane] {
			return frame.Format{}, false
		}
		planes[c.Plane] = true
	}
	return f, true
}

// PlanarTwin returns the smallest planar format that holds every sample of p: p itself if
// it is planar. lossless is false if the conversion rounds samples, such as floating
// point. ok is false if there is no such format.
func PlanarTwin(p astiav.PixelFormat) (twin astiav.PixelFormat, lossless, ok bool) {
	if _, planar := PlanarFormat(p); planar {
		return p, true, true
	}
	src := describe(p)
	if src == nil {
		return 0, false, false
	}
	mosaic := src.Has(av.PixelBayer)
	var best frame.Format
	for _, id := range av.PixelFormats() {
		f, planar := PlanarFormat(id)
		if !planar || alwaysFull(id) || f.Depth < depthOf(src) || ok && !smaller(f, best) {
			continue
		}
		holds, exact := hasPlaces(id, p)
		if holds || mosaic && f.RGB && !f.Alpha() {
			twin, best, lossless, ok = id, f, exact, true
		}
	}
	return twin, lossless, ok
}

// smaller reports whether pictures take less memory in a than in b.
func smaller(a, b frame.Format) bool {
	size := func(f frame.Format) int {
		n := 0
		for i := range f.Planes {
			w, h := f.PlaneSize(i, 16, 16)
			n += w * h
		}
		return n
	}
	if x, y := size(a), size(b); x != y {
		return x < y
	}
	return a.Depth < b.Depth
}

var hostBigEndian = func() bool {
	word := uint16(1)
	return *(*byte)(unsafe.Pointer(&word)) == 0
}()

// Loss says what pictures lose by a change of format, the gravest loss first. The zero
// value means that they lose nothing.
type Loss struct {
	alpha, colour bool // lost completely
	bits          int  // bits of depth lost
	matrix        int  // bits lacking for every RGB triple to have a YUV triple of its own
	chroma        bool // chroma resolution is reduced
	bright        bool // values above 1 are clipped
	exact         bool // values are rounded in the conversion from YUV to RGB; see also matrix
}

func (l Loss) String() string {
	var parts []string
	if l.alpha {
		parts = append(parts, "alpha")
	}
	if l.colour {
		parts = append(parts, "colour")
	}
	if l.bits > 0 {
		parts = append(parts, fmt.Sprintf("%d bits of depth", l.bits))
	}
	if l.chroma {
		parts = append(parts, "chroma resolution")
	}
	if l.bright {
		parts = append(parts, "what is brighter than white")
	}
	if l.exact || l.matrix > 0 {
		parts = append(parts, "exact values")
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}

// Compare returns a negative number if l is less grave than m, and a positive one if it is
// graver.
func (l Loss) Compare(m Loss) int {
	return cmp.Or(cmp.Compare(rank(l.alpha), rank(m.alpha)), cmp.Compare(rank(l.colour), rank(m.colour)),
		cmp.Compare(l.bits+l.matrix, m.bits+m.matrix), cmp.Compare(rank(l.chroma), rank(m.chroma)), cmp.Compare(rank(l.bright), rank(m.bright)), cmp.Compare(rank(l.exact), rank(m.exact)))
}

// LossBetween returns what pictures lose when they are converted from p to t. RGB keeps
// its depth in YUV that has two more bits, because each RGB triple then has a YUV triple
// of its own.
func LossBetween(p, t astiav.PixelFormat) Loss {
	from, to := describe(p), describe(t)
	if from == nil || to == nil {
		return Loss{}
	}
	need := depthOf(from)
	if to.Has(av.PixelPalette) {
		need += 8 // a palette has too few colours
	}
	bits, matrix := max(0, need-depthOf(to)), 0
	if isRGB(from) && !isRGB(to) && colours(to) > 1 {
		matrix = max(0, need+2-depthOf(to)) - bits
	}
	return Loss{
		alpha:  hasAlpha(from) && !hasAlpha(to),
		colour: colours(from) > 1 && colours(to) == 1,
		bits:   bits,
		matrix: matrix,
		chroma: colours(from) > 1 && (to.Log2ChromaW > from.Log2ChromaW || to.Log2ChromaH > from.Log2ChromaH),
		bright: from.Has(av.PixelFloat) && !to.Has(av.PixelFloat),
		exact:  isRGB(to) && !isRGB(from),
	}
}

// Nearest returns the format in taken in which pictures in p lose least and which fits
// accepts; the smallest one if several lose as little. It returns p itself if taken
// contains p or is empty. ok is false if fits accepts none.
func Nearest(p astiav.PixelFormat, taken []astiav.PixelFormat, fits func(astiav.PixelFormat) bool) (best astiav.PixelFormat, least Loss, ok bool) {
	if len(taken) == 0 {
		return p, Loss{}, fits(p)
	}
	for _, t := range taken {
		if !fits(t) {
			continue
		}
		if t == p {
			return p, Loss{}, true
		}
		l := LossBetween(p, t)
		if !ok || cmp.Or(l.Compare(least), compareFit(p, t, best)) < 0 {
			best, least, ok = t, l, true
		}
	}
	return best, least, ok
}

// compareFit orders two formats in which p loses the same: first a format that only needs
// samples to move, then one with p's colour model, then one with p's range, then the
// smaller one.
func compareFit(p, a, b astiav.PixelFormat) int {
	key := func(t astiav.PixelFormat) []int {
		holds, exact := holdsAll(t, p)
		return []int{
			rank(!holds || !exact), rank(isRGB(describe(t)) != isRGB(describe(p)) || colours(describe(t)) != colours(describe(p))),
			rank(alwaysFull(t) != alwaysFull(p)),
			describe(t).BitsPerPixel, depthOf(describe(t)),
		}
	}
	return slices.Compare(key(a), key(b))
}

// rank orders false before true.
func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// alwaysFull reports whether p is one of the formats that imply full range (yuvj420p and
// its siblings).
func alwaysFull(p astiav.PixelFormat) bool { return strings.HasPrefix(p.Name(), "yuvj") }

// WholeBlocks returns a test of formats: whether the picture's width and height, in
// pixels, are multiples of the block of pixels that shares a chroma sample.
func WholeBlocks(width, height int) func(astiav.PixelFormat) bool {
	return func(p astiav.PixelFormat) bool {
		d := describe(p)
		return width&(1<<d.Log2ChromaW-1) == 0 && height&(1<<d.Log2ChromaH-1) == 0
	}
}

// AnySize accepts every format. Use it in place of WholeBlocks.
func AnySize(astiav.PixelFormat) bool { return true }

// IsRGB reports whether p stores red, green and blue, or tristimulus values.
func IsRGB(p astiav.PixelFormat) bool { return isRGB(describe(p)) }

// Depth returns the depth of p's deepest component in bits.
func Depth(p astiav.PixelFormat) int { return depthOf(describe(p)) }

// HasAlpha reports whether p has an alpha channel.
func HasAlpha(p astiav.PixelFormat) bool { return hasAlpha(describe(p)) }

// InMemory returns formats without those of pictures in a device's memory.
func InMemory(formats []astiav.PixelFormat) []astiav.PixelFormat {
	return slices.DeleteFunc(slices.Clone(formats), func(p astiav.PixelFormat) bool {
		d := describe(p)
		return d != nil && d.Has(av.PixelHardware)
	})
}

// WithoutPalette returns formats without palette formats, which this package cannot
// write.
func WithoutPalette(formats []astiav.PixelFormat) []astiav.PixelFormat {
	return slices.DeleteFunc(slices.Clone(formats), func(p astiav.PixelFormat) bool { return describe(p).Has(av.PixelPalette) })
}

// FullRange returns the elements of formats that imply full range.
func FullRange(formats []astiav.PixelFormat) []astiav.PixelFormat {
	return slices.DeleteFunc(slices.Clone(formats), func(p astiav.PixelFormat) bool { return !alwaysFull(p) })
}

// Named returns the formats with these names, in FFmpeg's order.
func Named(names ...string) []astiav.PixelFormat {
	return filter(func(p astiav.PixelFormat) bool { return slices.Contains(names, p.Name()) })
}

// RawVideo returns the formats that have a tag in raw video files.
func RawVideo() []astiav.PixelFormat {
	return filter(func(p astiav.PixelFormat) bool { return !alwaysFull(p) && av.RawTag(p) != 0 })
}

// YUV4MPEG returns the formats that YUV4MPEG2 streams support.
func YUV4MPEG() []astiav.PixelFormat { return filter(yuv4mpegHolds) }

// filter returns the formats of FFmpeg that keep accepts.
func filter(keep func(astiav.PixelFormat) bool) (list []astiav.PixelFormat) {
	for _, p := range av.PixelFormats() {
		if keep(p) {
			list = append(list, p)
		}
	}
	return list
}

// yuv4mpegHolds reports whether YUV4MPEG2 streams support p.
func yuv4mpegHolds(p astiav.PixelFormat) bool {
	f, ok := PlanarFormat(p)
	switch {
	case !ok || f.RGB || f.Alpha() || alwaysFull(p):
		return false
	case f.Planes == 1:
		return f.Depth != 14
	case f.ChromaX == 2 && f.ChromaY == 0:
		return f.Depth == 8
	}
	return f.ChromaX <= 1 && f.ChromaY <= f.ChromaX
}
