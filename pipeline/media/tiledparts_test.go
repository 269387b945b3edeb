package media_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/frame"
	"retime/internal/cliptest"
	"retime/pipeline/fault"
	"retime/pipeline/media"
	"retime/pipeline/media/exr"
)

// Pictures whose first of several parts has tiles, which FFmpeg leaves black, are refused if OpenEXR does not take them or is not
// there, the first one and any later one.
func TestTiledPartsAreNotBlack(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	var lines bytes.Buffer
	grey := func(int, int) float32 { return 0.5 }
	cliptest.Must(t, exr.Write(&lines, 48, 32, []exr.Channel{{Name: "R", Type: exr.Half, Sample: grey}, {Name: "G", Type: exr.Half, Sample: grey}, {Name: "B", Type: exr.Half, Sample: grey}}))
	cliptest.Must(t, os.WriteFile(at("p.0.exr"), lines.Bytes(), 0o600))
	cliptest.Program(t, "exrmaketiled", "-t", "16", "16", at("p.0.exr"), at("tiles.exr"))
	cliptest.Program(t, "exrmultipart", "-combine", "-i", at("tiles.exr")+"::a", at("p.0.exr")+"::b", "-o", at("parts.exr"))
	file, err := os.ReadFile(at("parts.exr"))
	cliptest.Must(t, err)
	channel := func(name string) []byte { return append([]byte(name), 0, byte(exr.Half), 0, 0, 0) }
	file = bytes.Replace(file, channel("B"), channel("X"), 1)
	file = bytes.Replace(file, channel("R"), channel("B"), 1)
	file = bytes.Replace(file, channel("X"), channel("R"), 1) // which OpenEXR does not take in this order
	cliptest.Must(t, os.WriteFile(at("p.1.exr"), file, 0o600))
	for _, input := range []string{"p.%d.exr", "p.1.exr"} {
		r, err := media.Open(t.Context(), at(input), media.ReaderOptions{Log: slog.New(slog.DiscardHandler)})
		for err == nil {
			var f *frame.Frame
			if f, err = r.Read(); err == nil {
				f.Release()
			}
		}
		if r != nil {
			r.Close()
		}
		if fault.KindOf(err) != fault.BadData || !strings.Contains(fmt.Sprint(err), "tiles in the first of several parts: not supported") {
			t.Errorf("%s: %v", input, err)
		}
	}
}
