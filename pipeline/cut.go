package pipeline

import (
	"math"
	"math/big"
	"slices"

	"retime/flow"
	"retime/frame"
	"retime/warp"
)

// change is how much differs between two neighbouring pictures, from 0 to 1.
type change struct {
	unlike float64 // 1 less the correlation along the flow, or without it if that is more
	lost   float64 // share of pixels whose forward and backward flows disagree
}

// cutScore says how surely the pictures belong to different scenes: the lesser
// of how unlike they are and how much of the flow is lost. Either alone is high
// without a cut, the first in a flash, the second in a crowd. Histograms are
// left out: they change more in a flash or a fade than at many a cut.
func (c change) cutScore() float64 { return min(c.unlike, c.lost) }

// DefaultSceneThreshold lies between the scores of flashes and fast motion and
// those of cuts; docs/quality.md has the figures.
const DefaultSceneThreshold = 0.35

// The parts are taken from every changeStep-th pixel of every changeStep-th row.
const changeStep = 3

// strayed is how far, in 1/256 pixel of the guides, forward and backward flow may
// miss each other.
const strayed = flow.One

// measureChange compares two guides.
func measureChange(a, b frame.Image[uint8], f warp.FlowPair) change {
	var along, still, outside correlation // outside has no b
	lost := 0
	for y := 0; y < a.Height; y += changeStep {
		ra := a.Row(y)
		rb, rf := b.Row(y)[:len(ra)], f.Forward.Row(y)[:len(ra)]
		var sa, saa, sb, sbb, sab, st, stt, sat int // t for along the flow
		for x := 0; x < len(ra); x += changeStep {
			va, vb, v := int(ra[x]), int(rb[x]), rf[x]
			sa += va
			saa += va * va
			sb += vb
			sbb += vb * vb
			sab += va * vb
			tx, ty := x+int(v.X+flow.One/2)>>8, y+int(v.Y+flow.One/2)>>8
			if uint(tx) >= uint(b.Width) || uint(ty) >= uint(b.Height) {
				outside.n++
				outside.a += va
				outside.aa += va * va
				continue
			}
			vt, back := int(b.Pix[ty*b.Stride+tx]), f.Backward.Pix[ty*f.Backward.Stride+tx]
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
	return change{
		unlike: 1 - max(along.value(), still.value(), 0),
		lost:   float64(lost) / float64(max(still.n, 1)),
	}
}

// correlation is Pearson's coefficient of pairs of grey levels.
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

// value is 1 for two flat pictures and 0 where one alone is flat.
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

func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}

// cuts decides where scenes change, from a list of times or by score.
type cuts struct {
	threshold float64
	listed    bool
	times     []*big.Rat // ascending
}

// newCuts returns the rule of o.
func newCuts(o *Options) cuts {
	c := cuts{threshold: DefaultSceneThreshold, listed: o.Synthesis.Scenes != nil, times: slices.Clone(o.Synthesis.Scenes)}
	if o.Synthesis.SceneThreshold != nil {
		c.threshold = *o.Synthesis.SceneThreshold
	}
	slices.SortFunc(c.times, (*big.Rat).Cmp)
	return c
}

// within says whether a scene begins after v's first picture, up to its second.
func (c *cuts) within(v *interval, backward bool) bool {
	if !c.listed {
		return v.change.cutScore() >= c.threshold
	}
	// Lists are written in microseconds.
	slack := big.NewRat(1, 1_000_000)
	from, to := v.span(backward)
	from, to = new(big.Rat).Add(from, slack), new(big.Rat).Add(to, slack)
	i, _ := slices.BinarySearchFunc(c.times, from, (*big.Rat).Cmp)
	return i < len(c.times) && c.times[i].Cmp(to) <= 0
}
