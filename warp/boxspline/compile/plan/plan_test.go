package plan

import (
	"slices"
	"testing"

	"retime/warp/boxspline"
)

// For these elements, the number of subregions, the classes' sites and the minimum numbers of
// look-ups are known.
func TestPlans(t *testing.T) {
	for _, c := range []struct {
		element    string
		subregions int
		sites      []int
		lookUps    []int
	}{
		{"bilinear", 1, []int{4}, []int{1}},
		{"bicubic", 1, []int{16}, []int{4}},
		{"courant", 2, []int{3}, []int{2}},
		{"zp", 4, []int{7}, []int{4}},
		{"trilinear", 1, []int{8}, []int{1}},
		{"bcc-linear", 24, []int{2}, []int{1}},
		// Folded: counts the subregions of a 48th of the region.
		{"bcc-voronoi-1", 14, []int{4, 4, 4, 4, 4}, []int{3, 3, 2, 2, 2}},
	} {
		e, err := boxspline.Find(c.element)
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(Cosets(e))
		if err != nil {
			t.Fatal(err)
		}
		used := 0
		for _, s := range p.Subregions {
			if !s.Empty {
				used++
			}
		}
		if p.Inner != nil {
			used = p.InnerUsed
		}
		var sites, lookUps []int
		for _, class := range p.Classes {
			cover, least := Cover(p.LookUps(class), len(class.Sites))
			if !least {
				t.Errorf("%s: the cover is not proven", c.element)
			}
			sites, lookUps = append(sites, len(class.Sites)), append(lookUps, len(cover))
		}
		if used != c.subregions || !slices.Equal(sites, c.sites) || !slices.Equal(lookUps, c.lookUps) {
			t.Errorf("%s: %d subregions, %v sites, %v look-ups; want %d, %v, %v", c.element, used, sites, lookUps, c.subregions, c.sites, c.lookUps)
		}
	}
}

// Paths are shortest: along a line, and around a square, whatever the order of the places.
func TestOrder(t *testing.T) {
	places := [][2]int{{5, 0}, {1, 0}, {3, 0}, {0, 0}, {4, 0}, {2, 0}}
	distance := func(a, b int) int {
		x, y := places[a][0]-places[b][0], places[a][1]-places[b][1]
		return x*x + y*y
	}
	path := Order(len(places), distance)
	length := 0
	for i := 1; i < len(path); i++ {
		length += distance(path[i-1], path[i])
	}
	if len(path) != len(places) || length != 5 {
		t.Errorf("path %v of length %d, want 5", path, length)
	}
}
