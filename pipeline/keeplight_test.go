//go:build openexr

package pipeline_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/media/exr"
	"retime/warp"
)

// lightClip is a textured disc four times as bright as white that moves over a ground.
type lightClip struct {
	step   int // pixels a frame, to the right
	ground func(x, y int) float64
}

const lightWidth, lightHeight = 192, 108

// disc returns how much of a pixel the disc covers after k half frames, and its light there.
func (c lightClip) disc(k, x, y int) (cover, light float64) {
	at := float64(x) - 70 - float64(c.step*k)/2
	cover = min(max(20.5-math.Hypot(at, float64(y-54)), 0), 1)
	return cover, 4 * (1 + 0.2*math.Sin(at/3)*math.Cos(float64(y)/4))
}

func (c lightClip) draw(k, x, y int) float64 {
	cover, light := c.disc(k, x, y)
	return c.ground(x, y)*(1-cover) + light*cover
}

// lost returns how much of the disc's light a picture lacks.
func (c lightClip) lost(k int, plane interface{ Value(i int) float32 }) float64 {
	var lacks, all float64
	for i := range lightWidth * lightHeight {
		x, y := i%lightWidth, i/lightWidth
		cover, light := c.disc(k, x, y)
		lacks, all = lacks+c.draw(k, x, y)-float64(plane.Value(i)), all+cover*light
	}
	return lacks / all
}

// Made frames keep the light of a disc that is brighter than white and moves over a ground, whether they are sampled, splatted
// with holes filled, or cross-faded in light; cross-fades of samples do not.
func TestMadeFramesKeepLight(t *testing.T) {
	waves := func(x, y int) float64 { return 0.2 + 0.05*math.Sin(float64(x)/7)*math.Cos(float64(y)/9) }
	grey := func(int, int) float64 { return 0.2 }
	black := func(int, int) float64 { return 0 }
	for _, c := range []struct {
		name        string
		clip        lightClip
		mode        warp.Mode
		light       pipeline.Light
		least, most float64 // what is lost, as a share
	}{
		{"grey", lightClip{4, grey}, warp.Project, "", -0.001, 0.001},
		{"grey", lightClip{12, grey}, warp.Project, "", -0.001, 0.001},
		{"black", lightClip{4, black}, warp.Project, "", -0.001, 0.001},
		{"black", lightClip{12, black}, warp.Project, "", -0.001, 0.001},
		{"waves", lightClip{4, waves}, warp.Project, "", -0.001, 0.001},
		{"waves", lightClip{12, waves}, warp.Project, "", -0.01, 0.01}, // where what only one neighbour shows reaches over the edge
		{"waves", lightClip{4, waves}, warp.Splat, "", -0.001, 0.001},
		{"waves", lightClip{12, waves}, warp.Splat, "", -0.01, 0.01},
		{"waves", lightClip{4, waves}, warp.Blend, pipeline.LinearLight, -0.001, 0.001},
		{"waves", lightClip{4, waves}, warp.Blend, pipeline.CodedLight, 0.01, 0.1},
	} {
		in, out := t.TempDir(), t.TempDir()
		for n := range 4 {
			draw := func(x, y int) float32 { return float32(c.clip.draw(2*n, x, y)) }
			var file bytes.Buffer
			cliptest.Must(t, exr.Write(&file, lightWidth, lightHeight, []exr.Channel{{Name: "R", Type: exr.Float, Sample: draw}, {Name: "G", Type: exr.Float, Sample: draw}, {Name: "B", Type: exr.Float, Sample: draw}}))
			cliptest.Must(t, os.WriteFile(filepath.Join(in, fmt.Sprintf("p.%d.exr", n)), file.Bytes(), 0o600))
		}
		o := pipeline.Options{Input: pipeline.Input{File: filepath.Join(in, "p.#.exr"), Rate: big.NewRat(24, 1)}, Output: pipeline.Output{File: filepath.Join(out, "q.#.exr")}}
		o.Timing.Rate, o.Timing.Light, o.Synthesis.Mode = pipeline.Rate{Value: big.NewRat(48, 1)}, c.light, c.mode
		mustRun(t, o)
		for k := 1; k < 6; k += 2 {
			parts, _ := decodeEXR(t, filepath.Join(out, fmt.Sprintf("q.%d.exr", k)))
			lost := c.clip.lost(k, &parts[0].Planes[0])
			t.Logf("%s, %d pixels, %s %s: frame %d loses %.3f %% of its light", c.name, c.clip.step, c.mode, c.light, k, 100*lost)
			if lost < c.least || lost > c.most {
				t.Errorf("that is not from %.1f to %.1f %%", 100*c.least, 100*c.most)
			}
		}
	}
}
