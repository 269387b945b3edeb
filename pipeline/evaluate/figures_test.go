package evaluate

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// The figures equal what FFmpeg's filters compute for the same pairs of frames.
func TestFiguresAreFFmpegs(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, format string }{
		{"eight.nut", "yuv420p"}, {"ten.nut", "yuv422p10le"}, {"rgb.nut", "gbrp"}, {"gray.nut", "gray"}, {"packed.nut", "nv12"},
	} {
		t.Run(c.format, func(t *testing.T) {
			clip := filepath.Join(dir, c.name)
			ffmpeg(t, "-i", writeScene(t, 99, 61, 7, 24), "-c:v", "rawvideo", "-pix_fmt", c.format, clip)
			o := quick(clip)
			o.NoVIF = false
			o.Settings[0].Convert.Synthesis.Mode = warp.Nearest // the frame after the held-out one
			m := mustRun(t, o).Methods[0]
			planar := c.format
			if planar == "nv12" {
				planar = "yuv420p"
			}
			filter := func(name string) []map[string]string {
				log := ffmpeg(t, "-i", clip, "-i", clip, "-lavfi",
					"[0]format="+planar+",select='gte(n,2)*not(mod(n,2))',setpts=N[a];[1]format="+planar+",select='mod(n,2)',setpts=N[b];"+
						"[a][b]"+name+",metadata=print:file=-", "-f", "null", "-")
				var frames []map[string]string
				for line := range strings.Lines(log) {
					line = strings.TrimSpace(line)
					if strings.HasPrefix(line, "frame:") && strings.Contains(line, "pts_time") {
						frames = append(frames, map[string]string{})
					} else if k, v, ok := strings.Cut(line, "="); ok && strings.HasPrefix(k, "lavfi.") && len(frames) > 0 {
						frames[len(frames)-1][k] = v
					}
				}
				return frames
			}
			first, plane := "y", "Y"
			if c.format == "gbrp" {
				first, plane = "g", "G"
			}
			number := func(text string) float64 {
				v, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			check := func(what string, got, want float64) {
				t.Helper()
				if math.Abs(got-want) > 1e-5 { // FFmpeg prints six decimals and computes SSIM in float32
					t.Errorf("%s is %f, FFmpeg's %f", what, got, want)
				}
			}
			psnrs, ssims, vifs := filter("psnr"), filter("ssim"), filter("vif")
			if len(psnrs) != 3 || len(ssims) != 3 || len(vifs) != 3 {
				t.Fatalf("FFmpeg compares %d, %d, %d frames", len(psnrs), len(ssims), len(vifs))
			}
			grays := filepath.Join(dir, c.name+".gray")
			ffmpeg(t, "-i", clip, "-pix_fmt", "gray", "-f", "rawvideo", grays)
			brightness, err := os.ReadFile(grays)
			if err != nil {
				t.Fatal(err)
			}
			for k := range 3 {
				frame := func(i int) []byte { return brightness[i*99*61:][:99*61] }
				check("false speckle", float64(m.Frames.Speckle[k]), 1e6*speckle(frame(2*k+1), frame(2*k+2), 99, 61))
				check("PSNR of the first plane", float64(m.Frames.PSNRY[k]), number(psnrs[k]["lavfi.psnr.psnr."+first]))
				check("PSNR of all planes", float64(m.Frames.PSNR[k]), number(psnrs[k]["lavfi.psnr.psnr_avg"]))
				check("SSIM of the first plane", float64(m.Frames.SSIMY[k]), number(ssims[k]["lavfi.ssim."+plane]))
				check("SSIM of all planes", float64(m.Frames.SSIM[k]), number(ssims[k]["lavfi.ssim.All"]))
				sum := 0.0
				for scale := range 4 {
					sum += number(vifs[k][fmt.Sprint("lavfi.vif.scale.", scale)])
				}
				check("VIF", float64(m.Frames.VIF[k]), sum/4)
			}
		})
	}
}

// speckle computes the share of a made picture that is false speckle, straight from the definition.
func speckle(truth, made []byte, width, height int) float64 {
	off := func(p []byte, at int) int {
		around := slices.Concat(p[at-width-1:at-width+2], p[at-1:at+2], p[at+width-1:at+width+2])
		slices.Sort(around)
		return max(int(p[at])-int(around[4]), int(around[4])-int(p[at]))
	}
	n := 0
	for y := 1; y < height-1; y++ {
		for x := 1; x < width-1; x++ {
			if off(made, y*width+x) > 12 && off(truth, y*width+x) < 4 {
				n++
			}
		}
	}
	return float64(n) / float64((width-2)*(height-2))
}

// Flicker is an error of change; a constant error is not. The first frame of a shot has no change.
func TestChange(t *testing.T) {
	o := quick(writeCut(t, 64, 48, 11, 6))
	f := mustRun(t, o).Methods[0].Frames
	for k, v := range f.PSNRYChange {
		if first := k == 0 || k == 3; math.IsNaN(float64(v)) != first {
			t.Errorf("frame %d: %f", k, v)
		}
	}
	summary := mustRun(t, o).Methods[0].Total
	if summary.PSNRYChange <= summary.PSNRYMin || summary.PSNRYWorst >= summary.PSNRY {
		t.Errorf("summary %+v", summary)
	}
}

// Where the motion diverges, the squared errors of the frames are pooled.
func TestPSNRDiv(t *testing.T) {
	m := mustRun(t, quick(writeScene(t, 64, 48, 11, 24))).Methods[0]
	var sum float64
	for k, v := range m.Frames.PSNRDiv {
		if math.IsNaN(float64(v)) || v >= m.Frames.PSNRY[k] {
			t.Errorf("frame %d: %f where the motion diverges, %f throughout", k, v, m.Frames.PSNRY[k])
		}
		sum += math.Pow(10, -float64(v)/10)
	}
	if want := -10 * math.Log10(sum/float64(len(m.Frames.PSNRDiv))); math.Abs(float64(m.Total.PSNRDiv)-want) > 1e-9 {
		t.Errorf("%f in all, want %f", m.Total.PSNRDiv, want)
	}
}

func TestVIFNeedsRoom(t *testing.T) {
	o := Options{Input: pipeline.Input{File: writeScene(t, 15, 16, 3, 24)}}
	if v := float64(mustRun(t, o).Methods[0].Total.VIF); !math.IsNaN(v) {
		t.Errorf("VIF of a picture 15 wide is %f", v)
	}
}
