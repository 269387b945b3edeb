package code

import (
	"testing"
	"time"

	"retime/warp/boxspline"
	"retime/warp/boxspline/compile/plan"
)

func TestCode(t *testing.T) {
	for _, e := range boxspline.Elements() {
		if e.Name == "bcc-voronoi-2" || e.Name == "bcc-voronoi-1" {
			continue
		}
		for _, target := range []plan.Target{plan.Cosets(e), plan.OneCoset(e)} {
			if len(e.Lattice.Offsets) == 1 && target.Grid[0][0].Float() == 2 || e.Dim() == 3 && len(target.Offsets) != len(e.Lattice.Offsets) {
				continue
			}
			p, err := plan.New(target)
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			code, err := New(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range code.Classes {
				t.Log(e.Name, len(p.Offsets), c.Exact.Method, c.Exact.Cost, "greedy", c.Exact.Greedy, "linear", len(c.Linear.LookUps), c.Linear.Cost, time.Since(begun))
			}
		}
	}
}
