package job

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxOutstanding bounds the shares of one conversion that are under way or waiting.
const MaxOutstanding = 500

// fewest is the number of shares that a conversion keeps under way before it knows any slot.
const fewest = 64

// few is the maximum number of ranges in a share while their speed is unknown and several slots
// divide them.
const few = 4

// brief divides the target: balance makes no share shorter than target/brief, because starting a
// program would cost more than waiting for one.
const brief = 20

// Sharing decides how many ranges a worker gets at a time, from the number of slots and the speed
// that finished shares have shown. Shares shrink towards the end, so that no worker waits long for
// the last one: guided self-scheduling, after Polychronopoulos and Kuck, IEEE Transactions on
// Computers C-36(12), 1987.
type Sharing struct {
	Target  float64        `json:"target"`  // desired duration of a share; 0 for single ranges
	Seconds float64        `json:"seconds"` // average for a range; 0 if unknown
	Slots   map[string]int `json:"slots"`   // number of slots of each known worker, by name
}

// Finished learns from a finished share.
func (s *Sharing) Finished(m Made) {
	if s.Slots == nil {
		s.Slots = map[string]int{}
	}
	s.Slots[m.Worker] = m.Slots
	if m.New == 0 {
		return // others had made all of it, which tells nothing about speed
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
	return n
}

// Next returns the size of the next share if left ranges have not been handed out. While the speed
// is unknown, a single slot gets all of them, because no other needs any. Then open is true, and
// the worker ends the share when its time is up.
func (s *Sharing) Next(left int) (count int, open bool) {
	slots := s.slots()
	if slots == 0 || s.Target == 0 {
		return min(1, left), false
	}
	fair := left
	if slots > 1 {
		fair = (left + 2*slots - 1) / (2 * slots)
	}
	switch {
	case s.Seconds == 0 && slots == 1:
		return left, true
	case s.Seconds == 0:
		return min(fair, few, left), false
	}
	ranges := func(seconds float64) int { return int(math.Min(seconds/s.Seconds, float64(left))) }
	return min(max(min(fair, ranges(s.Target)), ranges(s.Target/brief), 1), left), false
}

// Outstanding returns the number of shares to keep under way or waiting: two for each slot, so that
// no slot waits for the workflow.
func (s *Sharing) Outstanding() int {
	if slots := s.slots(); slots > 0 {
		return min(2*slots, MaxOutstanding)
	}
	return fewest
}

// Identity returns the name under which a worker asks for work that takes a slot. It contains the
// number of slots, because the server reports only the names of those that ask.
func Identity(worker string, slots int) string { return fmt.Sprintf("%s*%d", worker, slots) }

// SlotsOf returns the worker and the number of slots in an identity, or 0 if it has none.
func SlotsOf(identity string) (worker string, slots int) {
	i := strings.LastIndexByte(identity, '*')
	if i < 0 {
		return identity, 0
	}
	n, err := strconv.Atoi(identity[i+1:])
	if err != nil || n < 0 {
		return identity, 0
	}
	return identity[:i], n
}
