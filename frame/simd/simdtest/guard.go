//go:build unix

// Package simdtest lends memory to the tests of vector instructions.
package simdtest

import (
	"syscall"
	"testing"
	"unsafe"
)

// Guarded returns n elements that end directly before a page that faults or, unless end is set,
// begin directly after one. No other code uses their memory.
func Guarded[E any](t testing.TB, n int, end bool) []E {
	t.Helper()
	var zero E
	page := syscall.Getpagesize()
	size := n * int(unsafe.Sizeof(zero))
	pages := max(1, (size+page-1)/page) * page
	m, err := syscall.Mmap(-1, 0, pages+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	for _, g := range [][]byte{m[:page], m[page+pages:]} {
		if err := syscall.Mprotect(g, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	start := page
	if end {
		start += pages - size
	}
	return unsafe.Slice((*E)(unsafe.Pointer(&m[start])), n)
}

// Copy returns a guarded copy of s.
func Copy[E any](t testing.TB, s []E, end bool) []E {
	c := Guarded[E](t, len(s), end)
	copy(c, s)
	return c
}
