package smartcopy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"retime/pipeline/media"
)

// packetsOf returns packets with the given timestamps in decoding order, 10 ticks apart; R marks a
// restart. Decoding times run late ticks ahead: 10 for each packet by which the source reorders.
func packetsOf(text string, late int64) (index []PacketTime, stamps []int64) {
	for i, field := range strings.Fields(text) {
		pts, restart := strings.CutSuffix(field, "R")
		p := PacketTime{DTS: int64(i)*10 - late, Duration: 10, Restart: restart}
		if _, err := fmt.Sscan(pts, &p.PTS); err != nil {
			panic(err)
		}
		p.PTS *= 10
		index, stamps = append(index, p), append(stamps, p.PTS)
	}
	slices.Sort(stamps)
	return index, stamps
}

// changes are what a plan must change.
type changes struct {
	bad    map[int64]bool
	insert map[int64]int
}

func (c changes) plan(index []PacketTime, stamps []int64) (*Plan, error) {
	return NewPlan(index, stamps, func(stamp int64) bool { return c.bad[stamp] }, c.insert)
}

func TestPlan(t *testing.T) {
	const closed = "0R 3 1 2 4R 7 5 6 8R 11 9 10" // groups of four with B-frames
	for _, c := range []struct {
		name, packets string
		late          int64
		bad           []int64
		insert        map[int64]int
		want          string // First-End:From-To of each range
	}{
		{"every packet alone", "0R 1R 2R 3R", 0, []int64{1, 3}, nil, "1-2:1-2 3-4:3-4"},
		{"neighbours", "0R 1R 2R 3R", 0, []int64{1, 2}, nil, "1-3:1-3"},
		{"a closed group", closed, 10, []int64{5}, nil, "5-8:5-8"},
		{"its first", closed, 10, []int64{4}, nil, "4-8:4-8"},
		{"the last packet", closed, 10, []int64{11}, nil, "9-12:9-12"},
		{"all", closed, 10, []int64{0, 4, 8}, nil, "0-12:0-12"},
		{"no restart behind", "0R 2 1 3 5 4", 10, []int64{1}, nil, "1-6:1-6"},
		{"forward only", "0R 1 2 3 4R 5 6 7", 0, []int64{2}, nil, "2-4:2-4"},
		{"an open group behind", "0R 2 1 3 5 4 6 7R 8", 10, []int64{1}, nil, "1-7:1-7"},
		{"leading pictures that refer to nothing before", "0R 2 1 3 5R 4 6 7R 8", 10, []int64{1}, nil, "1-4:1-4"},
		{"put in between restarts", "0R 1R 2R 3R", 0, nil, map[int64]int{1: 2}, "2-2:2-4"},
		{"put in within a group", closed, 20, nil, map[int64]int{4: 1}, "5-8:5-9"},
		{"put in behind what is bad", "0R 1R 2R 3R", 0, []int64{1}, map[int64]int{1: 1}, "1-2:1-3"},
	} {
		index, stamps := packetsOf(c.packets, c.late)
		r := changes{bad: map[int64]bool{}, insert: map[int64]int{}}
		for _, n := range c.bad {
			r.bad[n*10] = true
		}
		for n, k := range c.insert {
			r.insert[n*10] = k
		}
		s, err := r.plan(index, stamps)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, a := range s.Ranges {
			got = append(got, fmt.Sprintf("%d-%d:%d-%d", a.First, a.End, a.From, a.To))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
		// All decoding times rise, and none is later than its packet's timestamp,
		// whatever c.late is.
		last := int64(media.NoTimestamp)
		at := 0
		rise := func(d int64) {
			if d <= last {
				t.Errorf("%s: decoding time %d behind %d", c.name, d, last)
			}
			last = d
		}
		for _, a := range s.Ranges {
			for ; at < a.First; at++ {
				rise(index[at].DTS)
			}
			for j, d := range a.Decoding {
				rise(d)
				if pts := s.Shown[a.From+max(j-s.Reorder, 0)].PTS; d > pts {
					t.Errorf("%s: decoding time %d behind timestamp %d", c.name, d, pts)
				}
				if len(c.insert) == 0 && d != index[a.First+j].DTS {
					t.Errorf("%s: decoding time %d, was %d", c.name, d, index[a.First+j].DTS)
				}
			}
			at = a.End
		}
	}
}

// In random groups with random changes, ranges contain everything that must change, end where
// decoding restarts, and have rising decoding times.
func TestPlanOfRandomGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 4))
	for round := range 2000 {
		var index []PacketTime
		var stamps []int64
		late := int64(0)
		if pyramid := random.IntN(3); pyramid > 0 {
			late = int64(pyramid) * 10
		}
		for group := range 1 + random.IntN(6) {
			first := int64(len(index))
			size := 1 + random.Int64N(9)
			order := []int64{}
			for at := int64(0); at < size; { // a key frame or P-frame, and the B-frames shown before it
				run := int64(0)
				if at > 0 && late > 0 {
					run = min(random.Int64N(late/10+1), size-1-at)
				}
				order = append(order, at+run)
				for b := range run {
					order = append(order, at+b)
				}
				at += run + 1
			}
			open := group > 0 && random.IntN(3) == 0
			for i, at := range order {
				index = append(index, PacketTime{PTS: (first + at) * 10, DTS: int64(len(index))*10 - late, Duration: 10, Key: i == 0, Restart: i == 0 && !open})
			}
		}
		for n := range index {
			stamps = append(stamps, int64(n)*10)
		}
		r := changes{bad: map[int64]bool{}, insert: map[int64]int{}}
		for range random.IntN(4) {
			r.bad[stamps[random.IntN(len(stamps))]] = true
		}
		if random.IntN(3) == 0 && len(stamps) > 1 && late == 0 {
			r.insert[stamps[random.IntN(len(stamps)-1)]] = 1 + random.IntN(3)
		}
		s, err := r.plan(index, stamps)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		at, k, last := 0, 0, int64(media.NoTimestamp)
		copyTo := func(end, to int) {
			for ; at < end; at++ {
				if bad := r.bad[index[at].PTS]; bad || index[at].DTS <= last {
					t.Fatalf("round %d: packet %d at %d, bad %v, is copied behind %d", round, at, index[at].PTS, bad, last)
				}
				last = index[at].DTS
				k++
			}
			if k != to {
				t.Fatalf("round %d: %d frames are written before packet %d, want %d", round, k, end, to)
			}
		}
		for _, a := range s.Ranges {
			copyTo(a.First, a.From)
			if a.End < len(index) && !index[a.End].Restart {
				t.Fatalf("round %d: copying goes on at packet %d, which is no restart", round, a.End)
			}
			for j, d := range a.Decoding {
				if d <= last || d > s.Shown[a.From+max(j-s.Reorder, 0)].PTS {
					t.Fatalf("round %d: decoding time %d of %d behind %d", round, j, d, last)
				}
				last = d
			}
			at, k = a.End, a.To
		}
		copyTo(len(index), len(s.Shown))
	}
}

func TestLongestGroup(t *testing.T) {
	for _, c := range []struct {
		keys []int
		n    int
		want int
	}{{[]int{0, 1, 2}, 3, 1}, {[]int{0, 4, 6}, 9, 4}, {[]int{0}, 7, 7}, {nil, 5, 5}, {[]int{0, 600}, 601, usualGroup}} {
		index := make([]PacketTime, c.n)
		for _, k := range c.keys {
			index[k].Key = true
		}
		if got := LongestGroup(index); got != c.want {
			t.Errorf("keys %v of %d: %d, want %d", c.keys, c.n, got, c.want)
		}
	}
}

func TestPlanRefuse(t *testing.T) {
	for _, c := range []struct {
		name, packets string
		stamps        []int64
		insert        int
		want          string
	}{
		{"a time twice", "0R 1R 1R", []int64{0, 10}, 0, "two packets"},
		{"a frame of no packet", "0R 1R 2R", []int64{0, 10, 15, 20}, 0, "no packet"},
		{"no room", "0R 1R 2R", []int64{0, 10, 20}, 12, "no time"},
	} {
		index, _ := packetsOf(c.packets, 0)
		r := changes{insert: map[int64]int{10: c.insert}}
		if _, err := r.plan(index, c.stamps); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A packet without a frame is not copied, and missing decoding times are filled in.
func TestPlanOfIncompletePackets(t *testing.T) {
	index, _ := packetsOf("0R 3 1 2 4R 5R", 0)
	index[1].DTS = media.NoTimestamp
	s, err := changes{}.plan(index, []int64{0, 10, 20, 30, 50})
	if err != nil || len(s.Ranges) != 1 || s.Ranges[0].First != 4 || s.Ranges[0].End != 5 || s.Ranges[0].From != s.Ranges[0].To {
		t.Fatalf("%+v: %v", s, err)
	}
	for i, want := range []int64{-10, 0, 10, 20, 30, 40} {
		if index[i].DTS != want || index[i].DTS > index[i].PTS {
			t.Errorf("packet %d: decoding time %d, want %d", i, index[i].DTS, want)
		}
	}
}
