package parts

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"retime/frame"
	"retime/testdata/scene"
)

const (
	width, height = 320, 180
	pictures      = 24
	spoilt        = 11
)

// least is the score of restore.Normal.
const least = 0.73

// find returns what is found in pictures of the scene that change alters.
func find(change func(n int, m frame.Image[uint8])) []Area {
	d := New(least, frame.Workers{N: 2})
	for n := range pictures {
		m := frame.Image[uint8]{Width: width, Height: height, Stride: width, Pix: scene.Draw(width, height, float64(n)/24).Y}
		change(n, m)
		d.Add(m, frame.Image[uint8]{})
	}
	return d.Find()
}

func paint(m frame.Image[uint8], box image.Rectangle, v func(x, y int, was uint8) uint8) {
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			m.Row(y)[x] = v(x, y, m.Row(y)[x])
		}
	}
}

// inverted is far from what was there.
func inverted(_, _ int, was uint8) uint8 {
	if was > 127 {
		return was - 110
	}
	return was + 110
}

// shiftRow shifts a row to the right, by parts of a pixel, too; what is at its ends stretches.
func shiftRow(row []uint8, by float64) {
	was := slices.Clone(row)
	for x := range row {
		at := min(max(float64(x)-by, 0), float64(len(row)-1))
		i := min(int(at), len(row)-2)
		w := at - float64(i)
		row[x] = uint8(float64(was[i])*(1-w) + float64(was[i+1])*w + 0.5)
	}
}

// Damage to one picture is found where it is, by its kind.
func TestFind(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		kind Kind
		box  image.Rectangle
		draw func(m frame.Image[uint8], box image.Rectangle)
	}{
		{Dropout, image.Rect(40, 61, 90, 63), func(m frame.Image[uint8], b image.Rectangle) { paint(m, b, inverted) }},
		{Streak, image.Rect(20, 120, 300, 122), func(m frame.Image[uint8], b image.Rectangle) { paint(m, b, inverted) }},
		{Block, image.Rect(208, 32, 240, 64), func(m frame.Image[uint8], b image.Rectangle) { paint(m, b, inverted) }},
		{Dirt, image.Rect(200, 40, 207, 47), func(m frame.Image[uint8], b image.Rectangle) { paint(m, b, inverted) }},
		{Jitter, image.Rect(0, 40, width, 120), func(m frame.Image[uint8], b image.Rectangle) {
			for y := b.Min.Y; y < b.Max.Y; y++ {
				shiftRow(m.Row(y), float64(random.IntN(13)-6))
			}
		}},
	} {
		found := find(func(n int, m frame.Image[uint8]) {
			if n == spoilt {
				c.draw(m, c.box)
			}
		})
		if len(found) != 1 || found[0].Number != spoilt || found[0].Kind != c.kind {
			t.Errorf("%s: found %v", c.kind, found)
			continue
		}
		if f := found[0]; !f.Box.Overlaps(c.box) || !f.Box.In(c.box.Inset(-18)) || f.Score <= 0 || f.Score >= 1 {
			t.Errorf("%s: found %v, want about %v", c.kind, f, c.box)
		}
	}
}

// Rows that are shifted by a pixel at random are found, and those that swing by a few.
func TestSlightJitter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	for name, by := range map[string]func(y int) float64{
		"random": func(int) float64 { return 2*random.Float64() - 1 },
		"swing":  func(y int) float64 { return 3 * math.Sin(float64(y)/5) },
	} {
		found := find(func(n int, m frame.Image[uint8]) {
			if n != spoilt {
				return
			}
			for y := range height {
				shiftRow(m.Row(y), by(y))
			}
		})
		if len(found) != 1 || found[0].Number != spoilt || found[0].Kind != Jitter {
			t.Errorf("%s: found %v", name, found)
		}
	}
}

// Rows that jitter are found in pictures so flat that no pixel lies outside.
func TestJitterOfFlatPictures(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 4))
	found := find(func(n int, m frame.Image[uint8]) {
		paint(m, image.Rect(0, 0, width, height), func(_, _ int, v uint8) uint8 { return 100 + v/10 })
		if n != spoilt {
			return
		}
		for y := range height {
			shiftRow(m.Row(y), float64(random.IntN(9)-4))
		}
	})
	if len(found) != 1 || found[0].Number != spoilt || found[0].Kind != Jitter {
		t.Errorf("found %v", found)
	}
}

// A speck counts for less if the picture right before or after it stirs there: something passes.
func TestPassing(t *testing.T) {
	score := func(stirs int) float64 {
		for _, a := range find(func(n int, m frame.Image[uint8]) {
			switch n {
			case spoilt:
				paint(m, image.Rect(200, 40, 204, 44), func(x, y int, was uint8) uint8 { return inverted(x, y, was)/2 + was/2 })
			case stirs:
				paint(m, image.Rect(210, 40, 230, 60), inverted)
			}
		}) {
			if a.Number == spoilt {
				return a.Score
			}
		}
		return 0
	}
	alone, before, after := score(spoilt-4), score(spoilt-1), score(spoilt+1)
	if alone == 0 || max(before, after) > alone-0.001 {
		t.Errorf("scores %.4f alone, %.4f with something before, %.4f after", alone, before, after)
	}
}

// Damage that comes again every eighth picture at the same place is found each time.
func TestOften(t *testing.T) {
	found := find(func(n int, m frame.Image[uint8]) {
		if n%8 == 3 {
			paint(m, image.Rect(200, 40, 207, 47), inverted)
		}
	})
	if len(found) != 3 {
		t.Errorf("found %v", found)
	}
	for i, f := range found {
		if f.Number != 3+8*i || f.Kind != Dirt {
			t.Errorf("found %v", f)
		}
	}
}

// Of several unlike blocks in a row, most are found.
func TestRowOfBlocks(t *testing.T) {
	box := image.Rect(64, 96, 192, 112)
	found := find(func(n int, m frame.Image[uint8]) {
		if n == spoilt {
			paint(m, box, func(x, _ int, was uint8) uint8 { return was + uint8(40+x/16*8) })
		}
	})
	covered := 0
	for _, f := range found {
		if f.Number != spoilt || f.Kind != Block || !f.Box.In(box) {
			t.Errorf("found %v", f)
		}
		covered += f.Box.Dx()
	}
	if covered < 96 {
		t.Errorf("found %v", found)
	}
}

// Blocks are found by their sides where all around moves too far to follow, and what moves so is not.
func TestBlocksInMotion(t *testing.T) {
	area, block := image.Rect(109, 51, 195, 125), image.Rect(144, 80, 176, 96)
	for _, spoils := range [2]bool{false, true} {
		found := find(func(n int, m frame.Image[uint8]) {
			paint(m, area, func(x, y int, _ uint8) uint8 {
				u, v := float64(x+31*n), float64(y+3*n)
				return uint8(120 + 30*math.Sin(u/9) + 30*math.Sin(u/17+v/8) + 30*math.Sin(v/11-u/41))
			})
			if spoils && n == spoilt {
				paint(m, block, func(_, _ int, _ uint8) uint8 { return 250 })
			}
		})
		if spoils && (len(found) != 1 || found[0].Number != spoilt || found[0].Kind != Block || found[0].Box != block) || !spoils && len(found) > 0 {
			t.Errorf("spoilt %v: found %v", spoils, found)
		}
	}
}

// A line is found as far as it goes, where it is faint, too.
func TestFaintLines(t *testing.T) {
	found := find(func(n int, m frame.Image[uint8]) {
		if n != spoilt {
			return
		}
		paint(m, image.Rect(0, 120, width, 122), func(x, _ int, was uint8) uint8 {
			if x < 160 {
				return inverted(0, 0, was)
			}
			return was + 12 // which no pixel is found by
		})
	})
	if len(found) != 1 || found[0].Box.Max.X < width-8 || found[0].Box.Dy() > 4 {
		t.Errorf("found %v", found)
	}
}

// What is seen again and again is no damage, nor what moves, noise, or another scene.
func TestSound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, change := range map[string]func(n int, m frame.Image[uint8]){
		"the scene": func(int, frame.Image[uint8]) {},
		"a light": func(n int, m frame.Image[uint8]) {
			paint(m, image.Rect(200, 40, 212, 52), func(_, _ int, v uint8) uint8 { return v ^ uint8(n%2*128) })
		},
		"a ball": func(n int, m frame.Image[uint8]) {
			paint(m, image.Rect(20+9*n, 60, 30+9*n, 70), func(int, int, uint8) uint8 { return 235 })
		},
		"another scene": func(n int, m frame.Image[uint8]) {
			paint(m, image.Rect(0, 0, width, height), func(_, _ int, v uint8) uint8 { return v ^ uint8(n/spoilt*255) })
		},
		"flicker": func(n int, m frame.Image[uint8]) {
			paint(m, image.Rect(0, 0, width, height), func(_, _ int, v uint8) uint8 { return uint8(int(v) * (90 + n*7%13) / 110) })
		},
		"snow": func(_ int, m frame.Image[uint8]) {
			for range 60 {
				at := image.Pt(random.IntN(width-4), random.IntN(height-4))
				paint(m, image.Rectangle{at, at.Add(image.Pt(3, 3))}, func(int, int, uint8) uint8 { return 235 })
			}
		},
		"noise": func(_ int, m frame.Image[uint8]) {
			paint(m, image.Rect(0, 0, width, height), func(_, _ int, v uint8) uint8 { return uint8(min(max(int(v)+random.IntN(25)-12, 0), 255)) })
		},
	} {
		if found := find(change); len(found) > 0 {
			t.Errorf("%s: found %v", name, found)
		}
	}
}

// Light that changes in part of one picture is told from that of a lamp, and from damage. No part counts then.
func TestSpots(t *testing.T) {
	spot := func(x, _ int, v uint8) uint8 {
		return uint8(min(float64(v)*(1+0.8*math.Sin(float64(x)*math.Pi*1.5/width)), 255))
	}
	half, block := image.Rect(0, 0, width*2/3, height), image.Rect(32, 32, 160, 48)
	for _, c := range []struct {
		name string
		draw func(m frame.Image[uint8])
		want bool
	}{
		{"nothing", func(frame.Image[uint8]) {}, false},
		{"a spot", func(m frame.Image[uint8]) { paint(m, half, spot) }, true},
		{"a lamp", func(m frame.Image[uint8]) {
			paint(m, image.Rect(0, 0, width, height), func(_, _ int, v uint8) uint8 { return v / 2 })
		}, false},
		{"blocks", func(m frame.Image[uint8]) { paint(m, block, inverted) }, false},
		{"streaks", func(m frame.Image[uint8]) {
			paint(m, image.Rect(0, 62, width, 66), inverted)
			paint(m, image.Rect(0, 126, width, 130), inverted)
		}, false},
	} {
		var list []*picture
		for n := range 3 {
			m := frame.Image[uint8]{Width: width, Height: height, Stride: width, Pix: scene.Draw(width, height, float64(n)/24).Y}
			if n == 1 {
				c.draw(m)
			}
			list = append(list, &picture{Image: m})
		}
		if _, got := lit(list[0], list[1], list[2]); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for _, on := range []bool{false, true} {
		found := find(func(n int, m frame.Image[uint8]) {
			if n == spoilt {
				if on {
					paint(m, half, spot)
				}
				paint(m, image.Rect(250, 40, 257, 47), inverted)
			}
		})
		if (len(found) == 0) != on {
			t.Errorf("lit %v: found %v", on, found)
		}
	}
}

// Pictures too small to compare, and odd ones, are taken.
func TestSizes(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {17, 5}, {63, 64}, {65, 67}} {
		d := New(least, frame.Workers{N: 2})
		for n := range 4 {
			m := frame.NewImage[uint8](size[0], size[1])
			for i := range m.Pix {
				m.Pix[i] = uint8(i*7 + n*n*90)
			}
			d.Add(m, frame.Image[uint8]{})
		}
		d.Find()
	}
}

// Lines that lie close together are one find, whose pieces leave out what is sound between them.
func TestPieces(t *testing.T) {
	lines := []image.Rectangle{image.Rect(40, 40, 90, 42), image.Rect(70, 50, 120, 52), image.Rect(100, 60, 150, 62)}
	found := find(func(n int, m frame.Image[uint8]) {
		if n == spoilt {
			for _, b := range lines {
				paint(m, b, inverted)
			}
		}
	})
	if len(found) != 1 || found[0].Kind != Dropout || len(found[0].Pieces) != len(lines) {
		t.Fatalf("found %v", found)
	}
	for i, p := range found[0].Pieces {
		if !p.In(found[0].Box) || !p.Overlaps(lines[i]) || p.Dy() > 6 {
			t.Errorf("piece %v, want about %v", p, lines[i])
		}
	}
}

// One box replaces two if it is no dearer.
func TestJoin(t *testing.T) {
	apart := []image.Rectangle{image.Rect(0, 0, 50, 2), image.Rect(60, 40, 110, 42)}
	if got := join(slices.Clone(apart)); !slices.Equal(got, apart) {
		t.Errorf("%v", got)
	}
	row := []image.Rectangle{image.Rect(0, 0, 4, 4), image.Rect(24, 0, 28, 4), image.Rect(12, 0, 16, 4)}
	if got := join(row); !slices.Equal(got, []image.Rectangle{image.Rect(0, 0, 28, 4)}) {
		t.Errorf("%v", got)
	}
}

// Exact: below its limit, difference is what a plain sum over every second pixel of every second row gives, and not below it otherwise.
func TestDifference(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	compared := 0
	for range 3000 {
		w, h := 4*cellWidth+random.IntN(9), 4*cellHeight+random.IntN(9)
		a, b := frame.NewImage[uint8](w, h), frame.NewImage[uint8](w, h)
		for i := range a.Pix {
			a.Pix[i], b.Pix[i] = uint8(random.IntN(256)), uint8(random.IntN(256))
		}
		x0, y0 := random.IntN((w+cellWidth-1)/cellWidth)*cellWidth, random.IntN((h+cellHeight-1)/cellHeight)*cellHeight
		v := vector{x: random.IntN(4*reach+1) - 2*reach, y: random.IntN(4*reach+1) - 2*reach}
		sum, n := 0, 0
		for y := y0 - margin; y < y0+cellHeight+margin; y += 2 {
			for x := max(x0-margin, v.x, -v.x); x < min(x0+cellWidth+margin, w-max(v.x, -v.x)); x += 2 {
				if ya, yb := y-v.y, y+v.y; min(ya, yb) >= 0 && max(ya, yb) < h {
					sum += max(int(a.Row(ya)[x-v.x])-int(b.Row(yb)[x+v.x]), int(b.Row(yb)[x+v.x])-int(a.Row(ya)[x-v.x]))
					n++
				}
			}
		}
		want := incomparable
		if n >= 24 {
			want = 16 * sum / n
			compared++
		}
		if got := difference(a, b, x0, y0, v, incomparable); got != want {
			t.Fatalf("%d by %d, cell at %d, %d along %v: %d, want %d", w, h, x0, y0, v, got, want)
		}
		limit := random.IntN(16 * 255)
		if got := difference(a, b, x0, y0, v, limit); got != want && (got < limit || want < limit) {
			t.Fatalf("%d by %d, cell at %d, %d along %v, to %d: %d, want %d", w, h, x0, y0, v, limit, got, want)
		}
	}
	if compared < 500 {
		t.Errorf("%d comparisons", compared)
	}
}
