package cuda

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
)

// ErrOutOfMemory is in the chain of errors about device memory that could not be allocated.
var ErrOutOfMemory = errors.New("out of memory")

const (
	// arenaAlign is the alignment of an arena's allocations in bytes.
	arenaAlign = 256
	// arenaChunk is the minimum number of bytes that an arena takes from the driver at once.
	arenaChunk = 64 << 20
)

// arena hands out parts of large allocations. It reuses released memory and returns it to the
// driver only when it closes. Callers of release must make sure that no stream still uses the
// memory.
type arena struct {
	driver Driver
	limit  int64 // the most bytes to take from the driver; 0 for no limit

	mu     sync.Mutex
	chunks []span
	free   []span // by address, never adjacent within a chunk
	used   map[uintptr]span
}

// span is a range of device memory in a chunk.
type span struct {
	address uintptr
	bytes   int64
	chunk   uintptr
}

func (s span) end() uintptr { return s.address + uintptr(s.bytes) }

// alloc returns memory of the given size in bytes, with undefined contents.
func (a *arena) alloc(bytes int64) (uintptr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	bytes = (max(bytes, 1) + arenaAlign - 1) &^ (arenaAlign - 1)
	best := a.fit(bytes)
	if best < 0 {
		if err := a.grow(bytes); err != nil {
			return 0, err
		}
		best = a.fit(bytes)
	}
	s := a.free[best]
	if s.bytes == bytes {
		a.free = slices.Delete(a.free, best, best+1)
	} else {
		a.free[best] = span{s.address + uintptr(bytes), s.bytes - bytes, s.chunk}
		s.bytes = bytes
	}
	if a.used == nil {
		a.used = map[uintptr]span{}
	}
	a.used[s.address] = s
	return s.address, nil
}

// fit returns the smallest free span that holds bytes, or -1.
func (a *arena) fit(bytes int64) int {
	best := -1
	for i, s := range a.free {
		if s.bytes >= bytes && (best < 0 || s.bytes < a.free[best].bytes) {
			best = i
		}
	}
	return best
}

// grow adds a chunk, or only bytes if the driver cannot provide a whole chunk.
func (a *arena) grow(bytes int64) error {
	size := max(bytes, arenaChunk)
	address, err := a.take(size)
	if errors.Is(err, ErrOutOfMemory) && size > bytes {
		size = bytes
		address, err = a.take(size)
	}
	if err != nil {
		if !errors.Is(err, ErrOutOfMemory) {
			return err
		}
		free, total, e := a.room()
		if e != nil {
			return err
		}
		return fmt.Errorf("%s of device memory wanted, %s of %s are free: %w",
			Bytes(bytes), Bytes(free), Bytes(total), err)
	}
	s := span{address, size, address}
	a.chunks = append(a.chunks, s)
	a.insert(s)
	return nil
}

// take returns memory from the driver, within the limit.
func (a *arena) take(bytes int64) (uintptr, error) {
	if a.limit > 0 && a.taken()+bytes > a.limit {
		return 0, ErrOutOfMemory
	}
	return a.driver.Alloc(bytes)
}

func (a *arena) taken() (bytes int64) {
	for _, c := range a.chunks {
		bytes += c.bytes
	}
	return bytes
}

// room returns how many bytes may still be taken from the driver, and of how many.
func (a *arena) room() (free, total int64, err error) {
	free, total, err = a.driver.MemoryInfo()
	if err == nil && a.limit > 0 {
		free, total = min(free, a.limit-a.taken()), min(total, a.limit)
	}
	return free, total, err
}

// insert adds a free span and joins it to its neighbours.
func (a *arena) insert(s span) {
	i := sort.Search(len(a.free), func(i int) bool { return a.free[i].address > s.address })
	if i < len(a.free) && a.free[i].chunk == s.chunk && a.free[i].address == s.end() {
		s.bytes += a.free[i].bytes
		a.free = slices.Delete(a.free, i, i+1)
	}
	if i > 0 && a.free[i-1].chunk == s.chunk && a.free[i-1].end() == s.address {
		a.free[i-1].bytes += s.bytes
		return
	}
	a.free = slices.Insert(a.free, i, s)
}

// release takes memory back. Address 0 means no memory.
func (a *arena) release(address uintptr) {
	if address == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.used[address]
	if !ok {
		panic(fmt.Sprintf("cuda: device memory %#x freed twice", address))
	}
	delete(a.used, address)
	a.insert(s)
}

// held returns the number of bytes that the arena has taken from the driver, and how many of them
// are in use.
func (a *arena) held() (taken, used int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	taken = a.taken()
	used = taken
	for _, s := range a.free {
		used -= s.bytes
	}
	return taken, used
}

func (a *arena) close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var first error
	for _, c := range a.chunks {
		if err := a.driver.Free(c.address); err != nil && first == nil {
			first = err
		}
	}
	a.chunks, a.free, a.used = nil, nil, nil
	return first
}

// Bytes is a number of bytes that prints in binary units.
type Bytes int64

func (b Bytes) String() string {
	switch {
	case b >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(b)/(1<<30))
	case b >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(b)/(1<<20))
	case b >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(b)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", int64(b))
}
