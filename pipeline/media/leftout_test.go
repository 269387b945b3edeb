package media_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/warp"
)

// What FFmpeg's decoders leave out of pictures, or its encoders of their description, is named, and
// half floats of OpenEXR stay half floats.
func TestWhatIsNotDecodedIsNamed(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	run := func(input, output, codec string) string {
		t.Helper()
		var said strings.Builder
		mustRun(t, pipeline.Options{
			Input: pipeline.Input{File: input}, Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Output: pipeline.Output{File: at(output), VideoCodec: codec, Overwrite: true},
			Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, nil))},
		})
		return said.String()
	}
	edit := func(name string, change func([]byte) []byte) {
		t.Helper()
		data, err := os.ReadFile(at(name))
		if err == nil {
			err = os.WriteFile(at(name), change(data), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}

	for _, format := range []string{"half", "float"} {
		ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=24", "-frames:v", "2", "-pix_fmt", "gbrpf32le", "-c:v", "exr", "-format", format, at(format+"%d.exr"))
		if said := run(at(format+"%d.exr"), "o"+format+"%d.exr", ""); strings.Contains(said, "OpenEXR") {
			t.Errorf("%s: said %q", format, said)
		}
		in, err1 := os.ReadFile(at(format + "2.exr"))
		out, err2 := os.ReadFile(at("o" + format + "2.exr"))
		if err1 != nil || err2 != nil || len(in) != len(out) {
			t.Errorf("%s: %d bytes become %d", format, len(in), len(out))
		}
	}
	// An attribute of its own, a channel that is no colour, of the alpha, and another window.
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=24", "-frames:v", "2", "-pix_fmt", "gbrapf32le", "-c:v", "exr", at("more%d.exr"))
	for _, name := range []string{"more1.exr", "more2.exr"} {
		edit(name, func(b []byte) []byte {
			b = bytes.Replace(b, []byte("writer\x00"), []byte("camera\x00"), 1)
			display := []byte("displayWindow\x00box2i\x00\x10\x00\x00\x00")
			b[bytes.Index(b, display)+len(display)+8]++ // a column more than the data
			return bytes.Replace(b, []byte("A\x00\x02\x00"), []byte("Z\x00\x02\x00"), 1)
		})
	}
	if said := run(at("more%d.exr"), "p%d.exr", "exr"); !strings.Contains(said, "attributes of OpenEXR: camera") || !strings.Contains(said, "channels of OpenEXR: Z") || !strings.Contains(said, "data window of OpenEXR") {
		t.Errorf("OpenEXR: said %q", said)
	}

	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=s=64x48:r=24", "-frames:v", "2", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-bsf:v", "h264_metadata=chroma_sample_loc_type=2", at("place.mp4"))
	for _, c := range []struct {
		output, codec string
		lost          bool
	}{{"o.mov", "prores_ks", true}, {"o.mkv", "ffv1", false}, {"o.nut", "rawvideo", false}, {"o.mp4", "", false}} {
		said := run(at("place.mp4"), c.output, c.codec)
		if strings.Contains(said, "chroma location") != c.lost {
			t.Errorf("%s in %s: said %q", c.codec, c.output, said)
		}
	}
}
