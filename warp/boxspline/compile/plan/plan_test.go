package plan

import (
	"testing"
	"time"

	"retime/warp/boxspline"
)

func TestPlans(t *testing.T) {
	for _, e := range boxspline.Elements() {
		if e.Name == "bcc-voronoi-2" || e.Name == "bcc-voronoi-1" {
			continue
		}
		p, err := New(Cosets(e))
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		for _, c := range p.Classes {
			all := p.LookUps(c)
			cover, least := Cover(all, len(c.Sites))
			var sizes []int
			var pos []bool
			for _, l := range cover {
				sizes = append(sizes, len(l.Members))
				for k, s := range l.Span {
					if s > 0 {
						pos = append(pos, l.Positive[k])
					}
				}
			}
			t.Log(e.Name, "sites", len(c.Sites), "candidates", len(all), "cover", len(cover), least, sizes, pos, time.Since(begun))
		}
	}
}
