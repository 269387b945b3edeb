package pixel

import (
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"retime/frame"
	"retime/testdata/posix"
)

// A pool's frames do not share planes, and the pool reuses memory.
func TestPool(t *testing.T) {
	var pool Pool
	defer pool.Close()
	for _, format := range []frame.Format{
		{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1},
		{Name: "yuva444p16le", Depth: 16, Planes: 4},
		{Name: "gray", Depth: 8, Planes: 1},
	} {
		for _, size := range [][2]int{{1, 1}, {17, 5}, {64, 64}, {639, 271}} {
			t.Run(fmt.Sprint(format.Name, size), func(t *testing.T) {
				like := frame.New(format, size[0], size[1])
				fresh := func() *frame.Frame {
					f, err := pool.NewFrame(like)
					if err != nil {
						t.Fatal(err)
					}
					if f.Format != format || f.Width != size[0] || f.Height != size[1] || len(f.Planes) != format.Planes {
						t.Fatalf("a frame %+v", f)
					}
					return f
				}
				paint := func(f *frame.Frame, first int) {
					for i, p := range f.Planes {
						for j := range p.Pix {
							p.Pix[j] = byte(first + i)
						}
					}
				}
				a, b := fresh(), fresh()
				paint(a, 1)
				paint(b, 101)
				for i, p := range a.Planes {
					want, _ := format.PlaneSize(i, size[0], size[1])
					if p.Width != want || p.Stride%64 != 0 {
						t.Errorf("plane %d: %d wide, rows %d bytes apart", i, p.Width, p.Stride)
					}
					for j, v := range p.Pix {
						if v != byte(1+i) {
							t.Fatalf("plane %d: byte %d is %d", i, j, v)
						}
					}
				}
				at := unsafe.SliceData(b.Planes[0].Pix)
				b.Release()
				if c := fresh(); unsafe.SliceData(c.Planes[0].Pix) != at {
					t.Error("memory does not serve again")
				} else {
					c.Release()
				}
				pool.Close() // a is still in use
				paint(a, 7)
				a.Release()
			})
		}
	}
}

// lender is a Memory of limited size.
type lender struct {
	mu         sync.Mutex
	room       int
	taken      map[unsafe.Pointer][]byte
	freed, bad int
}

func (l *lender) Alloc(bytes int) unsafe.Pointer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.taken) == l.room {
		return nil
	}
	memory, err := posix.Map(bytes)
	if err != nil {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(memory))
	l.taken[p] = memory
	return p
}

func (l *lender) Free(p unsafe.Pointer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if posix.Unmap(l.taken[p]) != nil {
		l.bad++
	}
	delete(l.taken, p)
	l.freed++
}

// A pool allocates frames from its Memory, and from FFmpeg's own allocator once that has
// run out. It returns all memory after Close and the frames' release, in either order.
func TestPoolMemory(t *testing.T) {
	like := frame.New(frame.Format{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1}, 33, 17)
	for _, closedFirst := range []bool{false, true} {
		l := &lender{room: 3, taken: map[unsafe.Pointer][]byte{}}
		pool := Pool{Memory: l}
		var held []*frame.Frame
		for i := range 5 {
			f, err := pool.NewFrame(like)
			if err != nil {
				t.Fatal(err)
			}
			inside := false
			for p, m := range l.taken {
				at := uintptr(unsafe.Pointer(unsafe.SliceData(f.Planes[0].Pix)))
				inside = inside || at >= uintptr(p) && at < uintptr(p)+uintptr(len(m))
			}
			if inside != (i < 3) || (f.Memory != nil) != inside {
				t.Errorf("frame %d of 5, with room for 3: in the memory: %v, and says so: %v", i, inside, f.Memory != nil)
			}
			for _, p := range f.Planes {
				clear(p.Pix)
			}
			held = append(held, f)
		}
		if closedFirst {
			pool.Close()
		}
		for _, f := range held {
			f.Release()
		}
		pool.Close()
		if l.freed != 3 || l.bad != 0 || len(l.taken) != 0 {
			t.Errorf("%d pieces freed, %d of them unknown, %d left; want 3, 0, 0", l.freed, l.bad, len(l.taken))
		}
	}
}
