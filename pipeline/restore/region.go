package restore

import (
	"retime/frame"
	"retime/pipeline/fault"
)

// Region is a part of the picture: the rectangle in pixels, or Mask.
type Region struct {
	X, Y, Width, Height int
	// Mask has the picture's size and weighs each pixel from 0, which stays, to 255,
	// which is replaced. If it is empty, the rectangle counts.
	Mask frame.Image[uint8]
}

// seam is the width in pixels of the transition around a region.
const seam = 8

// addTo adds the region, with a soft seam around it, to mask, which has the picture's
// size. It returns a fault.Usage error if the region does not fit.
func (r *Region) addTo(mask frame.Image[uint8]) error {
	part := frame.NewImage[uint8](mask.Width, mask.Height)
	switch {
	case r.Mask.Width > 0:
		if r.Mask.Width != mask.Width || r.Mask.Height != mask.Height {
			return fault.New(fault.Usage, "the mask is %dx%d, the video %dx%d; make them one size", r.Mask.Width, r.Mask.Height, mask.Width, mask.Height)
		}
		for y := range part.Height {
			copy(part.Row(y), r.Mask.Row(y))
		}
	case r.X >= mask.Width || r.Y >= mask.Height:
		return fault.New(fault.Usage, "region %d,%d,%d,%d lies outside the picture of %dx%d", r.X, r.Y, r.Width, r.Height, mask.Width, mask.Height)
	default:
		for y := r.Y; y < min(r.Y+r.Height, mask.Height); y++ {
			row := part.Row(y)[r.X:min(r.X+r.Width, mask.Width)]
			for x := range row {
				row[x] = 255
			}
		}
	}
	soften(part)
	for y := range mask.Height {
		row := mask.Row(y)
		for x, w := range part.Row(y) {
			row[x] = max(row[x], w)
		}
	}
	return nil
}

// soften lets weights fall off around them, by an equal step for each pixel to the
// side, up or down.
func soften(m frame.Image[uint8]) {
	const step = (255 + seam) / (seam + 1)
	lift := func(row []uint8, x int, from uint8) {
		if from > step {
			row[x] = max(row[x], from-step)
		}
	}
	for y := range m.Height {
		row := m.Row(y)
		for x := 1; x < len(row); x++ {
			lift(row, x, row[x-1])
		}
		for x := len(row) - 2; x >= 0; x-- {
			lift(row, x, row[x+1])
		}
	}
	for y := 1; y < m.Height; y++ {
		above, row := m.Row(y-1), m.Row(y)
		for x := range row {
			lift(row, x, above[x])
		}
	}
	for y := m.Height - 2; y >= 0; y-- {
		below, row := m.Row(y+1), m.Row(y)
		for x := range row {
			lift(row, x, below[x])
		}
	}
}
