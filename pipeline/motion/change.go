package motion

import (
	"math"

	"retime/flow"
	"retime/warp"
)

// Change is how much two neighbouring pictures differ, from 0 to 1.
type Change struct {
	unlike float64 // 1 minus the correlation along the flow, or in place if that is higher
	Lost   float64 // share of pixels whose forward and backward flows disagree
}

// CutScore is how likely the pictures belong to different scenes: the lesser of how unlike they are
// and how much of the flow is lost. Without a cut, either may still be high, the first in a flash,
// the second in a crowd. It leaves out histograms: they change more in a flash or a fade than at
// many a cut.
func (c Change) CutScore() float64 { return min(c.unlike, c.Lost) }

// CutThreshold is above the scores of flashes and fast motion, and below the scores of cuts;
// docs/quality.md has the figures.
const CutThreshold = 0.36

// Changes are measured on every changeStep-th pixel of every changeStep-th row.
const changeStep = 3

// strayed is how far, in 1/256 pixel of the guides, forward and backward flow may
// miss each other.
const strayed = flow.One

// Measure compares two guides along the flow between them.
func Measure(a, b Guide, f warp.FlowPair) Change {
	pa, pb := a.picture(), b.picture()
	var along, still, outside correlation // outside has no samples of b
	lost := 0
	for y := 0; y < pa.Height; y += changeStep {
		ra := pa.Row(y)
		rb, rf := pb.Row(y)[:len(ra)], f.Forward.Row(y)[:len(ra)]
		var sa, saa, sb, sbb, sab, st, stt, sat int // t for along the flow
		for x := 0; x < len(ra); x += changeStep {
			va, vb, v := int(ra[x]), int(rb[x]), rf[x]
			sa += va
			saa += va * va
			sb += vb
			sbb += vb * vb
			sab += va * vb
			tx, ty := x+int(v.X+flow.One/2)>>8, y+int(v.Y+flow.One/2)>>8
			if uint(tx) >= uint(pb.Width) || uint(ty) >= uint(pb.Height) {
				outside.n++
				outside.a += va
				outside.aa += va * va
				continue
			}
			vt, back := int(pb.Pix[ty*pb.Stride+tx]), f.Backward.Pix[ty*f.Backward.Stride+tx]
			st += vt
			stt += vt * vt
			sat += va * vt
			if uint32(v.X+back.X+strayed) > 2*strayed || uint32(v.Y+back.Y+strayed) > 2*strayed {
				lost++
			}
		}
		n := (len(ra) + changeStep - 1) / changeStep
		still.join(correlation{n, sa, sb, saa, sbb, sab})
		along.join(correlation{n, sa, st, saa, stt, sat})
	}
	along.n, along.a, along.aa = along.n-outside.n, along.a-outside.a, along.aa-outside.aa
	return changeOf(still, along, lost)
}

func changeOf(still, along correlation, lost int) Change {
	return Change{
		unlike: 1 - max(along.value(), still.value(), 0),
		Lost:   float64(lost) / float64(max(still.n, 1)),
	}
}

// correlation accumulates pairs of grey levels for Pearson's coefficient.
type correlation struct{ n, a, b, aa, bb, ab int }

func (c *correlation) add(a, b int) {
	c.n, c.a, c.b = c.n+1, c.a+a, c.b+b
	c.aa, c.bb, c.ab = c.aa+a*a, c.bb+b*b, c.ab+a*b
}

// join adds d's pairs.
func (c *correlation) join(d correlation) {
	c.n, c.a, c.b = c.n+d.n, c.a+d.a, c.b+d.b
	c.aa, c.bb, c.ab = c.aa+d.aa, c.bb+d.bb, c.ab+d.ab
}

// value is the coefficient; it is 1 if both pictures are flat, and 0 if only one is.
func (c *correlation) value() float64 {
	va, vb := c.n*c.aa-c.a*c.a, c.n*c.bb-c.b*c.b
	if va == 0 || vb == 0 {
		if va == vb {
			return 1
		}
		return 0
	}
	return float64(c.n*c.ab-c.a*c.b) / (math.Sqrt(float64(va)) * math.Sqrt(float64(vb)))
}

// Likeness is the correlation of two guides in place, from 0 to 1. The correlation that Measure
// uses is never less.
func Likeness(a, b Guide) float64 {
	pa, pb := a.picture(), b.picture()
	var still correlation
	for y := 0; y < pa.Height; y += changeStep {
		ra, rb := pa.Row(y), pb.Row(y)
		for x := 0; x < pa.Width; x += changeStep {
			still.add(int(ra[x]), int(rb[x]))
		}
	}
	return max(still.value(), 0)
}
