package frame

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers divides the rows of a picture among goroutines. The zero value uses as many
// as there are processors. Workers may be copied.
type Workers struct {
	// N is the number of goroutines, or 0 for runtime.GOMAXPROCS.
	N int

	tasks *atomic.Int32 // tasks that share the goroutines; nil for one task
}

// Shared returns workers for several tasks at once, which share the goroutines of w equally. A task
// calls begin before its work, and the returned end after it.
func (w Workers) Shared() (shared Workers, begin func() (end func())) {
	w.tasks = new(atomic.Int32)
	return w, func() func() {
		w.tasks.Add(1)
		return func() { w.tasks.Add(-1) }
	}
}

// Count returns the number of goroutines that Rows uses now.
func (w Workers) Count() int {
	n := w.N
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	if w.tasks == nil {
		return n
	}
	tasks := max(1, int(w.tasks.Load()))
	return (n + tasks - 1) / tasks
}

// minRows is the fewest rows worth handing to another goroutine.
const minRows = 8

// Rows calls f on disjoint bands [y0, y1) that cover [0, height), from several
// goroutines at once, and returns after the last call. The bands depend on the number
// of workers, so the result of f must not depend on the bands.
func (w Workers) Rows(height int, f func(y0, y1 int)) {
	n := w.Count()
	if n == 1 || height < 2*minRows {
		if height > 0 {
			f(0, height)
		}
		return
	}
	// Bands are smaller than a worker's share, so that a slow worker does not hold up
	// the rest.
	band := max(minRows, (height+4*n-1)/(4*n))
	bands := (height + band - 1) / band
	var next atomic.Int32
	var undone sync.WaitGroup // counts bands, not goroutines: one that starts late finds none left
	undone.Add(bands)
	run := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= bands {
				return
			}
			f(i*band, min(height, (i+1)*band))
			undone.Done()
		}
	}
	for range min(n, bands) - 1 {
		go run()
	}
	run()
	undone.Wait()
}

// Both calls f and g, at the same time if there are goroutines for both, and returns when both have
// returned.
func (w Workers) Both(f, g func()) {
	if w.Count() == 1 {
		f()
		g()
		return
	}
	var other sync.WaitGroup
	other.Go(g)
	f()
	other.Wait()
}
