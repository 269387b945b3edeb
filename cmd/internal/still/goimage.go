package still

import (
	"errors"
	"fmt"
	"image"
	"image/color"
)

// configChannels returns the largest number of channels that fromGo can make.
func configChannels(c image.Config) int {
	switch c.ColorModel {
	case color.GrayModel, color.Gray16Model:
		return 1
	}
	return 4
}

// fromGo converts a decoder's picture and may take over its samples. If colour is
// multiplied by alpha, fromGo divides it.
func fromGo(m image.Image) (*Picture, error) {
	switch m := m.(type) {
	case *image.Gray:
		return interleaved(m.Rect, m.Pix, m.Stride, 1, 1, 255), nil
	case *image.Gray16:
		return interleaved(m.Rect, m.Pix, m.Stride, 1, 2, 65535), nil
	case *image.NRGBA:
		return interleaved(m.Rect, m.Pix, m.Stride, 4, 1, 255), nil
	case *image.NRGBA64:
		return interleaved(m.Rect, m.Pix, m.Stride, 4, 2, 65535), nil
	case *image.RGBA:
		return unmultiplied(interleaved(m.Rect, m.Pix, m.Stride, 4, 1, 255), m.Opaque()), nil
	case *image.RGBA64:
		return unmultiplied(interleaved(m.Rect, m.Pix, m.Stride, 4, 2, 65535), m.Opaque()), nil
	case *image.Paletted:
		return fromPalette(m)
	}
	return nil, fmt.Errorf("pictures of type %T are not supported: convert it to RGB of 8 or 16 bit", m)
}

// interleaved separates the channels of pix, whose samples are big-endian.
func interleaved(r image.Rectangle, pix []byte, stride, channels, size, limit int) *Picture {
	p := newPicture(r.Dx(), r.Dy(), channels)
	p.Max = limit
	for c, m := range p.Channels {
		for y := range m.Height {
			src, row := pix[y*stride+c*size:], m.Row(y)
			for x := range row {
				o := x * channels * size
				v := int(src[o])
				if size == 2 {
					v = v<<8 | int(src[o+1])
				}
				row[x] = float64(v)
			}
		}
	}
	return p
}

// unmultiplied divides colour by alpha. It drops the alpha of an opaque picture,
// because a decoder gives alpha to pictures without one.
func unmultiplied(p *Picture, opaque bool) *Picture {
	if opaque {
		p.Channels = p.Channels[:3]
		return p
	}
	alpha := p.Channels[3]
	for _, m := range p.Channels[:3] {
		for i, a := range alpha.Pix {
			if a != 0 {
				m.Pix[i] = float64(quantize(m.Pix[i], float64(p.Max)/a, p.Max))
			}
		}
	}
	return p
}

// fromPalette replaces the indices of m by colours. The picture has an alpha channel if
// any colour of the palette has alpha.
func fromPalette(m *image.Paletted) (*Picture, error) {
	channels := 3
	colors := make([][4]float64, len(m.Palette))
	for i, c := range m.Palette {
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		colors[i] = [4]float64{float64(n.R), float64(n.G), float64(n.B), float64(n.A)}
		if n.A != 255 {
			channels = 4
		}
	}
	p := newPicture(m.Rect.Dx(), m.Rect.Dy(), channels)
	p.Max = 255
	for c, plane := range p.Channels {
		for y := range plane.Height {
			row, src := plane.Row(y), m.Pix[y*m.Stride:]
			for x := range row {
				if int(src[x]) >= len(colors) {
					return nil, errors.New("index beyond the palette")
				}
				row[x] = colors[src[x]][c]
			}
		}
	}
	return p, nil
}

// packed returns the samples of p row by row, in 16 bits if deep is set and else in 8,
// big-endian or little-endian. Max becomes 255 or 65535. If opaque is set, pictures of
// three channels get an alpha channel.
func (p *Picture) packed(deep, littleEndian, opaque bool) []byte {
	size, limit := 1, 255
	if deep {
		size, limit = 2, 65535
	}
	width, height := p.Size()
	channels := len(p.Channels)
	if opaque && channels == 3 {
		channels = 4
	}
	pix := make([]byte, width*height*channels*size)
	if channels != len(p.Channels) {
		for i := range pix {
			pix[i] = 255
		}
	}
	scale := float64(limit) / float64(p.Max)
	for c, m := range p.Channels {
		o := c * size
		for y := range height {
			for _, v := range m.Row(y) {
				q := quantize(v, scale, limit)
				switch {
				case !deep:
					pix[o] = byte(q)
				case littleEndian:
					pix[o], pix[o+1] = byte(q), byte(q>>8)
				default:
					pix[o], pix[o+1] = byte(q>>8), byte(q)
				}
				o += channels * size
			}
		}
	}
	return pix
}

// deep reports whether the samples need more than 8 bits.
func (p *Picture) deep() bool { return p.Max > 255 }
