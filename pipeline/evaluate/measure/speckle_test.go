package measure

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"retime/frame"
	"retime/pipeline/media"
)

// naiveSpeckle follows the definition, pixel by pixel.
func naiveSpeckle(truth, made frame.Image[uint8]) (n int64) {
	off := func(m frame.Image[uint8], x, y int) int {
		var around []int
		for j := y - 1; j <= y+1; j++ {
			for i := x - 1; i <= x+1; i++ {
				around = append(around, int(m.Row(j)[i]))
			}
		}
		centre := around[4]
		slices.Sort(around)
		return max(centre-around[4], around[4]-centre)
	}
	for y := 1; y < made.Height-1; y++ {
		for x := 1; x < made.Width-1; x++ {
			if off(made, x, y) > 12 && off(truth, x, y) < 4 {
				n++
			}
		}
	}
	return n
}

func TestCountSpeckle(t *testing.T) {
	for _, size := range [][2]int{{3, 3}, {4, 3}, {3, 9}, {65, 43}} {
		for peak := 4; peak < 256; peak *= 2 {
			truth, made := noisy[uint8](size[0], size[1], 5, 1), noisy[uint8](size[0], size[1], peak, 2)
			want := naiveSpeckle(truth, made)
			for _, workers := range []int{1, 2, 8} {
				if got := countSpeckle(frame.Workers{N: workers}, truth, made); got != want {
					t.Errorf("%v, noise of %d, %d workers: %d pixels, want %d", size, peak, workers, got, want)
				}
			}
		}
	}
	// A lone pixel on both sides of either limit.
	for _, c := range []struct {
		made, truth uint8
		want        int64
	}{{112, 100, 0}, {113, 100, 1}, {88, 100, 0}, {87, 100, 1}, {200, 103, 1}, {200, 104, 0}, {0, 97, 1}, {0, 96, 0}} {
		truth, made := frame.NewImage[uint8](5, 5), frame.NewImage[uint8](5, 5)
		for i := range truth.Pix {
			truth.Pix[i], made.Pix[i] = 100, 100
		}
		truth.Row(2)[2], made.Row(2)[2] = c.truth, c.made
		if got := countSpeckle(frame.Workers{}, truth, made); got != c.want {
			t.Errorf("made %d, truth %d: %d pixels, want %d", c.made, c.truth, got, c.want)
		}
	}
}

func TestScoresOfSmallPictures(t *testing.T) {
	format := frame.Format{Name: "gray", Depth: 8, Planes: 1}
	for _, size := range [][2]int{{1, 1}, {2, 40}, {40, 2}, {3, 3}, {17, 16}} {
		truth, made := frame.New(format, size[0], size[1]), frame.New(format, size[0], size[1])
		made.Planes[0].Pix[0] = 10
		m, err := NewMeter(media.Video{Format: format, Width: size[0], Height: size[1], TimeBase: big.NewRat(1, 25)}, frame.Workers{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Score(truth, made)
		if err != nil {
			t.Fatal(err)
		}
		if small := min(size[0], size[1]) < 3; math.IsNaN(s.Speckle) != small || !small && s.Speckle != 0 {
			t.Errorf("%v: false speckle of %f", size, s.Speckle)
		}
		if want := 100 / float64(min(size[0], 16)*min(size[1], 16)); s.MSEWorst != want {
			t.Errorf("%v: mean squared error %f in the worst block, want %f", size, s.MSEWorst, want)
		}
		m.Close()
	}
}
