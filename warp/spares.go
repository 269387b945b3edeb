package warp

import "sync"

// spares keeps memory that is not in use, for whoever needs some next. Several goroutines may use
// it at once. The zero value is empty.
type spares[T any] struct {
	mu   sync.Mutex
	free []*T
}

// take returns what was given last, or nil if nothing is left.
func (s *spares[T]) take() *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return nil
	}
	v := s.free[n-1]
	s.free = s.free[:n-1]
	return v
}

func (s *spares[T]) give(v *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, v)
}
