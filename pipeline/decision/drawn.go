package decision

import (
	"math"

	"retime/warp"
)

// Motion returns the motion of a Drawn region, which is checked.
func (r *Region) Motion() warp.Drawn {
	s, err := warp.NewSimilarity(r.Arrows)
	if err != nil {
		panic(err)
	}
	return warp.Drawn{Outline: r.Outline, Motion: s}
}

// Continue returns r and what follows it in further intervals, count in all. The thing goes on as
// r's arrows say. If until is not nil, which has as many arrows, it goes evenly from the ends of r's to
// the places where those of until begin, in the interval after the last. The regions are checked.
func (r *Region) Continue(count int, until *Region) (list []Region) {
	whole := r.Motion().Motion
	begin := make([][2]float64, len(r.Arrows))
	for i, a := range r.Arrows {
		begin[i] = [2]float64{a[0], a[1]}
	}
	places := begin
	for k := range count {
		next := make([][2]float64, len(begin))
		for i, a := range r.Arrows {
			if until == nil {
				next[i] = whole.Move(places[i])
			} else if next[i] = [2]float64{a[2], a[3]}; count > 1 {
				part := float64(k) / float64(count-1)
				next[i][0] += part * (until.Arrows[i][0] - a[2])
				next[i][1] += part * (until.Arrows[i][1] - a[3])
			}
		}
		moved := Region{Method: Drawn, Outline: r.Outline, Arrows: r.Arrows}
		if k > 0 {
			var arrows [][4]float64
			moved.Outline, moved.Arrows = nil, nil
			for i := range begin {
				arrows = append(arrows, [4]float64{begin[i][0], begin[i][1], places[i][0], places[i][1]})
				moved.Arrows = append(moved.Arrows, [4]float64{rounded(places[i][0]), rounded(places[i][1]), rounded(next[i][0]), rounded(next[i][1])})
			}
			so, err := warp.NewSimilarity(arrows)
			if err != nil {
				return list // the thing has shrunk to nothing
			}
			for _, c := range r.Outline {
				c = so.Move(c)
				moved.Outline = append(moved.Outline, [2]float64{rounded(c[0]), rounded(c[1])})
			}
		}
		if moved.check() != nil {
			return list // it is far outside
		}
		list, places = append(list, moved), next
	}
	return list
}

// rounded keeps hundredths of a pixel.
func rounded(v float64) float64 { return math.Round(v*100) / 100 }
