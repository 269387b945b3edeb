package report

import (
	"fmt"
	"time"

	"retime/pipeline/place"
)

// Where names a place of a frame by its time, the frame's number and a box in pixels: left, top, width
// and height.
func Where(at time.Duration, frame int64, box [4]int) string {
	return fmt.Sprintf("%d:%06.3f (frame %d, %dx%d at %d,%d)", int(at.Minutes()), (at % time.Minute).Seconds(), frame, box[2], box[3], box[0], box[1])
}

// Place is a region among the worst.
type Place struct {
	Number int // of the region, from 1
	Where  string
}

// maxPlaces bounds how many of the worst places are named.
const maxPlaces = 3

// WorstPlaces returns the worst regions of three places, in different frames, the worst first.
func (r *Report) WorstPlaces() (list []Place) {
	where := func(i int) place.Place {
		g := r.Regions[i]
		return place.Place{Frame: int64(g.Frame), Time: float64(r.Frames[g.Frame].Time), Box: [4]int{g.X, g.Y, g.Width, g.Height}}
	}
	numbers := make([]int, len(r.Regions))
	for i := range numbers {
		numbers[i] = i
	}
	for _, i := range place.Each(numbers, where, place.Most[int](maxPlaces)) {
		p, f := where(i), r.Frames[r.Regions[i].Frame]
		list = append(list, Place{i + 1, Where(time.Duration(p.Time*float64(time.Second)), int64(f.Index), p.Box)})
	}
	return list
}
