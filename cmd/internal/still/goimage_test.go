package still

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"io"
	"testing"

	"golang.org/x/image/tiff"
)

// TestGoDecoders reads the written files with the standard decoders.
func TestGoDecoders(t *testing.T) {
	for _, limit := range []int{255, 65535} {
		for _, channels := range []int{1, 3, 4} {
			p := random(9, 5, 3, channels, limit)
			for ext, decode := range map[string]func(io.Reader) (image.Image, error){".png": png.Decode, ".tif": tiff.Decode} {
				m, err := decode(bytes.NewReader(encode(t, ext, p)))
				if err != nil {
					t.Fatalf("%s: %v", ext, err)
				}
				for y := range 3 {
					for x := range 5 {
						c := color.NRGBA64Model.Convert(m.At(x, y)).(color.NRGBA64)
						for i, got := range []uint16{c.R, c.G, c.B, c.A}[:channels] {
							want := p.Channels[i].Row(y)[x] * 65535 / float64(limit)
							// color.NRGBA64 divides multiplied colour, which is exact
							// only in opaque pixels.
							if channels == 4 && i < 3 {
								switch m := m.(type) {
								case *image.NRGBA:
									got = 257 * uint16(m.Pix[m.PixOffset(x, y)+i])
								case *image.NRGBA64:
									got = binary.BigEndian.Uint16(m.Pix[m.PixOffset(x, y)+2*i:])
								default:
									t.Fatalf("%s is a %T", ext, m)
								}
							}
							if float64(got) != want {
								t.Errorf("%s, %v: (%d, %d)[%d] is %d, want %v", ext, p, x, y, i, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// TestGoPictures decodes every type that the PNG and TIFF decoders return.
func TestGoPictures(t *testing.T) {
	encodePNG := func(m image.Image) []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	encodeTIFF := func(m image.Image) []byte {
		var b bytes.Buffer
		if err := tiff.Encode(&b, m, &tiff.Options{Compression: tiff.Deflate, Predictor: true}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	r := image.Rect(0, 0, 2, 1)
	palette := func(c ...color.Color) *image.Paletted {
		m := image.NewPaletted(r, c)
		m.Pix[1] = 1
		return m
	}
	for _, c := range []struct {
		name string
		data []byte
		want [][2]float64 // the two samples of each channel
		max  int
	}{
		{"PNG, palette", encodePNG(palette(color.NRGBA{1, 2, 3, 255}, color.NRGBA{4, 5, 6, 255})),
			[][2]float64{{1, 4}, {2, 5}, {3, 6}}, 255},
		{"PNG, palette with alpha", encodePNG(palette(color.NRGBA{1, 2, 3, 255}, color.NRGBA{200, 100, 6, 9})),
			[][2]float64{{1, 200}, {2, 100}, {3, 6}, {255, 9}}, 255},
		{"PNG, opaque", encodePNG(&image.RGBA{Pix: []byte{9, 8, 7, 255, 6, 5, 4, 255}, Stride: 8, Rect: r}),
			[][2]float64{{9, 6}, {8, 5}, {7, 4}}, 255},
		{"PNG, alpha", encodePNG(&image.NRGBA{Pix: []byte{9, 8, 7, 1, 6, 5, 4, 0}, Stride: 8, Rect: r}),
			[][2]float64{{9, 6}, {8, 5}, {7, 4}, {1, 0}}, 255},
		{"TIFF, gray 16", encodeTIFF(&image.Gray16{Pix: []byte{1, 0, 0, 1}, Stride: 4, Rect: r}),
			[][2]float64{{256, 1}}, 65535},
		{"TIFF, palette", encodeTIFF(palette(color.NRGBA{1, 2, 3, 255}, color.NRGBA{4, 5, 6, 255})),
			[][2]float64{{1, 4}, {2, 5}, {3, 6}}, 255},
		{"TIFF, multiplied alpha", encodeTIFF(&image.RGBA{Pix: []byte{10, 20, 30, 51, 0, 0, 0, 0}, Stride: 8, Rect: r}),
			[][2]float64{{50, 0}, {100, 0}, {150, 0}, {51, 0}}, 255},
		{"TIFF, alpha", encodeTIFF(&image.NRGBA{Pix: []byte{10, 20, 30, 51, 9, 9, 9, 0}, Stride: 8, Rect: r}),
			[][2]float64{{10, 9}, {20, 9}, {30, 9}, {51, 0}}, 255},
	} {
		p, err := Decode(bytes.NewReader(c.data))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(p.Channels) != len(c.want) || p.Max != c.max {
			t.Errorf("%s: %v", c.name, p)
			continue
		}
		for i, want := range c.want {
			if got := [2]float64(p.Channels[i].Pix); got != want {
				t.Errorf("%s: channel %d is %v, want %v", c.name, i, got, want)
			}
		}
	}
}
