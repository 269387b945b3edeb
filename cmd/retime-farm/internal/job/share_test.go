package job

import "testing"

// Shares are single ranges at first, as long as the target says in the middle, and single
// ranges again at the end.
func TestShares(t *testing.T) {
	s := Sharing{Target: 60}
	if n := s.Next(1000); n != 1 {
		t.Errorf("the first share has %d ranges", n)
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		s.Finished(Made{Worker: name, Slots: 2, Seconds: 5, New: 1})
	}
	if n := s.Next(1000); n != 12 {
		t.Errorf("a share has %d ranges, want 12, which take a minute", n)
	}
	left, last := 1000, 1000
	for left > 0 {
		n := s.Next(left)
		if n < 1 || n > left || n > last {
			t.Fatalf("%d left, a share of %d after one of %d", left, n, last)
		}
		left, last = left-n, n
	}
	if last != 1 {
		t.Errorf("the last share has %d ranges", last)
	}
	if n := s.Next(0); n != 0 {
		t.Errorf("nothing is left, and a share has %d ranges", n)
	}
	// What others had made does not count as speed.
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
	if n := s.Next(100000); n != 1 {
		t.Errorf("shares of no length have %d ranges", n)
	}
}
