package vectors

import (
	"os"
	"path/filepath"
	"testing"

	"retime/flow"
	"retime/pipeline/fault"
	"retime/pipeline/stages"
	"retime/warp"
)

// uniform returns flow of 4x3 vectors, for pictures of 7x5 pixels.
func uniform(x, y int32) flow.Field {
	f := flow.NewField(4, 3)
	for i := range f.Pix {
		f.Pix[i] = flow.Vec{X: x, Y: y}
	}
	return f
}

func between(n int64, there, back flow.Field) stages.Vectors {
	return stages.Vectors{Number: n, Next: n + 1, Width: 7, Height: 5, FlowPair: warp.FlowPair{Forward: there, Backward: back}}
}

// A picture's layers are the vectors to the next and to the one before: twice as long as on halved guides, v upwards,
// and half of their span from the middle if they are normalised.
func TestLayers(t *testing.T) {
	for _, c := range []struct {
		format        Format
		u, v, up, out float32
	}{
		{Format{}, 1.5, -3, -1.5, 0},
		{Format{Half: true, Span: 16}, 0.5 + 1.5/32, 0.5 - 3./32, 0.5 - 1.5/32, 0.5},
	} {
		w, err := NewWriter(Options{File: filepath.Join(t.TempDir(), "%d.exr"), Format: c.format, Confidence: true, First: 7})
		if err != nil {
			t.Fatal(err)
		}
		v := between(2, uniform(192, 384), uniform(-192, -384))
		l, err := w.layer(v, v.Forward, v.Backward)
		if err != nil || l.Width != 7 || l.Height != 5 || l.level != 1 {
			t.Fatalf("%dx%d, level %d, %v", l.Width, l.Height, l.level, err)
		}
		channels := w.channels(&[2]layer{l, {}})
		for i, want := range []float32{c.u, c.v, 1, 0, c.out, c.out, 0, 1} {
			if got := channels[i].Sample(1, 1); got != want {
				t.Errorf("%+v: channel %s is %v, want %v", c.format, channels[i].Name, got, want)
			}
		}
		if got := channels[3].Sample(6, 4); got != 1 {
			t.Errorf("what leaves the picture: occluded %v", got)
		}
	}
}

// Files appear when both neighbours of a picture are known, or at the end, whatever order they come in.
func TestEXRNumbers(t *testing.T) {
	dir := t.TempDir()
	w, err := NewWriter(Options{File: filepath.Join(dir, "####.exr"), First: 1001})
	if err != nil {
		t.Fatal(err)
	}
	files := func() (n int) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	for _, c := range []struct {
		pair int64
		want int
	}{{2, 0}, {0, 0}, {1, 2}, {1, 2}, {8, 2}} {
		if err := w.Write(between(c.pair, uniform(1, 2), uniform(3, 4))); err != nil {
			t.Fatal(err)
		}
		if got := files(); got != c.want {
			t.Errorf("after pair %d: %d files, want %d", c.pair, got, c.want)
		}
	}
	apart := between(20, uniform(1, 2), uniform(3, 4))
	apart.Next = 22 // a picture is left out
	if err := w.Write(apart); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil || w.Count() != 4 || files() != 6 {
		t.Errorf("%d pairs, %d files, %v", w.Count(), files(), err)
	}
	for _, name := range []string{"1001.exr", "1004.exr", "1009.exr", "1010.exr"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// Numbers below 0 are refused if the files would not be read with them; those of .flo count from 0.
func TestFilesBelowZero(t *testing.T) {
	for name, refused := range map[string]bool{"shot####.exr": true, "shot.####.exr": false, "shot####.flo": false} {
		if _, err := NewWriter(Options{File: filepath.Join(t.TempDir(), name), First: -1}); (err != nil) != refused || refused && fault.KindOf(err) != fault.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}
