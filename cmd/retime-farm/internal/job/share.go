package job

import "math"

// MaxOutstanding bounds the shares that one conversion has under way or waiting.
const MaxOutstanding = 500

// fewest is the number of shares that a conversion keeps under way before it knows how many
// slots there are.
const fewest = 64

// Sharing decides how many ranges a worker gets at a time, from the speed and the slots
// that finished shares have shown. Shares shrink towards the end, so that no worker waits
// long for the last one: guided self-scheduling, after Polychronopoulos and Kuck, IEEE
// Transactions on Computers C-36(12), 1987.
type Sharing struct {
	Target  float64        `json:"target"`  // seconds that a share should take
	Seconds float64        `json:"seconds"` // that a range takes, about; 0 if unknown
	Slots   map[string]int `json:"slots"`   // of the workers that have finished a share, by name
}

// Finished takes note of a finished share.
func (s *Sharing) Finished(m Made) {
	if s.Slots == nil {
		s.Slots = map[string]int{}
	}
	s.Slots[m.Worker] = m.Slots
	if m.New == 0 {
		return // others had made all of it, which says nothing of the speed
	}
	each := m.Seconds / float64(m.New)
	if s.Seconds == 0 {
		s.Seconds = each
	}
	s.Seconds += (each - s.Seconds) / 8
}

func (s *Sharing) slots() (n int) {
	for _, k := range s.Slots {
		n += k
	}
	return max(n, 1)
}

// Next returns the size of the next share, when left ranges have not been given out. The
// first shares are single ranges, which show the speed.
func (s *Sharing) Next(left int) int {
	if s.Seconds == 0 {
		return min(1, left)
	}
	fair := (left + 2*s.slots() - 1) / (2 * s.slots())
	fit := int(math.Min(s.Target/s.Seconds, float64(left)))
	return min(max(min(fair, fit), 1), left)
}

// Outstanding returns the number of shares to have under way or waiting: two for each
// slot, so that no slot waits for the workflow.
func (s *Sharing) Outstanding() int {
	return min(max(2*s.slots(), fewest), MaxOutstanding)
}
