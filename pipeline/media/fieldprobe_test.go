package media

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"retime/testdata/clips"
	"retime/testdata/scene"
)

// probed reads a clip through and returns what the probe of its fields says.
func probed(t *testing.T, clip string) string {
	t.Helper()
	var said strings.Builder
	r, err := Open(context.Background(), clip, ReaderOptions{ProbeFields: true, Log: slog.New(slog.NewTextHandler(&said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 80 {
		f, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		f.Release()
	}
	for _, word := range []string{"interlaced", "telecined"} {
		if strings.Contains(said.String(), "look "+word) {
			return word
		}
	}
	return "progressive"
}

// unmarked is excerpt for as many frames as a probe needs.
func unmarked(t *testing.T, filter string, args ...string) string {
	t.Helper()
	return excerpt(t, filter, "64", args...)
}

// excerpt writes a clip of some frames with the ffmpeg program, whose pictures are called progressive.
func excerpt(t *testing.T, filter, frames string, args ...string) string {
	t.Helper()
	clip := filepath.Join(t.TempDir(), "clip.nut")
	args = append(append([]string{"-v", "error", "-nostdin", "-y"}, args...), "-an", "-vf", filter+",setfield=prog", "-frames:v", frames, "-c:v", "rawvideo", clip)
	out, err := exec.Command("ffmpeg", args...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs the ffmpeg program; make deps installs it")
	}
	if err != nil {
		t.Fatalf("ffmpeg %q: %v\n%s", args, err, out)
	}
	return clip
}

// Test pictures have lines that resemble fields, and are none.
func TestTestPicturesAreProgressive(t *testing.T) {
	for _, source := range []string{
		"testsrc=s=320x240:r=25",
		"testsrc2=s=320x240:r=25",
		"testsrc2=s=192x108:r=24",
		"testsrc2=s=640x360:r=60",
		"mandelbrot=s=320x240:r=25",
		"life=s=320x240:r=25:seed=1:mold=10",
		"cellauto=s=320x240:r=25:seed=1",
		"cellauto=s=320x240:r=25:rule=18:seed=1",
		"sierpinski=s=320x240:r=25:seed=3",
		"sierpinski=s=320x240:r=25:type=triangle:seed=1",
		"sierpinski=s=320x240:r=25:type=triangle:seed=2",
		"smptebars=s=320x240:r=25",
		"rgbtestsrc=s=320x240:r=25",
		"gradients=s=320x240:r=25:speed=0.2:seed=1",
		"nullsrc=s=320x240:r=25,geq=random(1)*255:128:128",
		"nullsrc=s=320x240:r=25,geq='if(mod(Y,2),128+100*sin(X/9+N/3),30)':128:128",
		"nullsrc=s=320x240:r=25,geq='if(mod(Y+N,2),128+100*sin(X/9+N/3),30)':128:128",
		"nullsrc=s=320x240:r=25,geq='128+100*sin(Y*PI*0.9+N*0.3)':128:128",
	} {
		if got := probed(t, unmarked(t, "copy", "-f", "lavfi", "-i", source)); got != "progressive" {
			t.Errorf("%s looks %s", source, got)
		}
	}
}

// movingScene writes the scene of the tests, 60 frames a second.
func movingScene(t *testing.T, width, height, frames int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "scene.y4m")
	if err := scene.CreateY4M(name, width, height, frames, 60, 1); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFieldsAreRecognised(t *testing.T) {
	input := movingScene(t, 192, 108, 64)
	for _, c := range []struct{ filter, want string }{
		{"copy", "progressive"},
		{"format=yuv420p10,copy", "progressive"},
		{"scale=192:54:flags=area,scale=192:108:flags=neighbor", "progressive"}, // lines that are doubled
		{"crop=192:64:0:'mod(n,44)'", "progressive"},                            // moves by a line
		{"noise=alls=20:allf=t", "progressive"},
		{"unsharp=5:5:2", "progressive"},
		{"tinterlace=mode=interleave_top", "interlaced"},
		{"tinterlace=mode=interleave_bottom", "interlaced"},
		{"tinterlace=mode=interleave_top,format=yuv420p10", "interlaced"},
		{"tinterlace=mode=interleave_bottom,format=gbrp", "interlaced"},
		{"tinterlace=mode=interleave_bottom:flags=cvlpf", "interlaced"},
		{"tinterlace=mode=interleave_top,noise=alls=4:allf=t", "interlaced"},
		{"tinterlace=mode=interleave_top,bwdif=mode=send_field:parity=tff", "progressive"},
		{"telecine=pattern=23", "telecined"},
		{"telecine=pattern=32:first_field=bottom", "telecined"},
	} {
		if got := probed(t, unmarked(t, c.filter, "-i", input)); got != c.want {
			t.Errorf("%s: looks %s, want %s", c.filter, got, c.want)
		}
	}
}

// Of the real clips, only the interlaced one looks interlaced, and the others do if their
// frames become fields.
func TestFieldsOfClips(t *testing.T) {
	for _, clip := range clips.Find(t, "d*") {
		name, want := filepath.Base(clip), "progressive"
		if strings.Contains(name, "_interlaced_") {
			want = "interlaced"
		}
		input := clip
		if want == "interlaced" { // and says so, which leaves nothing to guess
			input = unmarked(t, "copy", "-i", clip)
		}
		if got := probed(t, input); got != want {
			t.Errorf("%s looks %s, want %s", name, got, want)
		}
		if want == "interlaced" || strings.Contains(name, "_vfr_") {
			continue
		}
		small := excerpt(t, "scale=480:-2", "128", "-i", clip)
		for _, order := range []string{"top", "bottom"} {
			woven := unmarked(t, "tinterlace=mode=interleave_"+order, "-i", small)
			if got := probed(t, woven); got != "interlaced" {
				t.Errorf("%s with its frames as fields, %s first, looks %s", name, order, got)
			}
		}
	}
}
