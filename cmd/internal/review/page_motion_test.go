package review

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"retime/internal/chromium"
	"retime/pipeline"
	"retime/testdata/scene"
)

// A person draws a shape around a thing in the frame before, and an arrow to the thing in the frame
// after: all frames between the two show it on its way, at once, and so does the command line. The
// numbers do the same by keyboard.
func TestPageDrawsMotion(t *testing.T) {
	source := filepath.Join(t.TempDir(), "ball.y4m")
	if err := scene.CreateBallY4M(source, 320, 180, 8); err != nil {
		t.Fatal(err)
	}
	clip := doubled(source)
	clip.Conversion.Timing.Rate.Value = big.NewRat(4, 1)
	clip.Flags[0].Value = "4x"
	s := serve(t, Options{Clips: []Clip{clip}})
	ctx := browser(t, s)
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()))
	shown(t, ctx, 0)
	set := func(id, v string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`{ const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("change")); }`, id, v), nil)
	}
	view := func(v string) {
		t.Helper()
		until(t, ctx, fmt.Sprintf(`document.getElementById("made").dataset.view == %q`, v))
	}
	chromium.Do(t, ctx, set("goto", "10"))
	shown(t, ctx, 10)
	torn := chromium.JS[string](t, ctx, `document.getElementById("made").dataset.digest`)
	chromium.Do(t, ctx, chromedp.KeyEvent("m"))
	view("before")
	type place struct{ X, Y, Width, Height float64 }
	at := chromium.JS[place](t, ctx, `(() => { const r = document.getElementById("marks").getBoundingClientRect(); return { x: r.left, y: r.top, width: r.width, height: r.height }; })()`)
	pointer := func(kind input.MouseType, x, y float64) chromedp.Action {
		return input.DispatchMouseEvent(kind, at.X+x*at.Width, at.Y+y*at.Height).WithButton(input.Left).WithButtons(1).WithClickCount(1)
	}
	around := []chromedp.Action{chromedp.KeyEvent("g")}
	for i := range 16 { // the ball of source frame 2 lies at 135, 57
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / 16)
		kind := input.MouseMoved
		if i == 0 {
			kind = input.MousePressed
		}
		around = append(around, pointer(kind, (135+18*cos)/320, (57+18*sin)/180))
	}
	chromium.Do(t, ctx, append(around, pointer(input.MouseReleased, 152.0/320, 50.0/180))...)
	until(t, ctx, `document.getElementById("about").textContent.startsWith("the drawn region")`)
	view("before")
	chromium.Do(t, ctx, chromedp.KeyEvent("m"), pointer(input.MousePressed, 135.0/320, 57.0/180), pointer(input.MouseMoved, 0.45, 0.4))
	view("after")
	shoot(t, ctx, "motion-arrow")
	chromium.Do(t, ctx, pointer(input.MouseMoved, 153.0/320, 94.5/180), pointer(input.MouseReleased, 153.0/320, 94.5/180))
	until(t, ctx, `document.querySelectorAll("#regions .region").length == 1 && document.querySelector("#regions .region").textContent == "motion, frames 9 to 11, 36x36 at 117,39"`)
	shown(t, ctx, 10)
	until(t, ctx, fmt.Sprintf(`document.getElementById("made").dataset.digest != %q && document.getElementById("saved").textContent == "Saved"`, torn))
	shoot(t, ctx, "motion")
	c, _ := s.session(0)
	arrows := func(want ...[4]float64) {
		t.Helper()
		now, _ := c.store.State()
		list := now.Decisions()
		if len(list) != 3 {
			t.Fatalf("decisions about %d frames, want 3", len(list))
		}
		for _, d := range list {
			if r := d.Regions; len(r) != 1 || r[0].Method != pipeline.DrawnMotion || !reflect.DeepEqual(r[0].Arrows, want) {
				t.Errorf("frame %d has %+v, want arrows %v", d.Frame, r, want)
			}
		}
	}
	arrows([4]float64{135, 57, 153, 94.5})

	// On through a range: the next interval has the thing where it is then.
	chromium.Do(t, ctx, set("goto", "14"), chromedp.KeyEvent("o"), set("goto", "10"), chromedp.Click(`[data-method="motion"]`))
	until(t, ctx, `document.querySelectorAll("#regions .region").length == 2 && document.querySelectorAll("#regions .region")[1].textContent == "motion, frames 13 to 15, 36x36 at 135,77"`)
	chromium.Do(t, ctx, chromedp.KeyEvent("\\"), chromedp.KeyEvent("b"))
	view("before")
	chromium.Do(t, ctx, chromedp.Click("#undo"))
	until(t, ctx, `document.querySelectorAll("#regions .region").length == 1 && document.getElementById("saved").textContent == "Saved"`)
	// Of choices that overtake each other, the last one is shown: after, and at once the frame itself, which the edit has changed.
	chromium.Do(t, ctx, chromedp.Evaluate(`for (const key of "bb") document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))`, nil))
	shown(t, ctx, 10)

	// Without a pointer.
	chromium.Do(t, ctx, chromedp.KeyEvent("b"))
	view("before")
	chromium.Do(t, ctx, chromedp.KeyEvent("b"))
	view("after")
	chromium.Do(t, ctx, chromedp.KeyEvent("b"))
	view("final")
	chromium.Do(t, ctx, set("arrow-x", "125"), set("arrow-y", "50"), set("arrow-u", "143.5"), set("arrow-v", "85"), chromedp.Focus("#arrow-add"), chromedp.KeyEvent("\r"))
	until(t, ctx, `document.getElementById("saved").textContent == "Saved"`)
	until(t, ctx, fmt.Sprintf(`document.getElementById("made").dataset.view == "final" && document.getElementById("command").textContent.includes(%q)`, filepath.Base(clip.Files.Decisions)))
	arrows([4]float64{135, 57, 153, 94.5}, [4]float64{125, 50, 143.5, 85})

	var digests []string
	now, _ := c.store.State()
	whole := clip.Conversion
	if err := now.Apply(&whole); err != nil {
		t.Fatal(err)
	}
	whole.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "whole.mkv"), VideoCodec: "ffv1"}
	whole.Hooks.Digest = func(_ int64, d pipeline.Digest) { digests = append(digests, hex.EncodeToString(d[:])) }
	if _, err := pipeline.Run(context.Background(), whole); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, fmt.Sprintf(`document.getElementById("made").dataset.digest == %q`, digests[10]))
	chromium.Do(t, ctx, chromedp.Click("#tab-render"), chromedp.Click("#render"))
	until(t, ctx, `document.getElementById("render-status").dataset.state == "done"`)
	wantCommandLine(t, s, "the rendering")

	// A frame of the source has nothing to draw on, and a shape or an arrow alone says nothing.
	chromium.Do(t, ctx, set("goto", "8"), chromedp.KeyEvent("b"))
	until(t, ctx, `document.getElementById("notice-text").textContent == "frame 8 shows a source frame; go to a frame between two"`)
	chromium.Do(t, ctx, set("goto", "9"), chromedp.KeyEvent("\u001b"), chromedp.KeyEvent("5"))
	until(t, ctx, `document.getElementById("notice-text").textContent.startsWith("Draw a shape")`)
	chromium.Do(t, ctx, set("box-x", "8"), set("box-y", "8"), set("box-w", "40"), set("box-h", "40"), chromedp.KeyEvent("5"))
	until(t, ctx, `document.getElementById("notice-text").textContent.startsWith("Draw an arrow")`)
	if text := chromium.JS[string](t, ctx, `document.getElementById("regions").textContent`); strings.Count(text, "motion") != 1 {
		t.Errorf("the regions are %s", text)
	}
}
