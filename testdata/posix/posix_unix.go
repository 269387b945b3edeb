//go:build unix

// Package posix lets tests use what Windows lacks; there they are skipped.
package posix

import (
	"os/signal"
	"syscall"
	"testing"
)

// Mkfifo makes a named pipe.
func Mkfifo(_ testing.TB, name string, mode uint32) error { return syscall.Mkfifo(name, mode) }

// Umask sets the permissions that new files lack, and returns those before.
func Umask(_ testing.TB, mask int) int { return syscall.Umask(mask) }

// Map returns new memory of the system's.
func Map(bytes int) ([]byte, error) {
	return syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

// Unmap returns Map's memory to the system.
func Unmap(memory []byte) error { return syscall.Munmap(memory) }

// LimitFiles has the process write files of that many bytes at most.
func LimitFiles(_ testing.TB, bytes uint64) error {
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: bytes})
}

// Mount mounts a file system of 256 kB until the test ends.
func Mount(t testing.TB, dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		return err
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	return nil
}
