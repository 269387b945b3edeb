//go:build unix

package kernels

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"retime/cuda"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// late is a Late with two streams, an event, and a byte of memory on the device and on
// the host.
type late struct {
	*Late
	first, second, event any
	device               uintptr
	host                 *byte
}

func newLate(t *testing.T, seed uint64) *late {
	l := &late{Late: NewLate(seed)}
	var err error
	l.first, err = l.NewStream()
	must(t, err)
	l.second, err = l.NewStream()
	must(t, err)
	l.event, err = l.NewEvent(false)
	must(t, err)
	l.device, err = l.Alloc(1)
	must(t, err)
	p, err := l.AllocHost(1)
	must(t, err)
	l.host = (*byte)(p)
	return l
}

func (l *late) upload(stream any) error {
	return l.CopyToDevice(stream, l.device, 1, unsafe.Pointer(l.host), 1, 1, 1)
}

func (l *late) download(stream any) error {
	return l.CopyToHost(stream, unsafe.Pointer(l.host), 1, l.device, 1, 1, 1)
}

// free releases everything that newLate allocated, and returns the error of Close.
func (l *late) free(t *testing.T) error {
	must(t, l.Free(l.device))
	_ = l.FreeHost(unsafe.Pointer(l.host))
	return l.Close()
}

// No work runs before something waits for it, and then only the work that it waits for.
func TestLateWaits(t *testing.T) {
	l := newLate(t, 0)
	must(t, l.Fill(l.first, l.device, 1, 1))
	must(t, l.Record(l.event, l.first))
	must(t, l.Fill(l.first, l.device, 2, 1))
	must(t, l.WaitEvent(l.second, l.event))
	*l.host = 0
	must(t, l.download(l.second))
	if *l.host != 0 {
		t.Error("a copy was not waited for and is done")
	}
	must(t, l.Synchronize(l.second))
	if *l.host != 1 {
		t.Errorf("what was filled before the event is %d, want 1", *l.host)
	}
	*l.host = 3
	must(t, l.upload(l.first))
	*l.host = 4 // too early
	must(t, l.Synchronize(l.first))
	must(t, l.download(l.second))
	must(t, l.Synchronize(l.second))
	if *l.host != 4 {
		t.Errorf("the copy read %d when it was queued", *l.host)
	}
	// The emulator reads other host memory immediately, and writes to it before it returns.
	b := byte(5)
	must(t, l.CopyToDevice(l.first, l.device, 1, unsafe.Pointer(&b), 1, 1, 1))
	b = 6
	must(t, l.CopyToHost(l.first, unsafe.Pointer(&b), 1, l.device, 1, 1, 1))
	if b != 5 {
		t.Errorf("memory of Go's came back as %d, want 5", b)
	}
	must(t, l.free(t))
}

// With a seed other than 0, work that lacks a wait runs early in some runs and late in others; work
// with a wait always runs in order.
func TestLateOrders(t *testing.T) {
	seen := map[byte]bool{}
	for seed := range uint64(32) {
		l := newLate(t, seed)
		for _, waits := range []bool{false, true} {
			must(t, l.Fill(l.first, l.device, 1, 1))
			must(t, l.Synchronize(l.first))
			must(t, l.Fill(l.first, l.device, 2, 1))
			must(t, l.Record(l.event, l.first))
			if waits {
				must(t, l.WaitEvent(l.second, l.event))
			}
			must(t, l.download(l.second))
			must(t, l.Synchronize(l.second))
			if !waits {
				seen[*l.host] = true
			} else if *l.host != 2 {
				t.Errorf("seed %d: %d before the event", seed, *l.host)
			}
			must(t, l.Synchronize(l.first))
		}
		must(t, l.free(t))
	}
	if !seen[1] || !seen[2] {
		t.Errorf("without a wait only %v came of it", seen)
	}
}

// An error names each thing that was released too early.
func TestLateMisuse(t *testing.T) {
	for name, misuse := range map[string]func(l *late){
		"DestroyStream": func(l *late) { _ = l.DestroyStream(l.first) },
		"FreeHost":      func(l *late) { _ = l.FreeHost(unsafe.Pointer(l.host)) },
		"Free":          func(*late) {},
	} {
		l := newLate(t, 0)
		must(t, l.download(l.first))
		misuse(l)
		if err := l.free(t); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestEmulatorHostMemory(t *testing.T) {
	e := NewEmulator()
	e.HostMemory = 1000
	var list []unsafe.Pointer
	for _, n := range []int64{1, 0, 63, 65, 871} {
		p, err := e.AllocHost(n)
		must(t, err)
		if uintptr(p)%64 != 0 {
			t.Errorf("%d bytes at %p", n, p)
		}
		list = append(list, p)
	}
	if _, err := e.AllocHost(1); !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("beyond the limit: error %v", err)
	}
	for _, p := range list {
		must(t, e.FreeHost(p))
	}
	p, err := e.AllocHost(1000)
	must(t, err)
	must(t, e.FreeHost(p))
	if err := e.FreeHost(p); err == nil {
		t.Error("memory is freed twice")
	}
	must(t, e.Close())
}

// On both emulators, each kind of call returns the error of Fail.
func TestEmulatorFails(t *testing.T) {
	broken := errors.New("broken")
	for _, seed := range []uint64{0, 1} {
		l := newLate(t, seed)
		for name, call := range map[string]func(d cuda.Driver, stream, event any) error{
			"Alloc":     func(d cuda.Driver, _, _ any) error { _, err := d.Alloc(1); return err },
			"AllocHost": func(d cuda.Driver, _, _ any) error { _, err := d.AllocHost(1); return err },
			"CopyToDevice": func(d cuda.Driver, s, _ any) error {
				return d.CopyToDevice(s, l.device, 1, unsafe.Pointer(l.host), 1, 1, 1)
			},
			"CopyToHost": func(d cuda.Driver, s, _ any) error {
				return d.CopyToHost(s, unsafe.Pointer(l.host), 1, l.device, 1, 1, 1)
			},
			"Copy":             func(d cuda.Driver, s, _ any) error { return d.Copy(s, l.device, 1, l.device, 1, 1, 1) },
			"Fill":             func(d cuda.Driver, s, _ any) error { return d.Fill(s, l.device, 0, 1) },
			"Synchronize":      func(d cuda.Driver, s, _ any) error { return d.Synchronize(s) },
			"SynchronizeEvent": func(d cuda.Driver, _, e any) error { return d.SynchronizeEvent(e) },
		} {
			for i, d := range []cuda.Driver{l, l.Emulator} {
				var failed []string
				l.Fail = func(call string) error { failed = append(failed, call); return broken }
				err := call(d, l.first, l.event)
				l.Fail = nil
				if !errors.Is(err, broken) || fmt.Sprint(failed) != "["+name+"]" {
					t.Errorf("driver %d: %s: error %v, of %v", i, name, err, failed)
				}
			}
		}
		must(t, l.Synchronize(l.first))
		must(t, l.free(t))
	}
}
