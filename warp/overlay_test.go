package warp

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"retime/flow"
	"retime/frame"
)

// ground returns a texture with a grain of about four pixels.
func ground(seed uint64) func(x, y int) uint8 {
	r := rand.New(rand.NewPCG(seed, 2))
	var grain [64][64]int
	for i := range grain {
		for j := range grain[i] {
			grain[i][j] = 40 + r.IntN(120)
		}
	}
	return func(x, y int) uint8 {
		cx, cy, fx, fy := x>>2&63, y>>2&63, x&3, y&3
		top := grain[cy][cx]*(4-fx) + grain[cy][(cx+1)&63]*fx
		bottom := grain[(cy+1)&63][cx]*(4-fx) + grain[(cy+1)&63][(cx+1)&63]*fx
		return uint8((top*(4-fy) + bottom*fy) / 16)
	}
}

// letters reports whether (x, y) belongs to broken strokes, four pixels wide, in a band
// in the middle.
func letters(width, height, x, y int) bool {
	if y < height/2-12 || y >= height/2+12 || x < 24 || x >= width-24 {
		return false
	}
	return x%11 < 4 && (x/11*5+y/8*3+x/33)%4 < 3
}

// panned returns an interval whose ground moves by (dx, dy) a frame below a cover that
// stays.
func panned(width, height, dx, dy int, at func(x, y int) uint8, covered func(x, y int) bool) Interval {
	guide := func(n int) frame.Image[uint8] {
		g := frame.NewImage[uint8](width, height)
		for y := range height {
			for x := range width {
				v := at(x-n*dx+1024, y-n*dy+1024)
				if covered(x, y) {
					v = 235
				}
				g.Row(y)[x] = v
			}
		}
		return g
	}
	field := func(s int) flow.Field {
		f := flow.NewField(width, height)
		for y := range height {
			for x := range width {
				if !covered(x, y) {
					f.Row(y)[x] = flow.Vec{X: int32(s * dx * flow.One), Y: int32(s * dy * flow.One)}
				}
			}
		}
		return f
	}
	return Interval{
		GuideA: guide(0), GuideB: guide(1), Flows: []FlowPair{{field(1), field(-1)}},
		Before: &Outer{Guide: guide(-1), Flow: field(-1)}, After: &Outer{Guide: guide(2), Flow: field(1)},
	}
}

func found(in Interval) frame.Image[uint8] {
	var f overlayFinder
	return f.find(&in)
}

func TestOverlayIsFound(t *testing.T) {
	const width, height = 160, 120
	over := func(x, y int) bool { return letters(width, height, x, y) }
	for _, v := range [][3]int{{6, 0}, {5, -2}, {-7, 3}, {5, -2, 1}} {
		in := panned(width, height, v[0], v[1], ground(5), over)
		if v[2] != 0 { // the ground lies still after B
			in.After.Guide = in.GuideB
			clear(in.After.Flow.Pix)
		}
		mask := found(in)
		if mask.Width == 0 {
			t.Fatalf("motion %v: nothing found", v)
		}
		var on, hit, off, wrong int
		for y := range height {
			for x := range width {
				switch m := mask.Row(y)[x]; {
				case over(x, y):
					on++
					if m >= 192 {
						hit++
					}
				case y < height/2-20 || y > height/2+20:
					off++
					if m > 0 {
						wrong++
					}
				}
			}
		}
		if hit*100 < on*75 || wrong*100 > off {
			t.Errorf("motion %v: %d of %d covered pixels found, %d of %d others taken for such", v, hit, on, wrong, off)
		}
	}
}

// Things that look still although they move, or that may well be still, are no
// overlays.
func TestNoOverlay(t *testing.T) {
	const width, height = 96, 80
	nothing := func(int, int) bool { return false }
	stripes := func(x, _ int) uint8 { return uint8(60 + 100*(x>>3&1)) }
	lattice := func(x, y int) uint8 { return uint8(60 + 60*(x>>2&1) + 60*(y>>2&1)) }
	text := func(x, y int) bool { return letters(width, height, x, y) }
	faint := func(x, y int) uint8 { return ground(3)(x, y) / 2 }
	few := panned(width, height, 5, 1, ground(3), text)
	few.Before, few.After = nil, nil
	passed := panned(width, height, 0, 0, faint, nothing)
	passed.Flows = panned(width, height, 5, 1, faint, nothing).Flows
	for name, in := range map[string]Interval{
		"moving texture":               panned(width, height, 5, 1, ground(3), nothing),
		"still texture":                panned(width, height, 0, 0, ground(3), nothing),
		"still picture with text":      panned(width, height, 0, 0, ground(3), text),
		"stripes along the motion":     panned(width, height, 0, 4, stripes, nothing),
		"lattice that moves a period":  panned(width, height, 8, 0, lattice, nothing),
		"flat":                         panned(width, height, 3, 0, func(int, int) uint8 { return 90 }, nothing),
		"two frames only":              few,
		"ground that is passed by":     passed,
		"one pixel":                    panned(1, 1, 3, 0, ground(1), nothing),
		"something still but no edges": panned(width, height, 9, 0, func(int, int) uint8 { return 90 }, nothing),
	} {
		if mask := found(in); mask.Width != 0 {
			set := len(mask.Pix) - bytes.Count(mask.Pix, []byte{0})
			if set > 0 {
				t.Errorf("%s: %d pixels taken for an overlay", name, set)
			}
		}
	}
}

func TestOverlayFinderWorkers(t *testing.T) {
	in := panned(131, 97, 7, -2, ground(9), func(x, y int) bool { return letters(131, 97, x, y) })
	in.Static = frame.NewImage[uint8](131, 97)
	in.Static.Row(3)[5] = 77
	given := bytes.Clone(in.Static.Pix)
	var first []uint8
	for _, n := range []int{1, 2, 8} {
		f := overlayFinder{workers: frame.Workers{N: n}}
		mask := f.find(&in)
		if first == nil {
			first = mask.Pix
		}
		if !bytes.Equal(mask.Pix, first) {
			t.Errorf("%d workers find another mask", n)
		}
		if mask.Row(3)[5] < 77 {
			t.Error("the mask that was given is lost")
		}
	}
	if !bytes.Equal(in.Static.Pix, given) {
		t.Error("the mask that was given has changed")
	}
}

// detect marks the same pixels as a comparison one by one.
func TestDetect(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 19))
	for _, size := range [][2]int{{1, 1}, {2, 5}, {7, 3}, {8, 8}, {65, 40}, {90, 33}} {
		for level := range 3 {
			for _, frames := range []int{3, 4} {
				w, h := size[0], size[1]
				in := panned(w, h, 3, 1, ground(8), func(x, y int) bool { return (x/3+y/5)%4 == 0 })
				in.Level = level
				guides := []frame.Image[uint8]{in.GuideA, in.GuideB, in.Before.Guide, in.After.Guide}
				if frames == 3 {
					in.After, guides = nil, guides[:3]
				}
				for _, g := range guides {
					for i := range g.Pix {
						g.Pix[i] += uint8(r.IntN(9))
					}
				}
				for i := range in.Flows[0].Forward.Pix {
					in.Flows[0].Forward.Pix[i] = flow.Vec{X: int32(r.IntN(1600) - 800), Y: int32(r.IntN(1600) - 800)}
				}
				for _, o := range []*Outer{in.Before, in.After} {
					for i := 0; o != nil && i < len(o.Flow.Pix); i += 1 + r.IntN(3) {
						o.Flow.Pix[i] = flow.Vec{}
					}
				}
				var f overlayFinder
				any := false
				got := f.detect(&in)
				for y := range h {
					for x := range w {
						want := uint16(0)
						if stillAndMisfit(&in, guides, x, y) {
							want, any = 255, true
						}
						if f.marks.Row(y)[x] != want {
							t.Fatalf("%v level %d, %d frames: %d at %d,%d, want %d", size, level, frames, f.marks.Row(y)[x], x, y, want)
						}
					}
				}
				if got != any || w > 64 && !any {
					t.Errorf("%v level %d, %d frames: any is %v, want %v", size, level, frames, got, any)
				}
			}
		}
	}
}

// stillAndMisfit judges one pixel.
func stillAndMisfit(in *Interval, guides []frame.Image[uint8], x, y int) bool {
	a, w, h := in.GuideA, in.GuideA.Width, in.GuideA.Height
	at := func(m frame.Image[uint8], x, y int) int { return int(m.Row(min(max(y, 0), h-1))[min(max(x, 0), w-1)]) }
	least, most := 255, 0
	for _, g := range guides {
		least, most = min(least, at(g, x, y)), max(most, at(g, x, y))
	}
	change := most - least
	span := max(overlaySpan>>in.Level, 1)
	least, most = 255, 0
	for j := -span; j <= span; j += span {
		for i := -span; i <= span; i += span {
			least, most = min(least, at(a, x+i, y+j)), max(most, at(a, x+i, y+j))
		}
	}
	contrast := most - least
	if contrast < overlayContrast || change > max(overlayNoise, contrast>>overlayCoding) {
		return false
	}
	votes := 0
	for _, o := range newProbes(in.Level) {
		px, py := min(max(x+o[0], 0), w-1), min(max(y+o[1], 0), h-1)
		v := in.Flows[0].Forward.Row(py)[px]
		tx, ty := int32(x)<<positionBits+v.X, int32(y)<<positionBits+v.Y
		if max(v.X, -v.X, v.Y, -v.Y) < overlayMotion || !inside(in.GuideB, tx, ty) || contrast < overlayBold && !in.movesBeyond(px, py) {
			continue
		}
		if difference(uint32(at(a, x, y))<<16, lookup(in.GuideB, tx, ty)) > overlayMisfit*differenceOne {
			votes++
		} else {
			votes--
		}
	}
	return votes >= overlayVotes
}

func BenchmarkOverlayFinder(b *testing.B) {
	in := panned(960, 540, 7, -2, ground(9), func(x, y int) bool { return letters(960, 540, x, y) })
	in.Level = 1
	r := rand.New(rand.NewPCG(1, 2))
	for _, g := range []frame.Image[uint8]{in.GuideA, in.GuideB, in.Before.Guide, in.After.Guide} {
		for i := range g.Pix {
			g.Pix[i] += uint8(r.IntN(5))
		}
	}
	f := overlayFinder{workers: frame.Workers{N: 1}}
	for b.Loop() {
		f.find(&in)
	}
}

// Covered pixels equal the sources' pixels; others move.
func TestCoveredPixelsStayStill(t *testing.T) {
	const width, height = 96, 80
	over := func(x, y int) bool { return letters(width, height, x, y) }
	for _, format := range formats {
		for level := range MaxLevel + 1 {
			at := ground(4)
			picture := func(n int) *frame.Frame {
				return fillFrame(format, width, height, func(i, x, y int) int {
					sx, sy := format.Subsampling(i)
					if over(x<<sx, y<<sy) {
						return format.Max()
					}
					return int(at(x<<sx-8*n+512, y<<sy+512)) * format.Max() / 255
				})
			}
			a, b := picture(0), picture(1)
			in := between(a, b, level, 8, 0)
			mask := frame.NewImage[uint8](width, height)
			for y := range height {
				for x := range width {
					if over(x, y) {
						mask.Row(y)[x] = 255
					}
				}
			}
			in.Static = StaticMask(mask, level)
			got := makeFrame(t, Params{Mode: Project, Order: 3}, in, PhaseOne/2)
			still := makeFrame(t, Params{Mode: Blend}, in, PhaseOne/2)
			moved := false
			for i, p := range got.Planes {
				sx, sy := format.Subsampling(i)
				for y := range p.Height {
					for x := range p.Width {
						g, w := getSample(got, i, x, y), getSample(still, i, x, y)
						if over(x<<sx, y<<sy) && g != w {
							t.Fatalf("%s level %d plane %d (%d,%d): %d, want %d as without motion", format.Name, level, i, x, y, g, w)
						}
						moved = moved || g != w
					}
				}
			}
			if !moved {
				t.Errorf("%s level %d: nothing moved", format.Name, level)
			}
		}
	}
}

// Where no motion fits, the hypothesis without motion has no share unless something lies
// still there, and it leaves all other pixels as they are, but for those whose blur would have
// read it.
func TestOnlyOverlaysStandStill(t *testing.T) {
	const width, height = 48, 32
	format := formats[0]
	for level := range MaxLevel + 1 {
		in := between(noiseFrame(1, format, width, height), noiseFrame(2, format, width, height), level, 8, 0)
		p := Params{Mode: Project, Order: 1}
		want := makeFrame(t, p, in, PhaseOne/2)
		in.Static = frame.NewImage[uint8](in.GuideA.Width, in.GuideA.Height)
		in.Static.Pix[0] = 255
		s, err := NewSynthesizer(p)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		prepared, err := s.Prepare(in)
		if err != nil {
			t.Fatal(err)
		}
		defer prepared.Close()
		got := frame.New(format, width, height)
		_, inside, err := prepared.Inspect(got, PhaseOne/2)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range inside.Guesses {
			for i, share := range g.Share.Pix {
				if still := g.Name == "no motion"; (still && share != 0) != (still && i == 0) {
					t.Fatalf("level %d: %s has the share %d at pixel %d", level, g.Name, share, i)
				}
			}
		}
		for i, p := range got.Planes {
			for y := 1<<level + calmReach; y < p.Height; y++ {
				for x := range p.Width {
					if g, w := getSample(got, i, x, y), getSample(want, i, x, y); g != w {
						t.Fatalf("level %d plane %d (%d,%d): %d, want %d as without a mask", level, i, x, y, g, w)
					}
				}
			}
		}
	}
}

func TestStaticMaskSizes(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {2, 3}, {7, 5}, {64, 33}} {
		for level := range MaxLevel + 1 {
			white := frame.NewImage[uint8](size[0], size[1])
			for i := range white.Pix {
				white.Pix[i] = 255
			}
			m := StaticMask(white, level)
			w, h := size[0], size[1]
			for range level {
				w, h = (w+1)/2, (h+1)/2
			}
			if m.Width != w || m.Height != h || bytes.Count(m.Pix, []byte{255}) != w*h {
				t.Errorf("%v at level %d: %dx%d, %v", size, level, m.Width, m.Height, m.Pix)
			}
		}
	}
	one := frame.NewImage[uint8](40, 40)
	one.Row(20)[20] = 255
	m := StaticMask(one, 1)
	if m.Row(10)[10] != 255 || m.Row(10)[11] == 0 || m.Row(10)[11] == 255 || m.Row(10)[14] != 0 {
		t.Errorf("around a white pixel: %v", m.Row(10)[8:14])
	}
}

// A probe never finds motion where findNear says that there is none.
func TestFindNear(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	for level := range MaxLevel + 1 {
		const width, height = 150, 97
		f := flow.NewField(width, height)
		for range 4 {
			f.Row(r.IntN(height))[r.IntN(width)].Y = -flow.One
		}
		o := overlayFinder{workers: frame.Workers{N: 2}}
		o.findMoving(f, level)
		o.findNear()
		near := 0
		for y := range height {
			for x := range width {
				found := false
				for _, p := range newProbes(level) {
					found = found || movesProbe(f.Row(min(max(y+p[1], 0), height-1))[min(max(x+p[0], 0), width-1)])
				}
				if o.near.Row(y / (overlayReach >> level))[x/(overlayReach>>level)] {
					near++
				} else if found {
					t.Fatalf("level %d: a probe of (%d, %d) finds motion", level, x, y)
				}
			}
		}
		if near == 0 || level > 0 && near == width*height {
			t.Errorf("level %d: motion near %d pixels", level, near)
		}
	}
}
