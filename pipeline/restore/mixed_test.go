package restore

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"retime/pipeline"
)

// Among interlaced frames, progressive ones are as welcome first as later: fields are made, FFV1 says of each frame what the input
// says of it, and encoders that code all frames as fields put the same one first in all.
func TestMixedMarks(t *testing.T) {
	for _, kinds := range [][]string{{"prog", "tff"}, {"bff", "prog", "bff"}} {
		order := map[string]string{"tff": "1,1", "bff": "1,0", "prog": "0,0"}
		var branches, joined string
		var want []string
		for i, kind := range kinds {
			branches += fmt.Sprintf("testsrc2=size=96x64:rate=25,format=yuv420p,trim=end_frame=6,setfield=%s[v%d];", kind, i)
			joined += fmt.Sprintf("[v%d]", i)
			if !slices.Contains(want, order[kind]) {
				want = append(want, order[kind])
			}
		}
		input := filepath.Join(t.TempDir(), "mixed.mkv")
		ffmpeg(t, "-filter_complex", branches+joined+fmt.Sprintf("concat=n=%d", len(kinds)), "-c:v", "ffv1", "-level", "3", input)
		if _, got := marks(t, input); !slices.Equal(got, want) {
			t.Fatalf("%v: the input is marked %v, want %v", kinds, got, want)
		}
		for _, out := range []struct{ codec, file string }{
			{"", "out.mkv"}, {"ffv1", "out.nut"}, {"libx264", "out.ts"}, {"mpeg2video", "out.mxf"}, {"mpeg4", "out.avi"}, {"prores_ks", "out.mov"},
		} {
			o := options(t, input)
			o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), out.file), VideoCodec: out.codec}
			o.Damage = frames(t, "8.t")
			mustRun(t, o)
			_, got := marks(t, o.Convert.Output.File)
			if all := order[kinds[len(kinds)-1]]; !slices.Equal(got, want) && (strings.HasSuffix(out.codec, "ffv1") || out.codec == "" || !slices.Equal(got, []string{all})) {
				t.Errorf("%v, %s in %s: marked %v, the input %v", kinds, out.codec, out.file, got, want)
			}
		}
	}
}

// If no frame says that it is interlaced and the options do, the output says it of every frame, with the field that they name first.
func TestStatedOrderMarksTheOutput(t *testing.T) {
	input := weaveScene(t, 6, "bff", pal, "", coding{"avi", "huffyuv", "yuv422p"})
	for _, out := range []struct{ codec, file string }{{"ffv1", "out.mkv"}, {"libx264", "out.mp4"}, {"mpeg2video", "out.ts"}} {
		o := options(t, input)
		o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), out.file), VideoCodec: out.codec}
		o.Damage, o.FieldOrder = frames(t, "3"), BottomField
		mustRun(t, o)
		if _, got := marks(t, o.Convert.Output.File); !slices.Equal(got, []string{"1,0"}) {
			t.Errorf("%s: marked %v", out.codec, got)
		}
	}
}

// A few marks among many, as damaged streams have them, make no fields, and a warning says so.
func TestStrayMarks(t *testing.T) {
	for _, c := range []struct {
		marked int
		fields bool
	}{{4, false}, {5, true}} {
		input := filepath.Join(t.TempDir(), "stray.mkv")
		ffmpeg(t, "-filter_complex", fmt.Sprintf("testsrc2=size=96x64:rate=25,format=yuv420p,trim=end_frame=20,setfield=prog[a];testsrc2=size=96x64:rate=25,format=yuv420p,trim=end_frame=%d,setfield=tff[b];[a][b]concat=n=2", c.marked),
			"-c:v", "ffv1", "-level", "3", input)
		o := options(t, input)
		o.Damage = frames(t, "8")
		var log strings.Builder
		o.Convert.Hooks.Log = slog.New(slog.NewTextHandler(&log, nil))
		o.Convert.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "out.ts"), VideoCodec: "mpeg2video"}
		mustRun(t, o)
		_, got := marks(t, o.Convert.Output.File)
		if fields := slices.Equal(got, []string{"1,1"}); fields != c.fields || strings.Contains(log.String(), "few frames are marked") == fields {
			t.Errorf("%d marked: marked %v; %s", c.marked, got, log.String())
		}
	}
}
