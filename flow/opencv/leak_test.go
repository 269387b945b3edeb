//go:build !noopencv

package opencv

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"retime/flow"
)

// memory returns how many bytes of address space and of memory the process uses.
func memory(t *testing.T) (addresses, resident int) {
	t.Helper()
	stat, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skipf("no /proc/self/statm to read the memory in use from: %v", err)
	}
	if _, err := fmt.Sscan(string(stat), &addresses, &resident); err != nil {
		t.Fatal(err)
	}
	return addresses * os.Getpagesize(), resident * os.Getpagesize()
}

// Estimators free all memory that OpenCV allocates. If each estimator lost one
// full-size matrix, the process would grow by several times the bound.
func TestLeaks(t *testing.T) {
	const w, h, passes, bound = 160, 90, 40, 2 << 20
	a, b := texture(w, h, 0, 0), texture(w, h, 2, 1)
	small, moved := texture(30, 20, 0, 0), texture(30, 20, 1, 0)
	var f flow.Field
	pass := func(open func() (oneWay, error)) {
		e, err := open()
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		for range 2 {
			if err := e.Estimate(small, moved, &f); err != nil {
				t.Fatal(err)
			}
			if err := e.Estimate(a, b, &f); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Estimate(a, small, &f); err == nil {
			t.Fatal("pictures of different sizes were taken")
		}
	}
	for _, m := range methods {
		for range 10 {
			pass(m.open)
		}
		// A cache of the allocator may grow in one round; a leak grows in every round.
		grown := 0
		for range 3 {
			_, before := memory(t)
			for range passes {
				pass(m.open)
			}
			_, after := memory(t)
			if grown = after - before; grown <= bound {
				break
			}
		}
		if grown > bound {
			t.Errorf("%s: %d KiB more in use after %d estimators", m.name, grown>>10, passes)
		}
	}
}

// The test limits the address space of a second process, so that OpenCV runs out of memory in the
// middle of an estimate and throws its own exception or C++'s. The process survives.
func TestOutOfMemoryBecomesError(t *testing.T) {
	const env = "RETIME_TEST_MEMORY"
	if os.Getenv(env) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestOutOfMemoryBecomesError$", "-test.v")
		cmd.Env = append(os.Environ(), env+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	setThreads(t, 1)
	const side, spare = 4000, 128 << 20 // bytes; an estimate needs several times the spare ones
	a, f := constant(side, side, 9), flow.NewField(side, side)
	small := constant(64, 48, 9)
	estimators := []oneWay{open(t, newDIS), open(t, newFarneback)}
	for _, e := range estimators {
		estimate(t, e, small, small)
	}
	used, _ := memory(t)
	limit := uint64(used + spare)
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Skipf("no limit of memory: %v", err)
	}
	for i, e := range estimators {
		err := e.Estimate(a, a, &f)
		if err == nil || !strings.Contains(err.Error(), "memory") && !strings.Contains(err.Error(), "bad_alloc") {
			t.Errorf("estimator %d: error %v, want one about memory", i, err)
		}
		estimate(t, e, small, small)
	}
}
