package flow

import (
	"image"
	"image/color"
	"math"
	"slices"
)

// ColorWheel draws f in Middlebury's colour coding (Baker et al., "A Database and
// Evaluation Methodology for Optical Flow", IJCV 2011). The hue shows the direction:
// red is right, yellow down, cyan left and violet up. Zero is white, and a vector of
// longest pixels has the full colour. Longer vectors are darker, unknown ones black. If
// longest is not positive, ColorWheel takes the length of the longest vector of f.
func ColorWheel(f Field, longest float64) *image.NRGBA {
	if !(longest > 0) {
		longest = max(f.Longest(), 1./One)
	}
	m := image.NewNRGBA(image.Rect(0, 0, f.Width, f.Height))
	for y := range f.Height {
		for x, v := range f.Row(y) {
			m.SetNRGBA(x, y, wheelColor(v, longest))
		}
	}
	return m
}

// Longest returns the length in pixels of the longest known vector.
func (f Field) Longest() float64 {
	longest := 0.0
	for y := range f.Height {
		for _, v := range f.Row(y) {
			if v.Known() {
				longest = max(longest, math.Hypot(float64(v.X), float64(v.Y)))
			}
		}
	}
	return longest / One
}

// UsualLength returns the length in pixels that one known vector in fifty exceeds, at
// least 1/4. As ColorWheel's longest, it keeps single stray vectors from making the
// others pale. It is 1 for a field without known vectors.
func (f Field) UsualLength() float64 {
	var lengths []float64
	for y := range f.Height {
		for _, v := range f.Row(y) {
			if v.Known() {
				lengths = append(lengths, math.Hypot(float64(v.X), float64(v.Y)))
			}
		}
	}
	if len(lengths) == 0 {
		return 1
	}
	slices.Sort(lengths)
	return max(lengths[(len(lengths)-1)*49/50]/One, 1./4)
}

// wheel holds the hues in the order of their angles, clockwise from the right: six
// ramps between red, yellow, green, cyan, blue and magenta, with more steps for hues
// that the eye distinguishes better.
var wheel = func() (hues [][3]float64) {
	ramps := []struct {
		steps, channel int
		rising         bool
	}{{15, 1, true}, {6, 0, false}, {4, 2, true}, {11, 1, false}, {13, 0, true}, {6, 2, false}}
	c := [3]float64{255, 0, 0}
	for _, r := range ramps {
		for i := range r.steps {
			level := math.Floor(255 * float64(i) / float64(r.steps))
			if !r.rising {
				level = 255 - level
			}
			c[r.channel] = level
			hues = append(hues, c)
		}
		c[r.channel] = 255
		if !r.rising {
			c[r.channel] = 0
		}
	}
	return hues
}()

func wheelColor(v Vec, longest float64) color.NRGBA {
	if !v.Known() {
		return color.NRGBA{A: 255}
	}
	x, y := float64(v.X)/(One*longest), float64(v.Y)/(One*longest)
	length := math.Hypot(x, y)
	// The coding spreads a full turn over all hues except the last.
	turn := math.Atan2(y, x) / (2 * math.Pi)
	if turn < 0 {
		turn++
	}
	pos := turn * float64(len(wheel)-1)
	i := int(pos)
	j, t := (i+1)%len(wheel), pos-float64(i)
	var c [3]uint8
	for k := range c {
		hue := ((1-t)*wheel[i][k] + t*wheel[j][k]) / 255
		if length <= 1 {
			hue = 1 - length*(1-hue)
		} else {
			hue *= 0.75
		}
		c[k] = uint8(255 * hue)
	}
	return color.NRGBA{c[0], c[1], c[2], 255}
}
