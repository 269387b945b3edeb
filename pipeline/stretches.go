package pipeline

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"retime/pipeline/media"
	"retime/pipeline/restore/smartcopy"
)

// showing is a frame of the output among copied packets.
type showing struct {
	pts, duration int64 // in the stream's time base
	source        int   // number among the input's frames, -1 of one that is put in
}

// stretch is packets of the input that are left out, and the frames that are encoded
// in their place.
type stretch struct {
	first, end int     // packets, in decoding order
	from, to   int     // frames of the output
	decoding   []int64 // decoding times of the packets that replace them
}

// stretches is how a stream is cut.
type stretches struct {
	shown []showing // all frames of the output, in order
	list  []stretch
	// reorder is how many packets late a frame may come out of the encoder.
	reorder int
}

// newStretches finds as few packets as can be to encode anew, for repairs of frames
// at the given timestamps. A stretch begins at any packet before which all that was
// decoded was also shown, since nothing before it refers to what follows; it ends
// where decoding restarts. index gets decoding times where it has none.
func newStretches(index []smartcopy.PacketTime, stamps []int64, r *Repairs) (*stretches, error) {
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
	s := &stretches{}
	for n, stamp := range stamps {
		at, ok := slices.BinarySearch(order, stamp)
		if !ok {
			return nil, fmt.Errorf("the frame at timestamp %d has no packet of that time", stamp)
		}
		frames[stamp] = n
		s.shown = append(s.shown, showing{pts: stamp, source: n, duration: 1})
		for j, k := int64(1), int64(r.Insert[stamp]); j <= k && n+1 < len(stamps); j++ {
			d := big.NewRat(j*(stamps[n+1]-stamp), k+1)
			s.shown = append(s.shown, showing{pts: stamp + round(d), source: -1})
			if j == 1 {
				s.add(clean, index, at+1, at+1)
			}
		}
	}
	for at, stamp := range order {
		_, there := frames[stamp]
		if _, bad := r.Frames[stamp]; bad || !there { // of a packet without a frame nothing is known
			s.add(clean, index, at, at+1)
		}
	}
	s.merge()
	last := index[slices.IndexFunc(index, func(p smartcopy.PacketTime) bool { return p.PTS == order[len(order)-1] })]
	for k := range s.shown {
		if f := &s.shown[k]; k+1 < len(s.shown) {
			if f.duration = s.shown[k+1].pts - f.pts; f.duration <= 0 {
				return nil, fmt.Errorf("there is no time for the frames that are put in at timestamp %d", f.pts)
			}
		} else {
			f.duration = max(last.Duration, 1)
		}
	}
	return s, s.place(index, order, delay)
}

// cleanCuts says of each place between packets whether all that is decoded before it
// is also shown before what follows; the same packets then come before it in both
// orders.
func cleanCuts(index []smartcopy.PacketTime, order []int64) []bool {
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
func (s *stretches) add(clean []bool, index []smartcopy.PacketTime, first, end int) {
	for !clean[first] {
		first--
	}
	for end < len(index) && (!clean[end] || !index[end].Restart) {
		end++
	}
	s.list = append(s.list, stretch{first: first, end: end})
}

// merge joins stretches that meet.
func (s *stretches) merge() {
	slices.SortFunc(s.list, func(a, b stretch) int { return a.first - b.first })
	var out []stretch
	for _, t := range s.list {
		if n := len(out); n > 0 && t.first <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, t.end)
		} else {
			out = append(out, t)
		}
	}
	s.list = out
}

// place gives the stretches their frames, and these decoding times. Packets come no
// later than they do in the source, by delay.
func (s *stretches) place(index []smartcopy.PacketTime, order []int64, delay int) error {
	k := 0
	for i := range s.list {
		t := &s.list[i]
		for k < len(s.shown) && t.first > 0 && s.shown[k].pts <= order[t.first-1] {
			k++
		}
		t.from = k
		for k < len(s.shown) && (t.end == len(order) || s.shown[k].pts < order[t.end]) {
			k++
		}
		t.to = k
	}
	const most = 2 // with B-frames that others refer to
	for s.reorder = min(most, delay); s.reorder >= 0; s.reorder-- {
		ok := true
		for i := range s.list {
			ok = ok && s.decode(&s.list[i], index)
		}
		if ok {
			return nil
		}
	}
	return errors.New("the decoding times leave no room for the frames that are put in")
}

// decode finds decoding times for the packets of t that rise from those of the
// packets before to those behind, and of which none is behind its packet's time.
func (s *stretches) decode(t *stretch, index []smartcopy.PacketTime) bool {
	n, old := t.to-t.from, index[t.first:t.end]
	t.decoding = make([]int64, n)
	limit := int64(1<<63 - 1)
	if t.end < len(index) {
		limit = index[t.end].DTS
	}
	for j := n - 1; j >= 0; j-- {
		limit = min(limit-1, s.shown[t.from+max(j-s.reorder, 0)].pts)
		t.decoding[j] = limit // the latest
	}
	last := int64(media.NoTimestamp)
	if t.first > 0 {
		last = index[t.first-1].DTS
	}
	for j := range t.decoding {
		wish := t.decoding[j]
		if len(old) > 0 {
			wish = min(wish, old[j*len(old)/n].DTS)
		}
		if wish = max(wish, last+1); wish > t.decoding[j] {
			return false
		}
		t.decoding[j], last = wish, wish
	}
	return true
}

// delay is how many packets late a packet is decoded at most.
func delay(index []smartcopy.PacketTime, order []int64) (n int) {
	for i, p := range index {
		at, _ := slices.BinarySearch(order, p.PTS)
		n = max(n, i-at)
	}
	return n
}

// usualGroup is how long encoders let groups be unless told otherwise.
const usualGroup = 250

// longestGroup is how many packets are from one key frame to the next at most, so
// that players find their way as fast in what is encoded.
func longestGroup(index []smartcopy.PacketTime) int {
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
func fillDecoding(index []smartcopy.PacketTime, order []int64, delay int) {
	if !slices.ContainsFunc(index, func(p smartcopy.PacketTime) bool { return p.DTS == media.NoTimestamp }) {
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
