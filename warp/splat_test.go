package warp

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"retime/flow"
	"retime/frame"
)

// guardedImage returns an image with wide rows, and a function that reports whether the
// memory around the pixels has changed.
func guardedImage[T comparable](width, height int, canary T) (frame.Image[T], func() bool) {
	const before, padding, after = 11, 5, 19
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

// motions are kinds of random motion. Each function returns a vector for pixel (x, y)
// of a picture of the given size.
var motions = map[string]func(r *rand.Rand, x, y, width, height int) flow.Vec{
	"fractions": func(r *rand.Rand, x, y, width, height int) flow.Vec {
		return flow.Vec{X: r.Int32N(2048) - 1024, Y: r.Int32N(2048) - 1024}
	},
	"zoom": func(r *rand.Rand, x, y, width, height int) flow.Vec {
		return flow.Vec{X: int32(x-width/2) * 77, Y: int32(y-height/2) * -33}
	},
	"far": func(r *rand.Rand, x, y, width, height int) flow.Vec {
		return flow.Vec{X: r.Int32N(int32(width)*1024) - int32(width)*512, Y: r.Int32N(int32(height)*1024) - int32(height)*512}
	},
	"one spot": func(r *rand.Rand, x, y, width, height int) flow.Vec {
		return flow.Vec{X: int32(width/2-x)*256 + 128, Y: int32(height/2-y)*256 + 3}
	},
	"extremes": func(r *rand.Rand, x, y, width, height int) flow.Vec {
		values := []int32{math.MinInt32, math.MinInt32 + 1, -1, 0, 1, math.MaxInt32 - 1, math.MaxInt32, int32(r.Uint32())}
		return flow.Vec{X: values[r.IntN(len(values))], Y: values[r.IntN(len(values))]}
	},
}

var splatSizes = [][2]int{{1, 1}, {1, 9}, {13, 1}, {7, 5}, {64, 33}, {65, 31}, {131, 70}}

// randomMotion returns a motion that has no weights, random ones or the largest.
func randomMotion(r *rand.Rand, kind string, width, height, weights int) Motion {
	f, _ := guardedImage(width, height, flow.Unknown)
	m := Motion{Flow: flow.Field{Image: f}, Phase: []Phase{0, 1, PhaseOne / 3, PhaseOne / 2, PhaseOne}[r.IntN(5)]}
	if weights > 0 {
		m.Weight, _ = guardedImage[uint16](width, height, 9)
	}
	for y := range height {
		for x := range width {
			f.Row(y)[x] = motions[kind](r, x, y, width, height)
			switch weights {
			case 1:
				m.Weight.Row(y)[x] = uint16(r.Uint32() >> (16 + r.IntN(17)))
			case 2:
				m.Weight.Row(y)[x] = math.MaxUint16
			}
		}
	}
	return m
}

func TestSplatMatchesReference(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewPCG(seed, 0))
	splatters := []*Splatter{
		{Workers: frame.Workers{N: 1}}, {Workers: frame.Workers{N: 2}}, {Workers: frame.Workers{N: 8}},
	}
	for _, size := range splatSizes {
		for kind := range motions {
			for weights := range 3 {
				width, height := size[0], size[1]
				m := randomMotion(r, kind, width, height, weights)
				least := []uint64{0, 1, SplatOne / 8, SplatOne * 500}[r.IntN(4)]
				name := fmt.Sprintf("seed %d, %dx%d, %s, weights %d, phase %d, least %d",
					seed, width, height, kind, weights, m.Phase, least)
				checkSplatPlane[uint8](t, r, splatters, name, m, least)
				checkSplatPlane[uint16](t, r, splatters, name, m, least)
				checkSplatFlow(t, r, splatters, name, m, least)
			}
		}
	}
}

func checkSplatPlane[T frame.Sample](t *testing.T, r *rand.Rand, splatters []*Splatter, name string, m Motion, least uint64) {
	t.Helper()
	width, height := m.Flow.Width, m.Flow.Height
	src, _ := guardedImage[T](width, height, 200)
	for y := range height {
		for x := range width {
			// Half of the samples are the largest, to test large sums.
			src.Row(y)[x] = T(r.Uint32() | -(r.Uint32() & 1))
		}
	}
	means, masks := referenceSplat(m, least, func(x, y int) int64 { return int64(src.Row(y)[x]) })
	for _, s := range splatters {
		dst, dstIntact := guardedImage[T](width, height, 201)
		holes, holesIntact := guardedImage[uint8](width, height, 202)
		SplatPlane(s, dst, holes, src, m, least)
		for i, want := range means {
			x, y := i%width, i/width
			if got, mask := dst.Row(y)[x], holes.Row(y)[x]; int64(got) != want || mask != masks[i] {
				t.Fatalf("%s, %d workers, %T: pixel (%d, %d) is %d with mask %d, want %d with %d",
					name, s.Workers.N, got, x, y, got, mask, want, masks[i])
			}
		}
		if !dstIntact() || !holesIntact() {
			t.Fatalf("%s, %d workers: wrote outside the image", name, s.Workers.N)
		}
	}
}

func checkSplatFlow(t *testing.T, r *rand.Rand, splatters []*Splatter, name string, m Motion, least uint64) {
	t.Helper()
	width, height := m.Flow.Width, m.Flow.Height
	src := m.Flow
	if r.IntN(2) == 0 {
		// These vectors have nothing to do with the motion.
		src = randomMotion(r, "extremes", width, height, 0).Flow
	}
	meansX, masks := referenceSplat(m, least, func(x, y int) int64 { return int64(src.Row(y)[x].X) })
	meansY, _ := referenceSplat(m, least, func(x, y int) int64 { return int64(src.Row(y)[x].Y) })
	for _, s := range splatters {
		dst, dstIntact := guardedImage(width, height, flow.Unknown)
		holes, holesIntact := guardedImage[uint8](width, height, 202)
		s.Flow(flow.Field{Image: dst}, holes, src, m, least)
		for i := range meansX {
			x, y := i%width, i/width
			got, mask := dst.Row(y)[x], holes.Row(y)[x]
			if int64(got.X) != meansX[i] || int64(got.Y) != meansY[i] || mask != masks[i] {
				t.Fatalf("%s, %d workers: vector (%d, %d) is %v with mask %d, want (%d, %d) with %d",
					name, s.Workers.N, x, y, got, mask, meansX[i], meansY[i], masks[i])
			}
		}
		if !dstIntact() || !holesIntact() {
			t.Fatalf("%s, %d workers: wrote outside the image", name, s.Workers.N)
		}
	}
}

func TestSplatWithoutMotion(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	for _, size := range splatSizes {
		src := frame.NewImage[uint16](size[0], size[1])
		weights := frame.NewImage[uint16](size[0], size[1])
		for i := range src.Pix {
			src.Pix[i], weights.Pix[i] = uint16(r.Uint32()), 1+uint16(r.IntN(4096))
		}
		dst, holes := frame.NewImage[uint16](size[0], size[1]), frame.NewImage[uint8](size[0], size[1])
		m := Motion{Flow: flow.NewField(size[0], size[1]), Phase: PhaseOne, Weight: weights}
		SplatPlane(new(Splatter), dst, holes, src, m, SplatOne)
		for i := range src.Pix {
			if dst.Pix[i] != src.Pix[i] || holes.Pix[i] != 0 {
				t.Fatalf("%v: pixel %d is %d with mask %d, want %d", size, i, dst.Pix[i], holes.Pix[i], src.Pix[i])
			}
		}
	}
}

// A shift by whole pixels moves every pixel and leaves holes behind.
func TestSplatShift(t *testing.T) {
	const width, height = 90, 41
	src := frame.NewImage[uint8](width, height)
	for i := range src.Pix {
		src.Pix[i] = uint8(1 + i%251)
	}
	for _, shift := range [][2]int{{1, 0}, {-3, 2}, {40, -40}, {0, 41}, {-90, 0}, {89, 40}} {
		f := flow.NewField(width, height)
		for i := range f.Pix {
			f.Pix[i] = flow.Vec{X: int32(shift[0]) * 512, Y: int32(shift[1]) * 512}
		}
		dst, holes := frame.NewImage[uint8](width, height), frame.NewImage[uint8](width, height)
		SplatPlane(new(Splatter), dst, holes, src, Motion{Flow: f, Phase: PhaseOne / 2}, SplatOne)
		for y := range height {
			for x := range width {
				u, v := x-shift[0], y-shift[1]
				want, mask := uint8(0), uint8(255)
				if u >= 0 && u < width && v >= 0 && v < height {
					want, mask = src.Row(v)[u], 0
				}
				if dst.Row(y)[x] != want || holes.Row(y)[x] != mask {
					t.Fatalf("shift %v: pixel (%d, %d) is %d with mask %d, want %d with %d",
						shift, x, y, dst.Row(y)[x], holes.Row(y)[x], want, mask)
				}
			}
		}
	}
}

func TestSplatConstant(t *testing.T) {
	const seed = 3
	r := rand.New(rand.NewPCG(seed, 0))
	for kind := range motions {
		for _, value := range []uint16{1, 255, 65535} {
			m := randomMotion(r, kind, 83, 37, 1)
			src := frame.NewImage[uint16](83, 37)
			for i := range src.Pix {
				src.Pix[i] = value
			}
			dst, holes := frame.NewImage[uint16](83, 37), frame.NewImage[uint8](83, 37)
			SplatPlane(new(Splatter), dst, holes, src, m, 1)
			for i, v := range dst.Pix {
				if holes.Pix[i] == 0 && v != value || holes.Pix[i] != 0 && v != 0 {
					t.Fatalf("seed %d, %s: pixel %d is %d with mask %d, want %d", seed, kind, i, v, holes.Pix[i], value)
				}
			}
		}
	}
}

// If no pixel leaves the picture, no weight is lost.
func TestSplatConservesWeight(t *testing.T) {
	const seed, width, height = 4, 150, 77
	r := rand.New(rand.NewPCG(seed, 0))
	m := Motion{Flow: flow.NewField(width, height), Phase: PhaseOne}
	for y := range height {
		for x := range width {
			// The vector leads anywhere in the picture.
			m.Flow.Row(y)[x] = flow.Vec{
				X: r.Int32N((width-1)*256+1) - int32(x)*256,
				Y: r.Int32N((height-1)*256+1) - int32(y)*256,
			}
		}
	}
	s := &Splatter{Workers: frame.Workers{N: 1}}
	src := frame.NewImage[uint8](width, height)
	var total uint64
	s.targets.find(s.Workers, &m)
	s.bands(width, height, func(b *band) {
		b.samples = frame.Resize(b.samples, b.size())
		clear(b.samples)
		s.targets.visit(b, func(y, x0, x1 int) { addSamples(b, src, &m, y, x0, x1) })
		for y := b.y0; y < b.y1; y++ {
			for _, sum := range row(b, b.samples, y) {
				total += sum.weight
			}
		}
	})
	if total != width*height*SplatOne {
		t.Errorf("seed %d: weights add up to %d, want %d", seed, total, width*height*SplatOne)
	}
}

// The test checks the bounds in the comments on sampleSum and vectorSum, and the
// arithmetic at those bounds.
func TestSplatLargestSums(t *testing.T) {
	const pixels = 8192 * 8192
	const largest = pixels * SplatOne * math.MaxUint16
	if largest >= 1<<58 {
		t.Errorf("largest weight %d", uint64(largest))
	}
	if w := uint64(pixels) * SplatOne * 32; w > sampleLimit[uint16]() || w > sampleLimit[uint8]() {
		t.Errorf("weights of 32 leave the limits %d and %d", sampleLimit[uint16](), sampleLimit[uint8]())
	}
	if hi := new(big.Int).Mul(new(big.Int).SetUint64(sampleLimit[uint16]()), big.NewInt(65535)); hi.BitLen() > 63 {
		t.Errorf("a sum of samples may have %d bits", hi.BitLen())
	}
	for _, weight := range []uint64{1, 2, 3, vectorLimit - 1, vectorLimit} {
		for _, value := range []int64{math.MinInt32, -1, 0, 1, math.MaxInt32} {
			if got := mean(value*int64(weight), weight); int64(got) != value {
				t.Errorf("mean of %d with weight %d is %d", value, weight, got)
			}
		}
	}
	// All pixels land on one spot: the weight of one, doubled 26 times.
	for _, value := range []int64{math.MinInt32, -65536, -1, 1, math.MaxUint16, math.MaxInt32} {
		var sum wideSum
		sum.add(value, SplatOne*math.MaxUint16)
		for range 26 {
			var carry uint64
			sum.low, carry = bits.Add64(sum.low, sum.low, 0)
			sum.high += sum.high + carry
		}
		if got := sum.mean(largest); got != value {
			t.Errorf("wide mean of %d is %d", value, got)
		}
	}
}

// So many pixels of so much weight land on one spot that the sum needs 128 bits.
func TestSplatOneSpot(t *testing.T) {
	const seed, width, height = 6, 211, 170
	r := rand.New(rand.NewPCG(seed, 0))
	m := Motion{Flow: flow.NewField(width, height), Phase: PhaseOne, Weight: frame.NewImage[uint16](width, height)}
	for y := range height {
		for x := range width {
			m.Flow.Row(y)[x] = flow.Vec{X: int32(100-x) * 256, Y: int32(50-y) * 256}
			m.Weight.Row(y)[x] = math.MaxUint16
		}
	}
	if width*height*math.MaxUint16*SplatOne <= sampleLimit[uint16]() {
		t.Fatal("not enough pixels")
	}
	splatters := []*Splatter{{Workers: frame.Workers{N: 1}}, {Workers: frame.Workers{N: 8}}}
	checkSplatPlane[uint16](t, r, splatters, fmt.Sprintf("seed %d, one spot", seed), m, 1)
	checkSplatFlow(t, r, splatters, fmt.Sprintf("seed %d, one spot", seed), m, 1)
}

func TestWideMean(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	for round := range 2000 {
		var sum wideSum
		exact := new(big.Int)
		var total uint64
		for range 1 + r.IntN(20) {
			value, weight := int64(int32(r.Uint32())), r.Uint64()>>(32+r.IntN(32))
			if r.IntN(2) == 0 {
				value >>= r.IntN(31)
			}
			sum.add(value, weight)
			total += weight
			exact.Add(exact, new(big.Int).Mul(big.NewInt(value), new(big.Int).SetUint64(weight)))
		}
		if total == 0 {
			continue
		}
		if got, want := sum.mean(total), referenceMean(exact, new(big.Int).SetUint64(total)); got != want {
			t.Fatalf("seed %d, round %d: %d, want %d", seed, round, got, want)
		}
		if got, want := sum.mean(2), referenceMean(exact, big.NewInt(2)); exact.BitLen() < 63 && got != want {
			t.Fatalf("seed %d, round %d: half is %d, want %d", seed, round, got, want)
		}
	}
}

func TestSplatPanics(t *testing.T) {
	small, large := frame.NewImage[uint8](4, 3), frame.NewImage[uint8](4, 4)
	m := Motion{Flow: flow.NewField(4, 4), Phase: PhaseOne}
	late, weighted := m, m
	late.Phase++
	weighted.Weight = frame.NewImage[uint16](4, 3)
	for name, f := range map[string]func(){
		"source":      func() { SplatPlane(new(Splatter), large, large, small, m, 0) },
		"destination": func() { SplatPlane(new(Splatter), small, large, large, m, 0) },
		"holes":       func() { SplatPlane(new(Splatter), large, small, large, m, 0) },
		"weights":     func() { SplatPlane(new(Splatter), large, large, large, weighted, 0) },
		"phase":       func() { SplatPlane(new(Splatter), large, large, large, late, 0) },
		"flow":        func() { new(Splatter).Flow(flow.NewField(4, 3), large, m.Flow, m, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func TestSplatKeepsItsMemory(t *testing.T) {
	m := realistic(320, 240)
	src, dst := frame.NewImage[uint8](320, 240), frame.NewImage[uint8](320, 240)
	vectors, holes := flow.NewField(320, 240), frame.NewImage[uint8](320, 240)
	s := &Splatter{Workers: frame.Workers{N: 1}}
	fill := FlowFiller{Workers: frame.Workers{N: 1}}
	// A call allocates only closures, however many pixels there are.
	if n := testing.AllocsPerRun(5, func() {
		SplatPlane(s, dst, holes, src, m, 1)
		s.Flow(vectors, holes, m.Flow, m, SplatOne)
		fill.Nearest(vectors, holes)
	}); n > 60 {
		t.Errorf("%v allocations", n)
	}
}
