package restore

import (
	"retime/frame"
	"retime/warp"
)

// What is left of a frame belongs to the scene of one neighbour if it differs from the other by at least otherScene grey
// levels in the mean, and ownScene times as much.
const (
	otherScene = 15
	ownScene   = 3
)

// ownSide returns the phase of a damaged frame between a and b, on the side of the one whose scene it belongs to: at a
// cut, the part that is damaged comes from the nearer of the two. The mask is of the damage.
func ownSide(phase warp.Phase, a, damaged, b *frame.Frame, mask frame.Image[uint8]) warp.Phase {
	x, y := unlike(a, damaged, mask), unlike(b, damaged, mask)
	switch {
	case y >= otherScene && y > ownScene*x:
		return min(phase, warp.PhaseOne/2-1)
	case x >= otherScene && x > ownScene*y:
		return max(phase, warp.PhaseOne/2+1)
	}
	return phase
}

// unlike returns the mean difference of two frames where mask is 0, in grey levels of 8 bits; 0 if it is nowhere.
func unlike(a, b *frame.Frame, mask frame.Image[uint8]) float64 {
	p, q := warp.Luma(a), warp.Luma(b)
	sum, n := 0, 0
	for y := 0; y < p.Height; y += 2 {
		rp, rq, rm := p.Row(y), q.Row(y), mask.Row(y)
		for x := 0; x < len(rp); x += 2 {
			if rm[x] == 0 {
				sum, n = sum+abs(int(rp[x])-int(rq[x])), n+1
			}
		}
	}
	return float64(sum) / float64(max(n, 1))
}
