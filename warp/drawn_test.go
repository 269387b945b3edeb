package warp

import (
	"math"
	"testing"

	"retime/flow"
	"retime/frame"
)

// drawnScene is a disc over a textured ground that pans.
type drawnScene struct {
	format        frame.Format
	width, height int
	pan           [2]float64 // of the ground, per interval
	from, to      [2]float64 // the disc's centre
	radius        float64
}

// at returns the scene at a time from 0 to 1, without the disc if bare is set.
func (s *drawnScene) at(t float64, bare bool) *frame.Frame {
	f := frame.New(s.format, s.width, s.height)
	limit := float64(s.format.Max())
	for i, p := range f.Planes {
		sx, sy := s.format.Subsampling(i)
		set := func(x, y int, v float64) {
			if s.format.Bytes() == 1 {
				frame.Samples[uint8](p).Row(y)[x] = uint8(v + 0.5)
			} else {
				frame.Samples[uint16](p).Row(y)[x] = uint16(v + 0.5)
			}
		}
		w, h := s.format.PlaneSize(i, s.width, s.height)
		for y := range h {
			for x := range w {
				px, py := (float64(x)+0.5)*float64(int(1)<<sx), (float64(y)+0.5)*float64(int(1)<<sy)
				v := 0.35 + 0.1*math.Sin((px-s.pan[0]*t)/5) + 0.1*math.Cos((py-s.pan[1]*t)/7)
				dx, dy := px-s.from[0]-t*(s.to[0]-s.from[0]), py-s.from[1]-t*(s.to[1]-s.from[1])
				if !bare {
					inside := min(max((s.radius-math.Hypot(dx, dy))/3+0.5, 0), 1)
					v += inside * (0.85 + 0.05*math.Sin(dx/3) - v)
				}
				set(x, y, v*limit)
			}
		}
	}
	return f
}

// outline surrounds the disc at time 0.
func (s *drawnScene) outline() (list [][2]float64) {
	for i := range 24 {
		y, x := math.Sincos(2 * math.Pi * float64(i) / 24)
		list = append(list, [2]float64{s.from[0] + (s.radius+2)*x, s.from[1] + (s.radius+2)*y})
	}
	return list
}

// ground returns the flow of the ground on guides that were halved level times.
func (s *drawnScene) ground(level int) flow.Field {
	w, h := s.width, s.height
	for range level {
		w, h = (w+1)/2, (h+1)/2
	}
	f := flow.NewField(w, h)
	side := float64(int(1) << level)
	for i := range f.Pix {
		f.Pix[i] = flow.Vec{X: int32(s.pan[0] * flow.One / side), Y: int32(s.pan[1] * flow.One / side)}
	}
	return f
}

// differences returns the largest difference of two frames at a time in 1/255 of the range: far from
// the disc's edge, and anywhere.
func (s *drawnScene) differences(a, b *frame.Frame, t float64) (clear, worst float64) {
	for i := range a.Planes {
		sx, sy := s.format.Subsampling(i)
		w, h := s.format.PlaneSize(i, s.width, s.height)
		at := func(f *frame.Frame, x, y int) float64 {
			if f.Format.Bytes() == 1 {
				return float64(frame.Samples[uint8](f.Planes[i]).Row(y)[x])
			}
			return float64(frame.Samples[uint16](f.Planes[i]).Row(y)[x])
		}
		for y := range h {
			for x := range w {
				d := math.Abs(at(a, x, y)-at(b, x, y)) * 255 / float64(s.format.Max())
				worst = max(worst, d)
				px, py := (float64(x)+0.5)*float64(int(1)<<sx), (float64(y)+0.5)*float64(int(1)<<sy)
				r := math.Hypot(px-s.from[0]-t*(s.to[0]-s.from[0]), py-s.from[1]-t*(s.to[1]-s.from[1]))
				if math.Abs(r-s.radius) > 6 {
					clear = max(clear, d)
				}
			}
		}
	}
	return clear, worst
}

// A thing goes where the arrow says, and what it uncovers comes from the neighbour that shows it,
// whatever was made there before.
func TestFollowDrawn(t *testing.T) {
	for _, format := range []frame.Format{
		{Planes: 3, Depth: 8, ChromaX: 1, ChromaY: 1}, {Planes: 3, Depth: 10, ChromaX: 1}, {Planes: 1, Depth: 16}, {Planes: 4, Depth: 8},
	} {
		for level := range 3 {
			s := drawnScene{format, 161, 121, [2]float64{6, -2}, [2]float64{60, 40}, [2]float64{78, 84}, 14}
			a, b := s.at(0, false), s.at(1, false)
			motion, err := NewSimilarity([][4]float64{{s.from[0], s.from[1], s.to[0], s.to[1]}})
			if err != nil {
				t.Fatal(err)
			}
			for _, phase := range []Phase{PhaseOne / 4, PhaseOne / 2, PhaseOne * 7 / 8} {
				want := s.at(float64(phase)/PhaseOne, false)
				got := s.at(float64(phase)/PhaseOne, true) // the disc is lost
				torn := s.at(float64(phase)/PhaseOne, true)
				list := []Drawn{{s.outline(), motion}}
				if err := FollowDrawn(frame.Workers{}, got, a, b, s.ground(level), level, phase, list); err != nil {
					t.Fatal(err)
				}
				// Within the outline, the ground goes with the disc.
				_, was := s.differences(torn, want, float64(phase)/PhaseOne)
				clear, worst := s.differences(got, want, float64(phase)/PhaseOne)
				if was < 150 || worst > 50 || clear > 4 {
					t.Errorf("%v, level %d, phase %d: wrong by %g before; by %g after, %g off the edge", format, level, phase, was, worst, clear)
				}
				// Nor does it matter what was made on the way.
				if format.Bytes() == 1 {
					again := s.at(float64(phase)/PhaseOne, true)
					clear := frame.Samples[uint8](again.Planes[0]).Row(62)[60:78]
					for x := range clear {
						clear[x] = 0
					}
					if err := FollowDrawn(frame.Workers{}, again, a, b, s.ground(level), level, phase, list); err != nil {
						t.Fatal(err)
					}
					if !frame.Equal(again, got) {
						t.Errorf("%v, level %d, phase %d: ghosts of what was made before", format, level, phase)
					}
				}
				for y := range 10 {
					for x, v := range got.Planes[0].Pix[y*got.Planes[0].Stride:][:s.width*format.Bytes()] {
						if v != torn.Planes[0].Pix[y*torn.Planes[0].Stride+x] {
							t.Fatalf("%v: a sample far away changed", format)
						}
					}
				}
			}
		}
	}
}

// Things may lie partly or wholly outside, fill the picture, or turn, and pictures may be tiny.
func TestFollowDrawnAnywhere(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 2}, {17, 9}, {40, 64}} {
		s := drawnScene{frame.Format{Planes: 3, Depth: 8, ChromaX: 1, ChromaY: 1}, size[0], size[1], [2]float64{-30, 4}, [2]float64{10, 10}, [2]float64{20, 20}, 6}
		a, b := s.at(0, false), s.at(1, false)
		for _, arrows := range [][][4]float64{
			{{0, 0, 5, 3}}, {{0, 0, -500, 0}}, {{0, 0, 60000, -60000}}, {{-60000, 0, 0, 3}},
			{{0, 0, 10, 0}, {10, 0, 10, 10}}, {{0, 0, 1, 0}, {10, 10, -10, -9}}, {{0, 0, 0, 0}, {1, 0, 15, 0}},
		} {
			for _, outline := range [][][2]float64{{{-5, -5}, {70, -5}, {70, 70}, {-5, 70}}, {{2, 2}, {9, 3}, {4, 8}}, {{-30, 3}, {-20, 5}, {-25, 9}}, {{0, 0}, {0, 0}, {0, 0}}} {
				motion, err := NewSimilarity(arrows)
				if err != nil {
					t.Fatal(err)
				}
				for level := range MaxLevel + 1 {
					dst := s.at(0.5, false)
					if err := FollowDrawn(frame.Workers{}, dst, a, b, s.ground(level), level, PhaseOne/3, []Drawn{{outline, motion}, {s.outline(), motion}}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

func BenchmarkFollowDrawn(b *testing.B) {
	s := drawnScene{frame.Format{Planes: 3, Depth: 8, ChromaX: 1, ChromaY: 1}, 1920, 1080, [2]float64{6, -2}, [2]float64{800, 400}, [2]float64{950, 500}, 150}
	first, second, dst := s.at(0, false), s.at(1, false), s.at(0.5, true)
	motion, err := NewSimilarity([][4]float64{{800, 400, 950, 500}, {700, 400, 840, 510}})
	if err != nil {
		b.Fatal(err)
	}
	ground := s.ground(1)
	for b.Loop() {
		if err := FollowDrawn(frame.Workers{}, dst, first, second, ground, 1, PhaseOne/2, []Drawn{{s.outline(), motion}}); err != nil {
			b.Fatal(err)
		}
	}
}
