package media_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/warp"
)

// TIFF in tiles, which FFmpeg decodes to black, is refused, and premultiplied alpha, which it marks as straight, warned of.
func TestTIFF(t *testing.T) {
	dir := t.TempDir()
	ffmpeg(t, "-i", writeScene(t, 64, 48, 2, 24, 1), "-pix_fmt", "rgba64le", filepath.Join(dir, "p%d.tif"))
	entry := func(tag, kind, value uint16) []byte {
		return []byte{byte(tag), byte(tag >> 8), byte(kind), 0, 1, 0, 0, 0, byte(value), byte(value >> 8), 0, 0}
	}
	straight, software := entry(338, 3, 2), []byte{305 & 255, 1, 2, 0}
	for _, c := range []struct {
		name     string
		from, to []byte
		refused  bool
		says     string
	}{
		{"straight", nil, nil, false, ""},
		{"premultiplied", straight, entry(338, 3, 1), false, "alpha of TIFF is premultiplied"},
		{"tiles", software, []byte{322 & 255, 1, 2, 0}, true, "p1.tif: TIFF in tiles is not supported"},
	} {
		in := t.TempDir()
		for n := 1; n <= 2; n++ {
			file, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("p%d.tif", n)))
			if err != nil || !bytes.Contains(file, c.from) {
				t.Fatalf("%s: no such tag, %v", c.name, err)
			}
			if c.from != nil {
				file = bytes.Replace(file, c.from, c.to, 1)
			}
			if err := os.WriteFile(filepath.Join(in, fmt.Sprintf("p%d.tif", n)), file, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var said strings.Builder
		_, err := pipeline.Run(t.Context(), pipeline.Options{
			Input: pipeline.Input{File: filepath.Join(in, "p%d.tif")}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "q%d.tif")},
			Synthesis: pipeline.Synthesis{Mode: warp.Blend}, Hooks: pipeline.Hooks{Log: slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))},
		})
		text := said.String()
		if err != nil {
			text += err.Error()
		}
		if (err != nil) != c.refused || c.refused && fault.KindOf(err) != fault.BadData || !strings.Contains(text, c.says) || c.says == "" && text != "" {
			t.Errorf("%s: %v; %s", c.name, err, said.String())
		}
	}
}
