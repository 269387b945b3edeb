// Package posix lets tests use what Windows lacks; there they are skipped.
package posix

import (
	"errors"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Mkfifo skips the test: directories of Windows hold no pipes.
func Mkfifo(t testing.TB, _ string, _ uint32) error {
	t.Helper()
	t.Skip("directories of Windows hold no pipes")
	return nil
}

// Umask skips the test: Windows has no such permissions.
func Umask(t testing.TB, _ int) int {
	t.Helper()
	t.Skip("Windows has no permissions of POSIX")
	return 0
}

// Map returns new memory of the system's.
func Map(bytes int) ([]byte, error) {
	p, err := windows.VirtualAlloc(0, uintptr(bytes), windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), bytes), nil
}

// Unmap returns Map's memory to the system.
func Unmap(memory []byte) error {
	return windows.VirtualFree(uintptr(unsafe.Pointer(unsafe.SliceData(memory))), 0, windows.MEM_RELEASE)
}

// LimitFiles skips the test: Windows has no such limit.
func LimitFiles(t testing.TB, _ uint64) error {
	t.Helper()
	t.Skip("Windows has no limit of files' sizes")
	return nil
}

// Mount mounts nothing.
func Mount(testing.TB, string) error { return errors.ErrUnsupported }
