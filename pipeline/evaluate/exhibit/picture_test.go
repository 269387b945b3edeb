package exhibit

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math/big"
	"slices"
	"testing"

	"retime/frame"
	"retime/pipeline/media"
)

func TestPictureColours(t *testing.T) {
	format := frame.Format{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1}
	for _, c := range []struct {
		y, u, v uint8 // BT.601, limited range
		want    color.RGBA
	}{{16, 128, 128, color.RGBA{0, 0, 0, 255}}, {235, 128, 128, color.RGBA{255, 255, 255, 255}}, {81, 90, 240, color.RGBA{255, 0, 0, 255}}} {
		for _, size := range []image.Point{{1, 1}, {63, 35}, {2600, 20}} {
			f := frame.New(format, size.X, size.Y)
			for i, v := range []uint8{c.y, c.u, c.v} {
				for j := range f.Planes[i].Pix {
					f.Planes[i].Pix[j] = v
				}
			}
			p, err := newPainter(media.Video{Format: format, Width: size.X, Height: size.Y, TimeBase: big.NewRat(1, 25)}, 1)
			if err != nil {
				t.Fatal(err)
			}
			data, err := p.jpeg(f)
			p.close()
			if err != nil {
				t.Fatal(err)
			}
			m, err := jpeg.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if m.Bounds().Dx() != min(size.X, maxWidth) || size.X <= maxWidth && m.Bounds().Dy() != size.Y {
				t.Errorf("a picture of %v is drawn as %v", size, m.Bounds())
			}
			got := color.RGBAModel.Convert(m.At(m.Bounds().Dx()/2, m.Bounds().Dy()/2)).(color.RGBA)
			for i, d := range []int{int(got.R) - int(c.want.R), int(got.G) - int(c.want.G), int(got.B) - int(c.want.B)} {
				if d < -4 || d > 4 {
					t.Errorf("%d, %d, %d is drawn as %v, want %v (channel %d)", c.y, c.u, c.v, got, c.want, i)
				}
			}
		}
	}
}

func TestErrorPicture(t *testing.T) {
	a, b := frame.NewImage[uint8](7, 5), frame.NewImage[uint8](7, 5)
	b.Row(3)[2] = 10
	a.Row(4)[6] = 200
	m := drawError(a, b, image.Rect(0, 0, 7, 5)).(*image.Paletted)
	for y := range 5 {
		for x := range 7 {
			want := uint8(0)
			switch {
			case x == 2 && y == 3:
				want = 10 * errorGain
			case x == 6 && y == 4:
				want = 255
			}
			if got := m.ColorIndexAt(x, y); got != want {
				t.Errorf("error at %d, %d is drawn %d, want %d", x, y, got, want)
			}
		}
	}
	// In a smaller picture, a pixel is the mean of the samples that it covers.
	b = frame.NewImage[uint8](8, 4)
	b.Row(1)[2] = 80
	small := drawError(frame.NewImage[uint8](8, 4), b, image.Rect(0, 0, 2, 1)).(*image.Paletted)
	if want := []uint8{80 / 16 * errorGain, 0}; !slices.Equal(small.Pix, want) {
		t.Errorf("a small picture shows %v, want %v", small.Pix, want)
	}
}

func TestHeatBrightens(t *testing.T) {
	last := -1
	for i, c := range heat {
		r, g, b, _ := c.RGBA()
		if l := int(299*r + 587*g + 114*b); l < last {
			t.Errorf("level %d is darker than the one before", i)
		} else {
			last = l
		}
	}
}

// The gallery shows the worst frames, one from each neighbourhood, in whatever order they arrive.
func TestGallery(t *testing.T) {
	for _, c := range []struct {
		size int
		mse  []float64
		want []int
	}{
		{0, []float64{1, 2, 3}, nil},
		{3, nil, nil},
		{3, []float64{5}, []int{0}},
		{2, []float64{1, 9, 1, 1, 1, 1, 1, 1, 5, 1, 1, 1, 7, 1}, []int{1, 12}},
		{2, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, []int{11, 7}},
		{2, []float64{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, []int{0, 4}},
		{3, []float64{0, 0, 0, 9, 8, 0, 0, 0, 7, 0, 0, 0}, []int{3, 8}},
	} {
		g := &Gallery{size: c.size}
		for k, mse := range c.mse {
			if g.wants(k, mse) {
				g.hang(&exhibit{held: k, mse: mse})
			}
			if len(g.exhibits) > candidates*c.size {
				t.Errorf("%v: %d candidates of %d", c.mse, len(g.exhibits), c.size)
			}
		}
		g.Settle()
		var got []int
		for _, x := range g.exhibits {
			got = append(got, x.held)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("of %v, %d shown: %v, want %v", c.mse, c.size, got, c.want)
		}
	}
}
