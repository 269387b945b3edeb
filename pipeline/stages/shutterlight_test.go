package stages_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"retime/pipeline"
)

// A shutter keeps the light of a bright disc that moves, in linear light: OpenEXR. The mean of the
// signals that stand for it would lose a third.
func TestShutterKeepsLight(t *testing.T) {
	const width, height, frames, background = 128, 64, 24, 0.05
	dir := t.TempDir()
	for k := range frames {
		// Portable float map: rows from the bottom up.
		data := fmt.Appendf(nil, "PF\n%d %d\n-1.0\n", width, height)
		for y := range height {
			for x := range width {
				inside := min(max(12.5-math.Hypot(float64(x)-16-4*float64(k), float64(y)-32), 0), 1)
				v := float32(background + (8-background)*inside)
				for _, share := range []float32{1, 0.8, 0.5} {
					data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v*share))
				}
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("in%02d.pfm", k)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ffmpeg(t, "-i", filepath.Join(dir, "in%02d.pfm"), "-c:v", "exr", filepath.Join(dir, "in%02d.exr"))
	// light returns the light of a picture above the background.
	light := func(name string) float64 {
		raw := []byte(ffmpeg(t, "-i", name, "-pix_fmt", "gbrpf32le", "-f", "rawvideo", "-"))
		sum := 0.0
		for i := 0; i+4 <= width*height*4; i += 4 { // green
			sum += float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[i:]))) - background*0.8
		}
		return sum
	}
	want := light(filepath.Join(dir, "in12.exr"))
	o := pipeline.Options{Input: pipeline.Input{File: filepath.Join(dir, "in%02d.exr"), Rate: big.NewRat(96, 1)}, Output: pipeline.Output{File: filepath.Join(dir, "out%02d.exr")}}
	o.Timing.Rate, o.Timing.Shutter = pipeline.Rate{Value: big.NewRat(24, 1)}, big.NewRat(1, 1)
	mustRun(t, o)
	for k := 2; k <= 4; k++ { // in the middle, where the shutter is open within the clip
		if got := light(filepath.Join(dir, fmt.Sprintf("out%02d.exr", k+1))); math.Abs(got/want-1) > 0.01 {
			t.Errorf("frame %d has %.4f of the disc's light", k, got/want)
		}
	}
}
