package job

import (
	"testing"
	"time"
)

// Shares are single ranges while no worker is known, as long as the target says in the middle, and
// single ranges again at the end.
func TestShares(t *testing.T) {
	s := Sharing{Target: 60}
	if n, _ := s.Next(1000); n != 1 {
		t.Errorf("the first share has %d ranges", n)
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		s.Finished(Made{Worker: name, Slots: 2, Seconds: 5, New: 1})
	}
	if n, _ := s.Next(1000); n != 12 {
		t.Errorf("a share has %d ranges, want 12, which take a minute", n)
	}
	left, last := 1000, 1000
	for left > 0 {
		n, _ := s.Next(left)
		if n < 1 || n > left || n > last {
			t.Fatalf("%d left, a share of %d after one of %d", left, n, last)
		}
		left, last = left-n, n
	}
	if last != 1 {
		t.Errorf("the last share has %d ranges", last)
	}
	if n, _ := s.Next(0); n != 0 {
		t.Errorf("nothing is left, and a share has %d ranges", n)
	}
	// Ranges that others had made do not count as speed.
	before := s.Seconds
	s.Finished(Made{Worker: "e", Slots: 2, Seconds: 0.1})
	if s.Seconds != before {
		t.Errorf("%v s a range, was %v", s.Seconds, before)
	}
	s.Finished(Made{Worker: "f", Slots: 1000, Seconds: 5, New: 1})
	if n := s.Outstanding(); n != MaxOutstanding {
		t.Errorf("%d shares outstanding, want %d", n, MaxOutstanding)
	}
	s.Target = 0
	if n, _ := s.Next(100000); n != 1 {
		t.Errorf("shares of no length have %d ranges", n)
	}
}

// At first, known workers get a few ranges and a single slot gets all, and no share is too brief to
// be worth starting a program.
func TestSharesForWorkersThatAreKnown(t *testing.T) {
	s := Sharing{Target: 60, Slots: map[string]int{"a": 2}}
	if n, open := s.Next(20); n != few || open || s.Outstanding() != 4 {
		t.Errorf("at first %d shares of %d ranges, open %v", s.Outstanding(), n, open)
	}
	if n, _ := s.Next(1); n != 1 {
		t.Errorf("of 1 range, a share of %d", n)
	}
	s.Slots["a"] = 1
	if n, open := s.Next(20); n != 20 || !open {
		t.Errorf("a single slot gets %d of 20 ranges at first, open %v", n, open)
	}
	s.Finished(Made{Worker: "a", Slots: 1, Seconds: 4, New: 4})
	if n, open := s.Next(12); n != 12 || open {
		t.Errorf("a single slot gets %d of 12 ranges, open %v", n, open)
	}
	if n, _ := s.Next(1000); n != 60 {
		t.Errorf("a single slot gets %d ranges, want 60, which take a minute", n)
	}
	s.Slots["b"] = 9
	for left, want := range map[int]int{1000: 50, 100: 5, 40: 3, 2: 2} {
		if n, _ := s.Next(left); n != want {
			t.Errorf("%d left, 10 slots: a share of %d, want %d", left, n, want)
		}
	}
}

// A share ends when its time is up, unless the rest takes less than that.
func TestEnough(t *testing.T) {
	s := Share{Limit: time.Minute}
	for _, c := range []struct {
		took       time.Duration
		made, left int
		want       bool
	}{
		{59 * time.Second, 1, 100, false},
		{time.Minute, 5, 5, true},
		{time.Minute, 5, 4, false},
		{10 * time.Minute, 10, 1, true},
		{10 * time.Minute, 0, 100, false}, // others had made everything so far
		{10 * time.Minute, 10, 0, false},
	} {
		if got := s.Enough(c.took, c.made, c.left); got != c.want {
			t.Errorf("%v, %d made, %d left: %v", c.took, c.made, c.left, got)
		}
	}
	s.Limit = 0
	if s.Enough(time.Hour, 1, 1000) {
		t.Error("a share without a limit ends")
	}
}

func TestSample(t *testing.T) {
	for frames, want := range map[int64]int{1: 1, 1000: 1, 1001: 2, 15000: 15, 1 << 40: 16} {
		if n := Sample(Thousandth, frames); n != want {
			t.Errorf("of %d frames, a sample of %d, want %d", frames, n, want)
		}
	}
	if n := Sample(0, 5000); n != 0 {
		t.Errorf("a sample of %d, want none", n)
	}
}

func TestIdentity(t *testing.T) {
	for _, name := range []string{"host/12", "a*3", "", "**"} {
		if worker, slots := SlotsOf(Identity(name, 8)); worker != name || slots != 8 {
			t.Errorf("%q has %d slots, want 8 of %q", worker, slots, name)
		}
	}
	for _, identity := range []string{"host/12", "host*x", "host*", "host*-1"} {
		if worker, slots := SlotsOf(identity); worker != identity || slots != 0 {
			t.Errorf("%q: %q with %d slots", identity, worker, slots)
		}
	}
}
