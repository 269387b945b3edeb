package warp

import "retime/frame"

// place is a pixel.
type place struct{ x, y int }

// around calls visit for the pixels of a square around p that lie in a picture.
func (p place) around(m frame.Image[uint8], radius int, visit func(x, y int)) {
	for y := max(p.y-radius, 0); y < min(p.y+radius+1, m.Height); y++ {
		for x := max(p.x-radius, 0); x < min(p.x+radius+1, m.Width); x++ {
			visit(x, y)
		}
	}
}

// keepRegions clears the regions of m, of pixels other than 0 that touch, for which keep returns false, and
// reports whether any is left. Until keep was called for all, none is cleared.
func keepRegions(m frame.Image[uint8], keep func(places []place) bool) (any bool) {
	var places, cleared []place
	seen := frame.NewImage[bool](m.Width, m.Height)
	for y := range m.Height {
		for x, v := range m.Row(y) {
			if v == 0 || seen.Row(y)[x] {
				continue
			}
			seen.Row(y)[x] = true
			places = append(places[:0], place{x, y})
			for i := 0; i < len(places); i++ {
				places[i].around(m, 1, func(x, y int) {
					if s := &seen.Row(y)[x]; m.Row(y)[x] != 0 && !*s {
						*s = true
						places = append(places, place{x, y})
					}
				})
			}
			if keep(places) {
				any = true
			} else {
				cleared = append(cleared, places...)
			}
		}
	}
	for _, p := range cleared {
		m.Row(p.y)[p.x] = 0
	}
	return any
}
