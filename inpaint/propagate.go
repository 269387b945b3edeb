package inpaint

import (
	"sync/atomic"

	"retime/frame"
)

// accumulator sums the samples that reach a hole pixel: at most one from each
// direction, so that weight stays below 64*2^24 and sum below 64*2^24*2^16 = 2^46.
type accumulator struct {
	sum, weight uint64
}

// propagate replaces each hole pixel by the weighted mean of the border pixels whose
// lines reach it.
func propagate[T frame.Sample](p *Inpainter, img frame.Image[T]) {
	r := &p.region
	p.accum = frame.Resize(p.accum, r.pixels)
	clear(p.accum)
	p.samples = frame.Resize(p.samples, len(r.border))
	for i, b := range r.border {
		p.samples[i] = uint16(img.Pix[int(b.y)*img.Stride+int(b.x)])
	}
	// The lines of one direction do not meet, so no two workers write to the same
	// pixel.
	for i, d := range p.directions {
		p.Workers.Rows(len(r.border), func(b0, b1 int) {
			trace(r, p.accum, d, p.weights[i], r.border[b0:b1], p.samples[b0:b1])
		})
	}
	var unreached atomic.Bool
	p.Workers.Rows(len(r.runs), func(i0, i1 int) {
		if !normalise(r.runs[i0:i1], img, p.accum) {
			unreached.Store(true)
		}
	})
	if unreached.Load() {
		propagateRest(p, img)
	}
}

// trace propagates the samples of border pixels along d. Each line ends at the edge of
// the hole.
func trace(r *region, accum []accumulator, d Direction, weights []uint32, border []borderPixel, samples []uint16) {
	index := r.index
	major, minor := 1, r.stride
	if d.Vertical {
		major, minor = minor, major
	}
	major *= d.Sign
	slope := d.Sign * d.Slope
	weights = weights[1:]

	var starts [startsSize]start
	for len(border) > 0 {
		tile := min(len(border), startsSize)
		n := findStarts(&starts, r, d, border[:tile], samples[:tile])
		border, samples = border[tile:], samples[tile:]
		for _, s := range starts[:n] {
			at, e := s.at, s.e
			for _, w := range weights {
				e += slope
				at += major + (e>>slopeBits)*minor
				e &= slopeOne - 1
				i := index[at]
				if i < 0 {
					break
				}
				a := &accum[i]
				a.sum += uint64(w) * s.sample
				a.weight += uint64(w)
			}
		}
	}
}

// startsSize is the number of border pixels that findStarts examines at once, a power
// of two.
const startsSize = 256

// start describes a line that is about to enter a hole: the border pixel's position in
// the index, the error term at that pixel and the sample.
type start struct {
	at, e  int
	sample uint64
}

// findStarts lists the lines along d whose first step leads from a border pixel into a
// hole, and returns their number. About half the pixels start a line, in an order that
// no processor predicts, so findStarts does not branch on it.
func findStarts(starts *[startsSize]start, r *region, d Direction, border []borderPixel, samples []uint16) int {
	major, minor := 1, 3
	if d.Vertical {
		major, minor = minor, major
	}
	slope := d.Sign * d.Slope
	samples = samples[:len(border)]
	n := 0
	for i := range border {
		b := &border[i]
		along := b.x
		if d.Vertical {
			along = b.y
		}
		e := (int(along)*d.Slope + slopeOne/2) & (slopeOne - 1)
		first := 4 + major*d.Sign + (e+slope)>>slopeBits*minor
		starts[n%startsSize] = start{r.at(int(b.x), int(b.y)), e, uint64(samples[i])}
		n += int(b.holes >> (first & 31) & 1)
	}
	return n
}

// normalise stores the means, rounded half up. It reports whether lines reached every
// pixel of the runs.
func normalise[T frame.Sample](runs []run, img frame.Image[T], accum []accumulator) bool {
	all := true
	for _, h := range runs {
		row := img.Row(int(h.y))[h.x0:h.x1]
		for i, a := range accum[h.first:][:len(row)] {
			if a.weight == 0 {
				all = false
				continue
			}
			row[i] = T((a.sum + a.weight/2) / a.weight)
		}
	}
	return all
}

// propagateRest fills the pixels that no line reached from those that lines did reach.
// The axes are among the directions, so propagate has filled every row and column that
// has a known pixel. Now each row has one, and the second pass reaches everything.
func propagateRest[T frame.Sample](p *Inpainter, img frame.Image[T]) {
	if p.rest == nil {
		p.rest = &Inpainter{directions: p.directions}
	}
	p.rest.Workers = p.Workers
	p.restMask.Resize(img.Width, img.Height)
	p.restMask.Clear()
	for _, h := range p.region.runs {
		row := p.restMask.Row(int(h.y))[h.x0:h.x1]
		for i, a := range p.accum[h.first:][:len(row)] {
			if a.weight == 0 {
				row[i] = 255
			}
		}
	}
	p.rest.SetMask(p.restMask)
	propagate(p.rest, img)
}
