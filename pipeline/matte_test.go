package pipeline_test

import (
	"bytes"
	"context"
	"math/big"
	"path/filepath"
	"slices"
	"testing"

	"retime/frame"
	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/testdata/scene"
	"retime/warp"
)

// A ball that falls by more than its diameter from one source frame to the next is whole with a matte, and
// what it uncovers is the ground; with the same samples whatever the number of threads.
func TestMatteKeepsABallWhole(t *testing.T) {
	const width, height, frames = 320, 180, 5
	dir := t.TempDir()
	input, matte := filepath.Join(dir, "ball.y4m"), filepath.Join(dir, "matte.y4m")
	must(t, scene.CreateBallY4M(input, width, height, frames))
	must(t, scene.CreateBallMatte(matte, width, height, frames))
	o := pipeline.Options{Input: pipeline.Input{File: input}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}}}
	made := func(name, matte string, threads int) [][]byte {
		o := o
		o.Synthesis.Matte, o.Compute.Threads = matte, threads
		o.Output = pipeline.Output{File: filepath.Join(dir, name+".nut"), VideoCodec: "rawvideo"}
		mustRun(t, o)
		list, _, _ := readAll(t, o.Output.File)
		return list
	}
	torn, whole, again := made("torn", "", 2), made("whole", matte, 1), made("again", matte, 3)
	if !slices.EqualFunc(whole, again, bytes.Equal) {
		t.Error("the number of threads changes frames")
	}
	wrong := func(list [][]byte) (sum float64) {
		n := 0
		for k := 3; k < 2*frames-1; k += 2 { // the ball is in the picture
			truth := scene.DrawBall(width, height, float64(k)/48)
			x, y, r := scene.BallAt(height, float64(k)/48)
			for j := max(int(y-4*r), 0); j < min(int(y+4*r), height); j++ {
				for i := int(x - 2*r); i < int(x+2*r); i++ {
					d := float64(list[k][j*width+i]) - float64(truth.Y[j*width+i])
					sum += max(d, -d)
					n++
				}
			}
		}
		return sum / float64(n)
	}
	if before, after := wrong(torn), wrong(whole); before < 3 || after > before/4 {
		t.Errorf("wrong by %.2f without the matte, and by %.2f with it", before, after)
	}
}

// Mattes are found by their times, in any order, from videos, sequences and pictures.
func TestMattesAreFound(t *testing.T) {
	const width, height = 32, 18
	dir := t.TempDir()
	matte := filepath.Join(dir, "matte.mkv")
	cliptest.FFmpeg(t, "-f", "lavfi", "-i", "color=black:size=32x18:rate=24:duration=1,format=gray,geq=lum=10*N", "-c:v", "ffv1", "-r", "24", matte)
	cliptest.FFmpeg(t, "-i", matte, "-start_number", "5", filepath.Join(dir, "m%03d.png"))
	cliptest.FFmpeg(t, "-i", matte, "-pix_fmt", "yuv420p", "-c:v", "ffv1", filepath.Join(dir, "limited.mkv"))
	still := filepath.Join(dir, "m010.png") // the sixth, of value 50
	for _, c := range []struct {
		name  string
		slack int
		want  func(k int64) int
	}{
		{matte, 0, func(k int64) int { return 10 * int(min(k, 23)) }},
		{filepath.Join(dir, "limited.mkv"), 1, func(k int64) int { return 10 * int(min(k, 23)) }},
		{filepath.Join(dir, "m%03d.png"), 0, func(k int64) int { return 10 * int(min(k, 23)) }},
		{still, 0, func(int64) int { return 50 }},
	} {
		o := settled(t, pipeline.Options{Input: pipeline.Input{File: "a", Rate: big.NewRat(24, 1)}, Synthesis: pipeline.Synthesis{Matte: c.name}})
		m := o.LineParams().Masks.Mattes(context.Background())
		for _, k := range []int64{0, 1, 2, 9, 10, 4, 22, 23, 24, 40, 0, 17} {
			got, err := m.At(big.NewRat(k, 24))
			if err != nil {
				t.Errorf("%s, frame %d: %v", c.name, k, err)
				break
			}
			if d := int(got.Pix[0]) - c.want(k); got.Width != width || got.Height != height || max(d, -d) > c.slack {
				t.Errorf("%s, frame %d: %dx%d of %d, want %d", c.name, k, got.Width, got.Height, got.Pix[0], c.want(k))
			}
		}
		m.Close()
	}
}

// A matte that does not fit is refused, and none that shows nothing changes a sample.
func TestMatteFaults(t *testing.T) {
	input := writeScene(t, 64, 48, 4, 24, 1)
	dir := t.TempDir()
	other, black := filepath.Join(dir, "other.png"), filepath.Join(dir, "black.png")
	cliptest.FFmpeg(t, "-f", "lavfi", "-i", "color=white:size=32x24", "-frames:v", "1", other)
	cliptest.FFmpeg(t, "-f", "lavfi", "-i", "color=black:size=64x48", "-frames:v", "1", black)
	for name, c := range map[string]struct {
		synthesis pipeline.Synthesis
		confine   string
		kind      fault.Kind
	}{
		"size":    {pipeline.Synthesis{Matte: other}, "", fault.Usage},
		"missing": {pipeline.Synthesis{Matte: filepath.Join(dir, "none.mkv")}, "", fault.NoInput},
		"mode":    {pipeline.Synthesis{Matte: black, Mode: warp.Blend}, "", fault.Usage},
		"confine": {pipeline.Synthesis{Matte: black}, filepath.Dir(input), fault.Usage},
	} {
		o := pipeline.Options{Input: pipeline.Input{File: input}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}}, Synthesis: c.synthesis}
		o.Output = pipeline.Output{File: filepath.Join(filepath.Dir(input), name+".nut"), VideoCodec: "rawvideo"}
		o.Compute.Confine = c.confine
		if _, err := pipeline.Run(context.Background(), o); fault.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	plain, _ := regionFrames(t, input, "")
	o := pipeline.Options{Input: pipeline.Input{File: input}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}}, Synthesis: pipeline.Synthesis{Matte: black}}
	o.Output = pipeline.Output{File: filepath.Join(dir, "o.nut"), VideoCodec: "rawvideo"}
	mustRun(t, o)
	list, _, _ := readAll(t, o.Output.File)
	if got := frame.Samples[uint8](plain.Planes[0]); !bytes.Equal(list[5][:64], got.Row(0)) {
		t.Error("a black matte changes the frame")
	}
}
