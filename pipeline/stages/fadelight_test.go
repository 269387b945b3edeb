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
		region  bool // the cross-fade is decided for a region of a frame that is made otherwise
		want    float64
	}{
		{"in%d.exr", "linear%d.exr", "", false, 0.5},
		{"in%d.exr", "asked%d.exr", pipeline.LinearLight, false, 0.5},
		{"in%d.exr", "coded%d.exr", pipeline.CodedLight, false, frame.PQLuminance(white/2) / frame.PQLuminance(white)},
		{"in%d.exr", "region%d.exr", "", true, 0.5},
		{"in.mkv", "coded%d.png", "", false, 0.5},
		{"in.mkv", "linear%d.png", pipeline.LinearLight, false, 1.055*math.Pow(0.5, 1/2.4) - 0.055},
		{"in.mkv", "region%d.png", pipeline.LinearLight, true, 1.055*math.Pow(0.5, 1/2.4) - 0.055},
	} {
		o := pipeline.Options{Input: pipeline.Input{File: at(c.in)}, Output: pipeline.Output{File: at(c.out)}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}}
		if c.region {
			whole := [][2]float64{{-1, -1}, {33, -1}, {33, 17}, {-1, 17}}
			o.Synthesis = pipeline.Synthesis{Mode: warp.Nearest, Decisions: []pipeline.Decision{{Frame: 1, Regions: []pipeline.Region{{Method: pipeline.Blended, Outline: whole}}}}}
		}
		o.Timing.Rate, o.Timing.Light = pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}, c.light
		mustRun(t, o)
		raw := []byte(ffmpeg(t, "-i", at(strings.Replace(c.out, "%d", "2", 1)), "-pix_fmt", "gbrpf32le", "-f", "rawvideo", "-"))
		if got := float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))); math.Abs(got-c.want) > 0.001 {
			t.Errorf("%s by %q light: %.4f, want %.4f", c.out, c.light, got, c.want)
		}
	}
}
