package decision

import (
	"math"
	"testing"
)

// A thing goes on as it went, or evenly until where it is drawn next.
func TestContinue(t *testing.T) {
	r := Region{Method: Drawn, Outline: [][2]float64{{0, 0}, {10, 0}, {10, 10}}, Arrows: [][4]float64{{5, 5, 8, 9}, {7, 5, 10, 9}}}
	list := r.Continue(3, nil)
	if len(list) != 3 || list[0].Arrows[1] != r.Arrows[1] || list[1].Arrows[0] != [4]float64{8, 9, 11, 13} || list[2].Arrows[1] != [4]float64{13, 13, 16, 17} || list[2].Outline[2] != [2]float64{16, 18} {
		t.Errorf("goes on as %+v", list)
	}
	until := Region{Method: Drawn, Outline: r.Outline, Arrows: [][4]float64{{28, 9, 0, 0}, {30, 9, 0, 0}}}
	list = r.Continue(3, &until)
	if len(list) != 3 || list[0].Arrows[0] != [4]float64{5, 5, 8, 9} || list[1].Arrows[0] != [4]float64{8, 9, 18, 9} || list[2].Arrows[1] != [4]float64{20, 9, 30, 9} || list[2].Outline[1] != [2]float64{23, 4} {
		t.Errorf("goes until the next as %+v", list)
	}
	turning := Region{Method: Drawn, Outline: r.Outline, Arrows: [][4]float64{{0, 0, 0, 0}, {10, 0, 0, 10}}}
	list = turning.Continue(4, nil)
	if len(list) != 4 || math.Hypot(list[3].Arrows[1][2]-10, list[3].Arrows[1][3]) > 0.01 || math.Hypot(list[2].Outline[1][0]+10, list[2].Outline[1][1]) > 0.01 {
		t.Errorf("turns as %+v", list)
	}
	away := Region{Method: Drawn, Outline: r.Outline, Arrows: [][4]float64{{0, 0, 60000, 0}}}
	if list := away.Continue(9, nil); len(list) != 1 {
		t.Errorf("goes away in %d intervals", len(list))
	}
}
