package frames

import (
	"cmp"
	"math/big"
	"slices"
	"sync"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/timeline"
	"retime/warp"
)

// Rating describes how far a frame can be trusted.
type Rating struct {
	pipeline.Record
	// Speckle is how many isolated pixels in a million the frame has beyond those of the
	// source frames around it.
	Speckle float64
	// Repeated is set if the source frame that the frame shows, or begins with, repeats the
	// one before.
	Repeated bool
	Shot     Shot // the frame, valid during the call
	// View is Fast, or Final for the lowest frames, which are rated again as they will be rendered.
	View View
}

// rater remembers which frames are rated, and what the source's pictures around were like.
type rater struct {
	mu    sync.Mutex
	done  []uint64  // a bit for each frame
	again []uint64  // of them, those that are rated at Final
	score []float32 // at Fast, by frame; unrated of those that were not made along the motion
	total int64
	plan  *timeline.Plan
	// pictures are the last ones read.
	pictures []seenPicture
	last     *frame.Frame // of the worker
}

func (r *rater) close() {
	if r.last != nil {
		r.last.Release()
	}
}

type seenPicture struct {
	at       *big.Rat
	specks   int
	repeated bool
}

// maxPictures is how many pictures are remembered: more than lie between decoding and the end
// of the line.
const maxPictures = 64

func newRater(s *setup) *rater {
	r := &rater{}
	r.begin(s)
	return r
}

func (r *rater) begin(s *setup) {
	r.total, r.plan = s.plan.Total, s.plan
	r.done, r.again = make([]uint64, (r.total+63)/64), make([]uint64, (r.total+63)/64)
	r.score = slices.Repeat([]float32{unrated}, int(r.total))
}

// unrated is above every score.
const unrated = 2

// forget makes frames count as not rated.
func (r *rater) forget(s *setup, changed func(int64) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.plan.Total != r.total {
		r.begin(s)
		return
	}
	r.plan = s.plan
	for k := range r.total {
		if changed(k) {
			r.done[k/64] &^= 1 << (k % 64)
			r.again[k/64] &^= 1 << (k % 64)
			r.score[k] = unrated
		}
	}
}

// next returns the next frames to rate, from a place on and around to it.
func (r *rater) next(from, most int64) (first, end int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rated := func(k int64) bool { return r.done[k/64]>>(k%64)&1 != 0 }
	from = min(max(from, 0), max(r.total-1, 0))
	for i := int64(0); i < r.total; i++ {
		k := (from + i) % r.total
		if k%64 == 0 && k+64 <= r.total && r.done[k/64] == ^uint64(0) {
			i += 63 // a word at a time
			continue
		}
		if rated(k) {
			continue
		}
		for end = k + 1; end < min(r.total, k+most) && !rated(end); end++ {
		}
		return k, end, true
	}
	return 0, 0, false
}

// nextLowest returns the next frames to rate at Final: of the tenth that is lowest at Fast, and of ten frames
// at least, those that follow each other.
func (r *rater) nextLowest(most int64) (first, end int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []int64
	for k, v := range r.score {
		if v != unrated {
			list = append(list, int64(k))
		}
	}
	slices.SortStableFunc(list, func(a, b int64) int { return cmp.Compare(r.score[a], r.score[b]) })
	list = list[:min(len(list), max(len(list)/10, 10))]
	list = slices.DeleteFunc(list, func(k int64) bool { return r.again[k/64]>>(k%64)&1 != 0 })
	if len(list) == 0 {
		return 0, 0, false
	}
	first = slices.Min(list)
	for end = first + 1; end < first+most && slices.Contains(list, end); end++ {
	}
	return first, end, true
}

// giveUp leaves out a frame that cannot be made at a view.
func (r *rater) giveUp(k int64, v View) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k < r.total {
		r.bits(v)[k/64] |= 1 << (k % 64)
	}
}

// bits are those of the frames that are rated at a view.
func (r *rater) bits(v View) []uint64 {
	if v == Final {
		return r.again
	}
	return r.done
}

// see notes what a picture of the source is like.
func (r *rater) see(f *frame.Frame) {
	g := warp.Luma(f)
	p := seenPicture{specks: specks(g)}
	if r.last != nil {
		p.repeated = alike(warp.Luma(r.last), g)
		r.last.Release()
	}
	r.last = f.Retain()
	r.mu.Lock()
	defer r.mu.Unlock()
	p.at = r.plan.Clock.At(f.PTS)
	if r.pictures = append(r.pictures, p); len(r.pictures) > maxPictures {
		r.pictures = r.pictures[1:]
	}
}

// rate rates a frame that was made at a view.
func (r *rater) rate(s Shot, view View) Rating {
	v := Rating{Record: s.Record, Shot: s, View: view}
	made := -1
	if s.Record.Method != pipeline.FromSource && s.Record.Method != pipeline.Nearest {
		made = specks(warp.Luma(s.Frame))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := Moment(r.plan, s.Record.Frame)
	if k := s.Record.Frame; k < r.total {
		r.bits(view)[k/64] |= 1 << (k % 64)
		if view == Fast && s.Record.Worst != nil {
			r.score[k] = float32(s.Record.Worst.Score)
		}
	}
	for i := len(r.pictures) - 1; i >= 0; i-- {
		if r.pictures[i].at.Cmp(at) > 0 {
			continue
		}
		v.Repeated = r.pictures[i].repeated
		if made >= 0 {
			usual := r.pictures[i].specks
			if i+1 < len(r.pictures) {
				usual = max(usual, r.pictures[i+1].specks)
			}
			v.Speckle = float64(max(made-usual, 0)) * 1e6 / float64(s.Frame.Width*s.Frame.Height)
		}
		break
	}
	return v
}

// speckHeight is by how many grey levels of 255 an isolated pixel stands out from all its
// neighbours.
const speckHeight = 12

// specks counts the pixels that are brighter, or darker, than all eight neighbours by
// speckHeight.
func specks(g frame.Image[uint8]) int {
	n := 0
	for y := 1; y < g.Height-1; y++ {
		above, row, below := g.Row(y-1), g.Row(y), g.Row(y+1)
		for x := 1; x < g.Width-1; x++ {
			v, l, r := int(row[x]), int(row[x-1]), int(row[x+1])
			if v-max(l, r) >= speckHeight {
				if v-int(max(above[x-1], above[x], above[x+1], below[x-1], below[x], below[x+1])) >= speckHeight {
					n++
				}
			} else if min(l, r)-v >= speckHeight && int(min(above[x-1], above[x], above[x+1], below[x-1], below[x], below[x+1]))-v >= speckHeight {
				n++
			}
		}
	}
	return n
}

// Two pictures are alike if every fourth pixel of every fourth row differs by less than
// alikeMean grey levels on average, and none by more than alikePeak.
const (
	alikeMean = 0.5
	alikePeak = 12
)

func alike(a, b frame.Image[uint8]) bool {
	sum, n := 0, 0
	for y := 0; y < a.Height; y += 4 {
		p, q := a.Row(y), b.Row(y)
		for x := 0; x < len(p); x += 4 {
			d := int(p[x]) - int(q[x])
			if d = max(d, -d); d > alikePeak {
				return false
			}
			sum += d
			n++
		}
	}
	return float64(sum) < alikeMean*float64(n)
}
