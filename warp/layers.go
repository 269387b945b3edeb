package warp

import (
	"image"

	"retime/flow"
	"retime/frame"
	"retime/warp/bspline"
)

// Layers divide the pictures of an interval into a foreground and a background, which move on their own.
type Layers struct {
	// MatteA and MatteB have the pictures' size: 255 for the foreground, 0 for the background.
	MatteA, MatteB frame.Image[uint8]
	// Front and Back are the motions from A to B of either layer, on the guides' grid, as they are estimated
	// on the pictures that Sides returns.
	Front, Back flow.Field
}

// Sides returns the guides of an interval with one layer each: before a ground that nothing of the picture
// resembles, the foreground, and the background with what surrounds the foreground in its place. The
// mattes have the guides' size.
func Sides(guides, mattes [2]frame.Image[uint8]) (front, back [2]frame.Image[uint8]) {
	var sum, count int
	for i, g := range guides {
		for y := range g.Height {
			row, m := g.Row(y), mattes[i].Row(y)
			for x, v := range row {
				sum, count = sum+int(v)*int(m[x]), count+int(m[x])
			}
		}
	}
	ground := 0
	if 2*sum < 255*count {
		ground = 255
	}
	for i, g := range guides {
		front[i], back[i] = frame.NewImage[uint8](g.Width, g.Height), frame.NewImage[uint8](g.Width, g.Height)
		around := flow.NewField(g.Width, g.Height) // brightness in place of motion
		for y := range g.Height {
			row, m, out, v := g.Row(y), mattes[i].Row(y), front[i].Row(y), around.Row(y)
			for x := range row {
				out[x] = uint8((int(row[x])*int(m[x]) + ground*(255-int(m[x])) + 127) / 255)
				v[x].X = int32(row[x])
			}
		}
		holes := dilate(frame.Workers{}, mattes[i], 1)
		var filler FlowFiller
		filler.Nearest(around, holes)
		smoothHoles(around, holes, 4)
		for y := range g.Height {
			out, v := back[i].Row(y), around.Row(y)
			for x := range out {
				out[x] = uint8(v[x].X)
			}
		}
	}
	return front, back
}

// Travel returns by how many cells the middle of the foreground moves from one matte to the other; 0 if either has none.
func Travel(mattes [2]frame.Image[uint8]) (dx, dy int) {
	var x, y [2]int
	for i, m := range mattes {
		var sumX, sumY, all int
		for j := range m.Height {
			for k, v := range m.Row(j) {
				sumX, sumY, all = sumX+k*int(v), sumY+j*int(v), all+int(v)
			}
		}
		if all == 0 {
			return 0, 0
		}
		x[i], y[i] = (2*sumX+all)/(2*all), (2*sumY+all)/(2*all)
	}
	return x[1] - x[0], y[1] - y[0]
}

// Composite makes anew, in dst, a frame made between a and b at a phase, all that the foreground hides
// or uncovers on its way: the background without the foreground, each place from whichever neighbour shows it,
// and the foreground over it. Guides were halved level times.
func Composite(workers frame.Workers, dst, a, b *frame.Frame, level int, phase Phase, l *Layers) error {
	filter, err := bspline.NewPrefilter[float32](bspline.Cubic, bspline.WholeSymmetric, precision)
	if err != nil {
		return err
	}
	d := &drawing{workers: workers, level: level, phase: phase, filter: filter, taps: newTaps(bspline.Cubic), picture: image.Rect(0, 0, dst.Width, dst.Height)}
	if !d.separate(l) {
		return nil
	}
	return d.draw(dst, a, b)
}

// foreground is what moves over the background.
type foreground struct {
	mattes [2]frame.Image[uint8]
	motion flow.Field // from A to B, of the foreground, and around it of what is nearest
}

// coarse returns a matte on the guides' grid.
func (d *drawing) coarse(m frame.Image[uint8]) frame.Image[uint8] {
	for range d.level {
		m = Halve(m)
	}
	return m
}

// The foreground moves as it does where a matte has at least solid. Around it, within reach cells, the
// background's motion is not trusted.
const (
	solid = 192
	reach = 4
)

// separate sets the masks and the motions, or reports that there is no foreground.
func (d *drawing) separate(l *Layers) bool {
	mattes := [2]frame.Image[uint8]{d.coarse(l.MatteA), d.coarse(l.MatteB)}
	holes := frame.NewImage[uint8](l.Front.Width, l.Front.Height)
	for i, v := range mattes[0].Pix {
		if v < solid {
			holes.Pix[i] = 255
		}
	}
	front := d.filled(l.Front, holes)
	d.front = &foreground{[2]frame.Image[uint8]{l.MatteA, l.MatteB}, front}

	bounds := image.Rectangle{}
	d.along(mattes, func(r image.Rectangle) { bounds = bounds.Union(r) })
	edge := drawnEdge(d.picture.Dy())
	d.widen(bounds, edge)
	if bounds.Empty() || d.window.Empty() {
		return false
	}
	hard := frame.NewImage[uint16](d.window.Dx(), d.window.Dy())
	d.along(mattes, func(r image.Rectangle) {
		r = r.Intersect(d.window).Sub(d.window.Min)
		for y := r.Min.Y; y < r.Max.Y; y++ {
			row := hard.Row(y)[r.Min.X:r.Max.X]
			for x := range row {
				row[x] = maskOne
			}
		}
	})
	d.way = d.soft(hard, wayMargin*edge, 4)
	for i, m := range d.front.mattes {
		hard.Clear()
		for y := range hard.Height {
			row, out := m.Row(d.window.Min.Y + y)[d.window.Min.X:], hard.Row(y)
			for x := range out {
				out[x] = uint16((int(row[x])*maskOne + 127) / 255)
			}
		}
		d.hidden[i] = d.soft(hard, edge, 4)
	}
	d.surround(l.Back, d.untrusted(l.Back, mattes))
	for _, v := range front.Pix {
		d.longest = max(d.longest, int(max(v.X, -v.X, v.Y, -v.Y))<<d.level>>positionBits+1)
	}
	return true
}

// filled returns f with the nearest other vectors in its holes.
func (d *drawing) filled(f flow.Field, holes frame.Image[uint8]) flow.Field {
	out := flow.Field{Image: f.Clone()}
	filler := FlowFiller{Workers: d.workers}
	filler.Nearest(out, holes)
	return out
}

// untrusted marks the cells where the background's motion, back, cannot be seen, as the foreground hides it in
// A or in B.
func (d *drawing) untrusted(back flow.Field, mattes [2]frame.Image[uint8]) frame.Image[uint8] {
	marks, inB := dilate(d.workers, mattes[0], reach), dilate(d.workers, mattes[1], reach)
	either := frame.NewImage[uint8](marks.Width, marks.Height)
	for i, v := range marks.Pix {
		either.Pix[i] = v | inB.Pix[i]
	}
	motion := d.filled(back, either)
	for y := range marks.Height {
		row := marks.Row(y)
		for x, v := range motion.Row(y) {
			bx, by := x+int(v.X+positionOne/2)>>positionBits, y+int(v.Y+positionOne/2)>>positionBits
			row[x] |= inB.Row(min(max(by, 0), inB.Height-1))[min(max(bx, 0), inB.Width-1)]
		}
	}
	return marks
}

// along calls f for squares that cover the way of the foreground.
func (d *drawing) along(mattes [2]frame.Image[uint8], f func(image.Rectangle)) {
	const least, apart = 8, 2 * positionOne
	side := 1 << d.level
	for y := range mattes[0].Height {
		a, b, motion := mattes[0].Row(y), mattes[1].Row(y), d.front.motion.Row(y)
		for x := range a {
			at := image.Rect(x*side, y*side, (x+1)*side, (y+1)*side)
			if b[x] >= least {
				f(at)
			}
			if a[x] < least {
				continue
			}
			v := motion[x]
			n := int(max(v.X, -v.X, v.Y, -v.Y))/apart + 1
			for i := range n + 1 {
				f(at.Add(image.Pt(int(v.X)*i/n<<d.level>>positionBits, int(v.Y)*i/n<<d.level>>positionBits)))
			}
		}
	}
}

// followTurns is how often the motion is looked up at the place that it led to.
const followTurns = 4

// over returns v, the background's sample at (x, y), with the foreground over it.
func (p *drawnPlane[T]) over(x, y int, v float32) float32 {
	ax, ay := int32(x)<<positionBits, int32(y)<<positionBits
	var dx, dy int32
	for range followTurns {
		dx, dy = p.frontMotion(ax, ay)
		ax, ay = int32(x)<<positionBits-toward(dx, p.phase), int32(y)<<positionBits-toward(dy, p.phase)
	}
	places := [2][2]int32{{ax, ay}, {ax + dx, ay + dy}}
	var all, solid uint64
	var sum float32
	for i, share := range [2]uint64{uint64(PhaseOne - p.phase), uint64(p.phase)} {
		at := places[i]
		if !p.inside(at[0], at[1]) {
			continue
		}
		all += share * 255
		if w := share * p.matteAt(i, at[0], at[1]); w > 0 {
			solid += w
			sum += float32(p.read(i, at[0], at[1]) * float32(w))
		}
	}
	if solid == 0 {
		return v
	}
	return v + float32((float32(sum/float32(solid))-v)*float32(float32(solid)/float32(all)))
}

// picturePlace returns a place in a plane, in 1/256 sample, in 1/256 pixel of the picture.
func picturePlace(at int32, s int) int { return (int(at)+positionOne/2)<<s - positionOne/2 }

// matteAt returns matte i at a place, in 1/256 sample, interpolated bilinearly.
func (p *drawnPlane[T]) matteAt(i int, x, y int32) uint64 {
	m := p.front.mattes[i]
	cx, cy := picturePlace(x, p.sx), picturePlace(y, p.sy)
	px, fx := cellAt(cx, m.Width)
	py, fy := cellAt(cy, m.Height)
	upper, lower := m.Row(py), m.Row(min(py+1, m.Height-1))
	right := min(px+1, m.Width-1)
	top := int(upper[px])*(positionOne-fx) + int(upper[right])*fx
	bottom := int(lower[px])*(positionOne-fx) + int(lower[right])*fx
	return uint64((top*(positionOne-fy) + bottom*fy + 1<<15) >> 16)
}

// cellAt returns the last of n samples whose centre is not after a place in 1/256 sample, and how far the place
// is beyond it.
func cellAt(at, n int) (first, part int) {
	if at < 0 {
		return 0, 0
	}
	if first = at >> positionBits; first >= n-1 {
		return n - 1, 0
	}
	return first, at & (positionOne - 1)
}

// frontMotion returns the foreground's motion, in 1/256 sample, at a place in A.
func (p *drawnPlane[T]) frontMotion(x, y int32) (dx, dy int32) {
	f := &p.front.motion
	cell := func(at int32, s int) int { return (picturePlace(at, s)+positionOne/2)>>p.level - positionOne/2 }
	px, fx := cellAt(cell(x, p.sx), f.Width)
	py, fy := cellAt(cell(y, p.sy), f.Height)
	v := motionBetween(f, px, py, int64(fx), int64(fy))
	return v.X << p.level >> p.sx, v.Y << p.level >> p.sy
}
