package inpaint

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"retime/frame"
)

// guarded returns an image with wide rows, and a function that reports whether the
// memory around the pixels has changed.
func guarded[T frame.Sample](width, height int) (frame.Image[T], func() bool) {
	const before, padding, after, canary = 13, 7, 17, 0xa5
	stride := width + padding
	pix := make([]T, before+stride*height+after)
	for i := range pix {
		pix[i] = canary
	}
	img := frame.Image[T]{Width: width, Height: height, Stride: stride, Pix: pix[before : before+stride*height]}
	for y := range height {
		clear(img.Row(y))
	}
	return img, func() bool {
		for i, v := range pix {
			at := i - before
			if at >= 0 && at < stride*height && at%stride < width {
				continue
			}
			if v != canary {
				return false
			}
		}
		return true
	}
}

func clone[T any](m frame.Image[T]) frame.Image[T] {
	m.Pix = append([]T(nil), m.Pix...)
	return m
}

func fillRandom[T frame.Sample](r *rand.Rand, m frame.Image[T]) {
	for y := range m.Height {
		row := m.Row(y)
		for x := range row {
			row[x] = T(r.Uint32())
		}
	}
}

// punch marks count random discs, bars and single pixels as holes.
func punch(r *rand.Rand, mask frame.Image[uint8], count int) {
	for range count {
		cx, cy := r.IntN(mask.Width), r.IntN(mask.Height)
		rx, ry := r.IntN(1+mask.Width/4), r.IntN(1+mask.Height/4)
		if r.IntN(3) == 0 {
			rx, ry = 0, 0
		}
		disc := r.IntN(2) == 0
		for y := max(0, cy-ry); y <= min(mask.Height-1, cy+ry); y++ {
			for x := max(0, cx-rx); x <= min(mask.Width-1, cx+rx); x++ {
				dx, dy := (x-cx)*(ry+1), (y-cy)*(rx+1)
				if !disc || dx*dx+dy*dy <= (rx+1)*(rx+1)*(ry+1)*(ry+1) {
					mask.Row(y)[x] = uint8(1 + r.IntN(255))
				}
			}
		}
	}
}

func mustNew(t testing.TB, directions, workers int) *Inpainter {
	t.Helper()
	p, err := New(directions)
	if err != nil {
		t.Fatal(err)
	}
	p.Workers.N = workers
	return p
}

// sizes has frames larger and smaller than the widest kernel, and rows longer
// than a blur tile.
var sizes = [][2]int{{1, 1}, {2, 1}, {1, 3}, {3, 3}, {5, 4}, {9, 9}, {17, 31}, {64, 48}, {301, 13}, {7, 290}, {600, 21}}

func TestFillMatchesReference(t *testing.T) {
	t.Run("8 bit", testFillMatchesReference[uint8])
	t.Run("16 bit", testFillMatchesReference[uint16])
}

func testFillMatchesReference[T frame.Sample](t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	// The inpainters are reused in all cases, to catch state that they fail to reset.
	contexts := make(map[int][]*Inpainter)
	for _, directions := range []int{4, 12, 16, 64} {
		for _, workers := range []int{1, 2, 8} {
			contexts[directions] = append(contexts[directions], mustNew(t, directions, workers))
		}
	}
	for _, size := range sizes {
		for round := range 4 {
			mask, maskIntact := guarded[uint8](size[0], size[1])
			punch(r, mask, 1<<round)
			source, _ := guarded[T](size[0], size[1])
			fillRandom(r, source)
			for directions, inpainters := range contexts {
				want := clone(source)
				filled := reference(want, mask, inpainters[0].directions)
				for _, p := range inpainters {
					name := fmt.Sprintf("seed %d, %dx%d, round %d, %d directions, %d workers",
						seed, size[0], size[1], round, directions, p.Workers.N)
					got, intact := guarded[T](size[0], size[1])
					copy(got.Pix, source.Pix)
					p.SetMask(mask)
					err := Fill(p, got)
					if filled != (err == nil) || err != nil && !errors.Is(err, ErrNoBorder) {
						t.Fatalf("%s: error %v, reference filled: %v", name, err, filled)
					}
					compare(t, name, got, want)
					if !intact() || !maskIntact() {
						t.Fatalf("%s: wrote outside the image", name)
					}
				}
			}
		}
	}
}

func compare[T frame.Sample](t *testing.T, name string, got, want frame.Image[T]) {
	t.Helper()
	for y := range want.Height {
		for x, v := range want.Row(y) {
			if got.Row(y)[x] != v {
				t.Fatalf("%s: pixel (%d, %d) is %d, want %d", name, x, y, got.Row(y)[x], v)
			}
		}
	}
}

// Each of eight directions brings one neighbour to the missing pixel.
func TestFillSinglePixel(t *testing.T) {
	img := frame.Image[uint8]{Width: 3, Height: 3, Stride: 3, Pix: []uint8{
		10, 200, 30,
		100, 255, 0,
		70, 40, 90,
	}}
	mask := frame.NewImage[uint8](3, 3)
	mask.Row(1)[1] = 1
	p := mustNew(t, 8, 1)
	p.SetMask(mask)
	if err := Fill(p, img); err != nil {
		t.Fatal(err)
	}
	// The distances are 256 and 362 in 1/256 pixel, the weights 2^24 and
	// round(2^32/362).
	axial, diagonal := 1<<24, 11864550
	mean := (axial*(200+100+0+40) + diagonal*(10+30+70+90)) / (4*axial + 4*diagonal)
	// The fractions of the weighted mean and of the blur's mean are below one half.
	want := (10 + 200 + 30 + 100 + mean + 0 + 70 + 40 + 90 + 4) / 9
	if got := int(img.Row(1)[1]); mean != 70 || got != want || want != 68 {
		t.Errorf("filled with %d, want %d from a mean of %d", got, want, mean)
	}
}

func TestFillConstant(t *testing.T) {
	const seed = 2
	r := rand.New(rand.NewPCG(seed, 0))
	for _, size := range sizes {
		for _, value := range []uint16{0, 1, 1023, 65535} {
			mask := frame.NewImage[uint8](size[0], size[1])
			punch(r, mask, 5)
			mask.Pix[r.IntN(len(mask.Pix))] = 0
			img := frame.NewImage[uint16](size[0], size[1])
			for i := range img.Pix {
				img.Pix[i] = value
				if mask.Pix[i] != 0 {
					img.Pix[i] = ^value // must not matter
				}
			}
			p := mustNew(t, DefaultDirections, 2)
			p.SetMask(mask)
			if err := Fill(p, img); err != nil {
				t.Fatal(err)
			}
			for i, v := range img.Pix {
				if v != value {
					t.Fatalf("seed %d, %v: pixel %d of a constant %d is %d", seed, size, i, value, v)
				}
			}
		}
	}
}

// Fill gives every hole values between those of its own border pixels, whatever is inside other
// holes or further away.
func TestFillWithinBorder(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 40 {
		mask := frame.NewImage[uint8](70, 50)
		punch(r, mask, 1+round/2)
		img := frame.NewImage[uint8](70, 50)
		for i := range img.Pix {
			// Even rounds have a ramp, odd ones noise.
			img.Pix[i] = uint8(i%70 + i/70*2)
			if round%2 == 1 {
				img.Pix[i] = uint8(r.Uint32())
			}
		}
		source := clone(img)
		p := mustNew(t, []int{4, 16, 32}[round%3], 1)
		p.SetMask(mask)
		if err := Fill(p, img); err != nil {
			t.Fatal(err)
		}
		for _, hole := range components(mask) {
			low, high := uint8(255), uint8(0)
			for _, at := range hole {
				for y := max(0, at.y-1); y <= min(49, at.y+1); y++ {
					for x := max(0, at.x-1); x <= min(69, at.x+1); x++ {
						if mask.Row(int(y))[x] == 0 {
							v := source.Row(int(y))[x]
							low, high = min(low, v), max(high, v)
						}
					}
				}
			}
			for _, at := range hole {
				if v := img.Row(int(at.y))[at.x]; v < low || v > high {
					t.Fatalf("seed %d, round %d: pixel %v is %d, its border %d to %d", seed, round, at, v, low, high)
				}
			}
		}
	}
}

type pixel struct{ x, y int32 }

// components returns the 8-connected holes.
func components(mask frame.Image[uint8]) [][]pixel {
	left := clone(mask)
	var all [][]pixel
	for i := range left.Pix {
		if left.Pix[i] == 0 {
			continue
		}
		left.Pix[i] = 0
		hole := []pixel{{int32(i % left.Width), int32(i / left.Width)}}
		for j := 0; j < len(hole); j++ {
			at := hole[j]
			for y := max(0, at.y-1); y <= min(int32(left.Height)-1, at.y+1); y++ {
				for x := max(0, at.x-1); x <= min(int32(left.Width)-1, at.x+1); x++ {
					if left.Row(int(y))[x] != 0 {
						left.Row(int(y))[x] = 0
						hole = append(hole, pixel{x, y})
					}
				}
			}
		}
		all = append(all, hole)
	}
	return all
}

// One known pixel is enough, wherever it is: a second pass fills the pixels that its
// lines miss.
func TestFillFromOnePixel(t *testing.T) {
	for _, at := range []pixel{{0, 0}, {10, 0}, {22, 18}, {5, 7}} {
		mask := frame.NewImage[uint8](23, 19)
		for i := range mask.Pix {
			mask.Pix[i] = 255
		}
		mask.Row(int(at.y))[at.x] = 0
		img := frame.NewImage[uint8](23, 19)
		img.Row(int(at.y))[at.x] = 77
		p := mustNew(t, 4, 1)
		p.SetMask(mask)
		if err := Fill(p, img); err != nil {
			t.Fatal(err)
		}
		for i, v := range img.Pix {
			if v != 77 {
				t.Fatalf("known pixel %v: pixel %d is %d", at, i, v)
			}
		}
	}
}

func TestFillErrors(t *testing.T) {
	p := mustNew(t, 16, 1)
	mask := frame.NewImage[uint8](6, 5)
	for i := range mask.Pix {
		mask.Pix[i] = 1
	}
	p.SetMask(mask)
	img := frame.NewImage[uint8](6, 5)
	img.Pix[7] = 9
	if err := Fill(p, img); !errors.Is(err, ErrNoBorder) {
		t.Errorf("whole plane: error %v, want %v", err, ErrNoBorder)
	}
	if img.Pix[7] != 9 || img.Pix[0] != 0 {
		t.Error("whole plane: the image was changed")
	}
	if err := Fill(p, frame.NewImage[uint8](5, 6)); err == nil || errors.Is(err, ErrNoBorder) {
		t.Errorf("other size: error %v", err)
	}
	clear(mask.Pix)
	p.SetMask(mask)
	if err := Fill(p, img); err != nil || img.Pix[7] != 9 {
		t.Errorf("no holes: error %v", err)
	}
	p.SetMask(frame.Image[uint8]{})
	if err := Fill(p, frame.Image[uint16]{}); err != nil {
		t.Errorf("empty plane: error %v", err)
	}
}

func TestFillKeepsItsMemory(t *testing.T) {
	const seed = 4
	r := rand.New(rand.NewPCG(seed, 0))
	mask := frame.NewImage[uint8](90, 70)
	punch(r, mask, 8)
	img := frame.NewImage[uint8](90, 70)
	p := mustNew(t, 16, 1)
	fill := func() {
		p.SetMask(mask)
		if err := Fill(p, img); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	few := testing.AllocsPerRun(10, fill)
	large := frame.NewImage[uint8](400, 300)
	punch(r, large, 60)
	mask, img = large, frame.NewImage[uint8](400, 300)
	fill()
	// Fill allocates only the closures for Workers, however many pixels there are.
	if many := testing.AllocsPerRun(10, fill); many > few || few > 40 {
		t.Errorf("%v allocations on a small plane, %v on a large one", few, many)
	}
}
