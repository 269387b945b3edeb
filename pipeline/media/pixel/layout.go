package pixel

import (
	"strings"
	"unsafe"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

func describe(p astiav.PixelFormat) *av.PixelDescription { return av.DescribePixels(p) }

func hasAlpha(d *av.PixelDescription) bool { return d.Has(av.PixelAlpha) }

// isRGB reports whether d stores three primaries: red, green and blue, directly, through
// a palette or in a colour filter array, or tristimulus values.
func isRGB(d *av.PixelDescription) bool {
	return d.Has(av.PixelRGB|av.PixelPalette|av.PixelBayer) || isXYZ(d)
}

// isXYZ reports whether d stores CIE tristimulus values.
func isXYZ(d *av.PixelDescription) bool { return strings.HasPrefix(d.Name, "xyz") }

// colours returns the number of d's components except alpha.
func colours(d *av.PixelDescription) int {
	n := len(d.Components)
	if hasAlpha(d) {
		n--
	}
	return n
}

// alphaComponent returns the index of d's alpha component, -1 if d has none.
func alphaComponent(d *av.PixelDescription) int {
	if hasAlpha(d) {
		return len(d.Components) - 1
	}
	return -1
}

// matchingComponent returns the index in src of dst's component c, -1 if src has no such
// component.
func matchingComponent(dst *av.PixelDescription, c int, src *av.PixelDescription) int {
	alpha := alphaComponent(src)
	switch {
	case c == alphaComponent(dst):
		return alpha
	case c < len(src.Components) && c != alpha:
		return c
	}
	return -1
}

// componentDepth returns the depth of d's component c in bits; it is 16 for floating
// point and 8 for a palette.
func componentDepth(d *av.PixelDescription, c int) int {
	switch {
	case d.Has(av.PixelFloat):
		return 16
	case d.Has(av.PixelPalette):
		return 8
	}
	return d.Components[c].Depth
}

// depthOf returns the depth of d's deepest component in bits.
func depthOf(d *av.PixelDescription) int {
	depth := 0
	for c := range d.Components {
		depth = max(depth, componentDepth(d, c))
	}
	return depth
}

// holdsAll reports whether to has a place of the same meaning for every sample of from,
// so that a conversion only moves samples. exact is set if it rounds none of them.
func holdsAll(to, from astiav.PixelFormat) (holds, exact bool) {
	holds, exact = hasPlaces(to, from)
	return holds && isXYZ(describe(to)) == isXYZ(describe(from)), exact
}

// restores reports whether pictures in p survive the conversion to their planar twin and
// back.
func restores(p, twin astiav.PixelFormat) bool {
	back, _ := hasPlaces(p, twin)
	there, _ := hasPlaces(twin, p)
	return back || there && hasAlpha(describe(p)) && colours(describe(p)) == 1 // the twin has chroma planes without content
}

// hasPlaces is holdsAll without the condition that samples mean the same.
func hasPlaces(to, from astiav.PixelFormat) (holds, exact bool) {
	const unknown = av.PixelHardware | av.PixelBayer
	const packed411 = astiav.PixelFormatUyyvyy411 // FFmpeg's description of it is wrong
	t, f := describe(to), describe(from)
	switch {
	case t == nil || f == nil || t.Has(unknown|av.PixelPalette) || f.Has(unknown) || to == packed411 || from == packed411:
		return false, false
	case to == astiav.PixelFormatMonowhite, isRGB(t) != isRGB(f), hasAlpha(f) && !hasAlpha(t):
		return false, false
	case colours(f) > 1 && (colours(t) == 1 || t.Log2ChromaW != f.Log2ChromaW || t.Log2ChromaH != f.Log2ChromaH):
		return false, false
	}
	exact = !f.Has(av.PixelFloat)
	for c := range t.Components {
		if s := matchingComponent(t, c, f); s >= 0 {
			exact = exact && componentDepth(f, s) <= componentDepth(t, c)
		}
	}
	return true, exact
}

// moveSamples copies the samples of src to dst, which has the same size, as far as dst
// has places for them. Where src lacks a component, it makes the picture opaque or
// colourless. full says that samples use the full range, which matters if the depths
// differ. linear says that one picture's samples are linear floating point, and the
// other's integers are PQ signals for them.
func moveSamples(dst, src *astiav.Frame, full, linear bool) {
	to, from := describe(dst.PixelFormat()), describe(src.PixelFormat())
	var table *signals
	if linear {
		table = linearSignals()
	}
	alpha := alphaComponent(to)
	clearPlanes(dst, to)
	all := make([]uint16, dst.Width())
	for c := range to.Components {
		width, height := dst.Width(), dst.Height()
		if (c == 1 || c == 2) && c != alpha {
			width, height = subsampled(width, to.Log2ChromaW), subsampled(height, to.Log2ChromaH)
		}
		row := all[:width]
		s, depth := matchingComponent(to, c, from), componentDepth(to, c)
		if s < 0 {
			level := uint16(1) << (depth - 1)
			if c == alpha {
				level = 1<<depth - 1
			}
			for x := range row {
				row[x] = level
			}
		}
		for y := range height {
			if s >= 0 {
				readRow(row, src, from, s, y, table)
				rescaleRow(row, componentDepth(from, s), depth, full || c == alpha)
			}
			if to.Has(av.PixelFloat) {
				writeFloats(row, dst, to, c, y, table)
			} else {
				av.WriteLine(row, dst, c, y)
			}
		}
	}
}

// subsampled returns the number of chroma samples for n pixels.
func subsampled(n, log2 int) int { return (n + 1<<log2 - 1) >> log2 }

// planeRow returns a view of n bytes of row y of a plane.
func planeRow(f *astiav.Frame, plane, y, n int) []byte {
	at := unsafe.Add(av.PlaneData(f, plane), y*av.PlaneStride(f, plane))
	return unsafe.Slice((*byte)(at), n)
}

func clearPlanes(f *astiav.Frame, d *av.PixelDescription) {
	for i := 0; i < 4 && av.PlaneData(f, i) != nil; i++ {
		height := f.Height()
		if i == 1 || i == 2 {
			height = subsampled(height, d.Log2ChromaH)
		}
		clear(planeRow(f, i, 0, height*av.PlaneStride(f, i)))
	}
}

// readRow reads the samples of component c in row y. table converts linear floating point
// to signals; nil leaves floating point as it is.
func readRow(row []uint16, f *astiav.Frame, d *av.PixelDescription, c, y int, table *signals) {
	switch {
	case d.Has(av.PixelFloat):
		readFloats(row, f, d, c, y, table)
	case d.Has(av.PixelPalette):
		// An entry of the palette is a word that holds alpha, red, green and blue.
		shift := []int{16, 8, 0, 24}[c]
		palette := unsafe.Slice((*uint32)(av.PlaneData(f, 1)), 256)
		for x, index := range planeRow(f, 0, y, len(row)) {
			row[x] = uint16(byte(palette[index] >> shift))
		}
	default:
		av.ReadLine(row, f, c, y)
		if f.PixelFormat() == astiav.PixelFormatMonowhite {
			for x := range row {
				row[x] ^= 1
			}
		}
	}
}

// rescaleRow converts samples to another depth. In full range the largest values
// correspond; in limited range samples shift by whole bits. Conversion to more bits and
// back is exact.
func rescaleRow(row []uint16, from, to int, full bool) {
	a, b := uint32(1)<<from-1, uint32(1)<<to-1
	switch {
	case from == to:
	case full:
		for x, v := range row {
			row[x] = uint16((uint64(v)*uint64(b) + uint64(a/2)) / uint64(a))
		}
	case from < to:
		for x := range row {
			row[x] <<= to - from
		}
	default:
		half := uint32(1) << (from - to - 1)
		for x, v := range row {
			row[x] = uint16(min((uint32(v)+half)>>(from-to), b))
		}
	}
}
