package warp

import (
	"image"
	"math"

	"retime/flow"
	"retime/frame"
)

// drawnPlane reads the planes of both neighbours.
type drawnPlane[T frame.Sample] struct {
	*drawing
	sx, sy  int
	size    image.Point
	sources [2]coefficients
	parts   [2]frame.Image[T] // of the planes, from which the coefficients are
	origin  image.Point       // of the coefficients, in the plane
}

// drawnMargin is how far the coefficients of a part of a plane must reach beyond it, so that those
// of the whole plane would be the same but for what float32 cannot tell.
const drawnMargin = 20

// drawPlane draws in a plane, whose samples are of light if a table of it is given.
func drawPlane[T frame.Sample](d *drawing, dst frame.Plane, from [2]frame.Plane, light *LightTable, sx, sy, limit int) error {
	out := frame.Samples[T](dst)
	p := &drawnPlane[T]{drawing: d, sx: sx, sy: sy, size: image.Pt(out.Width, out.Height)}
	window := image.Rect(d.window.Min.X>>sx, d.window.Min.Y>>sy, (d.window.Max.X+1<<sx-1)>>sx, (d.window.Max.Y+1<<sy-1)>>sy)
	window = window.Intersect(image.Rectangle{Max: p.size})
	read := window.Inset(-d.longest - drawnMargin).Intersect(image.Rectangle{Max: p.size})
	p.origin = read.Min
	for i := range from {
		whole := frame.Samples[T](from[i])
		part := frame.Image[T]{Width: read.Dx(), Height: read.Dy(), Stride: whole.Stride}
		at := read.Min.Y*whole.Stride + read.Min.X
		part.Pix = whole.Pix[at : at+(part.Height-1)*part.Stride+part.Width]
		p.parts[i], p.sources[i].light = part, light
		if err := load(&p.sources[i], d.workers, part, d.filter); err != nil {
			return err
		}
	}
	d.workers.Rows(window.Dy(), func(y0, y1 int) {
		for y := window.Min.Y + y0; y < window.Min.Y+y1; y++ {
			row := out.Row(y)
			for x := window.Min.X; x < window.Max.X; x++ {
				if v, ok := p.sample(x, y, float32(row[x])); ok {
					row[x] = T(min(max(v+0.5, 0), float32(limit)))
				}
			}
		}
	})
	return nil
}

// sample returns the sample at (x, y), where v is made, or reports that it stays.
func (p *drawnPlane[T]) sample(x, y int, v float32) (float32, bool) {
	way := p.mask(p.way, x, y)
	if way == 0 { // the way has all things
		return v, false
	}
	v = p.behind(x, y, way, v)
	if p.front != nil {
		v = p.over(x, y, v)
	}
	for i := range p.things {
		t := &p.things[i]
		if k := p.mask(t.mask, x, y); k > 0 {
			v += float32((p.thing(t, x, y) - v) * (float32(k) / maskOne))
		}
	}
	return v, true
}

// mask returns the mean of a mask over a sample.
func (p *drawnPlane[T]) mask(m frame.Image[uint16], x, y int) uint16 {
	x, y = x<<p.sx-p.window.Min.X, y<<p.sy-p.window.Min.Y
	if p.sx|p.sy == 0 {
		return m.Row(y)[x]
	}
	sum, count := 0, 0
	for j := y; j < min(y+1<<p.sy, m.Height); j++ {
		for _, v := range m.Row(j)[x:min(x+1<<p.sx, m.Width)] {
			sum, count = sum+int(v), count+1
		}
	}
	return uint16(sum / count)
}

// behind returns v faded to what the neighbours show around the things.
func (p *drawnPlane[T]) behind(x, y int, way uint16, v float32) float32 {
	dx, dy := p.surroundings(x, y)
	ax, ay := int32(x)<<positionBits-toward(dx, p.phase), int32(y)<<positionBits-toward(dy, p.phase)
	bx, by := ax+dx, ay+dy
	seenA, seenB := p.seen(0, ax, ay), p.seen(1, bx, by)
	a, b := float32(seenA*uint64(PhaseOne-p.phase)), float32(seenB*uint64(p.phase))
	if a+b == 0 {
		return v
	}
	share := float32(maskOne*maskOne-(maskOne-seenA)*(maskOne-seenB)) * float32(way) / (maskOne * maskOne * maskOne)
	shown := (float32(p.read(0, ax, ay)*a) + float32(p.read(1, bx, by)*b)) / (a + b)
	return v + float32((shown-v)*share)
}

// surroundings returns the motion around the things at a sample, in 1/256 sample, interpolated
// bilinearly.
func (p *drawnPlane[T]) surroundings(x, y int) (dx, dy int32) {
	cell, fx := p.motionCell(x<<p.sx, 1<<p.sx, p.cells.Min.X, p.motion.Width)
	line, fy := p.motionCell(y<<p.sy, 1<<p.sy, p.cells.Min.Y, p.motion.Height)
	v := motionBetween(&p.motion, cell, line, fx, fy)
	return v.X << p.level >> p.sx, v.Y << p.level >> p.sy
}

// motionBetween returns the flow fx and fy, in 1/256 cell, to the right of and below the middle of a cell, interpolated
// bilinearly.
func motionBetween(f *flow.Field, cell, line int, fx, fy int64) flow.Vec {
	upper, lower := f.Row(line), f.Row(min(line+1, f.Height-1))
	right := min(cell+1, f.Width-1)
	mix := func(a, b, c, d int32) int32 {
		top, bottom := int64(a)*(positionOne-fx)+int64(b)*fx, int64(c)*(positionOne-fx)+int64(d)*fx
		return int32((top*(positionOne-fy) + bottom*fy + 1<<15) >> 16)
	}
	return flow.Vec{
		X: mix(upper[cell].X, upper[right].X, lower[cell].X, lower[right].X),
		Y: mix(upper[cell].Y, upper[right].Y, lower[cell].Y, lower[right].Y),
	}
}

// motionCell returns the last cell whose centre is not after the middle of the pixels from first on,
// and the distance between the two, in 1/256 cell.
func (d *drawing) motionCell(first, pixels, origin, cells int) (cell int, part int64) {
	at := (2*first+pixels)<<positionBits>>(d.level+1) - positionOne/2 - origin<<positionBits
	if at < 0 {
		return 0, 0
	}
	return min(at>>positionBits, cells-1), int64(at & (positionOne - 1))
}

// seen returns how far a neighbour shows a place, in 1/256 sample, with no thing over it: from 0 to
// maskOne.
func (p *drawnPlane[T]) seen(i int, x, y int32) uint64 {
	if !p.inside(x, y) {
		return 0
	}
	const half = positionOne / 2
	mx, my := int(x+half)>>positionBits<<p.sx-p.window.Min.X, int(y+half)>>positionBits<<p.sy-p.window.Min.Y
	if mask := p.hidden[i]; mx >= 0 && my >= 0 && mx < mask.Width && my < mask.Height {
		return maskOne - uint64(mask.Row(my)[mx])
	}
	return maskOne
}

func (p *drawnPlane[T]) inside(x, y int32) bool {
	const half = positionOne / 2
	return x >= -half && y >= -half && int(x) <= p.size.X<<positionBits-half && int(y) <= p.size.Y<<positionBits-half
}

// unshown is the weight of a neighbour outside which a thing is, where one inside has maskOne.
const unshown = 3

// thing returns the sample of a thing.
func (p *drawnPlane[T]) thing(t *drawnThing, x, y int) float32 {
	wide, high := float64(int(1)<<p.sx), float64(int(1)<<p.sy)
	place := t.back.move(complex((float64(x)+0.5)*wide, (float64(y)+0.5)*high))
	var sum, all float32
	for i, share := range [2]uint64{uint64(PhaseOne - p.phase), uint64(p.phase)} {
		if i > 0 {
			place = t.on.move(place)
		}
		px, py := position(real(place)/wide-0.5), position(imag(place)/high-0.5)
		w := float32(share * maskOne)
		if !p.inside(px, py) {
			w = float32(share * unshown)
		}
		all += w
		sum += float32(p.read(i, px, py) * w)
	}
	return sum / all
}

// position returns v in 1/256, rounded to the nearest.
func position(v float64) int32 {
	return int32(math.Floor(min(max(v, -1<<20), 1<<20)*positionOne + 0.5))
}

// read returns neighbour i at a place, in 1/256 sample of the plane.
func (p *drawnPlane[T]) read(i int, x, y int32) float32 {
	c := &p.sources[i]
	ix, iy, fx, fy := c.locate(x-int32(p.origin.X)<<positionBits, y-int32(p.origin.Y)<<positionBits, 1)
	if c.light != nil {
		return float32(readLight(p.parts[i], c, p.taps, ix, iy, fx, fy))
	}
	var sum float32
	c.one(c.index(ix, iy), &p.taps[fx], &p.taps[fy], 1, &sum)
	return sum
}
