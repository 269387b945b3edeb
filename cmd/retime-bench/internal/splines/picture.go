package splines

import (
	"math"

	"retime/frame"
)

// Width and Height are the size in pixels of the picture for the tables.
const (
	Width  = 4608
	Height = 3456
)

// Picture draws a picture with flat areas, textures of several scales and sharp edges. Its samples
// are whole numbers from 0 to 255, the same every time.
func Picture(width, height int) frame.Image[float64] {
	img := frame.NewImage[float64](width, height)
	// The picture is a grid of cells with different contents.
	const cell = 192
	for y := range height {
		row := img.Row(y)
		for x := range row {
			i, j := x/cell, y/cell
			u, v := float64(x%cell)/cell, float64(y%cell)/cell
			base := float64(hash(i, j)%160) + 40
			var value float64
			switch (i + 3*j) % 6 {
			case 0: // flat
				value = base
			case 1: // gradient
				value = base * (u + v) / 2
			case 2: // waves that become shorter
				value = base + 40*math.Sin(2*math.Pi*(4*u+16*u*u+6*v))
			case 3: // fine grain on a gradient
				value = base*v + float64(hash(x, y)%17) - 8
			case 4: // blotches of two sizes
				value = base + smooth(x, y, 4)*15 + smooth(x, y, 24)*40
			default: // a disc and slanted bars
				disc := edge((0.25 - math.Hypot(u-0.35, v-0.4)) * cell)
				_, phase := math.Modf(10*v + u)
				bars := edge((u-0.7)*cell) * edge((0.25-math.Abs(phase-0.5))*cell/10)
				value = base - 40 + 80*max(disc, bars)
			}
			row[x] = math.Round(min(max(value, 0), 255))
		}
	}
	return img
}

// edge returns the share of a pixel that an object covers. The object's edge is d from the pixel's
// centre, positive inside.
func edge(d float64) float64 { return min(max(d+0.5, 0), 1) }

// hash returns a pseudo-random number for a pair of coordinates.
func hash(x, y int) uint32 {
	h := uint32(x)*0x9e3779b1 ^ uint32(y)*0x85ebca77
	h ^= h >> 15
	h *= 0x2c1b3c6d
	h ^= h >> 12
	h *= 0x297a2d39
	return h ^ h>>15
}

// smooth returns noise in [-1, 1], interpolated linearly on a grid of the given step.
func smooth(x, y, step int) float64 {
	i, j := x/step, y/step
	u, v := float64(x%step)/float64(step), float64(y%step)/float64(step)
	at := func(i, j int) float64 { return float64(hash(i, j+7919)%2001)/1000 - 1 }
	return (1-v)*((1-u)*at(i, j)+u*at(i+1, j)) + v*((1-u)*at(i, j+1)+u*at(i+1, j+1))
}

// convert returns a copy of img in another type.
func convert[D, S float32 | float64](img frame.Image[S]) frame.Image[D] {
	out := frame.NewImage[D](img.Width, img.Height)
	for y := range img.Height {
		dst := out.Row(y)
		for x, v := range img.Row(y) {
			dst[x] = D(v)
		}
	}
	return out
}
