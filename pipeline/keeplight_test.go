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

// Made frames keep the light of a disc that is brighter than white and moves over a ground, whether they are sampled, splatted
// with holes filled, or cross-faded in light; cross-fades of samples do not.
func TestMadeFramesKeepLight(t *testing.T) {
	const w, h, step = 192, 108, 4
	in := t.TempDir()
	for n := range 4 {
		draw := func(x, y int) float32 {
			ground := 0.2 + 0.05*math.Sin(float64(x)/7)*math.Cos(float64(y)/9)
			cover := min(max(20.5-math.Hypot(float64(x-60-step*n), float64(y-54)), 0), 1)
			return float32(ground*(1-cover) + cover*4*(1+0.2*math.Sin(float64(x-step*n)/3)*math.Cos(float64(y)/4)))
		}
		var file bytes.Buffer
		cliptest.Must(t, exr.Write(&file, w, h, []exr.Channel{{Name: "R", Type: exr.Float, Sample: draw}, {Name: "G", Type: exr.Float, Sample: draw}, {Name: "B", Type: exr.Float, Sample: draw}}))
		cliptest.Must(t, os.WriteFile(filepath.Join(in, fmt.Sprintf("p.%d.exr", n)), file.Bytes(), 0o600))
	}
	total := func(name string) (sum float64) {
		parts, _ := decodeEXR(t, name)
		for i := range parts[0].Planes[0].Bits {
			sum += float64(parts[0].Planes[0].Value(i))
		}
		return sum
	}
	for _, c := range []struct {
		mode        warp.Mode
		light       pipeline.Light
		least, most float64 // what is lost, as a share
	}{
		{warp.Project, "", -0.003, 0.003}, // where the edge's vectors are off by a little
		{warp.Splat, "", -0.001, 0.001}, {warp.Blend, pipeline.LinearLight, -0.001, 0.001}, {warp.Blend, pipeline.CodedLight, 0.01, 0.1},
	} {
		out := t.TempDir()
		o := pipeline.Options{Input: pipeline.Input{File: filepath.Join(in, "p.#.exr"), Rate: big.NewRat(24, 1)}, Output: pipeline.Output{File: filepath.Join(out, "q.#.exr")}}
		o.Timing.Rate, o.Timing.Light, o.Synthesis.Mode = pipeline.Rate{Value: big.NewRat(48, 1)}, c.light, c.mode
		mustRun(t, o)
		for k := 1; k < 6; k += 2 {
			at := func(k int) float64 { return total(filepath.Join(out, fmt.Sprintf("q.%d.exr", k))) }
			if lost := 1 - at(k)*2/(at(k-1)+at(k+1)); lost < c.least || lost > c.most {
				t.Errorf("%s %s: frame %d loses %.3f %% of its light", c.mode, c.light, k, 100*lost)
			}
		}
	}
}
