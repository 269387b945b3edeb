package motion

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"retime/flow"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/pipeline/media/sequence"
	"retime/testdata/posix"
	"retime/warp"
)

func writeFlo(t *testing.T, name string, f flow.Field) {
	t.Helper()
	file, err := os.Create(name)
	must(t, err)
	defer file.Close()
	must(t, flow.WriteFlo(file, f))
}

func uniform(width, height int, v flow.Vec) flow.Field {
	f := flow.NewField(width, height)
	for i := range f.Pix {
		f.Pix[i] = v
	}
	return f
}

// ramp makes fields that depend on the pictures' numbers.
type ramp struct{ calls int }

func (*ramp) name() string { return "ramp" }
func (*ramp) close()       {}

func (e *ramp) estimate(a, b Guide, dst *warp.FlowPair) error {
	e.calls++
	m := a.picture()
	dst.Forward = uniform(m.Width, m.Height, flow.Vec{X: int32(1000 + a.number), Y: int32(b.number)})
	dst.Backward = uniform(m.Width, m.Height, flow.Vec{X: int32(1000 + b.number), Y: int32(a.number)})
	return nil
}

// Files provide the flow between consecutive pictures, in either order; the rest is estimated.
func TestFlowFromFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const w, h = 7, 5
	three, back := flow.Vec{X: 3, Y: 4}, flow.Vec{X: -5, Y: 6}
	writeFlo(t, at("0003.flo"), uniform(w, h, three))
	writeFlo(t, at("0003.back.flo"), uniform(w, h, back))
	writeFlo(t, at("0004.flo"), uniform(2*w, 2*h-1, flow.Vec{X: 6, Y: 8})) // flow of the whole picture
	holes := uniform(w, h, three)
	holes.Pix[9] = flow.Unknown
	writeFlo(t, at("0005.flo"), holes)
	writeFlo(t, at("0005.back.flo"), uniform(w, h, back))
	own := func(n, m int32) flow.Field { return uniform(w, h, flow.Vec{X: 1000 + n, Y: m}) }
	filled := uniform(w, h, three)
	filled.Pix[9] = own(5, 6).Pix[9]
	guide := func(n int64) Guide { return grey(w, h, 9).Numbered(n) }
	for _, c := range []struct {
		a, b  Guide
		want  warp.FlowPair
		calls int
	}{
		{guide(3), guide(4), warp.FlowPair{Forward: uniform(w, h, three), Backward: uniform(w, h, back)}, 0},
		{guide(4), guide(3), warp.FlowPair{Forward: uniform(w, h, back), Backward: uniform(w, h, three)}, 0},
		{guide(4), guide(5), warp.FlowPair{Forward: uniform(w, h, three), Backward: own(5, 4)}, 1},
		{guide(5), guide(4), warp.FlowPair{Forward: own(5, 4), Backward: uniform(w, h, three)}, 1},
		{guide(5), guide(6), warp.FlowPair{Forward: filled, Backward: uniform(w, h, back)}, 1},
		{guide(3), guide(5), warp.FlowPair{Forward: own(3, 5), Backward: own(5, 3)}, 1},
		{guide(unnumbered), guide(0), warp.FlowPair{Forward: own(-1, 0), Backward: own(0, -1)}, 1},
	} {
		e, r := new(fromFiles), new(ramp)
		*e = fromFiles{pattern: pattern(at("%04d.flo")), own: r, log: slog.New(slog.DiscardHandler)}
		var got warp.FlowPair
		must(t, e.estimate(c.a, c.b, &got))
		if !reflect.DeepEqual(got, c.want) || r.calls != c.calls {
			t.Errorf("%d to %d: %v and %v, %d estimates", c.a.number, c.b.number, got.Forward.Pix[:10], got.Backward.Pix[:10], r.calls)
		}
	}
}

func TestFaultyFlowFiles(t *testing.T) {
	dir := t.TempDir()
	writeFlo(t, filepath.Join(dir, "1.flo"), flow.NewField(9, 9))
	must(t, os.WriteFile(filepath.Join(dir, "2.flo"), []byte("PIEHabc"), 0o666))
	writeFlo(t, filepath.Join(dir, "3.flo"), flow.NewField(7, 5))
	must(t, os.Mkdir(filepath.Join(dir, "3.back.flo"), 0o777))
	must(t, posix.Mkfifo(t, filepath.Join(dir, "4.flo"), 0o666))
	e := &fromFiles{pattern: pattern(filepath.Join(dir, "%d.flo")), own: new(ramp), log: slog.New(slog.DiscardHandler)}
	for n, want := range []struct {
		kind fault.Kind
		says string
	}{{fault.NoInput, "no such file"}, {fault.BadData, "is 9x9: want the picture's size, or that of its guide, 7x5"}, {fault.BadData, "header"}, {fault.NoInput, "back"}, {fault.NoInput, "is a pipe"}} {
		var dst warp.FlowPair
		g := func(n int) Guide {
			return GuideOf(func() frame.Image[uint8] { return frame.NewImage[uint8](7, 5) }).Numbered(int64(n))
		}
		err := e.estimate(g(n), g(n+1), &dst)
		if fault.KindOf(err) != want.kind || !strings.Contains(err.Error(), want.says) {
			t.Errorf("file %d: %v, want kind %d and %q", n, err, want.kind, want.says)
		}
		if n == 0 && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("file %d: %v", n, err)
		}
	}
}

func pattern(name string) sequence.Pattern {
	p, ok := sequence.Parse(name)
	if !ok {
		panic(name)
	}
	return p
}
