package warp

import (
	"image"
	"math"

	"retime/flow"
	"retime/frame"
	"retime/warp/bspline"
)

// Drawn is a motion that somebody has drawn: what lies in an outline in A goes as Motion says and is
// at its end in B.
type Drawn struct {
	// Outline has the corners of a polygon in A, x and y in pixels from the upper left corner.
	Outline [][2]float64
	Motion  Similarity
}

// outline returns the corners at a phase, relative to a place.
func (d *Drawn) outline(phase Phase, from image.Point) [][2]float64 {
	motion, list := d.Motion.at(phase), make([][2]float64, len(d.Outline))
	for i, c := range d.Outline {
		p := motion.move(complex(c[0], c[1]))
		list[i] = [2]float64{real(p) - float64(from.X), imag(p) - float64(from.Y)}
	}
	return list
}

// Way returns outlines of the thing from A to B, for a picture of a height.
func (d *Drawn) Way(height int) (outlines [][][2]float64) {
	for _, phase := range d.steps(drawnEdge(height)) {
		outlines = append(outlines, d.outline(phase, image.Point{}))
	}
	return outlines
}

// FollowDrawn shows in dst, which is a frame made between a and b at a phase, the things that drawn
// motions are about, a later one over an earlier one. The ground around their way from a to b is
// made again without them: each place is read from whichever neighbour shows it, along the motion of
// the surroundings. f is the flow from a to b, on guides that were halved level
// times.
func FollowDrawn(workers frame.Workers, dst, a, b *frame.Frame, f flow.Field, level int, phase Phase, list []Drawn) error {
	filter, err := bspline.NewPrefilter[float32](bspline.Cubic, bspline.WholeSymmetric, precision)
	if err != nil {
		return err
	}
	d := &drawing{workers: workers, level: level, phase: phase, filter: filter, taps: newTaps(bspline.Cubic), picture: image.Rect(0, 0, dst.Width, dst.Height)}
	if !d.begin(list) {
		return nil
	}
	d.surround(f, d.onWay(f))
	return d.draw(dst, a, b)
}

// draw draws what was begun in all planes.
func (d *drawing) draw(dst, a, b *frame.Frame) (err error) {
	light := lightOf(a)
	for i := range dst.Planes {
		sx, sy := dst.Format.Subsampling(i)
		if dst.Format.Bytes() == 1 {
			err = drawPlane[uint8](d, dst.Planes[i], [2]frame.Plane{a.Planes[i], b.Planes[i]}, light, sx, sy, dst.Format.Max())
		} else {
			err = drawPlane[uint16](d, dst.Planes[i], [2]frame.Plane{a.Planes[i], b.Planes[i]}, light, sx, sy, dst.Format.Max())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// drawing is the state of FollowDrawn. Its masks are of the pixels in the window, from 0 to maskOne.
type drawing struct {
	workers frame.Workers
	level   int
	phase   Phase
	filter  *bspline.Prefilter[float32]
	taps    *taps

	picture, window image.Rectangle
	things          []drawnThing
	hidden          [2]frame.Image[uint16] // where things are in A, and in B
	way             frame.Image[uint16]    // from A to B, with a margin
	front           *foreground            // nil for things alone

	cells   image.Rectangle // of the guides' grid
	motion  flow.Field      // of the surroundings, in the cells
	longest int             // of these motions, in pixels of the picture
}

// drawnThing is a thing at the time of the made frame.
type drawnThing struct {
	mask frame.Image[uint16]
	back Similarity // to its place in A
	on   Similarity // from there to its place in B
}

const maskOne = 256

// Hands draw outlines a few pixels of the screen beside the edge, so that margins grow with the
// picture. drawnEdge is half the width of a thing's soft edge for a picture of a height.
func drawnEdge(height int) int { return max((height+180)/360, 1) }

// The margins in which a neighbour counts as hidden, and around the way, in edges: where an
// estimator fails at a thing, it fails beside it, too.
const (
	hiddenMargin = 2
	wayMargin    = 6
)

// begin sets the masks, or reports that all things stay outside the picture.
func (d *drawing) begin(list []Drawn) bool {
	edge := drawnEdge(d.picture.Dy())
	bounds := image.Rectangle{}
	for i := range list {
		for _, outline := range list[i].Way(d.picture.Dy()) {
			bounds = bounds.Union(within(outline, d.picture))
		}
	}
	d.widen(bounds, edge)
	if bounds.Empty() || d.window.Empty() {
		return false
	}
	var hard frame.Image[uint16]
	mask := func(things []Drawn, radius, gain int, phases func(*Drawn) []Phase) frame.Image[uint16] {
		hard.Resize(d.window.Dx(), d.window.Dy())
		hard.Clear()
		for i := range things {
			for _, phase := range phases(&things[i]) {
				frame.FillPolygon(hard, things[i].outline(phase, d.window.Min), maskOne)
			}
		}
		return d.soft(hard, radius, gain)
	}
	at := func(phase Phase) func(*Drawn) []Phase {
		return func(*Drawn) []Phase { return []Phase{phase} }
	}
	d.hidden[0] = mask(list, hiddenMargin*edge, 4, at(0))
	d.hidden[1] = mask(list, hiddenMargin*edge, 4, at(PhaseOne))
	d.way = mask(list, wayMargin*edge, 4, func(m *Drawn) []Phase { return m.steps(edge) })
	for i := range list {
		back := list[i].Motion.at(d.phase).inverse()
		d.things = append(d.things, drawnThing{mask(list[i:i+1], edge, 1, at(d.phase)), back, list[i].Motion})
	}
	return true
}

// widen sets the window to bounds with all margins.
func (d *drawing) widen(bounds image.Rectangle, edge int) {
	const unit = 8 // whole samples of every plane, and cells of every grid
	d.window = bounds.Inset(-(wayMargin + hiddenMargin) * edge).Intersect(d.picture)
	d.window.Min.X, d.window.Min.Y = d.window.Min.X&^(unit-1), d.window.Min.Y&^(unit-1)
}

// maxSteps bounds how many outlines make up a way.
const maxSteps = 64

// steps returns phases between which no corner goes further than four times edge, or maxSteps.
func (d *Drawn) steps(edge int) (list []Phase) {
	longest := 0.0
	for _, c := range d.Outline {
		p := complex(c[0], c[1])
		longest = max(longest, math.Sqrt(square(d.Motion.move(p)-p)))
	}
	n := int(min(math.Ceil(longest/float64(4*edge)), maxSteps-1)) + 1
	for i := range n {
		list = append(list, Phase(PhaseOne*i/n))
	}
	return append(list, PhaseOne)
}

// within returns the part of r in which a polygon may have pixels.
func within(corners [][2]float64, r image.Rectangle) image.Rectangle {
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, c := range corners {
		left, right = min(left, c[0]), max(right, c[0])
		top, bottom = min(top, c[1]), max(bottom, c[1])
	}
	clip := func(v float64, high int) int { return int(min(max(v, 0), float64(high))) }
	return image.Rect(clip(math.Floor(left), r.Max.X), clip(math.Floor(top), r.Max.Y), clip(math.Ceil(right), r.Max.X), clip(math.Ceil(bottom), r.Max.Y))
}

// soft returns a mask with an edge that is 2/gain times the radius wide, and moved outward by
// 1 - 1/gain times the radius.
func (d *drawing) soft(hard frame.Image[uint16], radius, gain int) frame.Image[uint16] {
	var out frame.Image[uint16]
	boxMean(d.workers, &out, hard, radius)
	for i, v := range out.Pix {
		out.Pix[i] = uint16(min(int(v)*gain, maskOne))
	}
	return out
}

// onWay marks the cells of f's grid that are on the way.
func (d *drawing) onWay(f flow.Field) frame.Image[uint8] {
	marks := frame.NewImage[uint8](f.Width, f.Height)
	for y := range f.Height {
		py := y<<d.level - d.window.Min.Y
		if py < 0 || py >= d.way.Height {
			continue
		}
		row, mark := d.way.Row(py), marks.Row(y)
		for x := range mark {
			if px := x<<d.level - d.window.Min.X; px >= 0 && px < len(row) && row[px] > 0 {
				mark[x] = 255
			}
		}
	}
	return marks
}

// surround sets the motion of the surroundings: f outside the cells that are marked, and in these what f has at
// the nearest place outside, smoothed.
func (d *drawing) surround(f flow.Field, marks frame.Image[uint8]) {
	side := 1 << d.level
	border := image.Rect(d.window.Min.X>>d.level, d.window.Min.Y>>d.level, (d.window.Max.X+side-1)>>d.level, (d.window.Max.Y+side-1)>>d.level)
	d.cells = border.Inset(-1).Intersect(image.Rect(0, 0, f.Width, f.Height))
	d.motion = flow.NewField(d.cells.Dx(), d.cells.Dy())
	holes := frame.NewImage[uint8](d.cells.Dx(), d.cells.Dy())
	for y := range d.motion.Height {
		copy(d.motion.Row(y), f.Row(d.cells.Min.Y + y)[d.cells.Min.X:])
		copy(holes.Row(y), marks.Row(d.cells.Min.Y + y)[d.cells.Min.X:])
	}
	filler := FlowFiller{Workers: d.workers}
	filler.Nearest(d.motion, holes)
	radius := wayMargin * drawnEdge(d.picture.Dy()) >> d.level
	for range 2 {
		smoothHoles(d.motion, holes, radius)
	}
	longest := int32(0)
	for _, v := range d.motion.Pix {
		longest = max(longest, v.X, -v.X, v.Y, -v.Y)
	}
	d.longest = int(longest)<<d.level>>positionBits + 1
}

// smoothHoles sets the vectors in holes to their means over squares.
func smoothHoles(f flow.Field, holes frame.Image[uint8], radius int) {
	type sum struct{ x, y int64 }
	w, h := f.Width, f.Height
	sums := frame.NewImage[sum](w+1, h+1) // over all above and to the left
	for y := range h {
		above, out := sums.Row(y), sums.Row(y+1)
		var line sum
		for x, v := range f.Row(y) {
			line.x, line.y = line.x+int64(v.X), line.y+int64(v.Y)
			out[x+1] = sum{above[x+1].x + line.x, above[x+1].y + line.y}
		}
	}
	for y := range h {
		top, bottom := sums.Row(max(y-radius, 0)), sums.Row(min(y+radius+1, h))
		count := int64(min(y+radius+1, h) - max(y-radius, 0))
		out, mask := f.Row(y), holes.Row(y)
		for x := range out {
			if mask[x] == 0 {
				continue
			}
			l, r := max(x-radius, 0), min(x+radius+1, w)
			n := count * int64(r-l)
			out[x] = flow.Vec{
				X: int32((bottom[r].x - bottom[l].x - top[r].x + top[l].x) / n),
				Y: int32((bottom[r].y - bottom[l].y - top[r].y + top[l].y) / n),
			}
		}
	}
}
