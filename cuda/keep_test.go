package cuda

import (
	"errors"
	"testing"
)

// countedDriver counts its life, and fails where told.
type countedDriver struct {
	Driver
	closed int
	failed bool
}

func (d *countedDriver) Do(f func() error) error { return f() }

func (d *countedDriver) MemoryInfo() (free, total int64, err error) {
	if d.failed {
		return 0, 0, errors.New("an earlier launch failed")
	}
	return 1, 1, nil
}

func (d *countedDriver) Close() error {
	d.closed++
	return nil
}

// A context is used again while it is kept and works, by one device at a time, and is closed in the
// end.
func TestKeep(t *testing.T) {
	var k keeper
	var made []*countedDriver
	open := func(ordinal int) Driver {
		t.Helper()
		d, err := k.open(ordinal, func(int) (Driver, error) {
			made = append(made, new(countedDriver))
			return made[len(made)-1], nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	expect := func(what string, closed ...int) {
		t.Helper()
		if len(made) != len(closed) {
			t.Fatalf("%s: %d contexts were made, want %d", what, len(made), len(closed))
		}
		for i, n := range closed {
			if made[i].closed != n {
				t.Errorf("%s: context %d was closed %d times, want %d", what, i, made[i].closed, n)
			}
		}
	}
	open(0).Close()
	expect("kept by nobody", 1)

	first, second := k.keep(), k.keep()
	d := open(0)
	open(1).Close()
	d.Close()
	d = open(0)
	expect("used again", 1, 0, 0)
	open(0).Close()
	expect("a second one of the device", 1, 0, 0, 0)
	d.Close()
	made[1].failed = true
	made[3].failed = true
	d = open(0)
	expect("after faults", 1, 1, 0, 1, 0)
	d.Close()
	first()
	first()
	expect("kept by another still", 1, 1, 0, 1, 0)
	second()
	expect("released", 1, 1, 1, 1, 1)

	failing := errors.New("no device")
	if _, err := k.open(0, func(int) (Driver, error) { return nil, failing }); !errors.Is(err, failing) {
		t.Errorf("error %v", err)
	}
}
