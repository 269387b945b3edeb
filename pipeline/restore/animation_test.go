package restore

import (
	"path/filepath"
	"testing"

	"retime/frame"
	"retime/pipeline"
)

// With the tune, a lost frame has one of the two numbers that a counter shows around it, and not both.
func TestAnimation(t *testing.T) {
	const box, digit = "drawbox=20:20:60:50:black:fill", "drawbox=44:36:12:18:white:fill:enable='gte(n,3)'"
	input := filepath.Join(t.TempDir(), "counter.mkv")
	ffmpeg(t, "-i", writeScene(t, 192, 108, 7), "-vf", box+","+digit, "-c:v", "ffv1", input)
	source, _ := readAll(t, input)
	for _, tune := range []pipeline.Tune{"", pipeline.Animation} {
		o := options(t, input)
		o.Convert.Input.Tune, o.Damage = tune, frames(t, "3")
		mustRun(t, o)
		got, _ := readAll(t, o.Convert.Output.File)
		at := func(f *frame.Frame) uint8 { return frame.Samples[uint8](f.Planes[0]).Row(45)[50] }
		number := at(got[3])
		if doubled := number != at(source[2]) && number != at(source[4]); doubled == (tune == pipeline.Animation) {
			t.Errorf("tune %q: the digit is %d, between %d and %d", tune, number, at(source[2]), at(source[4]))
		}
	}
}
