package smartcopy

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"retime/pipeline/media"
	"retime/pipeline/timeline"
)

// Shown is a frame of the output.
type Shown struct {
	PTS, Duration int64 // in the stream's time base
	Source        int   // number of the input's frame, -1 for an inserted frame
}

// Range is a range of the input's packets and the frames that replace them.
type Range struct {
	First, End int     // packets First to End-1, in decoding order
	From, To   int     // frames From to To-1 of the output
	Decoding   []int64 // decoding times of the new packets, in the stream's time base
}

// Plan lists the packets of a stream to copy and the frames to encode again.
type Plan struct {
	Shown  []Shown // all frames of the output, in presentation order
	Ranges []Range
	// Reorder is the maximum number of packets by which the encoder may delay a frame.
	Reorder int
}

// Even reports whether all frames last one frame of the video's rate, as nearly as its timestamps tell.
func (s *Plan) Even(v *media.Video) bool {
	rate := v.GridRate()
	if rate == nil {
		return false
	}
	ticks := new(big.Rat).Mul(v.TimeBase, rate) // frames in a tick
	for n := 1; n < len(s.Shown); n++ {
		if timeline.Round(new(big.Rat).Mul(ticks, big.NewRat(s.Shown[n].PTS-s.Shown[n-1].PTS, 1))) != 1 {
			return false
		}
	}
	return true
}

// NewPlan replaces the frames for which bad is true and inserts insert[stamp] frames after the
// frame at stamp, re-encoding as few packets as possible. stamps are the timestamps of all frames
// of the input, in ascending order. A range begins at a packet before which all decoded pictures
// were also shown, so nothing before it refers to the range. It ends where decoding restarts. If
// packets in index lack decoding times, NewPlan fills in all of them. It fails if two packets share
// a timestamp, if a frame has no packet, or if there is no time for the inserted frames.
func NewPlan(index []PacketTime, stamps []int64, bad func(stamp int64) bool, insert map[int64]int) (*Plan, error) {
	order := make([]int64, len(index)) // the packets' timestamps, ascending
	for i, p := range index {
		order[i] = p.PTS
	}
	slices.Sort(order)
	for i := range order {
		if i > 0 && order[i] == order[i-1] {
			return nil, fmt.Errorf("two packets are at timestamp %d", order[i])
		}
	}
	delay := delay(index, order)
	fillDecoding(index, order, delay)
	clean := cleanCuts(index, order)
	frames := make(map[int64]int, len(stamps)) // frame numbers by timestamp
	s := &Plan{}
	for n, stamp := range stamps {
		at, ok := slices.BinarySearch(order, stamp)
		if !ok {
			return nil, fmt.Errorf("the frame at timestamp %d has no packet", stamp)
		}
		frames[stamp] = n
		s.Shown = append(s.Shown, Shown{PTS: stamp, Source: n, Duration: 1})
		for j, k := int64(1), int64(insert[stamp]); j <= k && n+1 < len(stamps); j++ {
			d := big.NewRat(j*(stamps[n+1]-stamp), k+1)
			s.Shown = append(s.Shown, Shown{PTS: stamp + timeline.Round(d), Source: -1})
			if j == 1 {
				s.add(clean, index, at+1, at+1)
			}
		}
	}
	for at, stamp := range order {
		if _, there := frames[stamp]; bad(stamp) || !there { // a packet without a frame cannot be copied safely
			s.add(clean, index, at, at+1)
		}
	}
	s.merge()
	last := index[slices.IndexFunc(index, func(p PacketTime) bool { return p.PTS == order[len(order)-1] })]
	for k := range s.Shown {
		if f := &s.Shown[k]; k+1 < len(s.Shown) {
			if f.Duration = s.Shown[k+1].PTS - f.PTS; f.Duration <= 0 {
				return nil, fmt.Errorf("there is no time for the frames inserted at timestamp %d", f.PTS)
			}
		} else {
			f.Duration = max(last.Duration, 1)
		}
	}
	return s, s.place(index, order, delay)
}

// cleanCuts reports for each position between packets whether all pictures that are
// decoded before it are shown before the others. The same packets then precede the
// position in decoding and presentation order.
func cleanCuts(index []PacketTime, order []int64) []bool {
	clean := make([]bool, len(index)+1)
	clean[0] = true
	latest := int64(media.NoTimestamp)
	for i, p := range index {
		latest = max(latest, p.PTS)
		clean[i+1] = latest == order[i]
	}
	return clean
}

// add adds the range to encode for a change of the packets from first to end, both in
// presentation order.
func (s *Plan) add(clean []bool, index []PacketTime, first, end int) {
	for !clean[first] {
		first--
	}
	for end < len(index) && (!clean[end] || !index[end].Restart) {
		end++
	}
	s.Ranges = append(s.Ranges, Range{First: first, End: end})
}

// merge joins ranges that overlap or touch.
func (s *Plan) merge() {
	slices.SortFunc(s.Ranges, func(a, b Range) int { return a.First - b.First })
	var out []Range
	for _, t := range s.Ranges {
		if n := len(out); n > 0 && t.First <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, t.End)
		} else {
			out = append(out, t)
		}
	}
	s.Ranges = out
}

// place assigns frames and decoding times to the ranges. delay is the maximum number of packets by
// which the source delays a frame.
func (s *Plan) place(index []PacketTime, order []int64, delay int) error {
	k := 0
	for i := range s.Ranges {
		t := &s.Ranges[i]
		for k < len(s.Shown) && t.First > 0 && s.Shown[k].PTS <= order[t.First-1] {
			k++
		}
		t.From = k
		for k < len(s.Shown) && (t.End == len(order) || s.Shown[k].PTS < order[t.End]) {
			k++
		}
		t.To = k
	}
	const most = 2 // enough for B-frames that other frames refer to
	for s.Reorder = min(most, delay); s.Reorder >= 0; s.Reorder-- {
		ok := true
		for i := range s.Ranges {
			ok = ok && s.decode(&s.Ranges[i], index)
		}
		if ok {
			return nil
		}
	}
	return errors.New("the decoding times leave no room for the inserted frames")
}

// decode finds decoding times for the packets of t. They rise from the packet before t to the
// packet after it, and none is later than its packet's timestamp. It returns false if they do not
// fit.
func (s *Plan) decode(t *Range, index []PacketTime) bool {
	n, old := t.To-t.From, index[t.First:t.End]
	t.Decoding = make([]int64, n)
	limit := int64(1<<63 - 1)
	if t.End < len(index) {
		limit = index[t.End].DTS
	}
	for j := n - 1; j >= 0; j-- {
		limit = min(limit-1, s.Shown[t.From+max(j-s.Reorder, 0)].PTS)
		t.Decoding[j] = limit // the latest possible time
	}
	last := int64(media.NoTimestamp)
	if t.First > 0 {
		last = index[t.First-1].DTS
	}
	for j := range t.Decoding {
		wish := t.Decoding[j]
		if len(old) > 0 {
			wish = min(wish, old[j*len(old)/n].DTS)
		}
		if wish = max(wish, last+1); wish > t.Decoding[j] {
			return false
		}
		t.Decoding[j], last = wish, wish
	}
	return true
}

// delay returns the maximum number of packets by which a packet is decoded after its place in
// presentation order.
func delay(index []PacketTime, order []int64) (n int) {
	for i, p := range index {
		at, _ := slices.BinarySearch(order, p.PTS)
		n = max(n, i-at)
	}
	return n
}

// usualGroup is the maximum distance between key frames, in frames, that encoders use by default.
const usualGroup = 250

// LongestGroup returns the maximum number of packets from one key frame to the next, but at most
// 250, so that players can seek in the new packets as well as in the old ones.
func LongestGroup(index []PacketTime) int {
	longest, last := 1, 0
	for i, p := range index {
		if p.Key {
			last = i
		}
		longest = max(longest, i+1-last)
	}
	return min(longest, usualGroup)
}

// fillDecoding sets the decoding times of all packets if any is missing. It uses the
// timestamps in ascending order, shifted so that each packet is decoded before it is
// shown.
func fillDecoding(index []PacketTime, order []int64, delay int) {
	if !slices.ContainsFunc(index, func(p PacketTime) bool { return p.DTS == media.NoTimestamp }) {
		return
	}
	step := int64(1)
	if len(order) > 1 {
		step = order[1] - order[0]
	}
	for i := range index {
		if i >= delay {
			index[i].DTS = order[i-delay]
		} else {
			index[i].DTS = order[0] - int64(delay-i)*step
		}
	}
}
