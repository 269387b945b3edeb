package fields

import (
	"io"
	"math/big"
	"slices"
	"testing"

	"retime/frame"
	"retime/pipeline/timeline"
)

var formats = []frame.Format{
	{Name: "yuv420p", Depth: 8, Planes: 3, ChromaX: 1, ChromaY: 1},
	{Name: "yuv422p10le", Depth: 10, Planes: 3, ChromaX: 1},
	{Name: "gray", Depth: 8, Planes: 1},
}

// draw sets each sample to a function of its plane, place and line.
func draw(f *frame.Frame, v func(plane, x, y int) int) *frame.Frame {
	for i, p := range f.Planes {
		for y := range p.Height {
			for x := range p.Width {
				if f.Format.Bytes() == 2 {
					frame.Samples[uint16](p).Row(y)[x] = uint16(v(i, x, y))
				} else {
					frame.Samples[uint8](p).Row(y)[x] = uint8(v(i, x, y))
				}
			}
		}
	}
	return f
}

// clip is a source of frames.
type clip struct {
	frames []*frame.Frame
	next   int
}

func (c *clip) Video() timeline.Video {
	f := c.frames[0]
	return timeline.Video{Format: f.Format, Width: f.Width, Height: f.Height, TimeBase: big.NewRat(1, 25), Rate: big.NewRat(25, 1), Start: new(big.Rat)}
}

func (c *clip) Read() (*frame.Frame, error) {
	if c.next == len(c.frames) {
		return nil, io.EOF
	}
	f := c.frames[c.next]
	f.PTS, f.Duration = int64(c.next), 1
	c.next++
	return f.Retain(), nil
}

// shelf is a sink that keeps frames.
type shelf struct {
	frames []*frame.Frame
	times  []string
}

func (s *shelf) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	return frame.New(like.Format, like.Width, like.Height), nil
}

func (s *shelf) WriteFrame(f *frame.Frame, from, to *big.Rat) error {
	s.frames = append(s.frames, f.Retain())
	s.times = append(s.times, from.RatString()+" "+to.RatString())
	return nil
}

func topFirst(int64) bool    { return true }
func bottomFirst(int64) bool { return false }

// A picture that stands still is complete again, whichever field it is of, and so is one that changes evenly
// from line to line, even if nothing is known of other fields.
func TestFillLines(t *testing.T) {
	for _, format := range formats {
		for _, size := range [][2]int{{7, 2}, {8, 9}, {33, 40}} {
			textured := draw(frame.New(format, size[0], size[1]), func(p, x, y int) int { return (37*x + 91*y + 50*p + x*y) % 256 })
			ramp := draw(frame.New(format, size[0], size[1]), func(p, x, y int) int { return 2*y + x + 9*p })
			for _, field := range []Set{Top, Bottom} {
				other := moment{textured, field.other()}
				own := moment{textured, field}
				got := frame.New(format, size[0], size[1])
				fillLines(frame.Workers{}, got, &neighbourhood{other, own, other, own, other, own, other})
				if !frame.Equal(got, textured) {
					t.Errorf("%s %v field %d: still lines are lost", format.Name, size, field)
				}
				// The field after is lost, and one moment of its lines is left.
				fillLines(frame.Workers{}, got, &neighbourhood{other, own, other, own})
				if !frame.Equal(got, textured) {
					t.Errorf("%s %v field %d: still lines are lost beside a lost field", format.Name, size, field)
				}
				fillLines(frame.Workers{}, got, &neighbourhood{here: {ramp, field}})
				for i, p := range got.Planes {
					for y := 4; y < p.Height-4; y++ {
						n := p.Width * format.Bytes()
						if a, b := p.Pix[y*p.Stride:][:n], ramp.Planes[i].Pix[y*p.Stride:][:n]; string(a) != string(b) {
							t.Errorf("%s %v field %d: line %d of plane %d is off the ramp", format.Name, size, field, y, i)
						}
					}
				}
			}
		}
	}
}

// Where the lines between move, those of other moments are not woven in.
func TestFillLinesMoving(t *testing.T) {
	format := formats[0]
	level := func(v int) *frame.Frame {
		return draw(frame.New(format, 16, 16), func(int, int, int) int { return v })
	}
	h := neighbourhood{{level(10), Bottom}, {level(40), Top}, {level(70), Bottom}, {level(100), Top}, {level(130), Bottom}, {level(160), Top}, {level(190), Bottom}}
	got := frame.New(format, 16, 16)
	fillLines(frame.Workers{}, got, &h)
	if !frame.Equal(got, level(100)) {
		t.Error("lines of other moments are in the picture")
	}
}

// What is taken apart and woven again is what it was, but for the lost fields' lines; the frames have their
// own times.
func TestWeave(t *testing.T) {
	for _, format := range formats {
		for _, first := range []func(int64) bool{topFirst, bottomFirst} {
			const count = 9
			source, freed := &clip{}, 0
			for n := range count {
				f := draw(frame.New(format, 10, 12), func(p, x, y int) int { return (31*n + 7*x + 13*y + p) % 200 })
				source.frames = append(source.frames, frame.Wrap(f.Format, f.Width, f.Height, f.Planes, func(*frame.Frame) { freed++ }))
			}
			w := &Weave{
				Split: map[int64]int64{}, Lost: map[int64]Set{2: Top, 4: Bottom, 5: Both, 7: Bottom}, Insert: map[int64]int{5: 1, 7: 1}, TopFirst: first,
			}
			for n := int64(1); n < 7; n++ {
				w.Split[n] = 2*n + 1
			}
			s := NewSource(source, w, frame.Workers{})
			kept := &shelf{}
			to := NewSink(kept, w)
			grey := draw(frame.New(format, 10, 12), func(int, int, int) int { return 222 })
			put := func(f *frame.Frame, at int64, length int64) {
				if err := to.WriteFrame(f, big.NewRat(at, 50), big.NewRat(at+length, 50)); err != nil {
					t.Fatal(err)
				}
			}
			for {
				f, err := s.Read()
				if err != nil {
					break
				}
				n := f.PTS / 2
				_, split := w.Split[n]
				lost := w.Lost[n]
				if split {
					lost &= w.Field(n, int(f.PTS%2))
				}
				put(map[bool]*frame.Frame{true: grey, false: f}[lost != 0], f.PTS, map[bool]int64{true: 1, false: 2}[split])
				if n == 5 && f.PTS%2 == 1 {
					put(grey, 100, 1)
					put(grey, 101, 1)
				} else if n == 7 {
					put(grey, 200, 2)
				}
				f.Release()
			}
			s.Close()
			to.Close()
			const inserted = -1
			var want []int64
			for n := range int64(count) {
				if want = append(want, n); w.Insert[n] > 0 {
					want = append(want, inserted)
				}
			}
			if len(kept.frames) != len(want) || to.Frames() != int64(len(want)) || s.Frames() != count {
				t.Fatalf("%d frames of %d, want %v", len(kept.frames), s.Frames(), want)
			}
			for i, f := range kept.frames {
				n, lost := want[i], Both
				if n != inserted {
					lost = w.Lost[n]
					if from, to := big.NewRat(n, 25), big.NewRat(n+1, 25); kept.times[i] != from.RatString()+" "+to.RatString() {
						t.Errorf("frame %d: %s", n, kept.times[i])
					}
				}
				for _, field := range []Set{Top, Bottom} {
					like := grey
					if lost&field == 0 {
						like = source.frames[n]
					}
					if !frame.Equal(View(f, field), View(like, field)) {
						t.Errorf("%s: frame %d, field %d", format.Name, n, field)
					}
				}
			}
			for _, f := range slices.Concat(source.frames, kept.frames) {
				f.Release()
			}
			if freed != count {
				t.Errorf("%d frames of %d are let go", freed, count)
			}
		}
	}
}
