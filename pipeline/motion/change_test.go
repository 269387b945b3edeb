package motion

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"retime/flow"
	"retime/frame"
	"retime/pipeline/media"
	"retime/testdata/clips"
	"retime/warp"
)

// The change equals the change of sums taken pair by pair.
func TestMeasureChange(t *testing.T) {
	const seed = 5
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, size := range [][2]int{{1, 1}, {2, 7}, {31, 1}, {64, 48}, {97, 61}} {
		for _, reach := range []int{0, 200, 3000, 100_000} { // of the vectors
			w, h := size[0], size[1]
			a, b := frame.NewImage[uint8](w+2, h), frame.NewImage[uint8](w, h)
			a.Width = w
			p := warp.FlowPair{Forward: flow.NewField(w+1, h), Backward: flow.NewField(w+3, h)}
			p.Forward.Width, p.Backward.Width = w, w
			vector := func(reach int) flow.Vec {
				return flow.Vec{X: int32(r.IntN(2*reach+1) - reach), Y: int32(r.IntN(2*reach+1) - reach)}
			}
			for i := range a.Pix {
				a.Pix[i] = uint8(r.Uint32())
			}
			for i := range b.Pix {
				b.Pix[i] = uint8(r.Uint32())
			}
			for i := range p.Forward.Pix {
				p.Forward.Pix[i] = vector(reach)
			}
			for i := range p.Backward.Pix {
				p.Backward.Pix[i] = vector(min(reach, 300))
			}
			if got, want := Measure(there(a), there(b), p), plainChange(a, b, p); got != want {
				t.Errorf("%dx%d, vectors of up to %d/256: %v, want %v", w, h, reach, got, want)
			}
		}
	}
}

func plainChange(a, b frame.Image[uint8], f warp.FlowPair) Change {
	var along, still correlation
	var lost, n float64
	for y := 0; y < a.Height; y += changeStep {
		for x := 0; x < a.Width; x += changeStep {
			n++
			still.add(int(a.Row(y)[x]), int(b.Row(y)[x]))
			v := f.Forward.Row(y)[x]
			tx, ty := (256*x+int(v.X)+128)>>8, (256*y+int(v.Y)+128)>>8
			if tx < 0 || ty < 0 || tx >= a.Width || ty >= a.Height {
				continue
			}
			along.add(int(a.Row(y)[x]), int(b.Row(ty)[tx]))
			if w := f.Backward.Row(ty)[tx]; max(v.X+w.X, -v.X-w.X, v.Y+w.Y, -v.Y-w.Y) > 256 {
				lost++
			}
		}
	}
	return Change{1 - max(along.value(), still.value(), 0), lost / n}
}

// smallGuides returns every step-th frame's guide, at most 640 pixels wide.
func smallGuides(t *testing.T, name string, step, most int) []frame.Image[uint8] {
	t.Helper()
	r, err := media.Open(context.Background(), name, media.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var guides []frame.Image[uint8]
	for k := 0; len(guides) < most; k++ {
		f, err := r.Read()
		if err == io.EOF { //nolint:errorlint // documented
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if k%step == 0 {
			g := warp.Halve(warp.Luma(f))
			for g.Width > 480 {
				g = warp.Halve(g)
			}
			guides = append(guides, g)
		}
		f.Release()
	}
	return guides
}

// fitted resizes g by taking the nearest pixels.
func fitted(g frame.Image[uint8], width, height int) frame.Image[uint8] {
	out := frame.NewImage[uint8](width, height)
	for y := range height {
		for x := range width {
			out.Row(y)[x] = g.Row(y * g.Height / height)[x*g.Width/width]
		}
	}
	return out
}

func brightened(g frame.Image[uint8], gain, offset float64) frame.Image[uint8] {
	out := frame.NewImage[uint8](g.Width, g.Height)
	for y := range g.Height {
		for x, v := range g.Row(y) {
			out.Row(y)[x] = uint8(math.Min(255, float64(v)*gain+offset))
		}
	}
	return out
}

// Precision and recall are at least 0.95 on cuts between real clips and, within the clips, on
// motion, jumps of four frames, flashes and fades.
func TestCutsOnRealClips(t *testing.T) {
	var material [][]frame.Image[uint8]
	for _, name := range clips.Find(t, "d0[1-7]*") {
		material = append(material, smallGuides(t, name, 3, 24))
	}
	whole, err := NewEstimator(t.Context(), Params{Method: DIS})
	must(t, err)
	defer whole.Close()
	t.Run("whole pictures", func(t *testing.T) { cutsOn(t, whole, material) })
	small, err := NewLocalEstimator(Params{})
	must(t, err)
	defer small.Close()
	for _, clip := range material {
		for i := range clip {
			for clip[i].Width > 320 || clip[i].Height > 320 {
				clip[i] = warp.Halve(clip[i])
			}
		}
	}
	t.Run("small pictures", func(t *testing.T) { cutsOn(t, small, material) })
}

func cutsOn(t *testing.T, e *Estimator, material [][]frame.Image[uint8]) {
	hits, misses, alarms, quiet := 0, 0, 0, 0
	try := func(name string, a, b frame.Image[uint8], cut bool) {
		ga, gb := there(a), there(b)
		flows, err := e.Estimate(ga, gb)
		must(t, err)
		score := flows.Change().CutScore()
		switch found := score >= CutThreshold; {
		case found && cut:
			hits++
		case found:
			alarms++
			t.Logf("false cut: %s, score %.3f", name, score)
		case cut:
			misses++
			t.Logf("missed cut: %s, score %.3f", name, score)
		default:
			quiet++
		}
	}
	for i, clip := range material {
		for k := 0; k+1 < len(clip); k += 6 {
			try(fmt.Sprintf("clip %d, three frames' motion", i), clip[k], clip[k+1], false)
			try(fmt.Sprintf("clip %d, flash", i), clip[k], brightened(clip[k+1], 1.4, 50), false)
			try(fmt.Sprintf("clip %d, fade", i), brightened(clip[k], 0.8, 0), brightened(clip[k+1], 0.7, 0), false)
		}
		for j, other := range material {
			if i != j {
				a := clip[len(clip)/2]
				try(fmt.Sprintf("clip %d to %d", i, j), a, fitted(other[1], a.Width, a.Height), true)
			}
		}
	}
	precision, recall := float64(hits)/float64(hits+alarms), float64(hits)/float64(hits+misses)
	t.Logf("%d cuts, %d others: precision %.3f, recall %.3f", hits+misses, alarms+quiet, precision, recall)
	if hits+misses < 40 || alarms+quiet < 40 || precision < 0.95 || recall < 0.95 {
		t.Errorf("precision %.3f and recall %.3f, want 0.95", precision, recall)
	}
}
