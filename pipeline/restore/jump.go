package restore

import (
	"cmp"
	"math"
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
	faint   bool    // too few of them jump to count unless the motion around is even
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

// Motion jumps if, in most of the cells in which it is steady before and after, it is the same whole multiple of the motion
// that these suggest, and well above either of them. Fewer cells must agree better. A cell is steady if the motions just
// before and after stray from the expected one by at most jumpSteady times that, and those beyond by jumpOuter times.
const (
	jumpCells  = 6    // steady ones, at least
	jumpLost   = 3    // frames, at most
	jumpLeast  = 1.7  // the median multiple
	jumpFit    = 0.35 // of the multiple, up to which a cell may miss it
	jumpBeside = 1.5  // times the motion before and after, at least
	jumpMoving = 0.2  // pixels of the reduced picture, at least
	jumpSteady = 0.4
	jumpOuter  = 0.8
	jumpShare  = 0.55 // of the steady cells jump, at least,
	jumpFew    = 0.4  // and this over the root of their number
	// In even motion, these are enough.
	faintLeast = 1.5
	faintShare = 0.4
)

// Motion around a jump is even if it is steady in half of the frames, and in half of these its multiple is off 1 by at most evenOff.
const evenOff = 0.1

// A jump stands out if motion is steady in at least a fifth of the frames around, and no multiple in nine tenths of these: a
// shaking hand makes jumps of its own. Frames near other jumps are not asked.
const (
	jumpAround = 24 // frames on either side
	jumpTells  = 5
	jumpOdd    = 10
	jumpUneven = 0.6
)

// standsOut reports whether motion around frame n is steady enough for a jump there to tell.
func (j *jumps) standsOut(n int) bool {
	asked, steady, odd := 0, 0, 0
	for k := max(n-jumpAround, 0); k <= min(n+jumpAround, len(j.medians)-1); k++ {
		if abs(k-n) < jumpWindow-1 || slices.ContainsFunc(j.found, func(f jump) bool { return abs(f.number-k) < jumpWindow-1 }) {
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

// dropFaint forgets the faint jumps amid motion that is not even.
func (j *jumps) dropFaint() {
	j.found = slices.DeleteFunc(j.found, func(f jump) bool { return f.faint && !j.even(f.number) })
}

// even reports whether motion around frame n is.
func (j *jumps) even(n int) bool {
	asked := 0
	var off []float64
	for k := max(n-jumpAround, 0); k <= min(n+jumpAround, len(j.medians)-1); k++ {
		if abs(k-n) < jumpWindow-1 {
			continue
		}
		if asked++; j.medians[k] != 0 {
			off = append(off, math.Abs(float64(j.medians[k])-1))
		}
	}
	slices.Sort(off)
	return len(off) > 0 && 2*len(off) >= asked && off[len(off)/2] <= evenOff
}

// judge records a jump in the window's middle.
func (j *jumps) judge() {
	w := j.window
	var all []multiple
	for i, v := range w[jumpWindow/2] {
		if expected, ok := steadyCell(i, &w[0], &w[1], &w[3], &w[4]); ok {
			along, aside := resolve(v, expected)
			before, _ := resolve(w[1][i], expected)
			after, _ := resolve(w[3][i], expected)
			all = append(all, multiple{along, aside, max(before, after)})
		}
	}
	if len(all) < jumpCells {
		return
	}
	slices.SortFunc(all, func(a, b multiple) int { return cmp.Compare(a.along, b.along) })
	number := j.count - 1 - jumpWindow/2
	median := all[len(all)/2].along
	j.medians[number] = float32(median)
	steps := math.Round(median)
	if median < faintLeast || steps > jumpLost+1 {
		return
	}
	jumping := 0
	for _, m := range all {
		if max(math.Abs(m.along-steps), m.aside) < jumpFit*steps && m.along > jumpBeside*m.beside {
			jumping++
		}
	}
	count := float64(len(all))
	if share := float64(jumping) / count; share >= faintShare {
		faint := median < jumpLeast || share < jumpShare+jumpFew/math.Sqrt(count)
		j.found = append(j.found, jump{number, int(steps) - 1, share, faint})
	}
}

// multiple is how many times the expected motion of a cell its motion is, along that and across, and how many times the
// greater of the motions before and after is, along it.
type multiple struct{ along, aside, beside float64 }

// resolve returns the part of v along another vector, and the one across, as multiples of that vector.
func resolve(v, of [2]float64) (along, aside float64) {
	power := of[0]*of[0] + of[1]*of[1]
	return (v[0]*of[0] + v[1]*of[1]) / power, math.Abs(v[0]*of[1]-v[1]*of[0]) / power
}

// steadyCell returns the motion that a cell should have in the middle of four motions, two before and two after, if these are
// steady: by the cubic through them.
func steadyCell(i int, a, b, c, d *motion) (expected [2]float64, ok bool) {
	for k := range expected {
		expected[k] = (4*(b[i][k]+c[i][k]) - a[i][k] - d[i][k]) / 6
	}
	size := math.Hypot(expected[0], expected[1])
	off := func(m *motion) float64 { return math.Hypot(m[i][0]-expected[0], m[i][1]-expected[1]) }
	return expected, size >= jumpMoving && max(off(b), off(c)) <= jumpSteady*size && max(off(a), off(d)) <= jumpOuter*size
}
