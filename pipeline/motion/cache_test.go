package motion

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"

	"retime/flow"
	"retime/flow/opencv"
	"retime/frame"
	"retime/testdata/scene"
	"retime/warp"
)

// countingEstimate makes fields that depend on the pictures, and counts its calls.
type countingEstimate struct{ calls int }

func (e *countingEstimate) field(a, b Guide, dst *flow.Field) {
	*dst = flow.NewField(a.picture().Width, a.picture().Height)
	for i := range dst.Pix {
		// The limit of such a small field allows no more.
		dst.Pix[i] = flow.Vec{X: int32(a.picture().Pix[0])*100 + int32(i), Y: -int32(b.picture().Pix[0])*7 - int32(i)}
	}
}

func (e *countingEstimate) pair(a, b Guide, dst *warp.FlowPair) func() error {
	return func() error {
		e.calls++
		e.field(a, b, &dst.Forward)
		e.field(b, a, &dst.Backward)
		return nil
	}
}

func grey(width, height int, v uint8) Guide {
	m := frame.NewImage[uint8](width, height)
	m.Pix[0] = v
	return there(m)
}

// there returns a Guide that already is m.
func there(m frame.Image[uint8]) Guide {
	return GuideOf(func() frame.Image[uint8] { return m })
}

// mustCache opens a cache that must log nothing.
func mustCache(t testing.TB, dir string) *Cache {
	t.Helper()
	c, said := saidCache(t, dir)
	t.Cleanup(func() {
		if said.Len() > 0 {
			t.Errorf("the cache says %s", said)
		}
	})
	return c
}

func TestFlowCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "flows")
	a, b, c := grey(7, 5, 1), grey(7, 5, 2), grey(5, 7, 1)
	entries := []struct {
		a, b   Guide
		method string
	}{{a, b, "one"}, {a, a, "one"}, {a, b, "two"}, {c, c, "one"}}
	for pass, want := range []int{1, 0} {
		for i, p := range entries {
			e := &countingEstimate{}
			cache := mustCache(t, dir)
			var got, fresh warp.FlowPair
			if err := cache.pair(p.method, p.a, p.b, &got, e.pair(p.a, p.b, &got)); err != nil {
				t.Fatal(err)
			}
			if e.calls != want {
				t.Errorf("pass %d, entry %d: estimated %d times, want %d", pass, i, e.calls, want)
			}
			if must(t, e.pair(p.a, p.b, &fresh)()); !reflect.DeepEqual(got, fresh) {
				t.Errorf("pass %d, entry %d: the fields differ", pass, i)
			}
		}
	}
	wantFiles(t, dir, len(entries))
}

// The flow of a method without a name is not kept.
func TestFlowCacheWithoutName(t *testing.T) {
	dir := t.TempDir()
	a, b := grey(7, 5, 1), grey(7, 5, 2)
	e := &countingEstimate{}
	for range 2 {
		var got warp.FlowPair
		must(t, mustCache(t, dir).pair("", a, b, &got, e.pair(a, b, &got)))
	}
	if e.calls != 2 {
		t.Errorf("estimated %d times, want twice", e.calls)
	}
	wantFiles(t, dir, 0)
}

func wantFiles(t *testing.T, dir string, want int) {
	t.Helper()
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != want {
		t.Errorf("files %q, want %d", files, want)
	}
}

// The flow between two pictures is kept once for both orders.
func TestFlowCacheOrder(t *testing.T) {
	dir := t.TempDir()
	a, b := grey(7, 5, 1), grey(7, 5, 2)
	e := &countingEstimate{}
	for i, order := range [][2]Guide{{a, b}, {b, a}, {b, a}, {a, b}, {a, a}, {a, a}} {
		var got, want warp.FlowPair
		must(t, mustCache(t, dir).pair("m", order[0], order[1], &got, e.pair(order[0], order[1], &got)))
		must(t, (&countingEstimate{}).pair(order[0], order[1], &want)())
		if !reflect.DeepEqual(got, want) {
			t.Errorf("request %d: the fields differ", i)
		}
	}
	if e.calls != 2 {
		t.Errorf("estimated %d times, want twice", e.calls)
	}
	wantFiles(t, dir, 2)
}

// A picture's digest depends on its rows and its size alone.
func TestViewDigest(t *testing.T) {
	wide := frame.NewImage[uint8](9, 3)
	for i := range wide.Pix {
		wide.Pix[i] = uint8(i)
	}
	part := wide
	part.Width = 6
	tight := part.Clone()
	turned := frame.Image[uint8]{Width: 3, Height: 6, Stride: 3, Pix: tight.Pix}
	if digestOf(part) != digestOf(tight) {
		t.Error("what lies beyond the rows counts")
	}
	if digestOf(tight) == digestOf(turned) {
		t.Error("the size does not count")
	}
	before := digestOf(tight)
	tight.Pix[17]++
	if digestOf(tight) == before {
		t.Error("the last sample does not count")
	}
}

// Several workers or processes write the same entries at once.
func TestFlowCacheShared(t *testing.T) {
	dir := t.TempDir()
	a, b := grey(64, 48, 1), grey(64, 48, 2)
	var want warp.FlowPair
	must(t, (&countingEstimate{}).pair(a, b, &want)())
	var group sync.WaitGroup
	for range 8 {
		c := mustCache(t, dir)
		group.Go(func() {
			for k := range 20 {
				var got warp.FlowPair
				if err := c.pair(fmt.Sprint(k), a, b, &got, (&countingEstimate{}).pair(a, b, &got)); err != nil {
					t.Error(err)
				} else if !reflect.DeepEqual(got, want) {
					t.Errorf("entry %d differs", k)
				}
			}
		})
	}
	group.Wait()
	wantFiles(t, dir, 20)
}

// cacheEnv names the directory of the cache that a second process works on.
const cacheEnv = "RETIME_TEST_FLOW_CACHE"

// replaceAndRead keeps replacing existing entries and reads them at the same time. It must always
// find them whole.
func replaceAndRead(t *testing.T, dir string) {
	c := mustCache(t, dir)
	a, b := grey(64, 48, 1), grey(64, 48, 2)
	if da, db := a.digest(), b.digest(); bytes.Compare(da[:], db[:]) > 0 {
		a, b = b, a // the order in which they are kept
	}
	var want warp.FlowPair
	must(t, (&countingEstimate{}).pair(a, b, &want)())
	for k := range 4 {
		method := fmt.Sprint(k)
		if err := writeFields(c.name(method, a, b), []flow.Field{want.Forward, want.Backward}); err != nil {
			t.Error(err)
		}
		for range 4 {
			var got warp.FlowPair
			err := c.pair(method, a, b, &got, func() error { return errors.New("not found") })
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("entry %d differs: %v", k, err)
			}
		}
	}
}

// Two processes share a cache, and each replaces what the other reads.
func TestFlowCacheOfTwoProcesses(t *testing.T) {
	if dir := os.Getenv(cacheEnv); dir != "" {
		for range 50 {
			replaceAndRead(t, dir)
		}
		return
	}
	dir := t.TempDir()
	other := exec.Command(os.Args[0], "-test.run=^TestFlowCacheOfTwoProcesses$")
	other.Env = append(os.Environ(), cacheEnv+"="+dir)
	var said bytes.Buffer
	other.Stdout, other.Stderr = &said, &said
	must(t, other.Start())
	ended := make(chan error)
	go func() { ended <- other.Wait() }()
	for running := true; running; {
		replaceAndRead(t, dir)
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("%v:\n%s", err, &said)
			}
			running = false
		default:
		}
	}
	wantFiles(t, dir, 4)
}

// Kept flows equal the estimates of every method, also where time runs backward, and reading them
// estimates nothing.
func TestKeptFlowIsTheEstimate(t *testing.T) {
	guides := make([]frame.Image[uint8], 4)
	for i := range guides {
		m := scene.Draw(118, 74, float64(i)/24).Y
		guides[i] = frame.Image[uint8]{Width: 118, Height: 74, Stride: 118, Pix: m}
		for y := range 30 {
			clear(guides[i].Row(y)[:40]) // does not move
		}
	}
	methods := []Method{DIS}
	if opencv.Version() != "" {
		methods = append(methods, OpenCVDIS, Farneback)
	}
	for _, method := range methods {
		dir := t.TempDir()
		want := keptFields(t, guides, Params{Method: method, OpenCV: openCV}, false)
		for pass, closed := range []bool{false, true} {
			got := keptFields(t, guides, Params{Method: method, OpenCV: openCV, Cache: mustCache(t, dir)}, closed)
			for i := range want {
				for y := range want[i].Height {
					if !slices.Equal(got[i].Row(y), want[i].Row(y)) {
						t.Fatalf("%s, pass %d: row %d of field %d differs", method, pass, y, i)
					}
				}
			}
		}
		wantFiles(t, dir, 2)
	}
}

// estimated returns the flow between a and b, and measures the change along it.
func estimated(t testing.TB, e *Estimator, a, b Guide) warp.FlowPair {
	t.Helper()
	f, err := e.Estimate(a, b)
	must(t, err)
	defer f.Release()
	p, err := f.Fields()
	must(t, err)
	if got, want := f.Change(), Measure(a, b, p); got != want {
		t.Errorf("change %v, want %v", got, want)
	}
	return p
}

// pair sets dst to the flow between a and b, and calls estimate if it is not kept.
func (c *Cache) pair(method string, a, b Guide, dst *warp.FlowPair, estimate func() error) error {
	f, err := c.flow(method, a, b, func() (Flow, error) {
		if err := estimate(); err != nil {
			return nil, err
		}
		return newHosted(a, b, *dst), nil
	})
	if err == nil {
		*dst, err = f.Fields()
	}
	return err
}

// keptFields returns the flows between four pictures. If closed is set, it closes the estimator
// first, so that only the cache can answer.
func keptFields(t *testing.T, pictures []frame.Image[uint8], p Params, closed bool) (fields []flow.Field) {
	t.Helper()
	p.Workers.N = 2
	e, err := NewEstimator(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if closed {
		e.Close()
	}
	g := make([]Guide, len(pictures))
	for i, m := range pictures {
		g[i] = there(m)
	}
	for _, pair := range [][2]Guide{{g[1], g[2]}, {g[2], g[1]}, {g[0], g[1]}, {g[1], g[0]}} {
		flows := estimated(t, e, pair[0], pair[1])
		fields = append(fields, flows.Forward, flows.Backward)
	}
	return fields
}

// Reads the flow of 1080p at balanced, with one picture that was not seen before.
func BenchmarkFlowCacheRead(b *testing.B) {
	const width, height = 960, 540
	var guides [2]frame.Image[uint8]
	for i := range guides {
		guides[i] = frame.Image[uint8]{Width: width, Height: height, Stride: width, Pix: scene.Draw(width, height, float64(i)/24).Y}
	}
	e, err := NewEstimator(b.Context(), Params{Method: DIS, Cache: mustCache(b, b.TempDir())})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	seen := there(guides[0])
	read := func() {
		flows, err := e.Estimate(seen, there(guides[1]))
		must(b, err)
		flows.Change()
	}
	read() // estimates it
	for b.Loop() {
		read()
	}
}

// The flow does not depend on the number of threads, and is the same for either order of the
// pictures. Where the pictures are equal, it is zero.
func TestFlowOfEitherOrderAndAnyThreads(t *testing.T) {
	var g [2]Guide
	for i := range g {
		m := frame.Image[uint8]{Width: 118, Height: 74, Stride: 118, Pix: scene.Draw(118, 74, float64(i)/12).Y}
		for y := range 30 {
			clear(m.Row(y)[:40]) // does not move
		}
		g[i] = there(m)
	}
	var want warp.FlowPair
	for n, threads := range []int{1, 2, 7} {
		e, err := NewEstimator(t.Context(), Params{Method: DIS, Workers: frame.Workers{N: threads}})
		must(t, err)
		defer e.Close()
		got, turned := estimated(t, e, g[0], g[1]), estimated(t, e, g[1], g[0])
		if n == 0 {
			want = got
		}
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(turned, warp.FlowPair{Forward: want.Backward, Backward: want.Forward}) {
			t.Errorf("%d threads: the flows differ", threads)
		}
	}
	if still, moving := want.Forward.Row(10)[10], want.Forward.Row(60)[60]; still != (flow.Vec{}) || moving == (flow.Vec{}) {
		t.Errorf("%v where nothing moves, %v where something does", still, moving)
	}
}
