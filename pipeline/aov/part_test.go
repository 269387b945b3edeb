//go:build openexr

package aov

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"retime/frame"
	"retime/pipeline/media/exr"
	"retime/pipeline/stages"
	"retime/warp"
)

// Where a mask lets nothing in, a picture stays as it was, and by its weights the rest mixes. A neighbour
// without its channels does not count.
func TestReplaced(t *testing.T) {
	const w, h = 20, 4
	dir := t.TempDir()
	write := func(name string, light, z float32, further string) {
		t.Helper()
		same := func(v float32) func(x, y int) float32 { return func(int, int) float32 { return v } }
		channels := []exr.Channel{{Name: "R", Type: exr.Float, Sample: same(light)}, {Name: further, Type: exr.Float, Sample: same(light)}, {Name: "Z", Type: exr.Float, Sample: same(z)}}
		var file bytes.Buffer
		if err := exr.Write(&file, w, h, channels); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("dim", 1, 10, "light")
	write("bright", 3, 30, "light")
	write("glare", 1000, 20, "light") // beyond what the engine holds
	write("other", 3, 30, "lamp")
	var encoded bytes.Buffer
	if err := exr.Write(&encoded, w, h, []exr.Channel{{Name: "R", Type: exr.Float, Sample: func(x, y int) float32 { return 2.5 }}}); err != nil {
		t.Fatal(err)
	}
	mask := frame.NewImage[uint8](w, h)
	for y := range h {
		copy(mask.Row(y)[10:], []uint8{51, 204, 255, 255, 255, 255, 255, 255, 255, 255})
	}
	at := []int{0, 10, 11, 12} // columns
	for _, c := range []struct {
		name  string
		files [3]string // the neighbours, and what is replaced
		mask  frame.Image[uint8]
		want  map[string][]float32 // by channel, at the columns
	}{
		{"whole", [3]string{"dim", "bright", "glare"}, frame.Image[uint8]{}, map[string][]float32{"R": {2.5, 2.5, 2.5, 2.5}, "light": {1.5, 1.5, 1.5, 1.5}, "Z": {10, 10, 10, 10}}},
		{"a part", [3]string{"dim", "bright", "dim"}, mask, map[string][]float32{"R": {1, 2.5, 2.5, 2.5}, "light": {1, 1.1, 1.4, 1.5}, "Z": {10, 10, 10, 10}}},
		{"a part of glare", [3]string{"dim", "bright", "glare"}, mask, map[string][]float32{"R": {1000, 800.3, 201.2, 2.5}, "light": {1000, 800.3, 201.2, 1.5}, "Z": {20, 20, 10, 10}}},
		{"beside another", [3]string{"dim", "other", "bright"}, mask, map[string][]float32{"R": {3, 2.5, 2.5, 2.5}, "light": {3, 2.6, 1.4, 1}, "Z": {30, 30, 10, 10}}},
		{"between others", [3]string{"other", "other", "bright"}, mask, map[string][]float32{"R": {3, 2.5, 2.5, 2.5}, "light": {3, 3, 3, 3}, "Z": {30, 30, 30, 30}}},
	} {
		o := Options{File: func(n int64) (string, bool) { return filepath.Join(dir, c.files[n]), true }, Peak: 49, Log: slog.New(slog.DiscardHandler)}
		carrier, _, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		carrier.Next(stages.Origin{Pictures: [2]int64{0, 1}, Phase: warp.PhaseOne / 4, Shown: -1, Replaced: &stages.Replaced{Number: 2, Mask: c.mask}})
		made, err := carrier.Complete(t.Context(), encoded.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		parts, err := exr.Decode(made, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts[0].Planes {
			for i, want := range c.want[p.Name] {
				if got := p.Value(w + at[i]); got < want*0.9999 || got > want*1.0001 {
					t.Errorf("%s: channel %s has %v at %d, want %v", c.name, p.Name, got, at[i], want)
				}
			}
		}
	}
}
