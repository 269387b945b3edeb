package warp

import (
	"testing"

	"retime/flow"
	"retime/frame"
)

// visit hands out each cell that may add to a band once, and no others, in runs of at most
// runWidth.
func TestVisitCells(t *testing.T) {
	for _, width := range []int{1, cellWidth, runWidth - 1, runWidth, runWidth + 1, 2*runWidth + 3*cellWidth + 5} {
		const height = 3
		f := flow.NewField(width, height)
		for x := range width { // every fifth cell of row 1 moves far away
			if x/cellWidth%5 == 4 {
				f.Row(1)[x].Y = 100 * flow.One
			}
		}
		var r targets
		r.find(frame.Workers{N: 1}, &Motion{Flow: f, Phase: PhaseOne})
		seen := make([]int, width*height)
		r.visit(&band{width: width, y0: 0, y1: height}, func(y, x0, x1 int) {
			if x1-x0 > runWidth || x0 >= x1 {
				t.Errorf("width %d: run [%d, %d)", width, x0, x1)
			}
			for x := x0; x < x1; x++ {
				seen[y*width+x]++
			}
		})
		for i, n := range seen {
			want := 1
			if f.Pix[i].Y != 0 {
				want = 0
			}
			if n != want {
				t.Fatalf("width %d: pixel (%d, %d) visited %d times, want %d", width, i%width, i/width, n, want)
			}
		}
	}
}
