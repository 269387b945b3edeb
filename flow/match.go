package flow

import (
	"fmt"

	"retime/frame"
)

// A Matcher finds, by exhaustive block matching, motion that is too large, or whose
// extent is too small, for a pyramid. It compares each block that fits badly along a
// given flow with every block within a window of the other picture, and suggests those
// that fit much better as an initial flow for a second estimate. The zero value is
// ready for use. A Matcher keeps its memory between calls. Only one goroutine at a time
// may use it.
type Matcher struct {
	Workers frame.Workers

	toB, toA []match
}

// match is the displacement of a block in the other picture, in pixels of the halved
// pictures, if the search found one.
type match struct {
	x, y  int32
	found bool
}

// Blocks have matchBlock by matchBlock pixels of the halved pictures and lie
// matchStride apart. The search compares them with displacements of up to matchReach
// pixels.
const (
	matchBlock  = 8
	matchStride = 4
	matchReach  = 48
)

// The search looks for a block if its mean difference along the flow is at least
// matchFault grey levels. The summed difference of a match, plus matchToll grey levels
// for each pixel of the match's length, must be at most half the sum along the flow,
// and the motion back from the match must end within matchSlack pixels of the start.
const (
	matchFault = 8
	matchToll  = 2
	matchSlack = 2
)

// Suggest sets toB and toA to initial flows from a to b and from b to a: the motion of
// the blocks that it found, and zero elsewhere. a and b are 8-bit luma pictures of one
// size. That size is half (rounded up) the size of forward and backward, the flows
// between a and b.
func (m *Matcher) Suggest(a, b frame.Image[uint8], forward, backward Field, toB, toA *Field) error {
	if a.Width != b.Width || a.Height != b.Height {
		return fmt.Errorf("flow: block matching: pictures of %dx%d and %dx%d", a.Width, a.Height, b.Width, b.Height)
	}
	for _, f := range []Field{forward, backward} {
		if (f.Width+1)/2 != a.Width || (f.Height+1)/2 != a.Height {
			return fmt.Errorf("flow: block matching: flow of %dx%d for halved pictures of %dx%d", f.Width, f.Height, a.Width, a.Height)
		}
	}
	columns, rows := blocks(a.Width), blocks(a.Height)
	m.toB, m.toA = grow(m.toB, columns*rows), grow(m.toA, columns*rows)
	m.search(m.toB, columns, a, b, forward)
	m.search(m.toA, columns, b, a, backward)
	toB.Resize(forward.Width, forward.Height)
	toA.Resize(forward.Width, forward.Height)
	paint(*toB, columns, m.toB, m.toA, backward)
	paint(*toA, columns, m.toA, m.toB, forward)
	return nil
}

// blocks returns the number of blocks that fit in a side of n pixels.
func blocks(n int) int { return max(0, (n-matchBlock)/matchStride+1) }

func grow(s []match, n int) []match {
	if cap(s) < n {
		return make([]match, n)
	}
	return s[:n]
}

// search looks in b for every block of a.
func (m *Matcher) search(found []match, columns int, a, b frame.Image[uint8], f Field) {
	if columns == 0 {
		return
	}
	m.Workers.Rows(len(found)/columns, func(r0, r1 int) {
		for r := r0; r < r1; r++ {
			for c := range columns {
				found[r*columns+c] = seek(a, b, c*matchStride, r*matchStride, f)
			}
		}
	})
}

// seek looks in b for the block of a at (x, y).
func seek(a, b frame.Image[uint8], x, y int, f Field) match {
	v := halved(f, x+matchBlock/2, y+matchBlock/2)
	fit := never
	for _, d := range [...][2]int{{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
		fit = min(fit, blockDifference(a, b, x, y, int(v.X)+d[0], int(v.Y)+d[1], fit))
	}
	if fit >= matchFault*matchBlock*matchBlock {
		fit = min(fit, blockError(a, b, x, y, f))
	}
	if fit < matchFault*matchBlock*matchBlock {
		return match{}
	}
	best, u, w := fit, 0, 0
	try := func(du, dw int) {
		toll := matchToll * max(du, -du, dw, -dw)
		if d := blockDifference(a, b, x, y, du, dw, best-toll); d+toll < best {
			best, u, w = d+toll, du, dw
		}
	}
	for dw := -matchReach; dw <= matchReach; dw++ {
		for du := -matchReach; du <= matchReach; du++ {
			try(du, dw)
		}
	}
	if 2*best > fit {
		return match{}
	}
	return match{int32(u), int32(w), true}
}

// halvedBits is log2 of the size of a pixel of the halved pictures in the units of a
// Vec.
const halvedBits = 9

// halved returns f at a pixel of the halved pictures, rounded to whole pixels of
// theirs.
func halved(f Field, x, y int) Vec {
	v := f.Pix[min(2*y, f.Height-1)*f.Stride+min(2*x, f.Width-1)]
	return Vec{X: (v.X + One) >> halvedBits, Y: (v.Y + One) >> halvedBits}
}

// never is above the difference of any two blocks.
const never = 256 * matchBlock * matchBlock

// blockDifference returns the sum of absolute differences between the block of a at (x,
// y) and the block of b displaced by (u, v). If the sum is at least limit,
// blockDifference returns any number of at least limit.
func blockDifference(a, b frame.Image[uint8], x, y, u, v, limit int) int {
	bx, by := x+u, y+v
	if bx < 0 || by < 0 || bx+matchBlock > b.Width || by+matchBlock > b.Height {
		return never
	}
	sum := 0
	for j := range matchBlock {
		p := (*[matchBlock]uint8)(a.Pix[(y+j)*a.Stride+x:])
		q := (*[matchBlock]uint8)(b.Pix[(by+j)*b.Stride+bx:])
		for i := range p {
			d := int(p[i]) - int(q[i])
			sum += max(d, -d)
		}
		if sum >= limit {
			break
		}
	}
	return sum
}

// blockError returns the sum of absolute differences between the block of a at (x, y)
// and b along f at the block's middle. It reads b bilinearly: with whole pixels alone,
// the next period of a fine pattern may fit better than the correct flow.
func blockError(a, b frame.Image[uint8], x, y int, f Field) int {
	v := f.Pix[min(2*(y+matchBlock/2), f.Height-1)*f.Stride+min(2*(x+matchBlock/2), f.Width-1)]
	px, py := x<<halvedBits+int(v.X), y<<halvedBits+int(v.Y)
	bx, by := px>>halvedBits, py>>halvedBits
	if bx < 0 || by < 0 || bx+matchBlock+1 > b.Width || by+matchBlock+1 > b.Height {
		return never
	}
	const unit = 1 << halvedBits
	fx, fy := px&(unit-1), py&(unit-1)
	sum := 0
	for j := range matchBlock {
		p := (*[matchBlock]uint8)(a.Pix[(y+j)*a.Stride+x:])
		upper := (*[matchBlock + 1]uint8)(b.Pix[(by+j)*b.Stride+bx:])
		lower := (*[matchBlock + 1]uint8)(b.Pix[(by+j+1)*b.Stride+bx:])
		for i := range p {
			u := int(upper[i])*(unit-fx) + int(upper[i+1])*fx
			l := int(lower[i])*(unit-fx) + int(lower[i+1])*fx
			d := int(p[i]) - (u*(unit-fy)+l*fy)>>(2*halvedBits)
			sum += max(d, -d)
		}
	}
	return sum
}

// paint sets dst to those matches that the matches back or the flow back confirm, and
// to zero elsewhere.
func paint(dst Field, columns int, there, back []match, f Field) {
	dst.Clear()
	const core = matchStride // pixels of the halved pictures in the middle of a block
	for k, m := range there {
		if !m.found {
			continue
		}
		x, y := k%columns*matchStride, k/columns*matchStride
		cx, cy := x+matchBlock/2+int(m.x), y+matchBlock/2+int(m.y)
		v := halved(f, cx, cy)
		c, r := max(0, cx-core/2)/matchStride, max(0, cy-core/2)/matchStride
		if i := min(r, len(back)/columns-1)*columns + min(c, columns-1); back[i].found {
			v = Vec{X: back[i].x, Y: back[i].y}
		}
		if dx, dy := v.X+m.x, v.Y+m.y; max(dx, -dx, dy, -dy) > matchSlack {
			continue
		}
		x, y = 2*x+core, 2*y+core
		for j := y; j < min(y+2*core, dst.Height); j++ {
			row := dst.Row(j)[x:min(x+2*core, dst.Width)]
			for i := range row {
				row[i] = Vec{X: 2 * One * m.x, Y: 2 * One * m.y}
			}
		}
	}
}
