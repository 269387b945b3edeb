package restore

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/testdata/scene"
)

// writeClip writes pictures of the scene at the given times, in frames, and first spoils some of
// them.
func writeClip(t *testing.T, width, height int, times []float64, spoil map[int]func(*scene.Picture)) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "clip.y4m")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "YUV4MPEG2 W%d H%d F24:1 C420jpeg\n", width, height)
	for i, at := range times {
		p := scene.Draw(width, height, at/24)
		if s := spoil[i]; s != nil {
			s(&p)
		}
		planes := [][]byte{[]byte("FRAME\n"), p.Y, p.U, p.V}
		for _, plane := range planes {
			if _, err := f.Write(plane); err != nil {
				t.Fatal(err)
			}
		}
	}
	return name
}

func fill(v byte) func(*scene.Picture) {
	return func(p *scene.Picture) {
		for i := range p.Y {
			p.Y[i] = v
		}
		for i := range p.U {
			p.U[i], p.V[i] = 128, 128
		}
	}
}

// reverse turns the lower half of p upside down and inverts it.
func reverse(p *scene.Picture) {
	half := p.Y[len(p.Y)/2:]
	slices.Reverse(half)
	for i := range half {
		half[i] = 255 - half[i]
	}
}

func brighten(p *scene.Picture) {
	for i, v := range p.Y {
		p.Y[i] = uint8(min(int(v)+70, 255))
	}
}

// grain adds noise of its own to a picture.
func grain(p *scene.Picture) { grainOf(6)(p) }

// grainOf adds noise that the seed decides.
func grainOf(seed uint64) func(*scene.Picture) {
	return func(p *scene.Picture) {
		random := rand.New(rand.NewPCG(5, seed))
		for i, v := range p.Y {
			p.Y[i] = uint8(min(max(float64(v)+4*random.NormFloat64(), 0), 255))
		}
	}
}

// rolled moves a picture of the given width sideways; what leaves it on one side comes back on the other.
func rolled(width, by int) func(*scene.Picture) {
	return func(p *scene.Picture) {
		for row := range slices.Chunk(p.Y, width) {
			from := slices.Clone(row)
			for x := range row {
				row[x] = from[((x-by)%width+width)%width]
			}
		}
	}
}

// exchanged exchanges upright bands in the lowest part of a picture of the given width, one of parts.
func exchanged(width, parts int) func(*scene.Picture) {
	return func(p *scene.Picture) {
		const side = 24
		for row := range slices.Chunk(p.Y[len(p.Y)*(parts-1)/parts/width*width:], width) {
			for x := 0; x+2*side <= width; x += 2 * side {
				for k := range side {
					row[x+k], row[x+side+k] = row[x+side+k], row[x+k]
				}
			}
		}
	}
}

// shifted shifts a picture of the given width sideways, as a shaking hand does.
func shifted(width, by int) func(*scene.Picture) {
	return func(p *scene.Picture) {
		for from := range slices.Chunk(p.Y, width) {
			row := slices.Clone(from)
			for x := range from {
				from[x] = row[min(max(x-by, 0), width-1)]
			}
		}
	}
}

// shine lights the left half of a picture of the given width.
func shine(width int) func(*scene.Picture) {
	return func(p *scene.Picture) {
		for i, v := range p.Y {
			p.Y[i] = uint8(min(float64(v)*(1.5+0.5*math.Cos(math.Pi*min(2*float64(i%width)/float64(width), 1))), 255))
		}
	}
}

// dim darkens a picture.
func dim(p *scene.Picture) {
	for i, v := range p.Y {
		p.Y[i] = uint8(16 + (max(int(v), 16)-16)/6)
	}
}

// night leaves a picture of the given width only a lit window at its right.
func night(width int) func(*scene.Picture) {
	return func(p *scene.Picture) {
		for i := range p.Y {
			if i%width < width*9/10 {
				p.Y[i] = 16
			}
		}
	}
}

// leaves fills a picture with others of its own at each seed.
func leaves(seed uint64) func(*scene.Picture) {
	return func(p *scene.Picture) {
		random := rand.New(rand.NewPCG(9, seed))
		for i := range p.Y {
			p.Y[i] = uint8(60 + random.IntN(140))
		}
	}
}

// steady returns n times from 0 on.
func steady(n int) []float64 {
	times := make([]float64, n)
	for i := range times {
		times[i] = float64(i)
	}
	return times
}

func held(times []float64, at ...int) []float64 {
	for _, i := range at {
		times[i] = times[i-1]
	}
	return times
}

func TestDetect(t *testing.T) {
	const width, height = 192, 108
	twos := steady(48)
	for i := range twos {
		twos[i] = float64(i / 2 * 2)
	}
	threes, threesSpoilt, threesWant := steady(96), map[int]func(*scene.Picture){}, []string(nil)
	for i := range threes {
		threes[i] = float64(i / 3 * 3)
		if i%8 == 5 {
			threesSpoilt[i] = fill(16)
			threesWant = append(threesWant, fmt.Sprintf("black %d-%[1]d", i))
		}
	}
	pause := steady(48)
	for i := 10; i < 48; i++ {
		pause[i] = float64(max(10, i-12))
	}
	pulldown := steady(60) // film frames shown 2 and 3 times in turn
	for i := range pulldown {
		pulldown[i] = float64(i/5*2 + i%5/2)
		if i%5 == 4 {
			pulldown[i]--
		}
	}
	faster := steady(90) // from 24 to 25 frames a second
	for i := range faster {
		faster[i] -= float64(i / 15)
	}
	silent := steady(100) // from 17 to 25 frames a second
	for i := range silent {
		silent[i] = float64(i * 17 / 25)
	}
	without := func(times []float64, missing ...float64) []float64 {
		return slices.DeleteFunc(slices.Clone(times), func(t float64) bool { return slices.Contains(missing, t) })
	}
	slower := slices.DeleteFunc(steady(60), func(t float64) bool { return int(t)%5 == 3 }) // from 30 to 24 frames a second
	paused := steady(48)
	for i := range paused {
		if i >= 20 {
			paused[i]--
		}
		if i >= 33 {
			paused[i]--
		}
	}
	rising := steady(48)
	for i := range rising {
		rising[i] = float64(i) * float64(i) / 20
	}
	type spoil = map[int]func(*scene.Picture)
	shaky, lit, grainy, spots, panned, dark, evening, windy := spoil{}, spoil{}, spoil{}, spoil{}, spoil{}, spoil{}, spoil{22: fill(16)}, spoil{}
	for i := range 48 {
		if i < 20 {
			evening[i] = night(width)
		}
		windy[i] = leaves(uint64(i))
		grainy[i] = grainOf(uint64(i))
		if i%9 < 4 {
			spots[i] = shine(width)
		}
		panned[i] = rolled(width, 4*i)
		dark[i] = dim
	}
	panned[20] = func(p *scene.Picture) { rolled(width, 4*20)(p); exchanged(width, 4)(p) }
	dark[9] = fill(16)
	windy[20] = windy[19]
	random := rand.New(rand.NewPCG(7, 8))
	for i, at := 0, 0; i < 48; i++ {
		if i != 20 && i != 30 { // the camera rests, the scene does not
			at = random.IntN(9) - 4
		}
		shaky[i] = shifted(width, at)
		if random.IntN(3) == 0 {
			lit[i] = shine(width)
		}
	}
	for _, c := range []struct {
		name  string
		times []float64
		spoil spoil
		want  []string
	}{
		{"sound", steady(48), nil, nil},
		{"black and white", steady(48), spoil{5: fill(16), 20: fill(16), 21: fill(16), 22: fill(16), 30: fill(235)}, []string{"black 5-5", "black 20-22", "white 30-30"}},
		{"garbled", steady(48), spoil{5: reverse, 20: reverse, 21: reverse}, []string{"garbled 5-5", "garbled 20-21"}},
		{"two kinds in a row", steady(48), spoil{20: reverse, 21: fill(16)}, []string{"garbled 20-20", "black 21-21"}},
		{"a flash", steady(48), spoil{9: brighten}, []string{"flash 9-9"}},
		{"black too long", steady(48), spoil{20: fill(16), 21: fill(16), 22: fill(16), 23: fill(16), 24: fill(16), 25: fill(16), 26: fill(16)}, nil},
		{"repeats", held(steady(48), 7, 20, 21, 33, 34, 35), nil, []string{"repeated 7-7", "repeated 20-21", "repeated 33-35"}},
		{"repeats with noise", held(steady(48), 7, 20, 33), spoil{7: grain, 20: grain, 33: grain}, []string{"repeated 7-7", "repeated 20-20", "repeated 33-33"}},
		{"a pause in grain", paused, grainy, nil},
		{"spots on a scene that stands still", make([]float64, 48), spots, nil},
		{"garbled in a pan", steady(48), panned, []string{"garbled 20-20"}},
		{"a shaken frame", steady(48), spoil{20: shifted(width, 7)}, nil},
		{"a shaking hand", steady(48), shaky, nil},
		{"lit in part", steady(48), spoil{20: shine(width)}, []string{"flash 20-20"}},
		{"lit again and again", steady(48), lit, nil},
		{"on twos", twos, nil, nil},
		{"a pause", pause, nil, nil},
		{"2:3", pulldown, nil, nil},
		{"one in 15", faster, nil, nil},
		{"a silent film", silent, nil, nil},
		{"damage to a silent film", silent, spoil{20: fill(16), 46: reverse}, []string{"black 20-20", "garbled 46-46"}},
		{"a dark scene", steady(48), dark, []string{"black 9-9"}},
		{"black soon after a cut from the dark", steady(48), evening, []string{"black 22-22"}},
		{"a repeat where all changes", make([]float64, 48), windy, []string{"repeated 20-20"}},
		{"damage to an animation on threes", threes, threesSpoilt, threesWant},
		{"a little garbled where nothing moves", make([]float64, 48), spoil{20: exchanged(width, 18)}, []string{"garbled 20-20"}},
		{"the ends", steady(48), spoil{0: reverse, 47: reverse}, []string{"garbled 0-0", "garbled 47-47"}},
		{"black at the ends", steady(48), spoil{0: fill(16), 47: fill(16)}, nil},
		{"jumps", without(steady(60), 10, 30, 31, 50), nil, []string{"jump 9-9 # insert=1", "jump 28-28 # insert=2", "jump 46-46 # insert=1"}},
		{"one in five left out", slower, nil, nil},
		{"acceleration", rising, nil, nil},
		{"every fifth", held(steady(48), 4, 9, 14, 19, 24, 29, 34, 39, 44), nil, nil},
	} {
		o := options(t, writeClip(t, width, height, c.times, c.spoil))
		o.Detect, o.DryRun = true, true
		var got []string
		for _, f := range mustRun(t, o).Findings {
			text := fmt.Sprintf("%s %v-%v", f.Kind, f.First, f.Last)
			if _, suggested, ok := strings.Cut(f.String(), "  # "); ok {
				text += " # " + suggested
			}
			got = append(got, text)
			if !(f.Score > 0 && f.Score <= 1) {
				t.Errorf("%s: score of %v", c.name, f)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
	}
}

// Faint damage is one that plainly changes its frame and the next one, more than those around it change.
func TestDropFaint(t *testing.T) {
	for _, c := range []struct {
		score              float64
		motion, next, rest float32
		want               bool
	}{
		{0.05, 4, 4, 0, true},
		{0.05, 40, 40, 10, true},
		{0.05, 20, 20, 10, false},
		{0.05, 40, 10, 10, false}, // a change that stays
		{0.05, 10, 40, 10, false},
		{0.07, 20, 20, 10, true}, // not faint
	} {
		d := &detector{limits: sensitivities[Normal], verdict: map[int]Finding{20: {Kind: Garbled, Score: c.score}}}
		for n := range 48 {
			motion := c.rest
			switch n {
			case 20:
				motion = c.motion
			case 21:
				motion = c.next
			}
			d.motion, d.means, d.shares = append(d.motion, motion), append(d.means, 100), append(d.shares, 0)
		}
		d.shares[20] = c.score
		d.dropUsual()
		if _, got := d.verdict[20]; got != c.want {
			t.Errorf("score %v, changes of %v and %v among %v: kept %v", c.score, c.motion, c.next, c.rest, got)
		}
	}
}

func TestGaps(t *testing.T) {
	for _, c := range []struct {
		stamps []int64
		want   []string
	}{
		{[]int64{0}, nil},
		{[]int64{0, 10, 20, 30, 40}, nil},
		{[]int64{0, 10, 20, 50, 60, 70, 80, 90, 111, 120, 130, 140, 150}, []string{"2+2", "7+1"}},
		{[]int64{0, 10, 30, 40, 60, 70, 100, 110, 170, 180, 190, 200, 210, 220}, []string{"7+5"}}, // a rate that varies
		{[]int64{0, 1, 2, 3, 1 << 60}, []string{"3+9999"}},
	} {
		var got []string
		for _, f := range gaps(c.stamps) {
			got = append(got, fmt.Sprintf("%v+%d", f.First, f.Insert))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("timestamps %v: %q, want %q", c.stamps, got, c.want)
		}
	}
}
