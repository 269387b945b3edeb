package stages_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"retime/pipeline"
	"retime/testdata/scene"
)

// onTwos makes a clip that shows each picture of the scene as often as holds
// says, in turn.
func onTwos(t *testing.T, width, height int, holds []int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "twos.y4m")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintf(f, "YUV4MPEG2 W%d H%d F24:1 Ip A1:1 C420jpeg\n", width, height)
	at := 0
	for _, n := range holds {
		p := scene.Draw(width, height, float64(at)/24)
		for range n {
			fmt.Fprintf(f, "FRAME\n%s%s%s", p.Y, p.U, p.V)
			at++
		}
	}
	return name
}

func TestDuplicates(t *testing.T) {
	const width, height = 192, 108
	for _, c := range []struct {
		name    string
		holds   []int
		dropped int64
	}{
		{"on twos", []int{2, 2, 2, 2, 2, 2}, 5}, // the last one's repeat stays
		{"on threes", []int{3, 3, 3}, 4},
		{"telecine 3:2", []int{1, 1, 1, 2, 1, 1, 1, 2, 1}, 2},
		{"a pause", []int{1, 1, 6, 1, 1}, 0},
		{"none", []int{1, 1, 1, 1}, 0},
		{"still", []int{9}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := lossless(t, onTwos(t, width, height, c.holds))
			o.Synthesis.Duplicates = pipeline.RetimeDuplicates
			report := mustRun(t, o)
			if report.Repeats != c.dropped {
				t.Errorf("%d repeats retimed, want %d", report.Repeats, c.dropped)
			}
			if report.Frames != report.Sources {
				t.Errorf("%d frames became %d", report.Sources, report.Frames)
			}
			if c.dropped == 0 {
				return
			}
			got, _, _ := readAll(t, o.Output.File)
			last := len(got) - c.holds[len(c.holds)-1]
			for k := range last {
				truth := scene.Draw(width, height, float64(k)/24).Y
				if p := psnr(got[k][:width*height], truth); p < 28 {
					t.Errorf("frame %d: %.1f dB from where the motion should be", k, p)
				}
			}
		})
	}
}

// A repeat before a cut does not move the cut.
func TestDuplicatesBeforeACut(t *testing.T) {
	input := writeCut(t, 320, 180, 8)
	doubled := filepath.Join(t.TempDir(), "doubled.nut")
	ffmpeg(t, "-i", input, "-vf", "fps=48", "-c:v", "rawvideo", doubled)
	o := lossless(t, doubled)
	source, _, _ := readAll(t, doubled)
	o.Synthesis.Duplicates = pipeline.RetimeDuplicates
	report := mustRun(t, o)
	got, _, _ := readAll(t, o.Output.File)
	if report.Repeats == 0 || len(report.Cuts) != 1 || len(got) != len(source) {
		t.Fatalf("%d repeats, cuts %v, %d frames", report.Repeats, report.Cuts, len(got))
	}
	for _, k := range []int{7, 8} {
		if p := psnr(got[k][:320*180], source[k][:320*180]); p < 60 {
			t.Errorf("frame %d beside the cut is not the source's: %.1f dB", k, p)
		}
	}
}
