package restore

import (
	"math"
	"path/filepath"
	"testing"

	"retime/frame"
	"retime/testdata/scene"
)

// A lost frame is made with the matte of the frames around it: a ball that falls by four times its radius is whole.
func TestMatte(t *testing.T) {
	const width, height, count, lost = 320, 180, 5, 2
	dir := t.TempDir()
	whole, matte := filepath.Join(dir, "ball.y4m"), filepath.Join(dir, "matte.y4m")
	if err := scene.CreateBallY4M(whole, width, height, count); err != nil {
		t.Fatal(err)
	}
	if err := scene.CreateBallMatte(matte, width, height, count); err != nil {
		t.Fatal(err)
	}
	truth, _ := readAll(t, whole)
	input := blacken(t, whole, width, height, lost)
	x, y, r := scene.BallAt(height, lost/24.)
	wrong := func(matte string) (sum float64) {
		o := options(t, input)
		o.Damage, o.Convert.Synthesis.Matte = frames(t, "2"), matte
		mustRun(t, o)
		got, _ := readAll(t, o.Convert.Output.File)
		a, b := frame.Samples[uint8](got[lost].Planes[0]), frame.Samples[uint8](truth[lost].Planes[0])
		for j := max(int(y-3*r), 0); j < min(int(y+3*r), height); j++ {
			for i := int(x - 3*r); i < int(x+3*r); i++ {
				sum += math.Abs(float64(a.Row(j)[i]) - float64(b.Row(j)[i]))
			}
		}
		return sum
	}
	if torn, kept := wrong(""), wrong(matte); kept > torn/3 {
		t.Errorf("wrong by %.0f without the matte, and by %.0f with it", torn, kept)
	}
}
