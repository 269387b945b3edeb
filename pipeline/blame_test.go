package pipeline

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline/fault"
)

// A container that refuses a stream whose header is damaged is no wrong use of a flag. An undamaged
// stream that it refuses is.
func TestDamagedHeadersAreBadData(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.ogg")
	ffmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=24:duration=1", "-f", "lavfi", "-i", "sine=duration=1", "-c:v", "libtheora", "-c:a", "libvorbis", whole)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(dir, "damaged.ogg")
	if err := os.WriteFile(damaged, bytes.Replace(text, []byte("\x05vorbis"), []byte("\x05vorbix"), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		input, format string
		want          fault.Kind
	}{{damaged, "matroska", fault.BadData}, {damaged, "webm", fault.BadData}, {whole, "matroska", 0}, {whole, "yuv4mpegpipe", fault.Usage}} {
		o := Options{Input: Input{File: c.input}, Output: Output{File: filepath.Join(dir, "out"), Format: c.format, Overwrite: true}}
		if c.format == "yuv4mpegpipe" {
			o.Output.VideoCodec = "ffv1"
		}
		_, err := Run(context.Background(), o)
		if got := fault.KindOf(err); err == nil && c.want != 0 || err != nil && got != c.want || c.want == fault.BadData && !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("%s into %s: %v, want kind %d", filepath.Base(c.input), c.format, err, c.want)
		}
	}
}
