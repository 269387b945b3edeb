package edits

import (
	"math"

	"retime/pipeline"
)

// SetMotion has a thing go as a drawn region says through intervals, each of which has a first and a last
// frame. If the thing is drawn in the last interval of several, with as many arrows and near where it
// would be, it goes there. In each interval, the region takes the place of the drawn region that it lies
// over.
func (s State) SetMotion(intervals [][2]int64, r pipeline.Region, at func(int64) float64) (State, error) {
	if err := (&pipeline.Decision{Regions: []pipeline.Region{r}}).Check(); err != nil {
		return s, err
	}
	list := r.Continue(len(intervals), nil)
	if n := len(list); n > 1 && n == len(intervals) {
		if next := s.drawn(intervals[n-1][0], &list[n-1], n-1); next != nil {
			list = r.Continue(n-1, next)
		}
	}
	for i, moved := range list {
		var err error
		if s, err = s.SetRegion(intervals[i][0], intervals[i][1], moved, at); err != nil {
			return s, err
		}
	}
	return s, nil
}

// drawn returns the drawn region of a frame that is about the same thing as r, up to so many of its
// sizes away; nil for none.
func (s State) drawn(frame int64, r *pipeline.Region, sizes int) *pipeline.Region {
	for _, d := range s.Decisions() {
		for i := range d.Regions {
			if o := &d.Regions[i]; d.Frame == frame && o.Method == r.Method && len(o.Arrows) == len(r.Arrows) && sameThing(o.Outline, r.Outline, float64(sizes)) {
				return o
			}
		}
	}
	return nil
}

// sameThing reports whether two outlines are about one thing: whether neither is more than twice as wide or
// high, and they are at most so many of the smaller one's sizes apart.
func sameThing(a, b [][2]float64, sizes float64) bool {
	box := func(outline [][2]float64) (low, high [2]float64) {
		low, high = outline[0], outline[0]
		for _, c := range outline {
			for i := range c {
				low[i], high[i] = min(low[i], c[i]), max(high[i], c[i])
			}
		}
		return low, high
	}
	lowA, highA := box(a)
	lowB, highB := box(b)
	for i := range lowA {
		a, b := highA[i]-lowA[i], highB[i]-lowB[i]
		apart := math.Abs(lowA[i]+highA[i]-lowB[i]-highB[i]) / 2
		if a > 2*b || b > 2*a || apart > sizes*min(a, b) {
			return false
		}
	}
	return true
}
