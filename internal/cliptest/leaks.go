package cliptest

import (
	"errors"
	"os"
	"runtime"
	"testing"
	"time"
)

// OpenFiles counts this process's file handles.
func OpenFiles(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("needs /proc to count open files")
	} else if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// RoutinesLeft waits until no more than that many goroutines are left, as those that have
// been told to end may still be at it, and returns how many are.
func RoutinesLeft(most int) (n int) {
	for began := time.Now(); time.Since(began) < 30*time.Second; runtime.Gosched() {
		if n = runtime.NumGoroutine(); n <= most {
			break
		}
	}
	return n
}
