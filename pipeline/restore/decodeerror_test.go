package restore

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"retime/pipeline"
)

// withoutSlice writes raw H.264 without one of its slices.
func withoutSlice(t *testing.T, stream string) string {
	t.Helper()
	data, err := os.ReadFile(stream)
	if err != nil {
		t.Fatal(err)
	}
	const kind, slice = 0x1f, 1 // nal_unit_type, and that of slices but for IDR pictures
	units, left := bytes.SplitAfter(data, []byte{0, 0, 1}), 6
	for i, unit := range units {
		if len(unit) > 0 && unit[0]&kind == slice {
			if left--; left == 0 {
				units[i] = nil
			}
		}
	}
	name := filepath.Join(t.TempDir(), "lost.h264")
	if err := os.WriteFile(name, bytes.Join(units, nil), 0o600); err != nil || left > 0 {
		t.Fatal(err, left)
	}
	return name
}

// A picture that lost a slice is found by any number of threads, in frames and in fields.
func TestDecodeErrors(t *testing.T) {
	for name, args := range map[string]string{"frames": "", "fields": ":interlaced=1:tff=1"} {
		in := withoutSlice(t, film(t, "a.h264", "-an", "-t", "1", "-vf", "scale=640:384", "-c:v", "libx264", "-bf", "2", "-x264-params", "slices=4:scenecut=0"+args))
		for _, threads := range []int{1, 2, 5} {
			found, err := scan(t.Context(), &Options{Detect: true, Convert: pipeline.Options{Input: pipeline.Input{File: in}, Compute: pipeline.Compute{Threads: threads}}})
			if err != nil {
				t.Fatal(err)
			}
			if len(found.findings) != 1 || found.findings[0].Kind != DecodeError || found.findings[0].First != found.findings[0].Last {
				t.Errorf("%s, %d threads: %+v", name, threads, found.findings)
			}
		}
	}
}
