//go:build unix

package stages_test

import (
	"bytes"
	"image"
	"image/png"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"retime/pipeline"
)

// grain is a smooth pattern without a period.
func grain(x, y float64) float64 {
	return math.Sin(x/3.1+math.Sin(y/5.3)) + math.Sin(y/4.3+math.Sin(x/6.7)) + math.Sin((x+y)/9.1)
}

// sprite is a disc on its way over a ground that moves by three pixels a picture, in pictures of 192x108. It is
// drawn at each moment as of the one that drawn returns.
func sprite(drawn func(at int) float64) func(n int) (y, u, v []uint8) {
	return func(n int) (y, u, v []uint8) {
		y, u, v = make([]uint8, 192*108), bytes.Repeat([]uint8{128}, 96*54), bytes.Repeat([]uint8{128}, 96*54)
		x0, y0 := spriteAt(drawn(n))
		for j := range 108 {
			for i := range 192 {
				value := 110 + 16*grain(float64(i+3*n), float64(j))
				if dx, dy := float64(i)-x0, float64(j)-y0; math.Hypot(dx, dy) < 21 {
					value = 130 + 34*grain(1.9*dx, 1.9*dy+70)
				}
				y[j*192+i] = uint8(min(max(value, 16), 235))
			}
		}
		return y, u, v
	}
}

// spriteAt is the middle of the sprite as drawn at a moment.
func spriteAt(at float64) (x, y float64) { return 40 + 4*at, 50 + at/2 }

// on holds a drawing for so many pictures.
func on(pictures int) func(at int) float64 {
	return func(at int) float64 { return float64(at - at%pictures) }
}

// A drawing that is held over a ground that moves is on its way in each frame. All else stays as it was shot.
func TestHolds(t *testing.T) {
	const pictures = 14
	none := func(*pipeline.Options) {}
	matte := filepath.Join(t.TempDir(), "matte.png")
	must(t, os.WriteFile(matte, grey(t, 192, 108), 0o600))
	for _, c := range []struct {
		name  string
		drawn func(at int) float64
		tune  pipeline.Tune
		with  func(o *pipeline.Options)
		moved func(k int) bool // the frame is not the source's
	}{
		{"on twos", on(2), pipeline.Animation, none, func(k int) bool { return k%2 != 0 && k < pictures-2 }},
		{"on threes", on(3), pipeline.Animation, none, func(k int) bool { return k%3 != 0 && k < pictures-2 }},
		{"without the tune", on(2), "", func(o *pipeline.Options) { o.Synthesis.Duplicates = pipeline.RetimeDuplicates }, nil},
		{"to keep repeats", on(2), pipeline.Animation, func(o *pipeline.Options) { o.Synthesis.Duplicates = pipeline.KeepDuplicates }, nil},
		{"on ones", on(1), pipeline.Animation, none, nil},
		{"still", func(int) float64 { return 9 }, pipeline.Animation, none, nil},
		{"stops once", func(at int) float64 { return float64(at - at/7) }, pipeline.Animation, none, nil},
		{"begins to move", func(at int) float64 { return float64(max(at, 7)) }, pipeline.Animation, none, nil},
		{"with a matte", on(2), pipeline.Animation, func(o *pipeline.Options) { o.Synthesis.Matte = matte }, nil},
		{"with flow from files", on(2), pipeline.Animation, func(o *pipeline.Options) { o.Synthesis.Flow = "files=none/%d.flo" }, nil},
		{"across a cut", on(2), pipeline.Animation, func(o *pipeline.Options) { o.Synthesis.Scenes = []*big.Rat{big.NewRat(6, 24)} }, func(k int) bool { return k%2 != 0 && k < pictures-2 && k != 5 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clip := writePictures(t, pictures, sprite(c.drawn))
			source, _, _ := readAll(t, clip)
			o := lossless(t, clip)
			o.Input.Tune = c.tune
			c.with(&o)
			var records []pipeline.Record
			o.Hooks.Rate, o.Hooks.Record = true, func(r pipeline.Record) { records = append(records, r) }
			report := mustRun(t, o)
			got, _, _ := readAll(t, o.Output.File)
			evenly := sprite(on(1))
			made := int64(0)
			for k, f := range got {
				if c.moved == nil || !c.moved(k) {
					if !bytes.Equal(f, source[k]) {
						t.Errorf("frame %d has changed", k)
					}
					if r := records[k]; r.Method != pipeline.FromSource || r.Confidence != 1 || len(r.Sources) != 1 || r.Worst != nil {
						t.Errorf("frame %d, which was shot: %+v", k, r)
					}
					continue
				}
				made++
				if !tellsOfHold(records[k]) {
					t.Errorf("frame %d, which was made: %+v", k, records[k])
				}
				truth, _, _ := evenly(k)
				x, y := spriteAt(float64(k))
				around := box{int(x) - 28, int(y) - 28, int(x) + 28, int(y) + 28}
				before, after := around.psnr(source[k], truth), around.psnr(f, truth)
				t.Logf("frame %d: %.1f dB, was %.1f", k, after, before)
				if after < 26 || after < before+9 {
					t.Errorf("frame %d: %.1f dB from where the drawing should be, held %.1f", k, after, before)
				}
				if far := (box{int(x) + 44, 0, 192, 108}); !far.same(f, source[k]) {
					t.Errorf("frame %d has changed beside the drawing", k)
				}
			}
			if report.Made != made {
				t.Errorf("%d frames made, want %d", report.Made, made)
			}
		})
	}
}

// grey is a PNG picture of middle grey.
func grey(t *testing.T, width, height int) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = 128
	}
	var b bytes.Buffer
	must(t, png.Encode(&b, m))
	return b.Bytes()
}

// tellsOfHold reports whether a frame is described as made between two drawings, and its worst place lies at the sprite.
func tellsOfHold(r pipeline.Record) bool {
	k := int(r.Frame)
	if r.Method != pipeline.Interpolated || r.Confidence <= 0 || r.Confidence >= 1 || r.Error == 0 || r.Worst == nil || len(r.Sources) != 2 {
		return false
	}
	first, next := float64(r.Sources[0]), float64(r.Sources[1])
	x, y := spriteAt(float64(k))
	b := r.Worst.Box
	near := math.Abs(float64(b[0]+b[2]/2)-x) < 44 && math.Abs(float64(b[1]+b[3]/2)-y) < 44
	return near && first < float64(k) && float64(k) < next && math.Abs(first+r.Phase*(next-first)-float64(k)) < 1e-3
}

// Neither threads nor other frames' ways matter to drawings that are held.
func TestHoldsAnyhow(t *testing.T) {
	clip := writePictures(t, 14, sprite(on(2)))
	made := func(threads int, decisions ...pipeline.Decision) [][]byte {
		o := lossless(t, clip)
		o.Input.Tune, o.Compute.Threads, o.Synthesis.Decisions = pipeline.Animation, threads, decisions
		o.Timing.Rate = pipeline.Rate{Value: ratio("2"), Multiple: true}
		mustRun(t, o)
		got, _, _ := readAll(t, o.Output.File)
		return got
	}
	want := made(1)
	for k, f := range made(3) {
		if !bytes.Equal(f, want[k]) {
			t.Errorf("frame %d differs with three threads", k)
		}
	}
	for name, way := range map[string]pipeline.Decision{"shutter": {Shutter: "180"}, "preset": {Preset: pipeline.Fast}} {
		way.Frame, way.Line = 9, 1
		for k, f := range made(2, way) {
			if bytes.Equal(f, want[k]) != (k != 9) {
				t.Errorf("frame %d, with a %s for frame 9: the same as without: %v", k, name, k == 9)
			}
		}
	}
}

// psnr compares a box of two pictures of 192x108.
func (b box) psnr(p, q []byte) float64 {
	sum := 0.
	for y := b[1]; y < b[3]; y++ {
		for x := b[0]; x < b[2]; x++ {
			d := float64(p[y*192+x]) - float64(q[y*192+x])
			sum += d * d
		}
	}
	return 10 * math.Log10(255*255*float64((b[2]-b[0])*(b[3]-b[1]))/max(sum, 1e-9))
}
