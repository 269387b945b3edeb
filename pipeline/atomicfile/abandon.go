package atomicfile

import "sync"

// unfinished holds what undoes the process's unfinished work, by a number.
var unfinished = struct {
	mu   sync.Mutex
	undo map[int]func()
	next int
}{undo: map[int]func(){}}

// OnAbandon has Abandon call undo unless forget is called before. undo may be called at any
// time, beside what it undoes.
func OnAbandon(undo func()) (forget func()) {
	u := &unfinished
	u.mu.Lock()
	defer u.mu.Unlock()
	n := u.next
	u.next++
	u.undo[n] = undo
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.undo, n)
	}
}

// Abandon removes all files and directories that this process has not finished, for a program
// that must end although some of its code does not return. Nothing can be begun or finished from
// then on: whoever tries waits for the end of the process.
func Abandon() {
	unfinished.mu.Lock()
	for _, undo := range unfinished.undo {
		undo()
	}
}
