package inpaint

import (
	"math"

	"retime/frame"
)

// reference fills the holes of img straight from the definition, without an index, runs
// or shared work. It returns false if there is no border.
func reference[T frame.Sample](img frame.Image[T], mask frame.Image[uint8], directions []Direction) bool {
	hole := make([][]bool, mask.Height)
	any := false
	for y := range hole {
		hole[y] = make([]bool, mask.Width)
		for x := range hole[y] {
			hole[y][x] = mask.Row(y)[x] != 0
			any = any || hole[y][x]
		}
	}
	if !any {
		return true
	}
	if !referencePropagate(img, hole, directions) {
		return false
	}
	distance := referenceDistance(hole)
	blurred := frame.NewImage[T](img.Width, img.Height)
	for y := range img.Height {
		for x := range img.Width {
			blurred.Row(y)[x] = img.Row(y)[x]
			if !hole[y][x] {
				continue
			}
			k := min(max(distance[y][x]/4, 1), 4)
			sum, n := 0, 0
			for v := y - k; v <= y+k; v++ {
				for u := x - k; u <= x+k; u++ {
					if u >= 0 && u < img.Width && v >= 0 && v < img.Height {
						sum += int(img.Row(v)[u])
						n++
					}
				}
			}
			blurred.Row(y)[x] = T((2*sum + n) / (2 * n))
		}
	}
	for y := range img.Height {
		copy(img.Row(y), blurred.Row(y))
	}
	return true
}

func referencePropagate[T frame.Sample](img frame.Image[T], hole [][]bool, directions []Direction) bool {
	inside := func(x, y int) bool { return x >= 0 && x < img.Width && y >= 0 && y < img.Height }
	sum := make([]int64, img.Width*img.Height)
	weight := make([]int64, img.Width*img.Height)
	borders := 0
	for y := range img.Height {
		for x := range img.Width {
			beside := false
			for v := y - 1; v <= y+1; v++ {
				for u := x - 1; u <= x+1; u++ {
					beside = beside || inside(u, v) && hole[v][u]
				}
			}
			if hole[y][x] || !beside {
				continue
			}
			borders++
			for _, d := range directions {
				major, minor := x, y
				if d.Vertical {
					major, minor = y, x
				}
				line := func(at int) int {
					return int(math.Floor((float64(at)*float64(d.Slope) + 32768) / 65536))
				}
				c := minor - line(major)
				for n := 1; ; n++ {
					u := major + n*d.Sign
					v := c + line(u)
					if d.Vertical {
						u, v = v, u
					}
					if !inside(u, v) || !hole[v][u] {
						break
					}
					w := int64(math.Floor((1<<32)/float64(n*d.Step) + 0.5))
					sum[v*img.Width+u] += w * int64(img.Row(y)[x])
					weight[v*img.Width+u] += w
				}
			}
		}
	}
	if borders == 0 {
		return false
	}
	rest := make([][]bool, img.Height)
	again := false
	for y := range img.Height {
		rest[y] = make([]bool, img.Width)
		for x := range img.Width {
			if !hole[y][x] {
				continue
			}
			if w := weight[y*img.Width+x]; w > 0 {
				img.Row(y)[x] = T((2*sum[y*img.Width+x] + w) / (2 * w))
			} else {
				rest[y][x], again = true, true
			}
		}
	}
	if again {
		return referencePropagate(img, rest, directions)
	}
	return true
}

// referenceDistance relaxes the 3-4 distances until nothing changes.
func referenceDistance(hole [][]bool) [][]int {
	d := make([][]int, len(hole))
	for y := range d {
		d[y] = make([]int, len(hole[y]))
		for x := range d[y] {
			if hole[y][x] {
				d[y][x] = math.MaxInt32
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for y := range d {
			for x := range d[y] {
				for v := max(0, y-1); v <= min(len(d)-1, y+1); v++ {
					for u := max(0, x-1); u <= min(len(d[y])-1, x+1); u++ {
						step := 3
						if u != x && v != y {
							step = 4
						}
						if hole[y][x] && d[v][u]+step < d[y][x] {
							d[y][x], changed = d[v][u]+step, true
						}
					}
				}
			}
		}
	}
	return d
}
