package restoration

import (
	"math"
	"math/rand/v2"
	"slices"

	"retime/frame"
	"retime/pipeline/restore"
	"retime/pipeline/restore/swar"
	"retime/warp"
)

// sort is a sort of damage that is drawn into pictures.
type sort struct {
	name string
	// whole is set if the damage is to all of a picture.
	whole bool
	draw  func(*canvas)
}

// sorts are all that are drawn, in the order of the table. A repeat is drawn from the picture before.
var sorts = []sort{
	{"black", true, (*canvas).black}, {"repeat", true, (*canvas).grain}, {"garbled", true, (*canvas).garble}, {"flash", true, (*canvas).flash},
	{"jitter", false, (*canvas).jitter}, {"dropout", false, (*canvas).dropouts}, {"streak", false, (*canvas).streaks}, {"block", false, (*canvas).blocks}, {"dirt", false, (*canvas).dirt},
}

// sorts returns those that the study draws.
func (s *study) sorts() []sort {
	return slices.DeleteFunc(slices.Clone(sorts), func(d sort) bool {
		return !slices.ContainsFunc(s.find, func(k restore.Kind) bool { return kindName(k) == d.name })
	})
}

// strengths are how strongly damage is drawn: 0 weakly to strengths-1.
const strengths = 3

// Damage to a whole picture is seen if the twentieth of its blocks that differ most do so by seenLeast grey levels in the mean.
const (
	seenBlock = 8 // pixels
	seenShare = 20
	seenLeast = 4
)

// differs reports whether the lumas of two pictures differ so much that it is seen.
func differs(a, b *frame.Frame) bool {
	p, q := warp.Luma(a), warp.Luma(b)
	var sums []int // of the absolute differences in each block
	for y := 0; y+seenBlock <= p.Height; y += seenBlock {
		for x := 0; x+seenBlock <= p.Width; x += seenBlock {
			sum := 0
			for k := y; k < y+seenBlock; k++ {
				sum += swar.SumDifferences(p.Row(k)[x:x+seenBlock], q.Row(k)[x:x+seenBlock])
			}
			sums = append(sums, sum)
		}
	}
	slices.Sort(sums)
	total, count := 0, (len(sums)+seenShare-1)/seenShare
	for _, v := range sums[len(sums)-count:] {
		total += v
	}
	return total >= seenLeast*seenBlock*seenBlock*count
}

// canvas is a picture's luma to draw into, in samples of 16 bits, whatever it has.
type canvas struct {
	*rand.Rand
	frame.Image[uint16]
	unit     int // a grey level of 8 bits
	strength int
}

// draw draws damage into g.
func draw(random *rand.Rand, g *frame.Frame, s *sort, strength int) {
	if s.name == "black" {
		if g.Format.Bytes() == 2 {
			spoilSamples[uint16](random, g, "black")
		} else {
			spoilSamples[uint8](random, g, "black")
		}
		return
	}
	if g.Format.Bytes() == 2 {
		s.draw(&canvas{random, frame.Samples[uint16](g.Planes[0]), 1 << (g.Format.Depth - 8), strength})
		return
	}
	luma := frame.Samples[uint8](g.Planes[0])
	c := &canvas{random, frame.NewImage[uint16](luma.Width, luma.Height), 1, strength}
	for y := range luma.Height {
		for x, v := range luma.Row(y) {
			c.Row(y)[x] = uint16(v)
		}
	}
	s.draw(c)
	for y := range luma.Height {
		for x, v := range c.Row(y) {
			luma.Row(y)[x] = uint8(v)
		}
	}
}

// set mixes level v, of 8 bits, into a pixel.
func (c *canvas) set(x, y int, v, share float64) {
	if x < 0 || y < 0 || x >= c.Width || y >= c.Height {
		return
	}
	p := &c.Row(y)[x]
	*p = c.level(float64(*p)*(1-share) + v*float64(c.unit)*share)
}

// level returns v rounded, in the range of the samples.
func (c *canvas) level(v float64) uint16 { return uint16(min(max(v+0.5, 0), float64(256*c.unit-1))) }

// between returns a random number from a to b.
func (c *canvas) between(a, b float64) float64 { return a + (b-a)*c.Float64() }

// contrast returns black or white, so that it is seen around x, y, and the share to mix it in with.
func (c *canvas) contrast(x, y int) (v, share float64) {
	here := float64(c.Row(min(max(y, 0), c.Height-1))[min(max(x, 0), c.Width-1)]) / float64(c.unit)
	if v = 235; here > 130 || here > 90 && c.IntN(2) == 0 {
		v = 16
	}
	step := []float64{40, 80, 200}[c.strength]
	return v, min(step/math.Abs(v-here), 1)
}

func (c *canvas) black() {}

// grain adds noise, as a copy by an analogue way has.
func (c *canvas) grain() {
	spread := []float64{4, 2, 0}[c.strength] * float64(c.unit)
	for i, v := range c.Pix {
		c.Pix[i] = c.level(float64(v) + c.NormFloat64()*spread)
	}
}

// garble shuffles blocks of a quarter of the picture, or half, or spoils all of it with noise.
func (c *canvas) garble() {
	switch c.strength {
	case 0:
		shuffle(c.Rand, c.Image, c.Height*3/4)
	case 1:
		shuffle(c.Rand, c.Image, c.Height/2)
	default:
		for i := range c.Pix {
			c.Pix[i] = uint16(c.IntN(256 * c.unit))
		}
	}
}

// flash brightens the picture, and part of it more.
func (c *canvas) flash() {
	gain, lift := []float64{1.2, 1.5, 2}[c.strength], []float64{12, 25, 50}[c.strength]*float64(c.unit)
	for i, v := range c.Pix {
		c.Pix[i] = c.level(float64(v)*gain + lift)
	}
}

// jitter shifts rows sideways, of the whole picture or of a band.
func (c *canvas) jitter() {
	most := []float64{2.5, 5, 10}[c.strength] * float64(c.Width) / 720
	from, to := 0, c.Height
	if c.IntN(2) == 0 {
		length := int(c.between(0.15, 0.5) * float64(c.Height))
		from = c.IntN(c.Height - length)
		to = from + length
	}
	smooth, at := c.IntN(2) == 0, 0.0
	for y := from; y < to; y++ {
		if at = c.between(-most, most); smooth { // as the speed of a drum swings
			at = most * math.Sin(float64(y-from)*2*math.Pi/(float64(c.Height)/6)+1)
		}
		shiftRow(c.Row(y), at)
	}
}

// shiftRow shifts a row by s pixels, between which it interpolates.
func shiftRow(row []uint16, s float64) {
	was := slices.Clone(row)
	for x := range row {
		at := min(max(float64(x)-s, 0), float64(len(row)-1))
		i := min(int(at), len(row)-2)
		w := at - float64(i)
		row[x] = uint16(float64(was[i])*(1-w) + float64(was[i+1])*w + 0.5)
	}
}

// dropouts draws short pieces of lines.
func (c *canvas) dropouts() {
	for range 2 + c.IntN(5) {
		x, y, length := c.IntN(c.Width), c.IntN(c.Height), int(c.between(0.04, 0.25)*float64(c.Width))
		c.line(x, y, length, 1+c.IntN(2))
	}
}

// streaks draws lines across most of the picture.
func (c *canvas) streaks() {
	for range 1 + c.IntN(2) {
		length := int(c.between(0.6, 1) * float64(c.Width))
		c.line(c.IntN(c.Width-length+1), c.IntN(c.Height), length, 1+c.IntN(4))
	}
}

// line draws noise about black or white along lines.
func (c *canvas) line(x0, y0, length, height int) {
	v, share := c.contrast(x0, y0)
	for y := y0; y < y0+height; y++ {
		for x := x0; x < x0+length; x++ {
			c.set(x, y, v+c.between(-15, 15), share*min(float64(x0+length-x)/8, 1))
		}
	}
}

// blocks spoils macroblocks: by others of the picture, by grey, or by a wrong mean.
func (c *canvas) blocks() {
	const side = 16
	way := c.IntN(3)
	count := []int{1, 3, 8}[c.strength]
	bx, by := c.IntN(c.Width/side), c.IntN(c.Height/side)
	for range count {
		for range 20 {
			if c.block(bx*side, by*side, side, way) >= 15 {
				break
			}
			bx, by = c.IntN(c.Width/side), c.IntN(c.Height/side)
		}
		bx = (bx + 1) % (c.Width / side)
	}
}

// block spoils a block, and returns by how many grey levels in the mean; it leaves one that would hardly be
// seen.
func (c *canvas) block(x0, y0, side, way int) float64 {
	was := frame.NewImage[uint16](side, side)
	fx, fy := c.IntN(c.Width-side), c.IntN(c.Height-side)
	lift := float64([]int{-40, 40}[c.IntN(2)] * c.unit)
	sum := 0.0
	for y := range side {
		for x := range side {
			old := c.Row(y0 + y)[x0+x]
			v := []uint16{c.Row(fy + y)[fx+x], uint16(128 * c.unit), c.level(float64(old) + lift)}[way]
			was.Row(y)[x] = v
			sum += math.Abs(float64(v) - float64(old))
		}
	}
	change := sum / float64(side*side*c.unit)
	if change >= 15 {
		for y := range side {
			copy(c.Row(y0 + y)[x0:], was.Row(y))
		}
	}
	return change
}

// dirt draws specks and, now and then, an upright scratch.
func (c *canvas) dirt() {
	scale := float64(c.Width) / 720
	for range []int{2, 4, 8}[c.strength] {
		cx, cy := c.between(0, float64(c.Width)), c.between(0, float64(c.Height))
		rx, ry := c.between(2, 7)*scale, c.between(2, 7)*scale
		v, share := c.contrast(int(cx), int(cy))
		bump := c.between(0, 2*math.Pi)
		for y := int(cy - 2*ry); y <= int(cy+2*ry); y++ {
			for x := int(cx - 2*rx); x <= int(cx+2*rx); x++ {
				dx, dy := (float64(x)-cx)/rx, (float64(y)-cy)/ry
				edge := 1 + 0.3*math.Sin(3*math.Atan2(dy, dx)+bump)
				c.set(x, y, v, share*min(max((edge-math.Hypot(dx, dy))*min(rx, ry)+0.5, 0), 1))
			}
		}
	}
	if c.IntN(3) > 0 {
		return
	}
	x, y0, length := c.IntN(c.Width), c.IntN(c.Height), int(c.between(0.1, 0.4)*float64(c.Height))
	v, share := c.contrast(x, y0)
	for y := y0; y < y0+length; y++ {
		for k := range 1 + int(scale) {
			c.set(x+k, y, v, share)
		}
	}
}
