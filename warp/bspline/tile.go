package bspline

import "retime/frame"

// lanes is the number of lines that are filtered side by side. Sixteen hide the latency of the
// recursion and, as float32, fill a cache line.
const lanes = 16

// tile is a group of lines laid out so that sample i of lane j is pix[i*lanes+j]: the
// columns of a picture, or its rows transposed. Lanes without a line have undefined
// contents.
type tile[T Float] struct {
	pix []T
	// carry holds, for each subregion, the output before it in the current pass.
	carry [][lanes]T
}

func (t *tile[T]) resize(length int) {
	if n := length * lanes; cap(t.pix) < n {
		t.pix = make([]T, n)
	} else {
		t.pix = t.pix[:n]
	}
	if n := (length + Region - 1) / Region; cap(t.carry) < n {
		t.carry = make([][lanes]T, n)
	} else {
		t.carry = t.carry[:n]
	}
}

// length returns the number of samples of a line.
func (t *tile[T]) length() int { return len(t.pix) / lanes }

// end returns the index after the last sample of subregion r.
func (t *tile[T]) end(r int) int { return min((r+1)*Region, t.length()) }

// samples returns samples [i0, i1) of every lane.
func (t *tile[T]) samples(i0, i1 int) []T { return t.pix[i0*lanes : i1*lanes] }

func (t *tile[T]) gatherColumns(img frame.Image[T], x, n, y0, y1 int) {
	if n == lanes {
		moveColumns(t.samples(y0, y1), lanes, img.Pix[y0*img.Stride+x:], img.Stride, y1-y0)
		return
	}
	for y := y0; y < y1; y++ {
		copy(t.samples(y, y+1), img.Row(y)[x:x+n])
	}
}

func (t *tile[T]) scatterColumns(img frame.Image[T], x, n, y0, y1 int) {
	if n == lanes {
		moveColumns(img.Pix[y0*img.Stride+x:], img.Stride, t.samples(y0, y1), lanes, y1-y0)
		return
	}
	for y := y0; y < y1; y++ {
		copy(img.Row(y)[x:x+n], t.samples(y, y+1))
	}
}

// moveColumns is moveRows by the loops in use.
func moveColumns[T Float](dst []T, dstStride int, src []T, srcStride, n int) {
	if dst, ok := any(dst).([]float32); ok {
		loops.move(dst, dstStride, any(src).([]float32), srcStride, n)
		return
	}
	moveRows(dst, dstStride, src, srcStride, n)
}

// moveRows copies n rows of lanes elements.
func moveRows[T Float](dst []T, dstStride int, src []T, srcStride, n int) {
	for i := range n {
		copy(dst[i*dstStride:][:lanes], src[i*srcStride:][:lanes])
	}
}

// half is the number of rows that are transposed together, with a cursor for each.
const half = lanes / 2

func (t *tile[T]) gatherRows(img frame.Image[T], y, n, x0, x1 int) {
	d := t.samples(x0, x1)
	for j := 0; j < n; j++ {
		if j%half == 0 && n-j >= half {
			moveIn(d[j:], img, y+j, x0, x1)
			j += half - 1
			continue
		}
		for x, v := range img.Row(y + j)[x0:x1] {
			d[x*lanes+j] = v
		}
	}
}

func (t *tile[T]) scatterRows(img frame.Image[T], y, n, x0, x1 int) {
	d := t.samples(x0, x1)
	for j := 0; j < n; j++ {
		if j%half == 0 && n-j >= half {
			moveOut(d[j:], img, y+j, x0, x1)
			j += half - 1
			continue
		}
		row := img.Row(y + j)[x0:x1]
		for x := range row {
			row[x] = d[x*lanes+j]
		}
	}
}

// moveIn and moveOut are transposeIn and transposeOut by the loops in use.
func moveIn[T Float](d []T, img frame.Image[T], y, x0, x1 int) {
	if d, ok := any(d).([]float32); ok {
		loops.transposeIn(d, any(img).(frame.Image[float32]), y, x0, x1)
		return
	}
	transposeIn(d, img, y, x0, x1)
}

func moveOut[T Float](d []T, img frame.Image[T], y, x0, x1 int) {
	if d, ok := any(d).([]float32); ok {
		loops.transposeOut(d, any(img).(frame.Image[float32]), y, x0, x1)
		return
	}
	transposeOut(d, img, y, x0, x1)
}

// transposeIn writes columns [x0, x1) of eight rows from y on to every lanes-th
// group of eight samples of d.
func transposeIn[T Float](d []T, img frame.Image[T], y, x0, x1 int) {
	r0 := img.Row(y)[x0:x1]
	r1 := img.Row(y + 1)[x0:x1][:len(r0)]
	r2 := img.Row(y + 2)[x0:x1][:len(r0)]
	r3 := img.Row(y + 3)[x0:x1][:len(r0)]
	r4 := img.Row(y + 4)[x0:x1][:len(r0)]
	r5 := img.Row(y + 5)[x0:x1][:len(r0)]
	r6 := img.Row(y + 6)[x0:x1][:len(r0)]
	r7 := img.Row(y + 7)[x0:x1][:len(r0)]
	for x := range r0 {
		c := (*[half]T)(d[x*lanes:])
		c[0], c[1], c[2], c[3] = r0[x], r1[x], r2[x], r3[x]
		c[4], c[5], c[6], c[7] = r4[x], r5[x], r6[x], r7[x]
	}
}

// transposeOut reverses transposeIn.
func transposeOut[T Float](d []T, img frame.Image[T], y, x0, x1 int) {
	r0 := img.Row(y)[x0:x1]
	r1 := img.Row(y + 1)[x0:x1][:len(r0)]
	r2 := img.Row(y + 2)[x0:x1][:len(r0)]
	r3 := img.Row(y + 3)[x0:x1][:len(r0)]
	r4 := img.Row(y + 4)[x0:x1][:len(r0)]
	r5 := img.Row(y + 5)[x0:x1][:len(r0)]
	r6 := img.Row(y + 6)[x0:x1][:len(r0)]
	r7 := img.Row(y + 7)[x0:x1][:len(r0)]
	for x := range r0 {
		c := (*[half]T)(d[x*lanes:])
		r0[x], r1[x], r2[x], r3[x] = c[0], c[1], c[2], c[3]
		r4[x], r5[x], r6[x], r7[x] = c[4], c[5], c[6], c[7]
	}
}
