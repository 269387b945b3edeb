package dis

import (
	"math"
	"math/rand/v2"

	"retime/frame"
)

// scene is a kind of picture pair.
type scene struct {
	name string
	draw func(rng *rand.Rand, x, y int, second bool) uint8
}

// texture is a smooth pattern, at a position in pixels.
func texture(x, y float64) float64 {
	return 128 + 50*math.Sin(x/3.1+0.4*math.Sin(y/7)) + 40*math.Sin(y/4.3+x/11) + 30*math.Sin((x-y)/17)
}

func sample(v float64) uint8 { return uint8(min(max(v, 0), 255)) }

// moving returns a scene in which a texture moves by (dx, dy).
func moving(name string, dx, dy float64) scene {
	return scene{name, func(_ *rand.Rand, x, y int, second bool) uint8 {
		if second {
			return sample(texture(float64(x)-dx, float64(y)-dy))
		}
		return sample(texture(float64(x), float64(y)))
	}}
}

var scenes = []scene{
	{"noise", func(rng *rand.Rand, _, _ int, _ bool) uint8 { return uint8(rng.UintN(256)) }},
	{"extremes", func(rng *rand.Rand, _, _ int, _ bool) uint8 { return uint8(255 * rng.UintN(2)) }},
	{"flat", func(_ *rand.Rand, _, _ int, _ bool) uint8 { return 77 }},
	{"saturated", func(_ *rand.Rand, _, _ int, second bool) uint8 {
		if second {
			return 255
		}
		return 0
	}},
	{"checks", func(_ *rand.Rand, x, y int, second bool) uint8 {
		if (x/8+y/8)%2 == 0 != second {
			return 255
		}
		return 0
	}},
	{"stripes", func(rng *rand.Rand, x, _ int, second bool) uint8 {
		if second {
			x += 2
		}
		return uint8(255*(x/3%2)) ^ uint8(rng.UintN(4))
	}},
	{"faint", func(rng *rand.Rand, x, y int, second bool) uint8 {
		if second {
			x++
		}
		return uint8(100 + (x/5+y/7)%2 + int(rng.UintN(2)))
	}},
	moving("shift", 2.3, -1.6),
	moving("huge", 37, 29),
	{"halves", func(rng *rand.Rand, x, y int, second bool) uint8 {
		dx := 0.
		if second {
			dx = 5
			if y > 20 {
				dx = -9
			}
		}
		return sample(texture(float64(x)-dx, float64(y)) + 8*rng.Float64())
	}},
}

func (s scene) pair(seed uint64, width, height int) (a, b frame.Image[uint8]) {
	rng := rand.New(rand.NewPCG(seed, 0))
	a, b = frame.NewImage[uint8](width, height), frame.NewImage[uint8](width, height)
	for i, m := range []frame.Image[uint8]{a, b} {
		for y := range height {
			for x := range width {
				m.Row(y)[x] = s.draw(rng, x, y, i == 1)
			}
		}
	}
	return a, b
}
