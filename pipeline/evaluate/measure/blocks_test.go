package measure

import (
	"image"
	"testing"

	"retime/frame"
)

func TestBlockErrors(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {16, 16}, {17, 15}, {70, 50}} {
		a, b := noisy[uint16](size[0], size[1], 1023, 1), noisy[uint16](size[0], size[1], 1023, 2)
		want := map[image.Point]uint64{}
		for y := range a.Height {
			for x, v := range a.Row(y) {
				d := int64(v) - int64(b.Row(y)[x])
				want[image.Pt(x/16, y/16)] += uint64(d * d)
			}
		}
		var sums frame.Image[uint64]
		for _, workers := range []int{1, 3} {
			blockErrors(&sums, frame.Workers{N: workers}, a, b)
			if sums.Width*sums.Height != len(want) {
				t.Fatalf("%v: %dx%d blocks, want %d", size, sums.Width, sums.Height, len(want))
			}
			for p, sum := range want {
				if got := sums.Row(p.Y)[p.X]; got != sum {
					t.Errorf("%v, block %v: %d, want %d", size, p, got, sum)
				}
			}
		}
	}
}

func TestWorstTenth(t *testing.T) {
	for _, c := range []struct {
		blocks int
		want   float64 // of sums 256, 512, 768, ...
	}{{1, 1}, {9, 9}, {10, 10}, {11, 10.5}, {20, 19.5}, {21, 20}} {
		sums := frame.NewImage[uint64](c.blocks, 1)
		for i := range sums.Pix {
			sums.Pix[i] = uint64(256 * ((i*7+3)%c.blocks + 1))
			if c.blocks%7 == 0 {
				sums.Pix[i] = uint64(256 * (c.blocks - i))
			}
		}
		if got, _ := worstTenth(sums, nil, 16*c.blocks, 16); got != c.want {
			t.Errorf("%d blocks: mean squared error %f, want %f", c.blocks, got, c.want)
		}
	}
}

func TestRegionMSE(t *testing.T) {
	for _, depth := range []int{8, 10} {
		format := frame.Format{Name: "gray", Depth: depth, Planes: 1}
		truth, made := frame.New(format, 9, 7), frame.New(format, 9, 7)
		made.Planes[0].Pix[3*made.Planes[0].Stride+4*format.Bytes()] = 6
		for _, c := range []struct {
			at   image.Rectangle
			want float64
		}{{image.Rect(4, 3, 5, 4), 36}, {image.Rect(2, 2, 6, 5), 3}, {image.Rect(5, 3, 9, 7), 0}, {image.Rect(0, 0, 4, 7), 0}} {
			if got := RegionMSE(truth, made, c.at); got != c.want {
				t.Errorf("%d bits, %v: %f, want %f", depth, c.at, got, c.want)
			}
		}
	}
}

// A constant error counts nothing; one that comes or goes counts.
func TestChangeMSE(t *testing.T) {
	for _, depth := range []int{8, 10} {
		format := frame.Format{Name: "gray", Depth: depth, Planes: 1}
		still := func(v uint8) *frame.Frame {
			f := frame.New(format, 5, 3)
			for i := 0; i < len(f.Planes[0].Pix); i += format.Bytes() {
				f.Planes[0].Pix[i] = v
			}
			return f
		}
		m := &Meter{}
		for _, c := range []struct {
			truth, made [2]uint8
			want        float64
		}{
			{[2]uint8{10, 90}, [2]uint8{10, 90}, 0},
			{[2]uint8{10, 90}, [2]uint8{15, 95}, 0},
			{[2]uint8{10, 90}, [2]uint8{10, 95}, 25},
			{[2]uint8{10, 90}, [2]uint8{13, 90}, 9},
			{[2]uint8{200, 0}, [2]uint8{0, 200}, 400 * 400},
		} {
			got := m.ChangeMSE(Pair{still(c.truth[0]), still(c.made[0])}, Pair{still(c.truth[1]), still(c.made[1])})
			if got != c.want {
				t.Errorf("%d bits, truth %v, made %v: %f, want %f", depth, c.truth, c.made, got, c.want)
			}
		}
	}
}
