// Package frame holds pictures: planes of samples as the decoder laid them
// out, their sample format, and who may still read them.
//
// It is a leaf: every other package may import it and it imports none of them.
package frame

import "fmt"

// Image is a two-dimensional array. Row y holds Pix[y*Stride : y*Stride+Width];
// Stride is in elements and at least Width.
type Image[T any] struct {
	Width, Height, Stride int
	Pix                   []T
}

// NewImage returns a zeroed image with Stride == Width.
func NewImage[T any](width, height int) Image[T] {
	if width < 0 || height < 0 {
		panic(fmt.Sprintf("frame: image size %dx%d", width, height))
	}
	return Image[T]{width, height, width, make([]T, width*height)}
}

// Row returns row y without its padding; appending to it cannot write past it.
func (m Image[T]) Row(y int) []T {
	o := y * m.Stride
	return m.Pix[o : o+m.Width : o+m.Width]
}

// Resize makes m width by height with Stride == Width, reusing its memory
// where that is large enough. The contents are undefined afterwards.
func (m *Image[T]) Resize(width, height int) {
	m.Width, m.Height, m.Stride, m.Pix = width, height, width, Resize(m.Pix, width*height)
}

// Resize returns a slice of n elements over s's memory where that is large enough. The
// contents are undefined.
func Resize[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}

// Clear sets every element, padding included, to the zero value.
func (m Image[T]) Clear() { clear(m.Pix) }
