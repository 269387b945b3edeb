package restore

import (
	"encoding/binary"
	"math"

	"retime/frame"
	"retime/pipeline/restore/swar"
	"retime/warp"
)

// Pictures are compared by a coarse grid of cells, so that small motion makes no
// difference.
const (
	cellsX = 32
	cellsY = 18
)

// The channels of a cell, in grey levels of 8 bits.
const (
	level   = iota // mean of luma
	texture        // mean difference of luma between neighbours in a row
	blue           // mean of chroma
	red
	channels
)

// signature summarises a picture: for each cell and channel, the value and the range of the values
// in the cell and its neighbours; and the reduced luma.
type signature struct {
	value, low, high [channels][cellsY][cellsX]uint8
	small            frame.Image[uint8]
}

// smallWidth bounds the width of reduced luma in pixels.
const smallWidth = 480

// newSignature measures f, whose luma is given. It keeps luma if that is small.
func newSignature(f *frame.Frame, luma frame.Image[uint8]) *signature {
	l := &signature{small: luma}
	for l.small.Width > smallWidth {
		l.small = warp.Halve(l.small)
	}
	measureLuma(l, luma)
	if !f.Format.RGB && f.Format.Planes >= 3 {
		for i, c := range []int{blue, red} {
			if f.Format.Bytes() == 2 {
				measurePlane(&l.value[c], frame.Samples[uint16](f.Planes[1+i]), f.Format.Depth-8)
			} else {
				measurePlane(&l.value[c], frame.Samples[uint8](f.Planes[1+i]), 0)
			}
		}
	}
	for c := range channels {
		for y := range cellsY {
			for x := range cellsX {
				l.low[c][y][x], l.high[c][y][x] = around(&l.value[c], x, y)
			}
		}
	}
	return l
}

// around returns the range of the values at most one cell away from x, y.
func around(v *[cellsY][cellsX]uint8, x, y int) (low, high uint8) {
	low, high = v[y][x], v[y][x]
	for j := max(y-1, 0); j <= min(y+1, cellsY-1); j++ {
		for i := max(x-1, 0); i <= min(x+1, cellsX-1); i++ {
			low, high = min(low, v[j][i]), max(high, v[j][i])
		}
	}
	return low, high
}

// measurePlane sets each cell to the mean of its samples. If the plane is smaller than
// the grid, cells share samples.
func measurePlane[T frame.Sample](to *[cellsY][cellsX]uint8, m frame.Image[T], shift int) {
	samples := columns{sums: make([]int, m.Width)}
	for cy := range cellsY {
		y0, y1 := cell(cy, cellsY, m.Height)
		for y := y0; y < y1; y++ {
			addRow(&samples, m.Row(y))
		}
		samples.finish()
		for cx := range cellsX {
			x0, x1 := cell(cx, cellsX, m.Width)
			to[cy][cx] = uint8(min(samples.total(x0, x1)/((y1-y0)*(x1-x0))>>shift, 255))
		}
		clear(samples.sums)
	}
}

// measureLuma sets the level and the texture of each cell.
func measureLuma(l *signature, m frame.Image[uint8]) {
	samples, steps := columns{sums: make([]int, m.Width)}, columns{sums: make([]int, m.Width)}
	for cy := range cellsY {
		y0, y1 := cell(cy, cellsY, m.Height)
		for y := y0; y < y1; y++ {
			addRow(&samples, m.Row(y))
			steps.addSteps(m.Row(y))
		}
		samples.finish()
		steps.finish()
		for cx := range cellsX {
			x0, x1 := cell(cx, cellsX, m.Width)
			l.value[level][cy][cx] = uint8(samples.total(x0, x1) / ((y1 - y0) * (x1 - x0)))
			l.value[texture][cy][cx] = uint8(steps.total(x0, x1-1) / ((y1 - y0) * max(x1-x0-1, 1)))
		}
		clear(samples.sums)
		clear(steps.sums)
	}
}

// cell returns the range of samples in cell i of n, at least one sample.
func cell(i, n, size int) (from, to int) {
	from = min(i*size/n, size-1)
	return from, max((i+1)*size/n, from+1)
}

func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}

// A cell strays if a value misses the ranges of both neighbours by more than odd levels, or if its
// pixels differ from both neighbours' pixels by more than odd levels and more than timesApart times
// as much as the neighbours' pixels from each other.
const (
	odd        = 10
	timesApart = 2.5
)

// strays returns the share of cells, of the upper rows, in which f fits neither a nor b although those fit each other.
//
// fa is how much the cells of f differ from those of a, and moved how much those before a differed. It keeps a shaking
// camera that comes back from counting.
func strays(a, f, b *signature, fa, moved *distance, rows int) float64 {
	n := 0
	for y := range rows {
		for x := range cellsX {
			if off := fa[y][x]; off > odd && off > timesApart*moved[y][x] && f.apart(a, b, off, moved[y][x], x, y) || f.misses(a, b, x, y) {
				n++
			}
		}
	}
	return float64(n) / float64(cellsX*rows)
}

// apart reports whether the pixels of a cell, which differ from a's by off, stray.
func (l *signature) apart(a, b *signature, off, moved float64, x, y int) bool {
	off = min(off, cellDistance(l.small, b.small, x, y))
	return off > odd && off > timesApart*max(cellDistance(a.small, b.small, x, y), moved)
}

func (l *signature) misses(a, b *signature, x, y int) bool {
	for c := range channels {
		if min(l.outside(a, c, x, y), l.outside(b, c, x, y))-b.outside(a, c, x, y) > odd {
			return true
		}
	}
	return false
}

// distance is the mean absolute difference of the pixels in each cell, in grey levels.
type distance [cellsY][cellsX]float64

func distances(a, b frame.Image[uint8]) *distance {
	var d distance
	for cy := range cellsY {
		for cx := range cellsX {
			d[cy][cx] = cellDistance(a, b, cx, cy)
		}
	}
	return &d
}

func cellDistance(a, b frame.Image[uint8], cx, cy int) float64 {
	x0, x1 := cell(cx, cellsX, a.Width)
	y0, y1 := cell(cy, cellsY, a.Height)
	sum := 0
	for y := y0; y < y1; y++ {
		sum += swar.SumDifferences(a.Row(y)[x0:x1], b.Row(y)[x0:x1])
	}
	return float64(sum) / float64((y1-y0)*(x1-x0))
}

// outside returns how far l's value is outside the range of a at x, y.
func (l *signature) outside(a *signature, c, x, y int) int {
	v := int(l.value[c][y][x])
	return max(v-int(a.high[c][y][x]), int(a.low[c][y][x])-v, 0)
}

// A flat picture is black up to the first of these levels of luma, and white from the
// second on.
const (
	darkest   = 40
	brightest = 200
	blanker   = 4 // times less spread than a flat picture beside it
)

// flat reports whether the picture shows nothing.
func (l *signature) flat() bool {
	_, spread := moments(&l.value[level])
	grain, _ := moments(&l.value[texture])
	return spread < 6 && grain < 4
}

// blank reports whether l shows nothing, where a shows something or is not as dark or bright.
func (l *signature) blank(a *signature) bool { return l.flat() && (!a.flat() || l.emptier(a)) }

// emptier reports whether l, which shows nothing, shows plainly less than a, or is not as dark or bright.
func (l *signature) emptier(a *signature) bool {
	mean, spread := moments(&l.value[level])
	before, spreadBefore := moments(&a.value[level])
	return math.Abs(mean-before) > odd || blanker*spread < spreadBefore
}

// kind returns the kind of damage of a picture that strays from a.
func (l *signature) kind(a *signature) Kind {
	mean, _ := moments(&l.value[level])
	before, _ := moments(&a.value[level])
	switch {
	case mean < darkest && l.blank(a):
		return Black
	case mean > brightest && l.blank(a):
		return White
	case math.Abs(mean-before) > odd && correlation(&l.value[level], &a.value[level]) > 0.9:
		return Flash
	}
	return Garbled
}

// moments returns the mean and the standard deviation of a channel.
func moments(v *[cellsY][cellsX]uint8) (mean, spread float64) {
	const n = cellsX * cellsY
	sum, squares := 0, 0
	for _, row := range v {
		for _, w := range row {
			sum += int(w)
			squares += int(w) * int(w)
		}
	}
	mean = float64(sum) / n
	return mean, math.Sqrt(max(float64(squares)/n-mean*mean, 0))
}

// correlation returns Pearson's coefficient, 0 if either channel is flat. Package
// motion computes its own, which is 1 for two flat pictures and rounds differently.
func correlation(a, b *[cellsY][cellsX]uint8) float64 {
	ma, sa := moments(a)
	mb, sb := moments(b)
	if sa == 0 || sb == 0 {
		return 0
	}
	sum := 0
	for y := range a {
		for x := range a[y] {
			sum += int(a[y][x]) * int(b[y][x])
		}
	}
	return (float64(sum)/(cellsX*cellsY) - ma*mb) / (sa * sb)
}

// columns adds rows up, column by column.
type columns struct {
	sums  []int
	words []uint64 // two for eight columns: of those at even places, and at odd ones
	rows  int      // in words, of the most that 16 bits hold
}

// addRow adds a row of samples.
func addRow[T frame.Sample](c *columns, row []T) {
	x := 0
	if r, bytes := any(row).([]uint8); bytes {
		w := c.begin(len(r) / 8)
		for ; x+8 <= len(r) && len(w) >= 2; x, w = x+8, w[2:] {
			v := binary.LittleEndian.Uint64(r[x:])
			w[0] += v & swar.Even
			w[1] += v >> 8 & swar.Even
		}
	}
	for ; x < len(row); x++ {
		c.sums[x] += int(row[x])
	}
}

// addSteps adds the absolute differences between a row's samples and the next ones; the last has none.
func (c *columns) addSteps(row []uint8) {
	x, w := 0, c.begin((len(row)-1)/8)
	for ; x+9 <= len(row) && len(w) >= 2; x, w = x+8, w[2:] {
		p, q := binary.LittleEndian.Uint64(row[x:]), binary.LittleEndian.Uint64(row[x+1:])
		w[0] += swar.Differences(p&swar.Even, q&swar.Even)
		w[1] += swar.Differences(p>>8&swar.Even, q>>8&swar.Even)
	}
	for ; x+1 < len(row); x++ {
		c.sums[x] += abs(int(row[x+1]) - int(row[x]))
	}
}

// begin makes room for another row of eight times count columns.
func (c *columns) begin(count int) []uint64 {
	if c.rows++; c.rows > 0xffff/0xff {
		c.finish()
		c.rows = 1
	}
	if c.words == nil {
		c.words = make([]uint64, 2*count)
	}
	return c.words
}

// finish takes what the words hold into the sums.
func (c *columns) finish() {
	for i := range len(c.words) / 2 {
		to := c.sums[8*i : 8*i+8]
		for k := range 4 {
			to[2*k] += int(c.words[2*i] >> (16 * k) & 0xffff)
			to[2*k+1] += int(c.words[2*i+1] >> (16 * k) & 0xffff)
		}
	}
	clear(c.words)
	c.rows = 0
}

// total returns the sum of the columns from x0 up to x1.
func (c *columns) total(x0, x1 int) (sum int) {
	for _, v := range c.sums[x0:x1] {
		sum += v
	}
	return sum
}
