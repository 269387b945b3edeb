//go:build unix

package motion

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"retime/flow"
	"retime/flow/opencv"
	"retime/frame"
	"retime/testdata/scene"
	"retime/warp"
)

var finer = Scale{Level: 1, Finer: true}

// sceneFrame draws the scene at a time in seconds.
func sceneFrame(t *testing.T, width, height int, at float64) *frame.Frame {
	t.Helper()
	f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, width, height)
	t.Cleanup(f.Release)
	copy(frame.Samples[uint8](f.Planes[0]).Pix, scene.Draw(width, height, at).Y)
	return f
}

// Flow that was estimated on finer pictures equals the flow between them, halved, and is zero where
// the guides do not move. Exact.
func TestFinerFlow(t *testing.T) {
	for _, size := range [][2]int{{73, 51}, {72, 50}, {1, 1}, {1, 40}} {
		width, height := size[0], size[1]
		var frames [2]*frame.Frame
		var fine, guides [2]Guide
		for i := range frames {
			frames[i] = sceneFrame(t, width, height, float64(i)/12)
			fine[i] = NewGuide(frames[i], Scale{}).Numbered(int64(i))
			guides[i] = NewGuide(frames[i], finer).Numbered(int64(i))
		}
		dir := t.TempDir()
		files := filepath.Join(dir, "%d.flo")
		writeFlo(t, filepath.Join(dir, "0.flo"), uniform(width, height, flow.Vec{X: 7, Y: -3}))
		methods := []Method{DIS, FromCommand}
		if width*height > 1 { // the size of a file tells how often to halve it
			methods = append(methods, FromFiles+Method(files))
		}
		if min(width, height) > 12 && opencv.Version() != "" {
			methods = append(methods, OpenCVDIS, Farneback)
		}
		for _, m := range methods {
			t.Run(fmt.Sprintf("%dx%d %.10s", width, height, m), func(t *testing.T) {
				if m == FromCommand {
					m += Method(example(t))
				}
				e, err := newEstimate(t.Context(), Params{Method: m, Log: slog.New(slog.DiscardHandler), OpenCV: openCV})
				must(t, err)
				defer e.close()
				var want warp.FlowPair
				must(t, e.estimate(fine[0], fine[1], &want))
				want.Forward, want.Backward = flow.Halve(want.Forward), flow.Halve(want.Backward)
				a, b := warp.Halve(warp.Luma(frames[0])), warp.Halve(warp.Luma(frames[1]))
				must(t, flow.KeepStill(a, b, frame.Workers{}, want.Forward, want.Backward))

				whole, err := NewEstimator(t.Context(), Params{Method: m, Log: slog.New(slog.DiscardHandler), OpenCV: openCV})
				must(t, err)
				defer whole.Close()
				got := estimated(t, whole, guides[0], guides[1])
				for i, f := range []flow.Field{got.Forward, got.Backward} {
					w := []flow.Field{want.Forward, want.Backward}[i]
					if f.Width != (width+1)/2 || f.Height != (height+1)/2 || !slices.Equal(f.Pix, w.Pix) {
						t.Errorf("direction %d: %dx%d vectors, %v..., want %v...", i, f.Width, f.Height, f.Pix[:1], w.Pix[:1])
					}
				}
			})
		}
	}
}

// The finer picture is the frame's own luma, and the guide is made from it once.
func TestFinerGuide(t *testing.T) {
	f := sceneFrame(t, 73, 51, 0)
	g := NewGuide(f, finer)
	luma, half := warp.Luma(f), warp.Halve(warp.Luma(f))
	if got := g.searched(); &got.Pix[0] != &luma.Pix[0] {
		t.Error("the finer picture is a copy of the luma")
	}
	same := g
	if got := g.Picture(); !slices.Equal(got.Pix, half.Pix) || &got.Pix[0] != &same.Picture().Pix[0] {
		t.Error("the guide is another picture than the halved luma, or made twice")
	}
	if m := g.OnDevice(); m.Width != 37 || m.Height != 26 {
		t.Errorf("the device is to make a guide of %dx%d", m.Width, m.Height)
	}
	if m := g.OnDevice().Finer; m.Width != 73 || m.Height != 51 {
		t.Errorf("the device is to make a finer picture of %dx%d", m.Width, m.Height)
	}
	if m := NewGuide(f, Scale{Level: 1}).OnDevice().Finer; m.Width != 0 {
		t.Errorf("beside a guide that flow is estimated on, the device is to make a picture of %dx%d", m.Width, m.Height)
	}
}

// Halved flow is kept apart from flow that was not halved, even if both were estimated on the same
// pictures, and both are read back unchanged.
func TestFinerFlowIsKeptApart(t *testing.T) {
	dir := t.TempDir()
	a, b := sceneFrame(t, 46, 33, 0), sceneFrame(t, 46, 33, 0.1)
	scales := []Scale{{}, finer, {Level: 1}, {Level: 2, Finer: true}}
	var first []warp.FlowPair
	for pass := range 2 {
		for i, s := range scales {
			e, err := NewEstimator(t.Context(), Params{Method: DIS, Cache: mustCache(t, dir)})
			must(t, err)
			p := estimated(t, e, NewGuide(a, s), NewGuide(b, s))
			e.Close()
			if pass == 0 {
				first = append(first, p)
			} else if !slices.Equal(p.Forward.Pix, first[i].Forward.Pix) || !slices.Equal(p.Backward.Pix, first[i].Backward.Pix) {
				t.Errorf("%+v: the flow that was kept differs", s)
			}
		}
		wantFiles(t, dir, len(scales))
	}
}
