package main

import (
	"container/heap"
	"fmt"
	"math/rand/v2"

	"retime/cmd/retime-farm/internal/job"
)

// film is a conversion on machines with two processors. Times are in seconds.
type film struct {
	ranges  int
	length  int       // of a range
	times   []float64 // processor time of measured ranges of a second each
	spread  float64   // how many times faster the fastest machine is than the slowest
	start   float64   // startup of a program for a share
	dead    float64   // until the farm notices that a machine has failed
	restart float64   // of a machine after a failure
	between float64   // mean time between failures of a machine
}

// result is the outcome of a film. Its efficiency is the time that the work itself needs divided by
// the time that all machines spent.
type result struct {
	seconds    float64
	failures   int
	efficiency float64
}

// cost returns the time for range i on a machine of mean speed.
func (f *film) cost(i int) (seconds float64) {
	for k := range f.length {
		seconds += f.times[(i*f.length+k)%len(f.times)] / 2
	}
	return seconds
}

// within returns how many ranges, from first on, a machine of mean speed makes until a share's time
// is up.
func (f *film) within(first int, limit float64) (count int) {
	for took := 0.0; took < limit && first+count < f.ranges; count++ {
		took += f.cost(first + count)
	}
	return count
}

// share is a run of ranges that a machine makes one after another.
type share struct{ first, count int }

// event is the moment at which a machine becomes free, or at which the farm notices that a share's
// machine has failed.
type event struct {
	at      float64
	machine int // -1 if a share comes back to the farm
	share   share
	made    job.Made // what the machine made
}

// run makes the film on n machines. A failing machine loses the range that it is working on; the
// finished ranges of its share stay.
func (f *film) run(n int, random *rand.Rand) (r result) {
	speed := make([]float64, n)
	fails := make([]float64, n) // time of the next failure
	sum := 0.0
	for m := range speed {
		speed[m] = 1
		if n > 1 {
			speed[m] += (f.spread - 1) * float64(m) / float64(n-1)
		}
		sum += speed[m]
		fails[m] = random.ExpFloat64() * f.between
	}
	for m := range speed {
		speed[m] *= float64(n) / sum // scale to a mean of 1
	}
	work := 0.0
	for i := range f.ranges {
		work += f.cost(i)
	}
	sharing := job.Sharing{Target: 60, Slots: map[string]int{}}
	for m := range n {
		sharing.Slots[fmt.Sprint(m)] = 1
	}
	var events events
	var waiting []share // handed out by the workflow, but not begun
	var idle []int
	for m := range n {
		idle = append(idle, m)
	}
	next, outstanding, left := 0, 0, f.ranges
	for left > 0 {
		for next < f.ranges && outstanding < sharing.Outstanding() {
			count, open := sharing.Next(f.ranges - next)
			if open {
				count = f.within(next, sharing.Target)
			}
			s := share{next, count}
			next, outstanding, waiting = next+s.count, outstanding+1, append(waiting, s)
		}
		for len(idle) > 0 && len(waiting) > 0 {
			m, s := idle[0], waiting[0]
			idle, waiting = idle[1:], waiting[1:]
			made, failed := f.begin(&events, m, s, r.seconds, speed[m], &fails[m], random)
			if failed {
				r.failures++
				left -= made
			}
		}
		e := heap.Pop(&events).(event)
		r.seconds = e.at
		switch {
		case e.machine < 0:
			waiting = append([]share{e.share}, waiting...)
			continue
		case e.share.count > 0: // finished
			outstanding--
			left -= e.share.count
			sharing.Finished(e.made)
		}
		idle = append(idle, e.machine)
	}
	r.efficiency = work / (r.seconds * float64(n))
	return r
}

// begin starts share s on machine m, and adds the outcome to events. If the machine fails, made is
// the number of ranges that it finishes first.
func (f *film) begin(events *events, m int, s share, now, speed float64, fails *float64, random *rand.Rand) (made int, failed bool) {
	at := now + f.start
	for i := range s.count {
		at += f.cost(s.first+i) / speed
		if at > *fails { // range i is lost
			heap.Push(events, event{at: *fails + f.dead, machine: -1, share: share{s.first + i, s.count - i}})
			up := *fails + f.restart
			*fails = up + random.ExpFloat64()*f.between
			heap.Push(events, event{at: up, machine: m})
			return i, true
		}
	}
	heap.Push(events, event{at: at, machine: m, share: s, made: job.Made{Worker: fmt.Sprint(m), Slots: 1, Seconds: at - now, New: s.count}})
	return s.count, false
}

// events is a heap ordered by time.
type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }

// Pop removes the last event.
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
