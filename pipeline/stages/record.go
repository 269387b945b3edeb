package stages

import (
	"math"
	"math/big"
	"slices"

	"retime/frame"
	"retime/pipeline/decision"
	"retime/pipeline/motion"
	"retime/pipeline/place"
	"retime/warp"
)

// Record describes how one output frame was made.
type Record struct {
	Frame int64   `json:"frame"` // number in the output, from 0
	Time  float64 `json:"time"`  // in the output, in seconds; from pipeline.Convert, on the source's clock
	// Sources are the numbers, from 0 at the first frame read, of the source frames
	// that it lies between or is. A source frame that is made again in parts lies between
	// those that show the drawing there, held and next.
	Sources []int64         `json:"sources"`
	Phase   float64         `json:"phase"` // from 0 at the first of them to 1 at the second
	Method  decision.Method `json:"method"`
	// Moved is how many seconds after its timestamp a source frame counts as shot, if the
	// timestamps jitter about an even rate.
	Moved float64 `json:"moved,omitempty"`
	// Holes is the share of pixels that the flow from a neighbour does not reach, in
	// per cent, mean of both neighbours.
	Holes float64 `json:"holes"`
	// Error is how far the neighbours disagree along the flow, in grey levels.
	Error float64 `json:"error"`
	// Lost is the share of pixels whose forward and backward flows disagree by more
	// than a pixel of the guides, in per cent.
	Lost float64 `json:"lost"`
	// CutScore is how surely the two source frames belong to different scenes, from
	// 0 to 1, and Cut whether they were taken for that.
	CutScore float64 `json:"cut_score"`
	Cut      bool    `json:"cut"`
	// Worst is the place of a frame made along the motion that is trusted least, if Hooks.Rate is set; nil for others.
	Worst *Place `json:"worst,omitempty"`
	// Confidence is from 0 to 1: 1 for a source frame on its time, 0 for one that
	// stands in for a frame that was not made.
	Confidence float64 `json:"confidence"`
}

// Place is a square of a picture, a twelfth of its height.
type Place struct {
	Score float64 `json:"score"` // from 1, for nothing wrong, to 0; 1/2 if an error of worstHalf is expected there
	Box   [4]int  `json:"box"`   // left, top, width and height in pixels
}

// worstHalf is in grey levels, RMS.
const worstHalf = 8

// worst returns the place of a picture, whose guides were halved level times, where the largest errors are expected.
func worst(errors frame.Image[uint32], picture *frame.Frame, level int) *Place {
	x, y, side, rms := warp.WorstWindow(errors)
	x, y = x<<level, y<<level
	score := 1 / (1 + rms*rms/(worstHalf*worstHalf))
	return &Place{rounded(score), [4]int{x, y, min(side<<level, picture.Width-x), min(side<<level, picture.Height-y)}}
}

// maxWorst is how many frames Result.Worst has.
const maxWorst = 3

// lowestKept bounds the frames of which the worst are chosen. One stands for those of less than a second,
// so that the choice is that among all frames up to 341 a second.
const lowestKept = 1024

// lowest are the frames with the lowest worst places, the lowest first.
type lowest []Record

// add adds a frame, if it belongs there.
func (l *lowest) add(r Record) {
	if r.Worst == nil || len(*l) == lowestKept && r.Worst.Score >= (*l)[lowestKept-1].Worst.Score {
		return
	}
	at, _ := slices.BinarySearchFunc(*l, r.Worst.Score, func(o Record, score float64) int {
		if o.Worst.Score <= score {
			return -1 // of equal ones, the first counts
		}
		return 1
	})
	*l = slices.Insert((*l)[:min(len(*l), lowestKept-1)], at, r)
}

// worst returns the frames that stand for a place each.
func (l lowest) worst() []Record {
	where := func(r Record) place.Place { return place.Place{Frame: r.Frame, Time: r.Time, Box: r.Worst.Box} }
	return place.Each(l, where, place.Most[Record](maxWorst))
}

// errorScale is the error in grey levels that divides confidence by e.
const errorScale = 16

// confidence weighs error, lost flow and holes.
func confidence(made warp.Made, c motion.Change) float64 {
	return math.Exp(-made.Residual/errorScale) * math.Sqrt(1-c.Lost) * (1 - made.Holes)
}

// remade tells how parts of a picture were made again.
type remade struct {
	between [2]int64 // source frames, by number
	phase   warp.Phase
	made    warp.Made
	change  motion.Change
	worst   *Place // nil unless Hooks.Rate is set
}

func (m *remade) confidence() float64 { return confidence(m.made, m.change) }

// lower returns what tells of a picture of which both were made again: that of less confidence, with the worst
// place of both.
func (m remade) lower(other remade) remade {
	if other.confidence() < m.confidence() {
		m, other = other, m
	}
	if other.worst != nil && other.worst.Score < m.worst.Score {
		m.worst = other.worst
	}
	return m
}

// tell has r tell of the picture.
func (m *remade) tell(r *Record) {
	r.Method, r.Worst = decision.Interpolated, m.worst
	r.Sources, r.Phase = slices.Clone(m.between[:]), rounded(float64(m.phase)/warp.PhaseOne)
	r.Lost = rounded(100 * m.change.Lost)
	r.rate(m.made, m.confidence())
}

// rate sets what the making of a frame tells of it, and how far it can be trusted.
func (r *Record) rate(made warp.Made, trust float64) {
	r.Holes, r.Error, r.Confidence = rounded(100*made.Holes), rounded(made.Residual), rounded(trust)
}

// record describes the frame of t in v, shown at a time in seconds. What a made frame's
// making tells is not in it yet.
func (v *Interval) record(t *Target, at *big.Rat) Record {
	r := Record{
		Frame: t.Index, Sources: []int64{v.A.Number}, Method: t.method, Confidence: 1,
		CutScore: rounded(v.found.change.CutScore()), Lost: rounded(100 * v.found.change.Lost), Cut: v.cut,
	}
	r.Time, _ = at.Float64()
	if t.Phase == 0 {
		r.Moved = v.A.Moved
	}
	switch {
	case t.method == decision.Extrapolated:
		c, k := v.found.continued, float64(t.Beyond)/warp.PhaseOne
		r.Confidence, r.Error, r.Lost = rounded(c.confidence(t.Beyond)), rounded(c.residual), rounded(100*c.change.Lost)
		if v.Leading {
			r.Sources, r.Phase = []int64{v.A.Number, v.Extend.Number}, rounded(-k)
		} else {
			r.Sources, r.Phase = []int64{v.Extend.Number, v.A.Number}, rounded(1+k)
		}
	case t.Phase == 0 && t.Lost && (v.B == nil || v.Leading):
		r.Method, r.Confidence = decision.Nearest, 0
	case t.Phase == 0 && v.A.Remade != nil:
		v.A.Remade.tell(&r)
	case t.Phase != 0:
		r.Sources = append(r.Sources, v.B.Number)
		r.Phase = rounded(float64(t.Phase) / warp.PhaseOne)
		r.Confidence = 0
	}
	return r
}

// rounded keeps six decimals, more than the numbers mean.
func rounded(v float64) float64 { return math.Round(v*1e6) / 1e6 }
