//go:build !noopencv

package opencv

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"retime/flow"
	"retime/frame"
)

// texture returns a picture of a fixed sum of waves that has moved by (dx, dy).
func texture(width, height int, dx, dy float64) frame.Image[uint8] {
	rng := rand.New(rand.NewPCG(7, 0))
	sums := make([]float64, width*height)
	column := make([][2]float64, width)
	for range 12 {
		angle, length, phase := rng.Float64()*2*math.Pi, 6*math.Pow(10, rng.Float64()), rng.Float64()*2*math.Pi
		fx, fy := 2*math.Pi/length*math.Cos(angle), 2*math.Pi/length*math.Sin(angle)
		for x := range column {
			column[x][0], column[x][1] = math.Sincos(fx*(float64(x)-dx) + phase)
		}
		for y := range height {
			sin, cos := math.Sincos(fy * (float64(y) - dy))
			row := sums[y*width:][:width]
			for x, c := range column {
				row[x] += c[0]*cos + c[1]*sin
			}
		}
	}
	m := frame.NewImage[uint8](width, height)
	for i, s := range sums {
		m.Pix[i] = uint8(min(max(128+s*24, 0), 255))
	}
	return m
}

func constant(width, height int, v uint8) frame.Image[uint8] {
	m := frame.NewImage[uint8](width, height)
	for i := range m.Pix {
		m.Pix[i] = v
	}
	return m
}

// restride returns a copy of m in rows of the given stride, with canary samples between
// them.
func restride(m frame.Image[uint8], stride int, canary uint8) frame.Image[uint8] {
	out := frame.Image[uint8]{Width: m.Width, Height: m.Height, Stride: stride, Pix: make([]uint8, stride*m.Height)}
	for i := range out.Pix {
		out.Pix[i] = canary
	}
	for y := range m.Height {
		copy(out.Row(y), m.Row(y))
	}
	return out
}

var methods = []struct {
	name string
	// shift and still are the largest errors, in pixels, to expect for a texture that moves as a
	// whole and for one that does not move.
	shift, still float64
	open         func() (oneWay, error)
}{
	{"DIS", 0.3, 0, newDIS}, // without refinement
	// Farneback treats the last row and column as outside the picture, so borders of a
	// still picture move.
	{"Farneback", 0.1, 1, newFarneback},
}

func open(t testing.TB, method func() (oneWay, error)) oneWay {
	t.Helper()
	e, err := method()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func estimate(t testing.TB, e oneWay, a, b frame.Image[uint8]) flow.Field {
	t.Helper()
	var f flow.Field
	if err := e.Estimate(a, b, &f); err != nil {
		t.Fatal(err)
	}
	if f.Width != a.Width || f.Height != a.Height || f.Stride != a.Width || len(f.Pix) != a.Width*a.Height {
		t.Fatalf("field of %dx%d, stride %d, %d vectors for a picture of %dx%d", f.Width, f.Height, f.Stride, len(f.Pix), a.Width, a.Height)
	}
	return f
}

// Within the method's error, because the methods are approximate.
func TestEstimateShift(t *testing.T) {
	const margin = 28
	for _, v := range methods {
		t.Run(v.name, func(t *testing.T) {
			e := open(t, v.open)
			for _, tt := range []struct {
				w, h   int
				dx, dy float64
			}{{160, 128, 0, 0}, {160, 128, 3, -2}, {161, 123, -5, 4}, {123, 163, 1.5, 0.25}} {
				f := estimate(t, e, texture(tt.w, tt.h, 0, 0), texture(tt.w, tt.h, tt.dx, tt.dy))
				worst, at := 0.0, ""
				for y := margin; y < tt.h-margin; y++ {
					for x := margin; x < tt.w-margin; x++ {
						v := f.Row(y)[x]
						if d := math.Hypot(float64(v.X)/flow.One-tt.dx, float64(v.Y)/flow.One-tt.dy); d > worst {
							worst, at = d, fmt.Sprintf("(%d,%d): %v", x, y, v)
						}
					}
				}
				if worst > v.shift {
					t.Errorf("%dx%d moved by (%g,%g): off by %.3f pixels at %s", tt.w, tt.h, tt.dx, tt.dy, worst, at)
				}
			}
		})
	}
}

// Exact: without a gradient, nothing moves.
func TestEstimateConstant(t *testing.T) {
	for _, v := range methods {
		t.Run(v.name, func(t *testing.T) {
			e := open(t, v.open)
			for _, level := range []uint8{0, 77, 255} {
				f := estimate(t, e, constant(97, 65, level), constant(97, 65, level))
				if i := slices.IndexFunc(f.Pix, func(v flow.Vec) bool { return v != flow.Vec{} }); i >= 0 {
					t.Errorf("level %d: vector %d is %v", level, i, f.Pix[i])
				}
			}
		})
	}
}

var sizes = [][2]int{{1, 1}, {2, 1}, {7, 5}, {17, 3}, {3, 17}, {23, 24}, {24, 24}, {33, 31}, {1, 300}, {2500, 5}, {64, 48}, {641, 271}}

// DIS exact: an identical picture has not moved, whatever its size.
func TestEstimateSizes(t *testing.T) {
	for _, v := range methods {
		t.Run(v.name, func(t *testing.T) {
			e := open(t, v.open)
			for _, s := range sizes {
				if testing.Short() && s[0] > 600 {
					continue
				}
				a := texture(s[0], s[1], 0, 0)
				f := estimate(t, e, a, restride(a, s[0]+3, 200))
				if l := f.Longest(); l > v.still {
					t.Errorf("%dx%d: a still picture moved by %g pixels", s[0], s[1], l)
				}
				f = estimate(t, e, a, texture(s[0], s[1], 40, 9))
				limit := f.Limit()
				for i, v := range f.Pix {
					if max(v.X, -v.X, v.Y, -v.Y) > limit {
						t.Fatalf("%dx%d: vector %d is %v, beyond %d", s[0], s[1], i, v, limit)
					}
				}
			}
		})
	}
}

// Exact: an estimator keeps no state between calls.
func TestEstimateRepeats(t *testing.T) {
	const w, h = 93, 70
	a, b := texture(w, h, 0, 0), texture(w, h, 4, -3)
	big := texture(210, 150, 0, 0)
	for _, v := range methods {
		t.Run(v.name, func(t *testing.T) {
			want := estimate(t, open(t, v.open), a, b)
			e := open(t, v.open)
			estimate(t, e, big, texture(210, 150, 9, 9))
			estimate(t, e, b, a)
			for i := range 2 {
				if got := estimate(t, e, a, b); !slices.Equal(got.Pix, want.Pix) {
					t.Errorf("use %d differs from a new estimator's", i)
				}
			}
			wide := estimate(t, e, restride(a, w+35, 255), restride(b, w+1, 0))
			if !slices.Equal(wide.Pix, want.Pix) {
				t.Error("the result depends on the stride or on samples between the rows")
			}
		})
	}
}

func setThreads(t testing.TB, n int) {
	t.Helper()
	if err := SetThreads(n); err != nil {
		t.Fatal(err)
	}
}

// Exact: OpenCV's threads divide the work by rows or fixed stripes.
func TestEstimateThreads(t *testing.T) {
	const w, h = 317, 211
	t.Cleanup(func() { setThreads(t, 0) })
	a, b := texture(w, h, 0, 0), texture(w, h, 6, -4)
	for _, v := range methods {
		t.Run(v.name, func(t *testing.T) {
			setThreads(t, 1)
			want := estimate(t, open(t, v.open), a, b)
			for _, n := range []int{2, 8, 0} {
				setThreads(t, n)
				if got := estimate(t, open(t, v.open), a, b); !slices.Equal(got.Pix, want.Pix) {
					t.Errorf("%d threads differ from 1", n)
				}
			}
		})
	}
}

// Exact: estimators share no memory.
func TestEstimateParallel(t *testing.T) {
	const w, h = 131, 97
	a, b := texture(w, h, 0, 0), texture(w, h, 3, 2)
	for _, v := range methods {
		t.Run(v.name, func(t *testing.T) {
			e := open(t, v.open)
			want := [2]flow.Field{estimate(t, e, a, b), estimate(t, e, b, a)}
			done := make(chan error)
			for g := range 4 {
				go func() {
					done <- func() error {
						e, err := v.open()
						if err != nil {
							return err
						}
						defer e.Close()
						first, second := a, b
						if g%2 == 1 {
							first, second = b, a
						}
						var f flow.Field
						for range 3 {
							if err := e.Estimate(first, second, &f); err != nil {
								return err
							}
							if !slices.Equal(f.Pix, want[g%2].Pix) {
								return errors.New("differs from a lone estimator's")
							}
						}
						return nil
					}()
				}()
			}
			for range 4 {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestEstimateLeavesPicturesAlone(t *testing.T) {
	const w, h = 61, 43
	a, b := restride(texture(w, h, 0, 0), w+9, 1), restride(texture(w, h, 2, 2), w+9, 2)
	a2, b2 := slices.Clone(a.Pix), slices.Clone(b.Pix)
	for _, v := range methods {
		estimate(t, open(t, v.open), a, b)
		if !slices.Equal(a.Pix, a2) || !slices.Equal(b.Pix, b2) {
			t.Fatalf("%s wrote to its input", v.name)
		}
	}
}

func TestEstimateErrors(t *testing.T) {
	short := texture(20, 10, 0, 0)
	short.Pix = short.Pix[:199]
	narrow := texture(20, 10, 0, 0)
	narrow.Stride = 19
	ok := texture(20, 10, 0, 0)
	tests := []struct {
		name string
		a, b frame.Image[uint8]
		want string
	}{
		{"sizes", ok, texture(10, 20, 0, 0), "20x10 and 10x20 differ"},
		{"empty", frame.Image[uint8]{}, frame.Image[uint8]{}, "0x0 is empty"},
		{"short", ok, short, "only 199 samples"},
		{"narrow", narrow, ok, "stride 19"},
		{"long", constant(40000, 1, 0), constant(40000, 1, 0), "larger than 32766"},
	}
	for _, v := range methods {
		e := open(t, v.open)
		for _, tt := range tests {
			var f flow.Field
			if err := e.Estimate(tt.a, tt.b, &f); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, %s: error %v, want %q", v.name, tt.name, err, tt.want)
			}
		}
		estimate(t, e, ok, ok)
		for range 2 {
			if err := e.Close(); err != nil {
				t.Errorf("%s: close: %v", v.name, err)
			}
		}
		if err := e.Estimate(ok, ok, &flow.Field{}); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: closed: error %v", v.name, err)
		}
	}
}

// OpenCV throws an exception for a stride below the width. The estimator must return it
// as an error and work afterwards.
func TestExceptionBecomesError(t *testing.T) {
	ok := texture(40, 30, 0, 0)
	narrow := texture(40, 30, 0, 0)
	narrow.Stride = 5
	d, e := open(t, newDIS).(*dis), open(t, newFarneback).(*farneback)
	for _, tt := range []struct {
		e    oneWay
		calc func(a, b frame.Image[uint8]) error
	}{
		{d, func(a, b frame.Image[uint8]) error { _, err := d.calc(a, b, ok.Width, ok.Height); return err }},
		{e, func(a, b frame.Image[uint8]) error { _, err := e.calc(a, b); return err }},
	} {
		want := estimate(t, tt.e, ok, ok)
		for _, p := range [][2]frame.Image[uint8]{{narrow, ok}, {ok, narrow}} {
			if err := tt.calc(p[0], p[1]); err == nil || !strings.Contains(err.Error(), "OpenCV") {
				t.Errorf("%T: error %v, want OpenCV's", tt.e, err)
			}
		}
		if got := estimate(t, tt.e, ok, ok); !slices.Equal(got.Pix, want.Pix) {
			t.Errorf("%T: an exception changed the next result", tt.e)
		}
	}
}
