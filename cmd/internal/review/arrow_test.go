//go:build unix

package review

import (
	"fmt"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"retime/pipeline"
	"retime/testdata/scene"
)

// BenchmarkArrow measures the processor time from an arrow that somebody draws in a picture of 1080p
// until the frame shows it, on two cores: decision, frame and colours.
func BenchmarkArrow(b *testing.B) {
	source := filepath.Join(b.TempDir(), "ball.y4m")
	if err := scene.CreateBallY4M(source, 1920, 1080, 8); err != nil {
		b.Fatal(err)
	}
	for _, preset := range []pipeline.Preset{pipeline.Fast, pipeline.Balanced, pipeline.Best} {
		b.Run(string(preset), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
			clip := doubled(source)
			clip.Conversion.Synthesis.Preset = preset
			s := serve(b, Options{Clips: []Clip{clip}})
			get := func(method, path, body string) {
				if status, _, text := ask(b, s, method, path, body, nil); status != 200 {
					b.Fatalf("%s: %d %.200s", path, status, text)
				}
			}
			get("POST", "clip/0/rate", `{"on":false}`)
			const frame = "clip/0/frame?view=final&frame=5"
			get("GET", frame, "")
			x0, y0, r := scene.BallAt(1080, 2./24)
			x1, y1, _ := scene.BallAt(1080, 3./24)
			outline := fmt.Sprintf("[[%g,%g],[%g,%g],[%g,%g],[%g,%g]]", x0-r, y0-r, x0+r, y0-r, x0+r, y0+r, x0-r, y0+r)
			begun := processorTime(b)
			n := 0
			for b.Loop() {
				n++
				get("POST", "clip/0/edit", fmt.Sprintf(`{"do":"motion","first":5,"last":5,"outline":%s,"arrows":[[%g,%g,%g,%g]]}`, outline, x0, y0, x1+float64(n%7), y1))
				get("GET", frame, "")
			}
			b.ReportMetric((processorTime(b)-begun)/float64(n), "processor-s/arrow")
		})
	}
}

// processorTime returns how long the process has used processors, in seconds.
func processorTime(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
