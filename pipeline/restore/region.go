package restore

import (
	"fmt"
	"image"
	"slices"
	"strings"

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

// Rectangle is a part of the picture, in pixels.
type Rectangle struct {
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

// box returns the rectangle around all that the region replaces, within a picture of the given size.
func (r *Region) box(width, height int) Rectangle {
	if r.Mask.Width == 0 {
		return Rectangle{r.X, r.Y, min(r.Width, width-r.X), min(r.Height, height-r.Y)}
	}
	var b image.Rectangle
	for y := range r.Mask.Height {
		row := r.Mask.Row(y)
		first := frame.LeadingZeros(row)
		if first == len(row) {
			continue
		}
		last := len(row) - 1
		for row[last] == 0 {
			last--
		}
		b = b.Union(image.Rect(first, y, last+1, y+1))
	}
	return Rectangle{b.Min.X, b.Min.Y, b.Dx(), b.Dy()}
}

// seam is the width in pixels of the transition around a region.
const seam = 8

// check returns a fault.Usage error if the region does not fit pictures of the given size.
func (r *Region) check(width, height int) error {
	switch {
	case r.Mask.Width > 0 && (r.Mask.Width != width || r.Mask.Height != height):
		return fault.New(fault.Usage, "the mask is %dx%d, the video %dx%d; make them one size", r.Mask.Width, r.Mask.Height, width, height)
	case r.Mask.Width == 0 && (r.X >= width || r.Y >= height):
		return fault.New(fault.Usage, "region %d,%d,%d,%d is outside the picture of %dx%d", r.X, r.Y, r.Width, r.Height, width, height)
	}
	return nil
}

// masks draws the regions of frames. Frames with the same regions share a mask.
type masks struct {
	width, height int
	drawn         map[string]*frame.Image[uint8] // by the names of the regions in it
}

// of returns the mask of regions that have passed check.
func (m *masks) of(regions []*Region) *frame.Image[uint8] {
	var names []string
	for _, r := range regions {
		names = append(names, fmt.Sprintf("%d,%d,%d,%d %p", r.X, r.Y, r.Width, r.Height, r.Mask.Pix))
	}
	slices.Sort(names)
	key := strings.Join(slices.Compact(names), " ")
	mask, ok := m.drawn[key]
	if !ok {
		drawn := frame.NewImage[uint8](m.width, m.height)
		for _, r := range regions {
			r.addTo(drawn)
		}
		mask = &drawn
		m.drawn[key] = mask
	}
	return mask
}

// addTo adds the region to mask, with a soft seam around it.
func (r *Region) addTo(mask frame.Image[uint8]) {
	part := r.Mask.Clone()
	if part.Width == 0 {
		part = frame.NewImage[uint8](mask.Width, mask.Height)
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
}

// soften lets weights fall off around them, by the same step for each pixel sideways, up or down.
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
