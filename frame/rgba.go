package frame

import "image"

// RGBA returns an opaque copy of gbr, whose planes must be green, blue and red of 8
// bits.
func RGBA(gbr *Frame) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, gbr.Width, gbr.Height))
	green, blue, red := Samples[uint8](gbr.Planes[0]), Samples[uint8](gbr.Planes[1]), Samples[uint8](gbr.Planes[2])
	for y := range gbr.Height {
		g, b, r, row := green.Row(y), blue.Row(y), red.Row(y), m.Pix[y*m.Stride:]
		for x := range g {
			row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = r[x], g[x], b[x], 255
		}
	}
	return m
}
