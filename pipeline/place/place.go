// Package place decides which frames show one place of a video, so that lists of the worst frames name
// each place once.
package place

import "math"

// Place is where a frame is worst.
type Place struct {
	Frame int64
	Time  float64 // in seconds
	Box   [4]int  // left, top, width and height in pixels; empty if it may be anywhere
}

// near is how many seconds lie between two frames that may show one place, at most.
const near = 0.5

// same reports whether two frames show one place: they are less than near apart, and their boxes beside
// each other, which is by up to twice the longer side.
func (p Place) same(o Place) bool {
	switch {
	case p.Frame == o.Frame:
		return true
	case math.Abs(p.Time-o.Time) >= near:
		return false
	case p.Box[2] == 0 || o.Box[2] == 0:
		return true
	}
	apart := max(distance(p.Box[0], o.Box[0]), distance(p.Box[1], o.Box[1]))
	return apart <= 2*max(p.Box[2], p.Box[3])
}

func distance(a, b int) int { return max(a-b, b-a) }

// Each returns the frames, of a list with the worst first, that stand for a place each: those that show the
// same place as none before. more is asked whether the list of n frames has room for another; a frame that
// it refuses stands for nothing.
func Each[T any](list []T, where func(T) Place, more func(n int, v T) bool) (kept []T) {
	var places []Place
next:
	for _, v := range list {
		if !more(len(kept), v) {
			continue
		}
		p := where(v)
		for _, o := range places {
			if p.same(o) {
				continue next
			}
		}
		kept, places = append(kept, v), append(places, p)
	}
	return kept
}

// Most is a more of Each for up to some frames.
func Most[T any](most int) func(int, T) bool { return func(n int, _ T) bool { return n < most } }
