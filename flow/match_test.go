package flow

import (
	"math"
	"math/rand/v2"
	"testing"

	"retime/frame"
)

// noise returns a picture of smooth bumps in which no two places are alike.
func noise(seed uint64, width, height int) frame.Image[uint8] {
	const cell = 4
	rng := rand.New(rand.NewPCG(seed, 1))
	columns := width/cell + 2
	corners := make([]int, columns*(height/cell+2))
	for i := range corners {
		corners[i] = rng.IntN(256)
	}
	m := frame.NewImage[uint8](width, height)
	for y := range height {
		for x := range width {
			c, fx, fy := y/cell*columns+x/cell, x%cell, y%cell
			top := corners[c]*(cell-fx) + corners[c+1]*fx
			bottom := corners[c+columns]*(cell-fx) + corners[c+columns+1]*fx
			m.Row(y)[x] = uint8((top*(cell-fy) + bottom*fy) / (cell * cell))
		}
	}
	return m
}

// put copies a square of src to dst.
func put(dst, src frame.Image[uint8], dx, dy, sx, sy, size int) {
	for j := range size {
		copy(dst.Row(dy + j)[dx:dx+size], src.Row(sy + j)[sx:sx+size])
	}
}

// A square jumps over still ground: the matcher finds the blocks in its middle, to the
// pixel, wherever it lands within reach, and suggests nothing for the ground.
func TestMatcherFindsWhatJumps(t *testing.T) {
	const width, height, size = 121, 93, 36
	thing := noise(2, size, size)
	for _, jump := range [][2]int{{24, 0}, {-24, 24}, {23, -11}, {1, 17}, {-9, 2}} {
		x, y := 42, 28
		a, b := noise(1, width, height), noise(1, width, height)
		for i := range a.Pix {
			a.Pix[i], b.Pix[i] = a.Pix[i]/8, b.Pix[i]/8 // darker than the square
		}
		put(a, thing, x, y, 0, 0, size)
		put(b, thing, x+jump[0], y+jump[1], 0, 0, size)
		still := NewField(2*width-1, 2*height)
		for _, workers := range []int{1, 2, 8} {
			m := Matcher{Workers: frame.Workers{N: workers}}
			var toB, toA Field
			if err := m.Suggest(a, b, still, still, &toB, &toA); err != nil {
				t.Fatal(err)
			}
			want := Vec{X: int32(jump[0]) * 2 * One, Y: int32(jump[1]) * 2 * One}
			if got := toB.Row(2*y + size)[2*x+size]; got != want {
				t.Errorf("jump %v: the middle of the square goes to %v, want %v", jump, got, want)
			}
			back := Vec{X: -want.X, Y: -want.Y}
			if got := toA.Row(2*(y+jump[1]) + size)[2*(x+jump[0])+size]; got != back {
				t.Errorf("jump %v: it comes from %v, want %v", jump, got, back)
			}
			wrong := 0 // a block of the ground may find its like where the square was
			for _, f := range []Field{toB, toA} {
				for _, v := range f.Pix {
					if v != (Vec{}) && v != want && v != back {
						wrong++
					}
				}
			}
			if wrong > len(toB.Pix)/50 {
				t.Errorf("jump %v: %d pixels of %d go elsewhere", jump, wrong, len(toB.Pix))
			}
			if got := toB.Row(3)[3]; got != (Vec{}) {
				t.Errorf("jump %v: the ground goes to %v", jump, got)
			}
		}
	}
}

// The matcher suggests nothing for motion that the flow explains, or for content that
// it cannot find.
func TestMatcherLeavesAlone(t *testing.T) {
	const width, height = 64, 48
	a := noise(3, width, height)
	shifted := noise(4, width, height)
	put(shifted, a, 8, 8, 3, 5, 40)
	along, against := NewField(2*width, 2*height), NewField(2*width, 2*height)
	for i := range along.Pix {
		along.Pix[i], against.Pix[i] = Vec{X: 10 * One, Y: 6 * One}, Vec{X: -10 * One, Y: -6 * One}
	}
	flat := frame.NewImage[uint8](width, height)
	still := NewField(2*width, 2*height)
	cases := []struct {
		name              string
		a, b              frame.Image[uint8]
		forward, backward Field
		x, y              int // the middle of the area to check, in the field
	}{
		{"the same", a, a, still, still, 64, 48},
		{"flow is right", a, shifted, along, against, 46, 50},
		{"nothing alike", a, flat, still, still, 64, 48},
	}
	for _, c := range cases {
		var m Matcher
		var toB, toA Field
		if err := m.Suggest(c.a, c.b, c.forward, c.backward, &toB, &toA); err != nil {
			t.Fatal(err)
		}
		for _, f := range []Field{toB, toA} {
			if v := f.Row(c.y)[c.x]; v != (Vec{}) {
				t.Errorf("%s: suggests %v", c.name, v)
			}
		}
	}
}

func TestMatcherSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, size := range [][2]int{{1, 1}, {2, 9}, {15, 15}, {16, 16}, {17, 31}, {33, 16}, {100, 7}} {
		w, h := size[0], size[1]
		a, b := noise(7, (w+1)/2, (h+1)/2), noise(8, (w+1)/2, (h+1)/2)
		f := NewField(w, h)
		for i := range f.Pix {
			f.Pix[i] = Vec{X: int32(rng.IntN(1<<30)) - 1<<29, Y: int32(rng.IntN(1<<30)) - 1<<29}
		}
		var m Matcher
		var toB, toA Field
		if err := m.Suggest(a, b, f, f, &toB, &toA); err != nil {
			t.Errorf("%dx%d: %v", w, h, err)
		}
		if toB.Width != w || toB.Height != h || toA.Width != w || toA.Height != h {
			t.Errorf("%dx%d: fields of %dx%d and %dx%d", w, h, toB.Width, toB.Height, toA.Width, toA.Height)
		}
		if err := m.Suggest(a, b, NewField(w+2, h), f, &toB, &toA); err == nil {
			t.Errorf("%dx%d: a flow of another size is accepted", w, h)
		}
		if err := m.Suggest(a, noise(9, a.Width+1, a.Height), f, f, &toB, &toA); err == nil {
			t.Errorf("%dx%d: pictures of two sizes are accepted", w, h)
		}
	}
}

// A fine pattern moves by half a pixel. It fits well along its flow, read between the
// pixels, so the matcher does not suggest the next period.
func TestMatcherLeavesPeriodsAlone(t *testing.T) {
	const width, height = 96, 64
	a, b := frame.NewImage[uint8](width, height), frame.NewImage[uint8](width, height)
	for y := range height {
		for x := range width {
			// Five periods span 64 half pixels, so a shift by some number of whole
			// pixels nearly fits.
			wave := func(halves int) uint8 { return uint8(128 + 64*math.Sin(2*math.Pi*5*float64(halves)/64)) }
			a.Row(y)[x], b.Row(y)[x] = wave(2*x), wave(2*x-1)
		}
	}
	forward, backward := filled(2*width, 2*height, Vec{X: One}), filled(2*width, 2*height, Vec{X: -One})
	var m Matcher
	var toB, toA Field
	if err := m.Suggest(a, b, forward, backward, &toB, &toA); err != nil {
		t.Fatal(err)
	}
	for _, f := range []Field{toB, toA} {
		for i, v := range f.Pix {
			if x := i % f.Width; v != (Vec{}) && x > 32 && x < f.Width-32 {
				t.Fatalf("the suggestion is %v at %d", v, x)
			}
		}
	}
}
