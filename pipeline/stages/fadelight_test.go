package stages_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline"
	"retime/warp"
)

// Half-way from black to white, a cross-fade has half the light in OpenEXR, and half the sample in video, unless
// the caller says otherwise.
func TestFadesOfLight(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, file := range [][]string{{"gbrpf32le", "in%d.exr"}, {"gbrp16le", "in.mkv"}} {
		ffmpeg(t, "-f", "lavfi", "-i", "color=black:s=32x16:r=24,format=gbrp16le,geq=r='65535*gt(N,0)':g='65535*gt(N,0)':b='65535*gt(N,0)',format="+file[0], "-frames:v", "2",
			"-c:v", map[bool]string{true: "exr", false: "ffv1"}[file[0] == "gbrpf32le"], at(file[1]))
	}
	white := frame.PQSignal(203. / 10000)
	for _, c := range []struct {
		in, out string
		light   pipeline.Light
		want    float64
	}{
		{"in%d.exr", "linear%d.exr", "", 0.5},
		{"in%d.exr", "asked%d.exr", pipeline.LinearLight, 0.5},
		{"in%d.exr", "coded%d.exr", pipeline.CodedLight, frame.PQLuminance(white/2) / frame.PQLuminance(white)},
		{"in.mkv", "coded%d.png", "", 0.5},
		{"in.mkv", "linear%d.png", pipeline.LinearLight, 1.055*math.Pow(0.5, 1/2.4) - 0.055},
	} {
		o := pipeline.Options{Input: pipeline.Input{File: at(c.in)}, Output: pipeline.Output{File: at(c.out)}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		o.Timing.Rate, o.Timing.Light = pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}, c.light
		mustRun(t, o)
		raw := []byte(ffmpeg(t, "-i", at(strings.Replace(c.out, "%d", "2", 1)), "-pix_fmt", "gbrpf32le", "-f", "rawvideo", "-"))
		if got := float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))); math.Abs(got-c.want) > 0.001 {
			t.Errorf("%s by %q light: %.4f, want %.4f", c.out, c.light, got, c.want)
		}
	}
}
