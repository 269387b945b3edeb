package bspline

import (
	"sync/atomic"
	"time"
)

// clock sums the times of several workers, in nanoseconds. A nil clock measures
// nothing.
type clock struct{ filter, move atomic.Int64 }

func (c *clock) start() time.Time {
	if c == nil {
		return time.Time{}
	}
	return time.Now()
}

func (c *clock) filtered(since time.Time) time.Time {
	if c == nil {
		return since
	}
	now := time.Now()
	c.filter.Add(int64(now.Sub(since)))
	return now
}

func (c *clock) moved(since time.Time) time.Time {
	if c == nil {
		return since
	}
	now := time.Now()
	c.move.Add(int64(now.Sub(since)))
	return now
}
