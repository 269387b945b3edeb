package warp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"retime/flow"
	"retime/frame"
)

// randomChooser returns a chooser with cells of random energies and motions, among them
// equal ones, distant ones and ones that differ a little.
func randomChooser(rng *rand.Rand, width, height, labels int) *chooser {
	c := &chooser{labels: labels, guide: frame.NewImage[uint8](width, height)}
	n := width * height * labels
	c.energies, c.motions, c.sums = make([]int16, n), make([]flow.Vec, n), make([]int16, n)
	for i := range c.energies {
		c.energies[i] = int16(rng.IntN(mostEnergy-leastOnly+1) + leastOnly)
		if rng.IntN(8) == 0 {
			c.energies[i] = covering
		}
		reach := []int32{1, 1 << jumpBits, 1 << 20}[rng.IntN(3)]
		c.motions[i] = flow.Vec{X: rng.Int32N(2*reach) - reach, Y: rng.Int32N(2*reach) - reach}
		c.sums[i] = int16(rng.IntN(1000)) // of the frame before
	}
	for i := range c.guide.Pix {
		c.guide.Pix[i] = uint8(rng.IntN(256) >> rng.IntN(8))
	}
	return c
}

// referenceMessages returns the messages at cell (x, y) on the path that came from
// (x-dx, y-dy), and the path costs there, as the comment on chooser has them.
func referenceMessages(c *chooser, x, y, dx, dy int) (messages, costs []int) {
	at := func(x, y int) int { return (y*c.guide.Width + x) * c.labels }
	messages, costs = make([]int, c.labels), make([]int, c.labels)
	px, py := x-dx, y-dy
	if px >= 0 && py >= 0 && px < c.guide.Width && py < c.guide.Height {
		_, before := referenceMessages(c, px, py, dx, dy)
		least := slices.Min(before)
		edge := int(c.guide.Row(y)[x]) - int(c.guide.Row(py)[px])
		penalty := mostPenalty * edgeKnee / (edgeKnee + max(edge, -edge))
		for l := range messages {
			messages[l] = penalty
			for k := range before {
				v, w := c.motions[at(x, y)+l], c.motions[at(px, py)+k]
				jump := min(int(max(v.X-w.X, w.X-v.X)+max(v.Y-w.Y, w.Y-v.Y)), 1<<jumpBits)
				messages[l] = min(messages[l], before[k]-least+penalty*jump/(1<<jumpBits))
			}
		}
	}
	for l := range costs {
		costs[l] = int(c.energies[at(x, y)+l]) + messages[l]
	}
	return messages, costs
}

// The sums of the messages equal those of a literal recursion, for any number of
// workers.
func TestAggregateMatchesReference(t *testing.T) {
	const seed = 31
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, size := range [][3]int{{1, 1, 1}, {1, 7, 3}, {9, 1, 5}, {6, 5, maxHypotheses}, {13, 11, 15}} {
		c := randomChooser(rng, size[0], size[1], size[2])
		want := make([]int16, len(c.sums))
		for y := range c.guide.Height {
			for x := range c.guide.Width {
				for _, way := range [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
					messages, _ := referenceMessages(c, x, y, way[0], way[1])
					for l, m := range messages {
						want[(y*c.guide.Width+x)*c.labels+l] += int16(m)
					}
				}
			}
		}
		for _, workers := range []int{1, 3} {
			c.workers = frame.Workers{N: workers}
			c.aggregate()
			if !slices.Equal(c.sums, want) {
				t.Errorf("%dx%d cells, %d hypotheses, %d workers: the sums differ", size[0], size[1], size[2], workers)
			}
		}
	}
}

// The share of the hypothesis of least energy is the largest, a hypothesis whose energy
// is far above has none, and messages count as much as energies do.
func TestSharesFollowEnergies(t *testing.T) {
	const width, height = 9, 6
	list := make([]*hypothesis, 3)
	for l := range list {
		list[l] = &hypothesis{}
		list[l].energy.Resize(width, height)
		for i := range list[l].energy.Pix {
			list[l].energy.Pix[i] = []int16{100, 100, mostEnergy}[l]
		}
	}
	columns, lines := (width+choiceSize-1)/choiceSize, (height+choiceSize-1)/choiceSize
	c := &chooser{labels: 3, guide: frame.NewImage[uint8](columns, lines), sums: make([]int16, columns*lines*3)}
	for i := range columns * lines {
		c.sums[3*i+1], c.sums[3*i+2] = softness, 4*mostPenalty // e times less likely
	}
	c.share(list)
	for i := range list[0].weight.Pix {
		got := [3]uint16{list[0].weight.Pix[i], list[1].weight.Pix[i], list[2].weight.Pix[i]}
		if want := [3]uint16{weightOne, 1507, 5}; got != want { // 4096/e, and 4096 exp(-(1900+1280)/480)
			t.Fatalf("pixel %d: shares %v, want %v", i, got, want)
		}
	}
}

// The interpolation of the cells' sums has no seam: a ramp over the cells stays a ramp.
func TestSharesInterpolateSums(t *testing.T) {
	const width = 6 * choiceSize
	list := []*hypothesis{{}, {}}
	for _, h := range list {
		h.energy.Resize(width, 1)
		clear(h.energy.Pix)
	}
	c := &chooser{labels: 2, guide: frame.NewImage[uint8](6, 1), sums: make([]int16, 12)}
	for x := range 6 {
		c.sums[2*x+1] = int16(16 * choiceSize * x)
	}
	c.share(list)
	for x := choiceSize / 2; x < width-choiceSize/2; x++ {
		energy := 16*x - 8*(choiceSize-1)
		if got, want := list[1].weight.Pix[x], likelihood[energy]; got != want {
			t.Errorf("pixel %d: share %d, want %d", x, got, want)
		}
	}
}

func TestMedianMatchesSort(t *testing.T) {
	const seed = 37
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, size := range [][2]int{{1, 1}, {2, 1}, {1, 5}, {8, 7}, {33, 18}} {
		src, got := flow.NewField(size[0], size[1]), flow.NewField(size[0], size[1])
		for i := range src.Pix {
			reach := []int32{2, 100, 1 << 29}[rng.IntN(3)]
			src.Pix[i] = flow.Vec{X: rng.Int32N(2*reach) - reach, Y: rng.Int32N(2*reach) - reach}
		}
		loops.median(got, src, 1, 0, size[1])
		for y := range size[1] {
			for x := range size[0] {
				var xs, ys []int32
				for j := -1; j <= 1; j++ {
					for i := -1; i <= 1; i++ {
						v := src.Row(min(max(y+j, 0), size[1]-1))[min(max(x+i, 0), size[0]-1)]
						xs, ys = append(xs, v.X), append(ys, v.Y)
					}
				}
				slices.Sort(xs)
				slices.Sort(ys)
				if want := (flow.Vec{X: xs[4], Y: ys[4]}); got.Row(y)[x] != want {
					t.Fatalf("%dx%d, pixel (%d, %d): %v, want %v", size[0], size[1], x, y, got.Row(y)[x], want)
				}
			}
		}
	}
}

// Beside a thing that moves over a background, one neighbour alone shows the background
// that the thing uncovers or covers. With the frames beyond, that neighbour alone is
// read there.
func TestUncoveredBackgroundComesFromOneNeighbour(t *testing.T) {
	const width, height, step = 160, 64, 24
	texture := noiseFrame(41, formats[0], 2*width, height)
	thing := func(x, y, left int) bool { return x >= left && x < left+40 && y >= 12 && y < 52 }
	scene := func(left int) *frame.Frame {
		return fillFrame(formats[0], width, height, func(_, x, y int) int {
			if thing(x, y, left) {
				return getSample(texture, 0, x-left+width, y)
			}
			return getSample(texture, 0, x, y)
		})
	}
	field := func(left, dx int) flow.Field {
		f := flow.NewField(width, height)
		for y := range height {
			for x := range width {
				if thing(x, y, left) {
					f.Row(y)[x].X = int32(dx) * flow.One
				}
			}
		}
		return f
	}
	const left = 48 // of the thing in A
	a, b := scene(left), scene(left+step)
	in := Interval{A: a, B: b, GuideA: Luma(a), GuideB: Luma(b), Flows: []FlowPair{{field(left, step), field(left+step, -step)}}}
	truth := scene(left + step/2)
	worst := func(in Interval) (sum int) {
		got := makeFrame(t, Params{Mode: Project, Order: 3}, in, PhaseOne/2)
		for y := range height {
			for x := range width {
				if !thing(x, y, left+step/2) && (thing(x, y, left) || thing(x, y, left+step)) {
					d := getSample(got, 0, x, y) - getSample(truth, 0, x, y)
					sum += max(d, -d)
				}
			}
		}
		return sum
	}
	without := worst(in)
	in.Before = &Outer{Guide: Luma(scene(left - step)), Flow: field(left, -step)}
	in.After = &Outer{Guide: Luma(scene(left + 2*step)), Flow: field(left+step, step)}
	if with := worst(in); with*10 > 9*without {
		t.Errorf("difference from the truth beside the thing: %d with the frames beyond, %d without", with, without)
	}
	in.After.Span = PhaseOne / 2
	if with := worst(in); with != without {
		t.Errorf("a frame at another distance changes the difference from %d to %d", without, with)
	}
}

// The neighbours' motions are the mean's, some pixels away, and repeat its edges.
func TestOffset(t *testing.T) {
	for level := range MaxLevel + 1 {
		w, h := 13, 5
		m := &maker{params: &Params{}, of: &prepared{in: Interval{Level: level}}, estimates: make([]estimate, 1)}
		e := &m.estimates[0]
		e.forward.motion, e.reverse.motion = flow.NewField(w, h), flow.NewField(w, h)
		for i := range w * h {
			e.forward.motion.Pix[i], e.reverse.motion.Pix[i] = flow.Vec{X: int32(2 * i), Y: -8}, flow.Vec{Y: int32(i)}
		}
		m.offset(&m.mean)
		for k := range m.around {
			dx, dy := around[k][0]/(1<<level), around[k][1]/(1<<level)
			for y := range h {
				for x := range w {
					i := min(max(y+dy, 0), h-1)*w + min(max(x+dx, 0), w-1)
					if got, want := m.around[k].motion.Row(y)[x], (flow.Vec{X: int32(i), Y: int32(i-8) >> 1}); got != want {
						t.Fatalf("level %d, %v: %v at %d,%d, want %v", level, around[k], got, x, y, want)
					}
				}
			}
		}
	}
}
