//go:build openexr

package pipeline_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"retime/flow"
	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/media/exr"
	"retime/warp"
)

// lightClip is a textured disc of green and blue, four times as bright as white, that moves over a ground of red. So the light of
// the two can be told apart.
type lightClip struct {
	step   int // pixels a frame, to the right
	ground func(x, y int) float64
}

const lightWidth, lightHeight = 192, 108

// disc returns the disc's light in a pixel after k half frames, and how much of the pixel it covers.
func (c lightClip) disc(k, x, y int) (light, cover float64) {
	at := float64(x) - 70 - float64(c.step*k)/2
	cover = min(max(20.5-math.Hypot(at, float64(y-54)), 0), 1)
	return 4 * (1 + 0.2*math.Sin(at/3)*math.Cos(float64(y)/4)) * cover, cover
}

// write writes the picture after k half frames.
func (c lightClip) write(t *testing.T, name string, k int) {
	disc := func(x, y int) float32 {
		light, _ := c.disc(k, x, y)
		return float32(light)
	}
	ground := func(x, y int) float32 {
		_, cover := c.disc(k, x, y)
		return float32(c.ground(x, y) * (1 - cover))
	}
	var file bytes.Buffer
	cliptest.Must(t, exr.Write(&file, lightWidth, lightHeight, []exr.Channel{{Name: "R", Type: exr.Float, Sample: ground}, {Name: "G", Type: exr.Float, Sample: disc}, {Name: "B", Type: exr.Float, Sample: disc}}))
	cliptest.Must(t, os.WriteFile(name, file.Bytes(), 0o600))
}

// lost returns how much of the disc's light a plane of its colour lacks.
func (c lightClip) lost(k int, plane interface{ Value(i int) float32 }) float64 {
	var lacks, all float64
	for i := range lightWidth * lightHeight {
		light, _ := c.disc(k, i%lightWidth, i/lightWidth)
		lacks, all = lacks+light-float64(plane.Value(i)), all+light
	}
	return lacks / all
}

// vectors writes the disc's motion between the pictures after k and k+2 half frames, as .flo files of number k/2.
func (c lightClip) vectors(t *testing.T, dir string, k int) {
	for i, name := range []string{"%d.flo", "%d.back.flo"} {
		f := flow.NewField(lightWidth, lightHeight)
		for j := range f.Pix {
			if _, cover := c.disc(k+2*i, j%lightWidth, j/lightWidth); cover > 0 {
				f.Pix[j].X = int32(256 * c.step * (1 - 2*i))
			}
		}
		var file bytes.Buffer
		cliptest.Must(t, flow.WriteFlo(&file, f))
		cliptest.Must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf(name, k/2)), file.Bytes(), 0o600))
	}
}

// Made frames keep the light of a disc that is brighter than white and moves over a ground, whether they are sampled, splatted
// with holes filled, or cross-faded in light; cross-fades of samples do not.
func TestMadeFramesKeepLight(t *testing.T) {
	waves := func(x, y int) float64 { return 0.2 + 0.05*math.Sin(float64(x)/7)*math.Cos(float64(y)/9) }
	flat := func(int, int) float64 { return 0.2 }
	black := func(int, int) float64 { return 0 }
	for _, c := range []struct {
		name        string
		clip        lightClip
		mode        warp.Mode
		light       pipeline.Light
		vectors     bool    // whether it is told how the disc moves
		least, most float64 // what is lost, as a share
	}{
		{"flat", lightClip{4, flat}, warp.Project, "", false, -0.001, 0.001},
		{"flat", lightClip{12, flat}, warp.Project, "", false, -0.001, 0.001},
		{"black", lightClip{4, black}, warp.Project, "", false, -0.001, 0.001},
		{"black", lightClip{12, black}, warp.Project, "", false, -0.001, 0.001},
		{"waves", lightClip{4, waves}, warp.Project, "", false, -0.001, 0.001},
		{"waves", lightClip{12, waves}, warp.Project, "", false, -0.001, 0.006}, // where what only one neighbour shows reaches over the edge
		{"waves", lightClip{4, waves}, warp.Project, "", true, -0.001, 0.004},   // where motions of either side of a hard edge mix
		{"waves", lightClip{12, waves}, warp.Project, "", true, -0.001, 0.03},
		{"waves", lightClip{4, waves}, warp.Splat, "", false, -0.001, 0.001},
		{"waves", lightClip{12, waves}, warp.Splat, "", false, -0.001, 0.001},
		{"waves", lightClip{12, waves}, warp.Splat, "", true, -0.001, 0.01},
		{"waves", lightClip{4, waves}, warp.Blend, pipeline.LinearLight, false, -0.001, 0.001},
		{"waves", lightClip{4, waves}, warp.Blend, pipeline.CodedLight, false, 0.05, 0.15},
	} {
		in, out := t.TempDir(), t.TempDir()
		for n := range 4 {
			c.clip.write(t, filepath.Join(in, fmt.Sprintf("p.%d.exr", n)), 2*n)
			if c.vectors {
				c.clip.vectors(t, in, 2*n)
			}
		}
		o := pipeline.Options{Input: pipeline.Input{File: filepath.Join(in, "p.#.exr"), Rate: big.NewRat(24, 1)}, Output: pipeline.Output{File: filepath.Join(out, "q.#.exr")}}
		o.Timing.Rate, o.Timing.Light, o.Synthesis.Mode = pipeline.Rate{Value: big.NewRat(48, 1)}, c.light, c.mode
		if c.vectors {
			o.Synthesis.Flow = pipeline.FlowMethod("files=" + filepath.Join(in, "%d.flo"))
		}
		mustRun(t, o)
		for k := 1; k < 6; k += 2 {
			parts, _ := decodeEXR(t, filepath.Join(out, fmt.Sprintf("q.%d.exr", k)))
			planes := parts[0].Planes
			lost := c.clip.lost(k, &planes[slices.IndexFunc(planes, func(p exr.Plane) bool { return p.Name == "G" })])
			t.Logf("%s, %d pixels, %s %s, vectors %v: frame %d loses %.3f %% of its light", c.name, c.clip.step, c.mode, c.light, c.vectors, k, 100*lost)
			if lost < c.least || lost > c.most {
				t.Errorf("that is not from %.1f to %.1f %%", 100*c.least, 100*c.most)
			}
		}
	}
}
