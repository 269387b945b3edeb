package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/flow"
	"retime/pipeline/fault"
	"retime/pipeline/frame"
)

// countingEstimator makes fields that tell their pictures, and counts them.
type countingEstimator struct{ calls int }

func (e *countingEstimator) Estimate(a, b frame.Image[uint8], dst *flow.Field) error {
	e.calls++
	*dst = flow.NewField(a.Width, a.Height)
	for i := range dst.Pix {
		// Up to the limit of so small a field.
		dst.Pix[i] = flow.Vec{X: int32(a.Pix[0])*100 + int32(i), Y: -int32(b.Pix[0])*7 - int32(i)}
	}
	return nil
}

func (e *countingEstimator) Close() error { return nil }

func grey(width, height int, v uint8) frame.Image[uint8] {
	m := frame.NewImage[uint8](width, height)
	m.Pix[0] = v
	return m
}

func TestFlowCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "flows")
	a, b, c := grey(7, 5, 1), grey(7, 5, 2), grey(5, 7, 1)
	pairs := []struct {
		a, b   frame.Image[uint8]
		method string
	}{{a, b, "one"}, {b, a, "one"}, {a, b, "two"}, {c, c, "one"}}
	for pass, want := range []int{1, 0} {
		for i, p := range pairs {
			e := &countingEstimator{}
			cached, err := newFlowCache(e, dir, p.method)
			if err != nil {
				t.Fatal(err)
			}
			var got, fresh flow.Field
			if err := cached.Estimate(p.a, p.b, &got); err != nil {
				t.Fatal(err)
			}
			if e.calls != want {
				t.Errorf("pass %d, pair %d: estimated %d times, want %d", pass, i, e.calls, want)
			}
			_ = e.Estimate(p.a, p.b, &fresh)
			if got.Width != fresh.Width || !slices.Equal(got.Pix, fresh.Pix) {
				t.Errorf("pass %d, pair %d: the field differs", pass, i)
			}
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != len(pairs) {
		t.Errorf("files %q, want %d", files, len(pairs))
	}
}

func (e *countingEstimator) EstimateFrom(a, b frame.Image[uint8], initial flow.Field, dst *flow.Field) error {
	err := e.Estimate(a, b, dst)
	dst.Pix[0] = initial.Pix[0]
	return err
}

// A field that started elsewhere is another.
func TestFlowCacheStarts(t *testing.T) {
	dir := t.TempDir()
	a := grey(7, 5, 1)
	e := &countingEstimator{}
	c, err := newStartedFlowCache(e, dir, "m")
	if err != nil {
		t.Fatal(err)
	}
	first, second := flow.NewField(7, 5), flow.NewField(7, 5)
	second.Pix[0] = flow.Vec{X: 1, Y: 2}
	for i, initial := range []flow.Field{first, second, first, second} {
		var got flow.Field
		if err := c.EstimateFrom(a, a, initial, &got); err != nil {
			t.Fatal(err)
		}
		if got.Pix[0] != initial.Pix[0] {
			t.Errorf("%d: %v from %v", i, got.Pix[0], initial.Pix[0])
		}
	}
	if e.calls != 2 {
		t.Errorf("estimated %d times, want twice", e.calls)
	}
}

func TestFlowCacheFaults(t *testing.T) {
	dir := t.TempDir()
	a := grey(7, 5, 1)
	c, err := newFlowCache(&countingEstimator{}, dir, "m")
	if err != nil {
		t.Fatal(err)
	}
	var field flow.Field
	name := filepath.Join(dir, c.key(a, a, flow.Field{})+".flo")
	if err := os.WriteFile(name, []byte("PIEH"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := c.Estimate(a, a, &field); fault.KindOf(err) != fault.BadData || !strings.Contains(err.Error(), name) {
		t.Errorf("damaged file: error %v", err)
	}
	if _, err := newFlowCache(&countingEstimator{}, name, "m"); fault.KindOf(err) != fault.CannotWrite || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file for a directory: error %v", err)
	}
}
