package smartcopy

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"retime/pipeline/media"
	"retime/pipeline/timeline"
)

// Shown is a frame of the output among copied packets.
type Shown struct {
	PTS, Duration int64 // in the stream's time base
	Source        int   // number among the input's frames, -1 of one that is put in
}

// Range is packets of the input that are left out, and the frames that are encoded in
// their place.
type Range struct {
	First, End int     // packets, in decoding order
	From, To   int     // frames of the output
	Decoding   []int64 // decoding times of the packets that replace them
}

// Plan says which packets of a stream are copied and which frames are encoded anew.
type Plan struct {
	Shown  []Shown // all frames of the output, in order
	Ranges []Range
	// Reorder is how many packets late a frame may come out of the encoder.
	Reorder int
}

// NewPlan finds as few packets as can be to encode anew, so that the frames at bad
// timestamps can be replaced, and after some timestamps a number of frames put in. stamps
// are the timestamps of all frames of the input, rising. A range begins at any packet
// before which all that was decoded was also shown, since nothing before it refers to
// what follows; it ends where decoding restarts. index gets decoding times if it has none.
func NewPlan(index []PacketTime, stamps []int64, bad func(stamp int64) bool, insert map[int64]int) (*Plan, error) {
	order := make([]int64, len(index)) // of the packets' timestamps
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
	frames := make(map[int64]int, len(stamps)) // their numbers
	s := &Plan{}
	for n, stamp := range stamps {
		at, ok := slices.BinarySearch(order, stamp)
		if !ok {
			return nil, fmt.Errorf("the frame at timestamp %d has no packet of that time", stamp)
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
		_, there := frames[stamp]
		if bad(stamp) || !there { // of a packet without a frame nothing is known
			s.add(clean, index, at, at+1)
		}
	}
	s.merge()
	last := index[slices.IndexFunc(index, func(p PacketTime) bool { return p.PTS == order[len(order)-1] })]
	for k := range s.Shown {
		if f := &s.Shown[k]; k+1 < len(s.Shown) {
			if f.Duration = s.Shown[k+1].PTS - f.PTS; f.Duration <= 0 {
				return nil, fmt.Errorf("there is no time for the frames that are put in at timestamp %d", f.PTS)
			}
		} else {
			f.Duration = max(last.Duration, 1)
		}
	}
	return s, s.place(index, order, delay)
}

// cleanCuts says of each place between packets whether all that is decoded before it
// is also shown before what follows; the same packets then come before it in both
// orders.
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

// add makes a stretch of what must change from packet first to end, in the order in
// which they are shown.
func (s *Plan) add(clean []bool, index []PacketTime, first, end int) {
	for !clean[first] {
		first--
	}
	for end < len(index) && (!clean[end] || !index[end].Restart) {
		end++
	}
	s.Ranges = append(s.Ranges, Range{First: first, End: end})
}

// merge joins stretches that meet.
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

// place gives the stretches their frames, and these decoding times. Packets come no
// later than they do in the source, by delay.
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
	const most = 2 // with B-frames that others refer to
	for s.Reorder = min(most, delay); s.Reorder >= 0; s.Reorder-- {
		ok := true
		for i := range s.Ranges {
			ok = ok && s.decode(&s.Ranges[i], index)
		}
		if ok {
			return nil
		}
	}
	return errors.New("the decoding times leave no room for the frames that are put in")
}

// decode finds decoding times for the packets of t that rise from those of the
// packets before to those behind, and of which none is behind its packet's time.
func (s *Plan) decode(t *Range, index []PacketTime) bool {
	n, old := t.To-t.From, index[t.First:t.End]
	t.Decoding = make([]int64, n)
	limit := int64(1<<63 - 1)
	if t.End < len(index) {
		limit = index[t.End].DTS
	}
	for j := n - 1; j >= 0; j-- {
		limit = min(limit-1, s.Shown[t.From+max(j-s.Reorder, 0)].PTS)
		t.Decoding[j] = limit // the latest
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

// delay is how many packets late a packet is decoded at most.
func delay(index []PacketTime, order []int64) (n int) {
	for i, p := range index {
		at, _ := slices.BinarySearch(order, p.PTS)
		n = max(n, i-at)
	}
	return n
}

// usualGroup is how long encoders let groups be unless told otherwise.
const usualGroup = 250

// LongestGroup returns how many packets are from one key frame to the next at most, so
// that players find their way as fast in what is encoded.
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

// fillDecoding gives all packets decoding times where one has none: their timestamps
// in order, early enough for each to be decoded before it is shown.
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
