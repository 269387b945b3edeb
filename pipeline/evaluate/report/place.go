package report

import (
	"fmt"
	"slices"
	"time"
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

// WorstPlaces returns the worst regions of the three frames that have the worst ones, the worst first.
func (r *Report) WorstPlaces() (list []Place) {
	var frames []int
	for i, g := range r.Regions {
		if len(list) == maxPlaces {
			break
		}
		if slices.Contains(frames, g.Frame) {
			continue
		}
		frames = append(frames, g.Frame)
		f := r.Frames[g.Frame]
		at := time.Duration(float64(f.Time) * float64(time.Second))
		list = append(list, Place{i + 1, Where(at, int64(f.Index), [4]int{g.X, g.Y, g.Width, g.Height})})
	}
	return list
}
