package restore

import (
	"slices"

	"retime/flow"
	"retime/flow/dis"
	"retime/frame"
	"retime/warp"
)

// Motion is compared by its mean in each cell of a coarse grid.
const (
	motionX = 16
	motionY = 9
	// motionWidth bounds the width, in pixels, of the pictures whose flow is estimated.
	motionWidth = 240
)

// motion is the mean flow in each cell between two successive frames, in pixels of the
// reduced picture.
type motion [motionX * motionY][2]float64

// jumps finds frames that are missing although the timestamps have no gap: there, the motion is a
// multiple of the motion just before and after.
type jumps struct {
	estimator *dis.Estimator
	last      frame.Image[uint8]
	field     flow.Field
	window    []motion // up to each of the last frames
	count     int      // frames so far
	found     []jump
	medians   []float32 // multiples of the motion around, by frame; 0 where too little is steady to tell
}

// jump is a frame before which others are missing.
type jump struct {
	number  int
	missing int
	score   float64 // share of the cells that jump
}

func newJumps(workers frame.Workers) (*jumps, error) {
	e, err := dis.New(dis.Local(), workers)
	if err != nil {
		return nil, err
	}
	return &jumps{estimator: e}, nil
}

// close frees the estimator.
func (j *jumps) close() { j.estimator.Close() }

// add takes the next frame's luma.
func (j *jumps) add(luma frame.Image[uint8]) error {
	for luma.Width > motionWidth {
		luma = warp.Halve(luma)
	}
	j.count++
	j.medians = append(j.medians, 0)
	before := j.last
	j.last = luma
	if j.count == 1 {
		return nil
	}
	if err := j.estimator.Estimate(before, luma, &j.field, nil, false); err != nil {
		return err
	}
	if j.window = append(j.window, cellMeans(j.field)); len(j.window) > jumpWindow {
		j.window = j.window[1:]
	}
	if len(j.window) == jumpWindow {
		j.judge()
	}
	return nil
}

func cellMeans(f flow.Field) (m motion) {
	for cy := range motionY {
		y0, y1 := cell(cy, motionY, f.Height)
		for cx := range motionX {
			x0, x1 := cell(cx, motionX, f.Width)
			var sx, sy int64
			for y := y0; y < y1; y++ {
				for _, v := range f.Row(y)[x0:x1] {
					sx, sy = sx+int64(v.X), sy+int64(v.Y)
				}
			}
			n := float64((y1-y0)*(x1-x0)) * flow.One
			m[cy*motionX+cx] = [2]float64{float64(sx) / n, float64(sy) / n}
		}
	}
	return m
}

// jumpWindow is the number of motions to compare: the jump and two on either side.
const jumpWindow = 5

// Motion jumps if, in most of the cells in which it is steady before and after, it is a multiple of
// that steady motion in between. There must be at least jumpCells steady cells, and the median
// multiple must be at least jumpLeast. A cell is steady if each of the four motions around differs
// from their mean by at most jumpSteady times the mean.
const (
	jumpCells  = 8
	jumpLeast  = 1.5
	jumpMost   = 4.5
	jumpMoving = 0.3 // pixels of the reduced picture, at least
	jumpSteady = 0.5 // of the motion, at most
	jumpShare  = 0.7 // of the steady cells jump, at least
)

// A jump stands out if motion is steady in at least a fifth of the frames around, and no multiple in nine tenths of these: a
// shaking hand makes jumps of its own.
const (
	jumpAround = 24 // frames on either side
	jumpTells  = 5
	jumpOdd    = 10
	jumpUneven = 0.45
)

// standsOut reports whether motion around frame n is steady enough for a jump there to tell.
func (j *jumps) standsOut(n int) bool {
	asked, steady, odd := 0, 0, 0
	for k := max(n-jumpAround, 0); k <= min(n+jumpAround, len(j.medians)-1); k++ {
		if abs(k-n) < jumpWindow-1 {
			continue
		}
		asked++
		if m := j.medians[k]; m != 0 {
			steady++
			if m < 1-jumpUneven || m > 1+jumpUneven {
				odd++
			}
		}
	}
	return jumpTells*steady >= asked && jumpOdd*odd <= steady
}

// judge records a jump in the window's middle.
func (j *jumps) judge() {
	w := j.window
	var factors []float64
	for i, v := range w[jumpWindow/2] {
		if m, ok := steadyCell(i, &w[0], &w[1], &w[3], &w[4]); ok {
			factors = append(factors, (v[0]*m[0]+v[1]*m[1])/(m[0]*m[0]+m[1]*m[1]))
		}
	}
	if len(factors) < jumpCells {
		return
	}
	slices.Sort(factors)
	number := j.count - 1 - jumpWindow/2
	median := factors[len(factors)/2]
	j.medians[number] = float32(median)
	if median < jumpLeast || median > jumpMost {
		return
	}
	first, _ := slices.BinarySearch(factors, jumpLeast)
	share := float64(len(factors)-first) / float64(len(factors))
	if share >= jumpShare {
		j.found = append(j.found, jump{number, max(int(median+0.5)-1, 1), share})
	}
}

// steadyCell returns the mean of a cell's motions, if the cell is steady.
func steadyCell(i int, motions ...*motion) (mean [2]float64, ok bool) {
	for _, m := range motions {
		mean[0] += m[i][0] / float64(len(motions))
		mean[1] += m[i][1] / float64(len(motions))
	}
	power := mean[0]*mean[0] + mean[1]*mean[1]
	if power < jumpMoving*jumpMoving {
		return mean, false
	}
	for _, m := range motions {
		dx, dy := m[i][0]-mean[0], m[i][1]-mean[1]
		if dx*dx+dy*dy > jumpSteady*jumpSteady*power {
			return mean, false
		}
	}
	return mean, true
}
