package timeline

import (
	"fmt"
	"math/big"
	"testing"

	"retime/pipeline/timeline/curve"
	"retime/warp"
)

func ratio(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

// lineOf is the layout of a constant slow-down.
func lineOf(rate, slow string) *Constant {
	run := curve.Constant(new(big.Rat), ratio(slow)).Runs()[0]
	return &Constant{run: run, start: new(big.Rat), step: new(big.Rat).Inv(ratio(rate)), frames: Endless}
}

// walk places all output frames of n source frames at the given rate.
func walk(n int, source, rate, slow string) (slots []Slot, intervals []int) {
	line := lineOf(rate, slow)
	at := func(i int) *big.Rat { return new(big.Rat).Quo(big.NewRat(int64(i), 1), ratio(source)) }
	for i := range n {
		for _, s := range line.Between(int64(len(slots)), 0, at(i), at(i+1)) {
			slots, intervals = append(slots, s), append(intervals, i)
		}
	}
	return slots, intervals
}

func TestFrameCounts(t *testing.T) {
	for _, c := range []struct {
		n                  int
		source, rate, slow string
		want               int // Ceil(n / source * slow * rate)
	}{
		{24, "24", "60", "1", 60},
		{25, "24", "60", "1", 63}, // 62.5
		{50, "25", "50", "1", 100},
		{30, "30000/1001", "60", "1", 61}, // 60.06
		{24, "24000/1001", "60000/1001", "1", 60},
		{60, "60", "24", "1", 24},
		{61, "60", "24", "1", 25}, // 24.4
		{10, "25", "25", "4", 40},
		{10, "25", "25", "5/2", 25},
		{10, "24", "60", "5/2", 63}, // 62.5
		{1, "25", "50", "1", 2},
		{2, "25", "50", "1", 4},
		{1, "25", "25", "1", 1},
		{100000, "24000/1001", "60000/1001", "1", 250000},
	} {
		name := fmt.Sprintf("%d at %s to %s, slow %s", c.n, c.source, c.rate, c.slow)
		slots, intervals := walk(c.n, c.source, c.rate, c.slow)
		if len(slots) != c.want {
			t.Errorf("%s: %d frames, want %d", name, len(slots), c.want)
		}
		step := new(big.Rat).Mul(ratio(c.rate), ratio(c.slow))
		line := lineOf(c.rate, c.slow)
		end := new(big.Rat).Quo(big.NewRat(int64(c.n), 1), ratio(c.source))
		if got := line.FirstFrom(end); got != int64(c.want) {
			t.Errorf("%s: count %d, want %d", name, got, c.want)
		}
		if slots[0].Phase != 0 || intervals[0] != 0 {
			t.Errorf("%s: the first frame is not the source's", name)
		}
		if last := intervals[len(intervals)-1]; step.Cmp(ratio(c.source)) >= 0 && last != c.n-1 && ratio(c.rate).Cmp(ratio(c.source)) >= 0 {
			t.Errorf("%s: the last source frame is not reached, only %d", name, last)
		}
		for k, s := range slots {
			if s.Index != int64(k) {
				t.Fatalf("%s: frame %d has index %d", name, k, s.Index)
			}
		}
	}
}

func TestPhases(t *testing.T) {
	slots, _ := walk(4, "24", "60", "1")
	const one = warp.PhaseOne
	want := []warp.Phase{0, 26214, 52429, 13107, 39322, 0, 26214, 52429, 13107, 39322} // fifths of 65536
	for k, s := range slots {
		if s.Phase != want[k] {
			t.Errorf("frame %d: phase %d of %d, want %d", k, s.Phase, one, want[k])
		}
	}
	// However long the clip, a frame on a source frame has phase 0 exactly.
	slots, intervals := walk(30001, "24000/1001", "48000/1001", "1")
	for k, s := range slots {
		if on := k%2 == 0; (s.Phase == 0) != on || intervals[k] != k/2 {
			t.Fatalf("frame %d: phase %d in interval %d", k, s.Phase, intervals[k])
		}
	}
}

func TestPhaseNeverReachesANeighbour(t *testing.T) {
	if p := Quantise(big.NewRat(1, 1_000_000_000)); p != 1 {
		t.Errorf("just after the first: %d", p)
	}
	if p := Quantise(big.NewRat(999_999_999, 1_000_000_000)); p != warp.PhaseOne-1 {
		t.Errorf("just before the second: %d", p)
	}
}

func TestClockSnapsToTheGridOfAConstantRate(t *testing.T) {
	v := Video{TimeBase: big.NewRat(1, 1000), Rate: big.NewRat(24, 1), Start: new(big.Rat)}
	c := NewClock(v)
	for i, pts := range []int64{0, 42, 83, 125, 167, 208, 250} {
		if got := c.At(pts); got.Cmp(big.NewRat(int64(i), 24)) != 0 {
			t.Errorf("frame %d at %d ms: %s s, want %d/24", i, pts, got.RatString(), i)
		}
	}
	// A time off the grid is what it is.
	if got := c.At(300); got.Cmp(big.NewRat(3, 10)) != 0 {
		t.Errorf("off the grid: %s", got.RatString())
	}
	// So is the end, where a container has rounded the length.
	v.StreamPTS, v.Duration = 500, big.NewRat(1501, 1000)
	if got := c.End(v); got.Cmp(big.NewRat(2, 1)) != 0 {
		t.Errorf("the end is at %s", got.RatString())
	}
	// A grid finer than the time base can show is none.
	v.Rate = big.NewRat(500, 1)
	if c := NewClock(v); c.grid != nil {
		t.Errorf("grid of %s at a millisecond", c.grid)
	}
}

// Pictures that are a tick apart keep their order where both snap to one point of the grid,
// in either direction.
func TestClockKeepsTheOrder(t *testing.T) {
	c := NewClock(Video{TimeBase: big.NewRat(1, 1000), Rate: big.NewRat(24, 1), Start: new(big.Rat)})
	stamps := []int64{1583, 1584, 1624, 1625, 1626, 1627, 1667}
	if c.At(1624).Cmp(c.At(1625)) != 0 {
		t.Fatal("the two do not snap together")
	}
	var last *big.Rat
	for _, pts := range stamps {
		at := c.Following(last, pts, false)
		if last != nil && at.Cmp(last) <= 0 {
			t.Errorf("%d ms is at %s, the one before at %s", pts, at.RatString(), last.RatString())
		}
		if off := new(big.Rat).Sub(at, c.Exact(pts)); off.Abs(off).Cmp(c.base) > 0 {
			t.Errorf("%d ms is at %s", pts, at.RatString())
		}
		last = at
	}
	last = nil
	for i := len(stamps) - 1; i >= 0; i-- {
		at := c.Following(last, stamps[i], true)
		if last != nil && at.Cmp(last) >= 0 {
			t.Errorf("backward: %d ms is at %s, the one before at %s", stamps[i], at.RatString(), last.RatString())
		}
		last = at
	}
}

// However long a still is, so many frames are placed at a time.
func TestSlotsComeInParts(t *testing.T) {
	still, err := curve.New([]curve.Keyframe{
		{Source: new(big.Rat), Output: new(big.Rat), Shape: curve.Hold},
		{Source: big.NewRat(1, 1), Output: big.NewRat(100_000_000, 1), Shape: curve.Linear},
		{Source: big.NewRat(2, 1), Output: big.NewRat(100_000_001, 1), Shape: curve.Linear},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &Constant{run: still.Runs()[0], start: new(big.Rat), step: big.NewRat(1, 1), frames: 100_000_001}
	for _, slots := range [][]Slot{c.Between(5, 0, new(big.Rat), big.NewRat(1, 2)), c.After(5, 0, new(big.Rat), big.NewRat(1, 2))} {
		if len(slots) != MaxSlots || slots[0].Index != 5 || slots[MaxSlots-1].Index != 4+MaxSlots {
			t.Errorf("%d slots, want %d from 5 on", len(slots), MaxSlots)
		}
	}
}

// A frame without a length is one frame.
func TestKeptFrameWithoutLength(t *testing.T) {
	for _, start := range []int64{0, 2} {
		kept := &Kept{*lineOf("1", "1"), big.NewRat(1, 1)}
		kept.start = big.NewRat(start, 1)
		at := big.NewRat(1, 1)
		if slots := kept.After(7, 0, at, at); len(slots) != 1 || slots[0].Index != 7 || slots[0].Phase != 0 || slots[0].From.Cmp(at) != 0 {
			t.Errorf("from %d: %+v", start, slots)
		}
	}
}

// A long interval whose timestamps are kept comes in parts that go on with each other, and
// only its frames from the part's beginning until its end.
func TestKeptSlotsComeInParts(t *testing.T) {
	const n = 3 * MaxSlots
	kept := &Kept{*lineOf("1", "1"), big.NewRat(1, 1)}
	for _, c := range []struct{ start, end, first, want int64 }{{0, n, 0, n}, {10, n - 7, 10, n - 17}, {0, MaxSlots, 0, MaxSlots}} {
		kept.start, kept.end = big.NewRat(c.start, 1), big.NewRat(c.end, 1)
		var placed int64
		for {
			slots := kept.Between(5+placed, placed, new(big.Rat), big.NewRat(n, 1))
			for i, s := range slots {
				at := c.first + placed + int64(i)
				phase := warp.Phase(0)
				if at > 0 {
					phase = Quantise(big.NewRat(at, n))
				}
				if s.Index != 5+placed+int64(i) || s.From.Cmp(big.NewRat(at, 1)) != 0 || s.To.Cmp(big.NewRat(at+1, 1)) != 0 || s.Phase != phase {
					t.Fatalf("%d to %d: slot %d is %+v", c.start, c.end, placed+int64(i), s)
				}
			}
			placed += int64(len(slots))
			if len(slots) > MaxSlots {
				t.Fatalf("%d slots at a time", len(slots))
			} else if len(slots) < MaxSlots {
				break
			}
		}
		if placed != c.want {
			t.Errorf("%d to %d: %d slots, want %d", c.start, c.end, placed, c.want)
		}
	}
}
