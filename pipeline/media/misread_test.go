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

// Pictures that FFmpeg leaves black or makes noise of are refused if OpenEXR does not take them or is not there: those whose first of
// several parts has tiles, and floats compressed by DWA, as the first picture and later.
func TestMisreadOpenEXR(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, kind exr.Type) []byte {
		var b bytes.Buffer
		grey := func(int, int) float32 { return 0.5 }
		cliptest.Must(t, exr.Write(&b, 48, 32, []exr.Channel{{Name: "R", Type: kind, Sample: grey}, {Name: "G", Type: kind, Sample: grey}, {Name: "B", Type: kind, Sample: grey}}))
		cliptest.Must(t, os.WriteFile(at(name), b.Bytes(), 0o600))
		return b.Bytes()
	}
	write("tiles.0.exr", exr.Half)
	cliptest.Program(t, "exrmaketiled", "-t", "16", "16", at("tiles.0.exr"), at("tiles.exr"))
	cliptest.Program(t, "exrmultipart", "-combine", "-i", at("tiles.exr")+"::a", at("tiles.0.exr")+"::b", "-o", at("parts.exr"))
	tiles, err := os.ReadFile(at("parts.exr"))
	cliptest.Must(t, err)
	dwa := bytes.Replace(write("dwa.0.exr", exr.Float), []byte("compression\x00\x01\x00\x00\x00\x03"), []byte("compression\x00\x01\x00\x00\x00\x08"), 1)
	for name, file := range map[string][]byte{"tiles": tiles, "dwa": dwa} {
		for _, c := range [][2]string{{"B\x00", "X\x00"}, {"R\x00", "B\x00"}, {"X\x00", "R\x00"}} { // OpenEXR takes no other order
			for _, kind := range []string{"\x01\x00\x00\x00", "\x02\x00\x00\x00"} {
				file = bytes.Replace(file, []byte(c[0]+kind), []byte(c[1]+kind), 1)
			}
		}
		cliptest.Must(t, os.WriteFile(at(name+".1.exr"), file, 0o600))
		for _, input := range []string{name + ".%d.exr", name + ".1.exr"} {
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
			text := fmt.Sprint(err)
			if fault.KindOf(err) != fault.BadData || !strings.Contains(text, "FFmpeg's decoder misreads it") || !strings.Contains(text, "not supported") {
				t.Errorf("%s: %v", input, err)
			}
		}
	}
}
