// Package frame holds pictures: planes of samples as the decoder laid them out, their
// sample format, and a count of the holders who may still read them.
//
// Every other package may import this one, and it imports none of them.
package frame

import "fmt"

// Image is a two-dimensional array. Row y is Pix[y*Stride : y*Stride+Width]; Stride
// counts elements and is at least Width.
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

// Row returns row y without its padding. Appending to the row does not overwrite the
// next one.
func (m Image[T]) Row(y int) []T {
	o := y * m.Stride
	return m.Pix[o : o+m.Width : o+m.Width]
}

// Clone returns a copy of m with Stride == Width.
func (m Image[T]) Clone() Image[T] {
	c := NewImage[T](m.Width, m.Height)
	for y := range m.Height {
		copy(c.Row(y), m.Row(y))
	}
	return c
}

// Resize makes m width by height with Stride == Width. It reuses m's memory if that is
// large enough, and leaves the contents undefined.
func (m *Image[T]) Resize(width, height int) {
	m.Width, m.Height, m.Stride, m.Pix = width, height, width, Resize(m.Pix, width*height)
}

// Resize returns a slice of n elements with undefined contents. It reuses the memory of
// s if that is large enough.
func Resize[E any](s []E, n int) []E {
	if cap(s) < n {
		return make([]E, n)
	}
	return s[:n]
}

// Clear sets every element, padding included, to zero.
func (m Image[T]) Clear() { clear(m.Pix) }

// Absent returns an image of width by height without samples. It represents an image that is not in
// the host's memory; the address of its Pix distinguishes it from all others.
func Absent[T any](width, height int) Image[T] {
	return Image[T]{Width: width, Height: height, Stride: width, Pix: make([]T, 1)[:0]}
}
