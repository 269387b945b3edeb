package pipeline_test

import (
	"bytes"
	"math/big"
	"path/filepath"
	"slices"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// A part begins with the first frame at or after its time, whatever the output's rate, and
// all shot frames pass through.
func TestFromFallsBetweenFrames(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "source.mp4")
	ffmpeg(t, "-i", writeScene(t, 48, 32, 30, 30000, 1001), "-f", "lavfi", "-i", "sine=d=1", "-c:v", "libx264", "-qp", "0", "-c:a", "flac", "-strict", "-2", source)
	all, _, _ := readAll(t, source)
	lacking := slices.Clone(all)
	lacking[15] = nil
	for _, c := range []struct {
		name   string
		making []string // options of ffmpeg; nil for the source itself
		want   [][]byte // nil for a frame that the clip lacks
	}{
		{"source.mp4", nil, all},
		{"clip.mkv", []string{"-c", "copy"}, all},
		{"clip.ts", []string{"-c:v", "copy", "-c:a", "mp2"}, all},
		{"varies.mp4", []string{"-vf", "select='not(eq(n,15))'", "-fps_mode", "passthrough", "-enc_time_base", "-1", "-c:v", "libx264", "-qp", "0", "-c:a", "copy", "-strict", "-2"}, lacking},
	} {
		clip := filepath.Join(dir, c.name)
		if c.making != nil {
			ffmpeg(t, slices.Concat([]string{"-i", source}, c.making, []string{clip})...)
		}
		_, _, v := readAll(t, clip)
		late := new(big.Rat).Mul(v.TimeBase, big.NewRat(v.StreamPTS, 1)) // than the sound
		late.Sub(late, v.Start)
		for _, p := range []struct {
			from  string
			first int
		}{{"0.0004", 0}, {"0.01", 1}, {"0.434", 13}, {"0.435", 14}, {"0.4671", 14}, {"0.505", 16}} {
			for _, rate := range []int{1, 2} {
				o := lossless(t, clip)
				o.Synthesis.Mode, o.Timing.From = warp.Blend, new(big.Rat).Add(ratio(p.from), late)
				o.Timing.Rate = pipeline.Rate{Value: big.NewRat(int64(rate), 1), Multiple: true}
				mustRun(t, o)
				got, times, _ := readAll(t, o.Output.File)
				if len(got) != (30-p.first)*rate || times[0].Sign() != 0 {
					t.Errorf("%s from %s on: %d frames from %s on, want %d", c.name, p.from, len(got), times[0].RatString(), (30-p.first)*rate)
					continue
				}
				for k, want := range c.want[p.first:] {
					if want != nil && !bytes.Equal(got[k*rate], want) {
						t.Errorf("%s from %s on: frame %d is not the source's %d", c.name, p.from, k*rate, p.first+k)
						break
					}
				}
			}
		}
	}
}
