package review

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"

	"retime/cmd/internal/review/edits"
	"retime/internal/chromium"
	"retime/internal/cliptest"
	"retime/pipeline"
)

// cutClip writes a clip of two scenes, with frames at 24 a second. The cut lies in its middle.
func cutClip(t *testing.T, width, height, frames int) string {
	t.Helper()
	raw := cliptest.WriteCut(t, width, height, frames)
	name := filepath.Join(filepath.Dir(raw), "clip.mkv")
	o := pipeline.Options{Input: pipeline.Input{File: raw}, Output: pipeline.Output{File: name, VideoCodec: "ffv1"}}
	if _, err := pipeline.Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	return name
}

// doubled returns a conversion of a clip to twice its rate that sees no cuts.
func doubled(input string) Clip {
	base := strings.TrimSuffix(input, filepath.Ext(input))
	return Clip{
		Conversion: pipeline.Options{
			Input: pipeline.Input{File: input}, Output: pipeline.Output{File: base + "-out.mp4", VideoOptions: map[string]string{"preset": "ultrafast"}},
			Timing:    pipeline.Timing{Rate: pipeline.Rate{Value: big.NewRat(2, 1), Multiple: true}},
			Synthesis: pipeline.Synthesis{SceneThreshold: new(2.0)},
		},
		Files: edits.Files{Decisions: base + ".decisions", Mask: base + ".mask.png", Curve: base + ".curve", ReadMask: readPNG},
		Flags: []Flag{{"fps", "2x"}, {"scene-threshold", "2"}, {"vopt", "preset=ultrafast"}},
	}
}

// serve serves clips until the test ends.
func serve(t testing.TB, o Options) *Server {
	t.Helper()
	o.Program = "test"
	if o.Segment == nil {
		o.Segment = big.NewRat(1, 3)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// browser starts a headless Chromium. It fails the test for every error on the console and
// every request that leaves the machine.
func browser(t *testing.T, s *Server) context.Context {
	t.Helper()
	ctx := chromium.Start(t, 1360, 860, 15*time.Minute)
	watch(t, ctx, s)
	return ctx
}

// watch fails the test for what a tab complains of. Refusals are shown on the page.
func watch(t *testing.T, ctx context.Context, s *Server) {
	t.Helper()
	chromium.Watch(t, ctx, s.URL(), log.SourceNetwork)
}

// until waits until an expression is true in the page.
func until(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	if err := chromedp.Run(ctx, chromedp.Poll(expression, nil, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(8*time.Minute))); err != nil {
		state := chromium.JS[string](t, ctx, `document.getElementById("readout").textContent + " | " + document.getElementById("notice-text").textContent + " | " + document.getElementById("render-status").textContent`)
		t.Fatalf("%s: %v; the page shows: %s", expression, err, state)
	}
}

// shown waits until the picture is a frame at the chosen preset.
func shown(t *testing.T, ctx context.Context, frame int) {
	t.Helper()
	until(t, ctx, fmt.Sprintf(`document.getElementById("made").dataset.frame == "%d" && document.getElementById("made").dataset.view == "final"`, frame))
}

// shoot writes a picture of the page if somebody wants to look at it.
func shoot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("RETIME_SCREENSHOTS")
	if dir == "" {
		return
	}
	for _, scheme := range []string{"dark", "light"} {
		for _, size := range [][2]int64{{1360, 860}, {390, 844}} {
			var b []byte
			chromium.Do(t, ctx, emulation.SetDeviceMetricsOverride(size[0], size[1], 1, size[0] < 600),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
				chromedp.Sleep(300*time.Millisecond), chromedp.FullScreenshot(&b, 100))
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s-%d.png", name, scheme, size[0])), b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	chromium.Do(t, ctx, emulation.ClearDeviceMetricsOverride(), emulation.SetEmulatedMedia())
}
