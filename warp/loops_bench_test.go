//go:build linux

package warp

import (
	"testing"

	"retime/flow"
	"retime/frame"
	"retime/frame/simd"
	"retime/warp/bspline"
)

func BenchmarkLoops(b *testing.B) {
	const width, height = 960, 540
	r := newTrial(b, 1, true)
	h := r.hypotheses(13, width, height)
	smoothMotions(r, h)
	s, layers := newScene[uint8](r, 1, 1, [2]int{1, 1}, 2*width, 2*height, 255)
	s.hypotheses, s.taps = h, newTaps(bspline.Cubic)
	coarse, blocks := newScene[uint8](r, 1, 2, [2]int{1, 1}, 2*width, 2*height, 255)
	coarse.taps = s.taps
	coarse.hypotheses = r.hypotheses(13, width/2, height/2)
	smoothMotions(r, coarse.hypotheses)
	// Three planes of 1080p, each sample read once from one neighbour.
	single, planes := newScene[uint8](r, 1, 1, [2]int{1, 1}, 2*width, 2*height, 255)
	single.taps, single.bend = s.taps, flow.Field{}
	single.hypotheses = []*hypothesis{{kind: onlyFirst, motion: h[0].motion, weight: h[0].weight}}
	x, y, out, src := r.guide(width, height), r.guide(width, height), r.words(width, height, 2), r.words(width, height, 4000)
	columns, rows := width/choiceSize, height/choiceSize
	energies, motions := make([]int16, columns*rows*len(h)), make([]flow.Vec, columns*rows*len(h))
	dst := flow.NewField(width, height)
	inverse := reciprocals(5)
	c := &chooser{labels: len(h), energies: energies, motions: motions, sums: make([]int16, len(energies)), guide: r.guide(columns, rows)}
	m := Motion{Flow: h[0].motion, Phase: PhaseOne / 2, Weight: src}
	b0 := &band{width: width, y1: height}
	b0.vectors = make([]vectorSum, b0.size())
	once := &band{width: width, y1: height}
	once.vectors = make([]vectorSum, once.size())
	for y := range height {
		loops.addVectors(once, h[0].motion, &m, y, 0, width)
	}
	masks := frame.NewImage[uint8](width, height)
	const size = cellSize / 2
	e := &evidence{
		inner: h[0].motion, outer: h[1].motion, innerError: src, outerError: src,
		innerFactor: PhaseOne, outerFactor: PhaseOne, limit: largestChange << positionBits, size: size,
	}
	side := &changes{}
	side.cells.Resize(width/size, (height+size-1)/size)
	side.motion.Resize(width/size, (height+size-1)/size)
	cells := frame.NewImage[[2]float32](width/size, (height+size-1)/size)
	stirred := newSoftening(r, 2*width, 2*height, -1)
	stirred.blurred = r.words(2*width, 2*height, 1)
	for _, loop := range []struct {
		name string
		run  func(l loopTable)
	}{
		{"disagreement", func(l loopTable) { l.disagreement(out, x, y, h[0].motion, flow.Field{}, PhaseOne/2, 0, height) }},
		{"disagreementBeyond", func(l loopTable) { l.disagreementBeyond(out, x, y, h[0].motion, PhaseOne/2, 1, 0, height) }},
		{"warpError", func(l loopTable) { l.warpError(out, x, y, h[0].motion, 0, height) }},
		{"boxMean", func(l loopTable) { l.boxMean(out, src, 2, inverse, 0, height) }},
		{"halve", func(l loopTable) {
			for y := range height / 2 {
				l.halve(masks.Row(y)[:width/2], x.Row(2*y), x.Row(2*y+1))
			}
		}},
		{"median", func(l loopTable) { l.median(dst, h[0].motion, -1, 0, height) }},
		{"weigh", func(l loopTable) { l.weigh(h, 0, width*height) }},
		{"cellMeans", func(l loopTable) { l.cellMeans(h, energies, motions, 0, rows) }},
		{"share", func(l loopTable) { l.share(h, energies, columns, rows, 0, height) }},
		{"follow", func(l loopTable) {
			l.follow(c, 0, columns, rows, 1, columns)
			l.follow(c, 0, 1, columns, columns, rows)
		}},
		{"extents", func(l loopTable) {
			reached := make([]span, (width+cellWidth-1)/cellWidth)
			for y := range height {
				l.extents(reached, h[0].motion.Row(y))
			}
		}},
		{"addVectors", func(l loopTable) {
			for y := range height {
				for x := 0; x < width; x += cellWidth {
					l.addVectors(b0, h[0].motion, &m, y, x, x+cellWidth)
				}
			}
		}},
		{"storeVectors", func(l loopTable) {
			for y := range height {
				l.storeVectors(dst.Row(y), masks.Row(y), row(once, once.vectors, y), leastTrust)
			}
		}},
		{"average", func(l loopTable) {
			for y := range height {
				l.average(dst.Row(y), []estimate{{forward: *h[0], reverse: *h[1]}}, y)
			}
		}},
		{"floats", func(l loopTable) { l.floats8(layers[0].ca[0].Pix[:len(layers[0].a[0].Pix)], layers[0].a[0].Pix) }},
		{"accelerations", func(l loopTable) { l.accelerations(side, e, 0, height/size) }},
		{"spread", func(l loopTable) { l.spread(dst, cells, 1, 0, height) }},
		{"smoothAcross", func(l loopTable) { l.smoothAcross(out, src, 0, height) }},
		{"smoothDown", func(l loopTable) { l.smoothDown(out, src, 0, height) }},
		{"render 2x2", func(l loopTable) { l.render8(s, layers, 0, height) }},
		{"sampling", func(l loopTable) { l.render8(single, planes, 0, height) }},
		{"soften", func(l loopTable) {
			stirred.eachLine(frame.Workers{N: 1}, 2*height, 0, func(spans []calmSpan, y0, y1 int) {
				l.soften8(stirred, layers[0].a[0], spans, 0, 0, y0, y1)
			})
		}},
		{"render 4x4", func(l loopTable) { l.render8(coarse, blocks, 0, height/2) }},
	} {
		for _, level := range simd.Levels() {
			l := variant(level)
			b.Run(loop.name+"/"+level.String(), func(b *testing.B) {
				for b.Loop() {
					loop.run(l)
				}
			})
		}
	}
}

// smoothMotions makes motions and weights like those of pictures: most hypotheses agree at
// most places.
func smoothMotions(r *trial, list []*hypothesis) {
	for k, h := range list {
		h.motion = flow.NewField(h.weight.Width, h.weight.Height)
		for i := range h.motion.Pix {
			h.motion.Pix[i] = flow.Vec{X: 700 + int32(i%64) + int32(i>>16), Y: -310}
			if k%5 == 4 && i>>10%8 == 0 {
				h.motion.Pix[i].X = 90
			}
			h.weight.Pix[i] = uint16(3000 + r.IntN(1000))
			if k > 1 && i>>7%2 == 0 {
				h.weight.Pix[i] = uint16(r.IntN(30))
			}
		}
	}
}
