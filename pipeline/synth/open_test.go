package synth

import (
	"errors"
	"testing"
	"testing/synctest"
)

// closingDevice counts how often it is closed.
type closingDevice struct {
	failingDevice
	closed int
}

func (d *closingDevice) Close() { d.closed++ }

// held is a device whose opening lasts until a channel is closed.
func held() (d *closingDevice, o *Opening, let chan struct{}) {
	d, let = &closingDevice{failingDevice: failingDevice{never}}, make(chan struct{})
	o = begin(func() (Synthesizer, error) {
		<-let
		return NewDevices(params(), d), nil
	})
	return d, o, let
}

// A synthesizer that nobody waits for is closed once it is open, and Drop returns before that. A
// bubble fails if all its goroutines wait, or if it leaves one behind.
func TestDropCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, o, let := held()
		o.Drop()
		close(let)
		synctest.Wait()
		if d.closed != 1 {
			t.Errorf("dropped while it is opened: the device is closed %d times", d.closed)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d, o, let := held()
		close(let)
		synctest.Wait()
		o.Drop()
		synctest.Wait()
		if d.closed != 1 {
			t.Errorf("dropped once it is open: the device is closed %d times", d.closed)
		}
	})
}

// A synthesizer that was waited for is its caller's to close.
func TestDropLeavesWhatWasWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, o, let := held()
		close(let)
		s, err := o.Wait()
		if err != nil {
			t.Fatal(err)
		}
		o.Drop()
		synctest.Wait()
		if d.closed != 0 {
			t.Fatal("Drop closes what Wait has returned")
		}
		s.Close()
	})
}

// An error comes through Wait, and leaves Drop nothing to close.
func TestOpeningFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := func() (Synthesizer, error) { return nil, errBroken }
		begin(fails).Drop()
		o := begin(fails)
		defer o.Drop()
		if s, err := o.Wait(); s != nil || !errors.Is(err, errBroken) {
			t.Errorf("synthesizer %v, error %v", s, err)
		}
	})
}

// Begin opens what Open does.
func TestBegin(t *testing.T) {
	p := params()
	p.Backend = CPU
	o := Begin(p)
	defer o.Drop()
	s, err := o.Wait()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if b := s.Summary().Backend; b != CPU {
		t.Errorf("backend %q", b)
	}
	p.Warp.Directions = 3
	o = Begin(p)
	defer o.Drop()
	if s, err := o.Wait(); err == nil {
		t.Errorf("3 directions: synthesizer %v", s)
	}
}
