package restore

import (
	"math"
	"testing"

	"retime/frame"
)

// Outside its region a frame stays unchanged, and the seam is soft.
func TestRegion(t *testing.T) {
	const width, height = 97, 61
	whole := writeScene(t, width, height, 9)
	input := blacken(t, whole, width, height, 4)
	truth, _ := readAll(t, whole)
	o := options(t, input)
	f, err := ParseRegion("30,20,25,15@4")
	if err != nil {
		t.Fatal(err)
	}
	o.Damage = []Finding{f}
	mustRun(t, o)
	got, _ := readAll(t, o.Convert.Output.File)
	m, w := frame.Samples[uint8](got[4].Planes[0]), frame.Samples[uint8](truth[4].Planes[0])
	sum, n := 0.0, 0
	for y := range height {
		for x := range width {
			dx, dy := max(30-x, x-54, 0), max(20-y, y-34, 0)
			switch v := m.Row(y)[x]; {
			case dx+dy == 0:
				d := float64(v) - float64(w.Row(y)[x])
				sum, n = sum+d*d, n+1
			case dx+dy > seam && v != 16:
				t.Fatalf("%d, %d outside the region is %d, not what it was", x, y, v)
			case dx+dy == seam/2 && (v == 16) != (w.Row(y)[x] <= 17):
				t.Errorf("%d, %d in the seam is %d of %d", x, y, v, w.Row(y)[x])
			}
		}
	}
	if db := 10 * math.Log10(255*255*float64(n)/sum); db < 25 {
		t.Errorf("the region is %.1f dB off", db)
	}
}

// A frame that cannot be trusted gives way to the nearer one in a region, too.
func TestRegionOfAFrameThatFails(t *testing.T) {
	const width, height = 97, 61
	input := blacken(t, writeScene(t, width, height, 9), width, height, 4)
	o := options(t, input)
	o.Convert.Synthesis.BlendBelow, o.Convert.Synthesis.NearestBelow = new(1.0), new(1.0)
	f, err := ParseRegion("30,20,25,15@4")
	if err != nil {
		t.Fatal(err)
	}
	o.Damage = []Finding{f}
	mustRun(t, o)
	got, _ := readAll(t, o.Convert.Output.File)
	m, near := frame.Samples[uint8](got[4].Planes[0]), frame.Samples[uint8](got[5].Planes[0])
	for y := 20; y < 35; y++ {
		for x := 30; x < 55; x++ {
			if m.Row(y)[x] != near.Row(y)[x] {
				t.Fatalf("%d, %d is %d, in the nearer frame %d", x, y, m.Row(y)[x], near.Row(y)[x])
			}
		}
	}
}
