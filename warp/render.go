package warp

import (
	"retime/flow"
	"retime/frame"
)

// maxHypotheses is the largest number of guesses for a pixel.
const maxHypotheses = 16

// gather omits shares below 1/leastShare of a pixel's total, and counts motions that
// differ by no more than sameMotion as one.
const (
	leastShare = 32
	sameMotion = positionOne / 4
)

// maxBlock is the largest number of samples that share a motion, a power of two.
const maxBlock = 1 << (2 * MaxLevel)

// guess is a motion and its share.
type guess struct {
	x, y  int32
	bend  flow.Vec // distance of the place from the straight line
	share uint32
	seen  Seen // the neighbours that show it
}

// gather lists the motions that count at pixel (x, y) of the guides' grid, before they shift.
func (r *renderer) gather(list *[maxHypotheses]guess, x, y int) []guess {
	i := y*r.gridWidth + x
	n := 0
	var total uint32
	var bend flow.Vec
	if r.bend.Width > 0 {
		bend = r.bend.Pix[i]
	}
next:
	for _, h := range r.hypotheses {
		w := uint32(h.weight.Pix[i])
		if w == 0 {
			continue
		}
		total += w
		v := h.motion.Row(y)[x]
		g := guess{x: v.X, y: v.Y, share: w, seen: h.kind.seen()}
		for k := range n {
			if list[k].joins(&g) {
				list[k].share += w
				continue next
			}
		}
		if h.kind.bends() {
			g.bend = bend
		}
		list[n] = g
		n++
	}
	kept := 0
	for k := range n {
		if list[k].share*leastShare >= total {
			list[kept] = list[k]
			kept++
		}
	}
	return list[:kept]
}

// joins reports whether two guesses count as one.
func (g *guess) joins(o *guess) bool { return g.seen == o.seen && near(g.x, o.x) && near(g.y, o.y) }

func near(a, b int32) bool { return uint32(a-b+sameMotion) <= 2*sameMotion }

// geometry describes how a plane's samples lie on the guides' grid: a block of width by
// height samples, both powers of two, shares the motion of a pixel.
type geometry struct {
	level, sx, sy int
	width, height int
}

func newGeometry(level, sx, sy int) geometry {
	return geometry{level, sx, sy, 1 << max(0, level-sx), 1 << max(0, level-sy)}
}

// cell returns the grid's coordinates of the block at sample (x, y). If the plane is
// coarser than the grid, that is the pixel at the sample's upper left.
func (g geometry) cell(x, y int) (cx, cy int) { return x << g.sx >> g.level, y << g.sy >> g.level }

// top returns the first of the plane's rows whose blocks have their motions from row y of
// the grid, and whether there are any.
func (g geometry) top(y int) (row int, ok bool) {
	if skip := max(0, g.sy-g.level); skip > 0 {
		return y >> skip, y&(1<<skip-1) == 0
	}
	return y * g.height, true
}

// travel returns the part of a motion on the grid that is travelled at the phase, in
// 1/256 sample of the plane.
func travel(v int32, phase Phase, level, s int) int32 {
	shift := 16 + s - level
	return int32((int64(v)*int64(phase) + 1<<(shift-1)) >> shift)
}

// sample is a reading of a neighbour: its position and its share of the result.
type sample struct {
	x, y   int32 // 1/256 sample of the plane
	second bool
	weight uint64
}

// A reading more than half a sample outside its picture counts for little beside one
// inside.
const (
	insideFactor  = 100
	outsideFactor = 1
)

// expand turns the motions at a block into readings of both neighbours. It reports
// whether all of them lie outside their pictures.
func (g geometry) expand(list *[2 * maxHypotheses]sample, guesses []guess, x, y, width, height int, phase Phase) (samples []sample, outside bool) {
	outside = true
	right, bottom := int32(width)<<positionBits-positionOne/2, int32(height)<<positionBits-positionOne/2
	n := 0
	add := func(s sample, share uint64) {
		s.weight = share * outsideFactor
		if s.x >= -positionOne/2 && s.y >= -positionOne/2 && s.x <= right && s.y <= bottom {
			s.weight = share * insideFactor
			outside = false
		}
		list[n] = s
		n++
	}
	for k := range guesses {
		v := &guesses[k]
		px := int32(x)<<positionBits - travel(v.bend.X, PhaseOne, g.level, g.sx)
		py := int32(y)<<positionBits - travel(v.bend.Y, PhaseOne, g.level, g.sy)
		first, second := v.parts(phase)
		if first > 0 {
			add(sample{x: px - travel(v.x, phase, g.level, g.sx), y: py - travel(v.y, phase, g.level, g.sy)}, first)
		}
		if second > 0 {
			add(sample{
				x: px + travel(v.x, PhaseOne-phase, g.level, g.sx), y: py + travel(v.y, PhaseOne-phase, g.level, g.sy),
				second: true,
			}, second)
		}
	}
	return list[:n], outside
}

// parts divides the share between the neighbours that show the guess.
func (g *guess) parts(phase Phase) (first, second uint64) {
	switch share := uint64(g.share); g.seen {
	case SeenInFirst:
		return share * PhaseOne, 0
	case SeenInSecond:
		return 0, share * PhaseOne
	default:
		return share * uint64(PhaseOne-phase), share * uint64(phase)
	}
}

// layer is planes of one geometry: those to fill, and the neighbours'. The mask has the
// planes' size.
type layer[T frame.Sample] struct {
	geometry
	dst, a, b []frame.Image[T]
	ca, cb    []*coefficients
	mask      frame.Image[uint8]
}

// renderRows fills the blocks of rows [y0, y1) of the guides' grid in all layers. It sets
// the masks to 255 at samples that neither neighbour shows, and r.calm's means and errors.
func renderRows[T frame.Sample](r *renderer, layers []layer[T], y0, y1 int) {
	var storage [maxHypotheses]guess
	var guesses []guess
	ends := make([]int, r.gridWidth) // of each pixel's guesses
	for y := y0; y < y1; y++ {
		guesses = guesses[:0]
		for x := range ends {
			guesses = append(guesses, shift(r.gather(&storage, x, y), r.calm.level)...)
			ends[x] = len(guesses)
		}
		for i := range layers {
			layers[i].row(r, guesses, ends, y)
		}
		r.calm.expectRow(r, guesses, ends, y)
	}
}

// row fills the blocks of row y of the grid. The guesses of pixel x end at ends[x].
func (l *layer[T]) row(r *renderer, guesses []guess, ends []int, y int) {
	var samples [2 * maxHypotheses]sample
	var sums [maxBlock]float32
	width, height := l.dst[0].Width, l.dst[0].Height
	limit := float32(r.limit)
	top, ok := l.top(y)
	if !ok || top >= height {
		return
	}
	for x := 0; x < width; x += l.width {
		cx, _ := l.cell(x, top)
		first := 0
		if cx > 0 {
			first = ends[cx-1]
		}
		list, outside := l.expand(&samples, guesses[first:ends[cx]], x, top, width, height, r.phase)
		if outside {
			mark(l.mask, x, top, l.geometry)
		}
		var total uint64
		for i := range list {
			total += list[i].weight
		}
		for p := range l.dst {
			clear(sums[:l.width*l.height])
			for i := range list {
				s := &list[i]
				w := float32(s.weight) / float32(total)
				from, coeff := l.a[p], l.ca[p]
				if s.second {
					from, coeff = l.b[p], l.cb[p]
				}
				accumulate(&sums, from, coeff, r.taps, s.x, s.y, w, l.geometry)
			}
			store(l.dst[p], &sums, x, top, limit, l.geometry)
		}
	}
}

// accumulate adds w times the block at (x, y) to sums.
func accumulate[T frame.Sample](sums *[maxBlock]float32, from frame.Image[T], c *coefficients, t *taps, x, y int32, w float32, g geometry) {
	if (x|y)&(positionOne-1) == 0 {
		// On a sample, the spline equals the sample.
		ix, iy := int(x>>positionBits), int(y>>positionBits)
		if ix >= 0 && iy >= 0 && ix+g.width <= from.Width && iy+g.height <= from.Height {
			at := iy*from.Stride + ix
			if g.width == 2 && g.height == 2 {
				upper, lower := from.Pix[at:at+2:at+2], from.Pix[at+from.Stride:at+from.Stride+2]
				sums[0] += float32(float32(upper[0]) * w)
				sums[1] += float32(float32(upper[1]) * w)
				sums[2] += float32(float32(lower[0]) * w)
				sums[3] += float32(float32(lower[1]) * w)
				return
			}
			for j := range g.height {
				for i, v := range from.Pix[at+j*from.Stride:][:g.width] {
					sums[j*g.width+i] += float32(float32(v) * w)
				}
			}
			return
		}
	}
	if c.light != nil {
		addLight(sums, from, c, t, x, y, w, g)
		return
	}
	index, fx, fy := c.place(x, y, max(g.width, g.height)-1)
	if c.kernel == ZwartPowell {
		c.zwartPowell(index, fx, fy, w, sums, g)
		return
	}
	wx, wy := &t[fx], &t[fy]
	switch {
	case g.width == 1 && g.height == 1:
		c.one(index, wx, wy, w, &sums[0])
	case g.width == 2 && g.height == 2:
		c.four(index, wx, wy, w, sums)
	case g.width == 4 && g.height == 4:
		c.sixteen(index, wx, wy, w, sums)
	default:
		for j := range g.height {
			for i := range g.width {
				c.one(index+j*c.Stride+i, wx, wy, w, &sums[j*g.width+i])
			}
		}
	}
}

// store rounds a block's sums and writes them to dst.
func store[T frame.Sample](dst frame.Image[T], sums *[maxBlock]float32, x, y int, limit float32, g geometry) {
	width := min(g.width, dst.Width-x)
	for j := range min(g.height, dst.Height-y) {
		at := (y+j)*dst.Stride + x
		row := dst.Pix[at : at+width]
		for i := range row {
			row[i] = rounded[T](sums[(j*g.width+i)&(maxBlock-1)], limit)
		}
	}
}

// rounded returns the sample nearest to v within [0, limit].
func rounded[T frame.Sample](v, limit float32) T {
	v += 0.5
	if v < 0 {
		return 0
	}
	if v > limit {
		v = limit
	}
	return T(int32(v))
}

func mark(mask frame.Image[uint8], x, y int, g geometry) {
	for j := range min(g.height, mask.Height-y) {
		row := mask.Row(y + j)[x:min(x+g.width, mask.Width)]
		for i := range row {
			row[i] = 255
		}
	}
}
