package stages

import (
	"slices"
	"sync"
)

// recent keeps the things that were used last, by their numbers, with a reference to each.
type recent[T interface {
	comparable
	Release()
}] struct {
	room   int // how many
	retain func(T)

	mu   sync.Mutex
	kept []numbered[T] // those used last come last
}

type numbered[T any] struct {
	n     int64
	thing T
}

// find returns what is kept of a number, with a reference.
func (r *recent[T]) find(n int64) (thing T, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.use(n)
}

func (r *recent[T]) use(n int64) (thing T, ok bool) {
	i := slices.IndexFunc(r.kept, func(k numbered[T]) bool { return k.n == n })
	if i < 0 {
		return thing, false
	}
	k := r.kept[i]
	copy(r.kept[i:], r.kept[i+1:])
	r.kept[len(r.kept)-1] = k
	r.retain(k.thing)
	return k.thing, true
}

// keep keeps a thing, or takes in its place the one that another goroutine has kept.
func (r *recent[T]) keep(n int64, thing T) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	if other, ok := r.use(n); ok {
		thing.Release()
		return other
	}
	if len(r.kept) >= r.room {
		r.kept[0].thing.Release()
		r.kept = r.kept[1:]
	}
	r.kept = append(r.kept, numbered[T]{n, thing})
	r.retain(thing)
	return thing
}

// drop forgets a thing.
func (r *recent[T]) drop(thing T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.kept, func(k numbered[T]) bool { return k.thing == thing }); i >= 0 {
		r.kept = slices.Delete(r.kept, i, i+1)
		thing.Release()
	}
}

// clear forgets all.
func (r *recent[T]) clear() {
	for _, k := range r.kept {
		k.thing.Release()
	}
	r.kept = nil
}
