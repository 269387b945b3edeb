//go:build openexr

package aov

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"retime/flow"
	"retime/internal/cliptest"
	"retime/pipeline/media/exr"
	"retime/pipeline/stages"
	"retime/warp"
)

// Pictures of several parts, and of tiles, between which a frame is made half-way, where everything moves
// by 4 pixels.
func TestPartsAndTiles(t *testing.T) {
	const w, h = 40, 24
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, channels ...exr.Channel) {
		t.Helper()
		var file bytes.Buffer
		if err := exr.Write(&file, w, h, channels); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ramp := func(n int) func(x, y int) float32 { return func(x, y int) float32 { return float32(x - 4*n + 100*y) } }
	for n, name := range []string{"0", "1"} {
		write("beauty"+name, exr.Channel{Name: "R", Type: exr.Half, Sample: func(x, y int) float32 { return 0.5 }})
		write("extra"+name, exr.Channel{Name: "light", Type: exr.Float, Sample: ramp(n)}, exr.Channel{Name: "Z", Type: exr.Float, Sample: ramp(n)})
		cliptest.Program(t, "exrmultipart", "-combine", "-i", at("beauty"+name)+"::beauty", at("extra"+name)+"::extra", "-o", at("parts"+name))
		cliptest.Program(t, "exrmaketiled", "-t", "16", "16", at("extra"+name), at("tiles"+name))
	}
	move := func(x int32) flow.Field {
		f := flow.NewField(w, h)
		for i := range f.Pix {
			f.Pix[i].X = x * 256
		}
		return f
	}
	var encoded bytes.Buffer
	if err := exr.Write(&encoded, w, h, []exr.Channel{{Name: "R", Type: exr.Float, Sample: func(x, y int) float32 { return 0.75 }}}); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	vectors := stages.Vectors{Next: 1, Width: w, Height: h, FlowPair: warp.FlowPair{Forward: move(4), Backward: move(-4)}}
	for kind, last := range map[string]int{"parts": 1, "tiles": 0} {
		c, has, err := New(Options{File: func(n int64) (string, bool) { return at(kind + string(rune('0'+n))), n < 2 }, Rate: big.NewRat(48, 1), Peak: 49, Log: log})
		if err != nil || has != (Contents{Further: true}) {
			t.Fatalf("%s: %+v, %v", kind, has, err)
		}
		c.Vectors(vectors)
		c.Next(stages.Origin{Pictures: [2]int64{1, 0}, Phase: warp.PhaseOne / 2, Shown: -1}) // backward
		c.Next(stages.Origin{Pictures: [2]int64{1, 1}, Shown: 1})
		made, err := c.Complete(t.Context(), encoded.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		parts, err := exr.Decode(made, 0)
		if err != nil || len(parts) != last+1 {
			t.Fatalf("%s: %d parts, %v", kind, len(parts), err)
		}
		if last > 0 && (parts[0].Name != "beauty" || parts[1].Name != "extra" || parts[0].Planes[0].Value(77) != 0.75) {
			t.Errorf("%s: part %q with %v, and part %q", kind, parts[0].Name, parts[0].Planes[0].Value(77), parts[1].Name)
		}
		for _, p := range parts[last].Planes {
			for _, x := range []int{8, 20, 30} {
				if got, want := p.Value(5*w+x), float32(x-2+500); got != want {
					t.Errorf("%s: channel %s has %v at %d, want %v", kind, p.Name, got, x, want)
				}
			}
		}
		whole, err := c.Complete(t.Context(), encoded.Bytes())
		if file, e := os.ReadFile(at(kind + "1")); err != nil || e != nil || !bytes.Equal(whole, file) {
			t.Errorf("%s: a shot frame is another file; %v, %v", kind, err, e)
		}
	}
	// The other one stands for a damaged neighbour, where it is seen, and two of them are an error.
	file, err := os.ReadFile(at("parts1"))
	if err == nil {
		err = os.WriteFile(at("cut"), file[:len(file)/2], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for k, pair := range [][]string{{"parts0", "cut"}, {"cut", "parts1"}} {
		said.Reset()
		c, _, err := New(Options{File: func(n int64) (string, bool) { return at(pair[n]), true }, Rate: big.NewRat(48, 1), Peak: 49, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		c.Vectors(vectors)
		c.Next(stages.Origin{Pictures: [2]int64{0, 1}, Phase: warp.PhaseOne / 2, Shown: -1})
		damaged := int64(1 - k)
		c.Next(stages.Origin{Pictures: [2]int64{damaged, damaged}, Shown: -1})
		if made, err := c.Complete(t.Context(), encoded.Bytes()); err != nil {
			t.Errorf("%v: %v", pair, err)
		} else if parts, err := exr.Decode(made, 0); err != nil || parts[1].Planes[0].Value(5*w+20) != 518 || parts[1].Planes[1].Value(5*w+20) != 518 {
			t.Errorf("%v: %v, %v", pair, parts[1].Planes[0].Value(5*w+20), err)
		}
		if n := strings.Count(said.String(), "damaged"); n != 1 {
			t.Errorf("%v: said %d times", pair, n)
		}
		if _, err := c.Complete(t.Context(), encoded.Bytes()); err == nil {
			t.Error("of a damaged picture: no error")
		}
	}
	// One that is not there is no damaged one.
	c, _, err := New(Options{File: func(n int64) (string, bool) { return at([]string{"parts0", "nothing"}[n]), true }, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	c.Next(stages.Origin{Pictures: [2]int64{0, 1}, Phase: 1, Shown: -1})
	if _, err := c.Complete(t.Context(), encoded.Bytes()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing picture: %v", err)
	}
	fewer := bytes.Clone(encoded.Bytes())
	fewer[bytes.Index(fewer, []byte("R\x00\x02"))+10] = 2 // columns to a sample
	if err := os.WriteFile(at("fewer0"), fewer, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := New(Options{File: func(int64) (string, bool) { return at("fewer0"), true }}); !errors.Is(err, exr.ErrUnsupported) {
		t.Errorf("fewer samples than pixels: %v", err)
	}
}

// A frame has the vectors of its pair among those that were told for it, in either order.
func TestVectorsOfPairs(t *testing.T) {
	c := &Carrier{}
	tell := func(numbers ...int64) {
		t.Helper()
		for _, n := range numbers {
			c.Vectors(stages.Vectors{Number: n, Next: n + 1, Width: int(n)})
		}
	}
	for _, step := range []struct {
		told  []int64
		a, b  int64
		width int // of the pair; 0 for none
	}{
		{[]int64{9}, 9, 10, 9}, {[]int64{9}, 10, 9, 9}, {nil, 9, 10, 0}, {[]int64{7, 8, 9}, 8, 9, 8}, {[]int64{3}, 4, 5, 0},
	} {
		tell(step.told...)
		c.Next(stages.Origin{Pictures: [2]int64{step.a, step.b}})
		if got := c.waiting.Take().vectors.Width; got != step.width {
			t.Errorf("%+v: %d", step, got)
		}
	}
}
