package warp

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"testing"

	"retime/flow"
	"retime/frame"
)

// Light rises with the signal, and the light of a signal, and what is nearest to it, is that signal.
func TestLightTable(t *testing.T) {
	l := lights()
	last := len(l.Of) - 1
	for i := 1; i <= last; i++ {
		below, light := l.Of[i-1], l.Of[i]
		if below >= light {
			t.Fatalf("signal %d has the light %v, the next %v", i-1, below, light)
		}
		half := below + (light-below)/2
		for _, v := range []float32{light, math.Nextafter32(light, 0), math.Nextafter32(half, 1)} {
			if v-below > light-v && l.sample(v, 0, uint16(last)) != uint16(i) {
				t.Fatalf("light %v is signal %d, want %d", v, l.sample(v, 0, uint16(last)), i)
			}
		}
	}
	var bits []byte
	for _, v := range l.Of {
		bits = binary.LittleEndian.AppendUint32(bits, math.Float32bits(v))
	}
	if sum := crc32.ChecksumIEEE(bits); sum != 0x9603f1ac {
		t.Errorf("the table's bits have the sum %#x, on other machines 0x9603f1ac", sum)
	}
	if l.Of[0] != 0 || l.Of[last] != 1 {
		t.Errorf("light goes from %v to %v", l.Of[0], l.Of[last])
	}
	for _, c := range []struct {
		v    float32
		want uint16
	}{{-1, 3}, {0, 3}, {l.Of[3], 3}, {l.Of[7], 7}, {l.Of[9], 9}, {l.Of[10], 9}, {2, 9}} {
		if got := l.sample(c.v, 3, 9); got != c.want {
			t.Errorf("light %v from signal 3 to 9 is %d, want %d", c.v, got, c.want)
		}
	}
}

// litDisc is a disc with a hard edge.
type litDisc struct{ radius, light, ground float64 }

// draw returns a frame of the disc at a place, in the middle of a square. White has a fiftieth of all light.
func (d litDisc) draw(size int, x, y float64) (f *frame.Frame, light float64) {
	f = frame.New(frame.Format{Name: "gray16", Depth: 16, Planes: 1}, size, size)
	f.Floats = true
	p := frame.Samples[uint16](f.Planes[0])
	for j := range size {
		for i := range size {
			cover := min(max(d.radius+0.5-math.Hypot(float64(i)-x, float64(j)-y), 0), 1)
			v := (d.ground + (d.light-d.ground)*cover) / 50
			p.Row(j)[i] = uint16(math.Round(65535 * frame.PQSignal(v)))
		}
	}
	return f, litSum(f)
}

func litSum(f *frame.Frame) (sum float64) {
	for _, v := range frame.Samples[uint16](f.Planes[0]).Pix {
		sum += frame.PQLuminance(float64(v) / 65535)
	}
	return sum * 50
}

// A bright disc keeps its light where it is read between samples, and shows nothing darker than the ground nor brighter than
// itself. Through the signals it would gain or lose up to 6 %.
func TestReadingsBetweenSamplesKeepLight(t *testing.T) {
	for _, d := range []litDisc{{6, 4, 0}, {12, 1, 0}, {12, 4, 0}, {12, 20, 0}, {12, 1, 0.2}, {12, 4, 0.2}, {12, 20, 0.2}, {30, 4, 0}, {30, 20, 0.2}, {60, 4, 0}} {
		size := int(2*d.radius) + 34
		s, err := NewSynthesizer(Params{Mode: Project, Order: 3})
		if err != nil {
			t.Fatal(err)
		}
		most := 0.001
		if d.radius < 20 { // the edge is much of it, and the mean of both neighbours is of signals
			most = 0.005
		}
		worst := 0.0
		for _, step := range [][2]int32{{128, 0}, {64, 64}, {384, 192}, {-37, 300}} { // in 1/256 pixel
			middle := float64(size-1)/2 + 0.3
			a, _ := d.draw(size, middle, middle)
			b, _ := d.draw(size, middle+float64(step[0])/positionOne, middle+float64(step[1])/positionOne)
			forward, backward := flow.NewField(size, size), flow.NewField(size, size)
			for i := range forward.Pix {
				forward.Pix[i], backward.Pix[i] = flow.Vec{X: step[0], Y: step[1]}, flow.Vec{X: -step[0], Y: -step[1]}
			}
			p, err := s.Prepare(Interval{A: a, B: b, GuideA: Luma(a), GuideB: Luma(b), Flows: []FlowPair{{forward, backward}}})
			if err != nil {
				t.Fatal(err)
			}
			for _, phase := range []Phase{PhaseOne / 4, PhaseOne / 2, PhaseOne * 5 / 7} {
				made := frame.New(a.Format, size, size)
				if _, err := p.Make(made, phase); err != nil {
					t.Fatal(err)
				}
				part := float64(phase) / PhaseOne / positionOne
				_, want := d.draw(size, middle+part*float64(step[0]), middle+part*float64(step[1]))
				area := want - d.ground*float64(size*size)
				if lost := (want - litSum(made)) / area; math.Abs(lost) > math.Abs(worst) {
					worst = lost
				}
				first := frame.Samples[uint16](a.Planes[0])
				dark, bright := first.Row(0)[0], first.Row(size / 2)[size/2]
				for i, v := range frame.Samples[uint16](made.Planes[0]).Row(size / 2) {
					if v < dark || v > bright {
						t.Fatalf("%+v: sample %d is %d, and the disc has %d to %d", d, i, v, dark, bright)
					}
				}
			}
			p.Close()
		}
		t.Logf("%+v loses at worst %+.3f %%", d, 100*worst)
		if math.Abs(worst) > most {
			t.Errorf("%+v loses %.2f %% of its light, want at most %.1f %%", d, 100*worst, 100*most)
		}
		s.Close()
	}
}

// A drawn thing and the ground around it keep within the limits of the pictures, too.
func TestDrawnThingsKeepWithinLimits(t *testing.T) {
	const size = 64
	d := litDisc{10, 20, 0.2}
	a, _ := d.draw(size, 28.3, 30)
	b, _ := d.draw(size, 33.8, 32.6)
	motion, err := NewSimilarity([][4]float64{{28.8, 30.5, 34.3, 33.1}})
	if err != nil {
		t.Fatal(err)
	}
	made := frame.New(a.Format, size, size)
	frame.Copy(made, a)
	outline := [][2]float64{{15, 17}, {43, 17}, {43, 45}, {15, 45}}
	if err := FollowDrawn(frame.Workers{}, made, a, b, flow.NewField(size, size), 0, PhaseOne/2, []Drawn{{outline, motion}}); err != nil {
		t.Fatal(err)
	}
	first := frame.Samples[uint16](a.Planes[0])
	dark, bright := first.Pix[0], first.Row(30)[28]
	between := 0
	for i, v := range frame.Samples[uint16](made.Planes[0]).Pix {
		if v < dark || v > bright {
			t.Fatalf("sample %d is %d, and the pictures have %d to %d", i, v, dark, bright)
		}
		if v != dark && v != bright {
			between++
		}
	}
	if between < 40 {
		t.Errorf("%d samples at the edge", between)
	}
	_, want := d.draw(size, 31.05, 31.3)
	area := want - d.ground*size*size
	if lost := (want - litSum(made)) / area; math.Abs(lost) > 0.005 {
		t.Errorf("the disc loses %.2f %% of its light", 100*lost)
	}
}

// What is read between samples lies within those next to it, at edges and beyond them, too; on a sample, it is the sample.
func TestLimits(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	m := frame.NewImage[uint16](5, 3)
	for i := range m.Pix {
		m.Pix[i] = uint16(rng.IntN(1 << 16))
	}
	at := func(x, y int) uint16 { return m.Row(mirror(y, 3))[mirror(x, 5)] }
	for y := -4; y < 7; y++ {
		for x := -7; x < 12; x++ {
			for _, c := range []struct {
				fx, fy uint8
				near   []uint16
			}{
				{0, 0, []uint16{at(x, y)}}, {1, 0, []uint16{at(x, y), at(x+1, y)}}, {0, 255, []uint16{at(x, y), at(x, y+1)}},
				{9, 9, []uint16{at(x, y), at(x+1, y), at(x, y+1), at(x+1, y+1)}},
			} {
				low, high := uint16(math.MaxUint16), uint16(0)
				for _, v := range c.near {
					low, high = min(low, v), max(high, v)
				}
				if least, most := limits(m, x, y, c.fx, c.fy); least != low || most != high {
					t.Errorf("at (%d, %d) and %d, %d: from %d to %d, want %d to %d", x, y, c.fx, c.fy, least, most, low, high)
				}
			}
		}
	}
}
