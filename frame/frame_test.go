package frame

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

func TestPlaneSizes(t *testing.T) {
	f := Format{Depth: 10, Planes: 4, ChromaX: 1, ChromaY: 1}
	for i, want := range [][2]int{{7, 5}, {4, 3}, {4, 3}, {7, 5}} {
		if w, h := f.PlaneSize(i, 7, 5); w != want[0] || h != want[1] {
			t.Errorf("plane %d of 7x5 is %dx%d, want %dx%d", i, w, h, want[0], want[1])
		}
	}
	gray := Format{Depth: 8, Planes: 2, ChromaX: 1, ChromaY: 1}
	if w, h := gray.PlaneSize(1, 7, 5); w != 7 || h != 5 {
		t.Errorf("alpha of gray is %dx%d", w, h)
	}
}

func TestSamplesShareTheirPlane(t *testing.T) {
	f := New(Format{Depth: 12, Planes: 1}, 5, 3)
	s := Samples[uint16](f.Planes[0])
	s.Row(2)[4] = 0x0abc
	p := f.Planes[0]
	if got := int(p.Pix[2*p.Stride+8]) | int(p.Pix[2*p.Stride+9])<<8; got != 0x0abc && got != 0xbc0a {
		t.Errorf("sample reads %#x", got)
	}
	if len(s.Row(0)) != 5 || cap(s.Row(0)) != 5 {
		t.Errorf("a row has %d of %d samples", len(s.Row(0)), cap(s.Row(0)))
	}
}

func TestReferences(t *testing.T) {
	freed := 0
	f := Wrap(Format{Depth: 8, Planes: 1}, 1, 1, nil, func(*Frame) { freed++ })
	f.Retain().Release()
	if freed != 0 {
		t.Fatal("freed while held")
	}
	f.Release()
	if freed != 1 {
		t.Fatalf("freed %d times", freed)
	}
	for name, call := range map[string]func(*Frame){"Release": (*Frame).Release, "Retain": func(f *Frame) { f.Retain() }} {
		func() {
			f := Wrap(Format{Depth: 8, Planes: 1}, 1, 1, nil, nil)
			f.Release()
			defer func() {
				if recover() == nil {
					t.Errorf("%s after the last release goes unnoticed", name)
				}
			}()
			call(f)
		}()
	}
}

func TestEqual(t *testing.T) {
	format := Format{Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1}
	a, b := New(format, 9, 7), New(format, 9, 7)
	b.Planes[0].Pix[9] = 1 // padding
	if !Equal(a, b) {
		t.Error("padding makes a difference")
	}
	b.Planes[2].Pix[3*b.Planes[2].Stride+4] = 1
	if Equal(a, b) {
		t.Error("the last chroma sample makes none")
	}
	if Equal(a, New(format, 9, 6)) || Equal(a, New(Format{Depth: 8, Planes: 1}, 9, 7)) {
		t.Error("size or format makes none")
	}
}

func TestRowsCoverEachRowOnce(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 8, 100} {
		for _, height := range []int{0, 1, 7, 15, 16, 17, 100, 1081} {
			t.Run(fmt.Sprintf("%d workers %d rows", workers, height), func(t *testing.T) {
				seen := make([]atomic.Int32, height)
				Workers{N: workers}.Rows(height, func(y0, y1 int) {
					for y := y0; y < y1; y++ {
						seen[y].Add(1)
					}
				})
				for y := range seen {
					if n := seen[y].Load(); n != 1 {
						t.Fatalf("row %d is covered %d times", y, n)
					}
				}
			})
		}
	}
}

// Several goroutines may call Rows at once.
func TestRowsAtOnce(t *testing.T) {
	var sum atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			Workers{N: 3}.Rows(1000, func(y0, y1 int) { sum.Add(int64(y1 - y0)) })
		})
	}
	group.Wait()
	if sum.Load() != 4000 {
		t.Errorf("%d rows, want 4000", sum.Load())
	}
}

// Tasks that run at once get equal shares of the goroutines, rounded up.
func TestShared(t *testing.T) {
	shared, begin := Workers{N: 8}.Shared()
	copied := shared
	var ends []func()
	for i, want := range []int{8, 8, 4, 3, 2} {
		if got := copied.Count(); got != want {
			t.Errorf("%d tasks: %d goroutines each, want %d", i, got, want)
		}
		ends = append(ends, begin())
	}
	for _, end := range ends {
		end()
	}
	if got := shared.Count(); got != 8 {
		t.Errorf("after all tasks: %d goroutines, want 8", got)
	}
	if one, begin := (Workers{N: 1}).Shared(); begin != nil {
		begin()
		begin()
		if got := one.Count(); got != 1 {
			t.Errorf("two tasks of one goroutine have %d each", got)
		}
	}
}

func TestBoth(t *testing.T) {
	var order []int
	Workers{N: 1}.Both(func() { order = append(order, 1) }, func() { order = append(order, 2) })
	if len(order) != 2 || order[0] != 1 {
		t.Errorf("one worker: %v, want 1, then 2", order)
	}
	// Each waits for the other one.
	a, b := make(chan bool), make(chan bool)
	Workers{N: 2}.Both(func() { close(a); <-b }, func() { <-a; close(b) })
}
