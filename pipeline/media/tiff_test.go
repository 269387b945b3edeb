package media_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/fault"
	"retime/warp"
)

// TIFF in tiles, which FFmpeg decodes to black, and of floats is refused, alone or in a sequence, and premultiplied alpha, which FFmpeg
// marks as straight, warned of.
func TestTIFF(t *testing.T) {
	clip := writeScene(t, 64, 48, 2, 24, 1)
	entry := func(tag, kind, value uint16) []byte {
		return []byte{byte(tag), byte(tag >> 8), byte(kind), 0, 1, 0, 0, 0, byte(value), byte(value >> 8), 0, 0}
	}
	straight, software := entry(338, 3, 2), []byte{305 & 255, 1, 2, 0}
	tiles := [][2][]byte{{software, {322 & 255, 1, 2, 0}}}
	floats := [][2][]byte{{software, entry(339, 3, 3)}, {entry(258, 3, 16), entry(258, 3, 32)}}
	for _, c := range []struct {
		name, input, format string
		changes             [][2][]byte
		refused             bool
		says                string
	}{
		{"straight", "p%d.tif", "rgba64le", nil, false, ""},
		{"premultiplied", "p%d.tif", "rgba64le", [][2][]byte{{straight, entry(338, 3, 1)}}, false, "alpha of TIFF is premultiplied"},
		{"tiles", "p%d.tif", "rgba64le", tiles, true, "TIFF in tiles is not supported"},
		{"a picture in tiles", "p2.tif", "rgba64le", tiles, true, "TIFF in tiles is not supported"},
		{"floats", "p%d.tif", "gray16le", floats, true, "p1.tif: FFmpeg decodes no such picture (tiff)"},
		{"a picture of floats", "p2.tif", "gray16le", floats, true, "FFmpeg decodes no such picture (tiff)"},
	} {
		in := t.TempDir()
		ffmpeg(t, "-i", clip, "-pix_fmt", c.format, filepath.Join(in, "p%d.tif"))
		for n := 1; n <= 2; n++ {
			name := filepath.Join(in, fmt.Sprintf("p%d.tif", n))
			file, err := os.ReadFile(name)
			cliptest.Must(t, err)
			for _, change := range c.changes {
				at := bytes.Index(file, change[0])
				if at < 0 {
					t.Fatalf("%s: no such tag", c.name)
				}
				copy(file[at:], change[1])
			}
			cliptest.Must(t, os.WriteFile(name, file, 0o600))
		}
		var said strings.Builder
		_, err := pipeline.Run(t.Context(), pipeline.Options{
			Input: pipeline.Input{File: filepath.Join(in, c.input)}, Output: pipeline.Output{File: filepath.Join(t.TempDir(), "q%d.tif")},
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
