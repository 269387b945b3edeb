package media

import (
	"fmt"
	"testing"
	"unsafe"

	"retime/pipeline/frame"
)

// Frames of a pool have whole planes of their own, and memory serves again.
func TestFramePool(t *testing.T) {
	var pool FramePool
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
				pool.Close() // a is still held
				paint(a, 7)
				a.Release()
			})
		}
	}
}
