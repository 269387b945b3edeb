package review

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/big"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"retime/pipeline"
)

// A person draws a shape around a thing in the frame before, and an arrow to the thing in the frame
// after: all frames between the two show it on its way, at once, and so does the command line. The
// numbers do the same by keyboard.
func TestPageDrawsMotion(t *testing.T) {
	clip := doubled(cutClip(t, 160, 96, 24))
	clip.Conversion.Timing.Rate.Value = big.NewRat(4, 1)
	clip.Flags[0].Value = "4x"
	s := serve(t, Options{Clips: []Clip{clip}})
	ctx := browser(t, s)
	do(t, ctx, chromedp.Navigate(s.URL()))
	shown(t, ctx, 0)
	set := func(id, v string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`{ const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("change")); }`, id, v), nil)
	}
	view := func(v string) {
		t.Helper()
		until(t, ctx, fmt.Sprintf(`document.getElementById("made").dataset.view == %q`, v))
	}
	do(t, ctx, set("goto", "6"))
	shown(t, ctx, 6)
	torn := js[string](t, ctx, `document.getElementById("made").dataset.digest`)
	do(t, ctx, chromedp.KeyEvent("m"))
	view("before")
	type place struct{ X, Y, Width, Height float64 }
	at := js[place](t, ctx, `(() => { const r = document.getElementById("marks").getBoundingClientRect(); return { x: r.left, y: r.top, width: r.width, height: r.height }; })()`)
	pointer := func(kind input.MouseType, x, y float64) chromedp.Action {
		return input.DispatchMouseEvent(kind, at.X+x*at.Width, at.Y+y*at.Height).WithButton(input.Left).WithButtons(1).WithClickCount(1)
	}
	do(t, ctx, chromedp.KeyEvent("r"), pointer(input.MousePressed, 0.25, 0.25), pointer(input.MouseMoved, 0.4, 0.4), pointer(input.MouseMoved, 0.5, 0.5), pointer(input.MouseReleased, 0.5, 0.5))
	until(t, ctx, `document.getElementById("about").textContent.startsWith("the drawn region")`)
	view("before")
	do(t, ctx, chromedp.KeyEvent("m"), pointer(input.MousePressed, 0.375, 0.375), pointer(input.MouseMoved, 0.45, 0.4))
	view("after")
	shoot(t, ctx, "motion-arrow")
	do(t, ctx, pointer(input.MouseMoved, 0.5, 0.5), pointer(input.MouseReleased, 0.5, 0.5))
	until(t, ctx, `document.querySelectorAll("#regions .region").length == 1 && document.querySelector("#regions .region").textContent == "motion, frames 5 to 7, 40x24 at 40,24"`)
	shown(t, ctx, 6)
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
	arrows([4]float64{60, 36, 80, 48})

	// On through a range: the next interval has the thing where it is then.
	do(t, ctx, set("goto", "10"), chromedp.KeyEvent("o"), set("goto", "6"), chromedp.Click(`[data-method="motion"]`))
	until(t, ctx, `document.querySelectorAll("#regions .region").length == 2 && document.querySelectorAll("#regions .region")[1].textContent == "motion, frames 9 to 11, 40x24 at 60,36"`)
	do(t, ctx, chromedp.KeyEvent("\\"), chromedp.Click("#undo"))
	until(t, ctx, `document.querySelectorAll("#regions .region").length == 1 && document.getElementById("saved").textContent == "Saved"`)
	shown(t, ctx, 6)

	// Without a pointer.
	do(t, ctx, chromedp.KeyEvent("b"))
	view("before")
	do(t, ctx, chromedp.KeyEvent("b"))
	view("after")
	do(t, ctx, chromedp.KeyEvent("b"))
	view("final")
	do(t, ctx, set("arrow-x", "50"), set("arrow-y", "30"), set("arrow-u", "70.5"), set("arrow-v", "41"), chromedp.Focus("#arrow-add"), chromedp.KeyEvent("\r"))
	until(t, ctx, `document.getElementById("saved").textContent == "Saved"`)
	until(t, ctx, fmt.Sprintf(`document.getElementById("made").dataset.view == "final" && document.getElementById("command").textContent.includes(%q)`, filepath.Base(clip.Files.Decisions)))
	arrows([4]float64{60, 36, 80, 48}, [4]float64{50, 30, 70.5, 41})

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
	until(t, ctx, fmt.Sprintf(`document.getElementById("made").dataset.digest == %q`, digests[6]))
	do(t, ctx, chromedp.Click("#tab-render"), chromedp.Click("#render"))
	until(t, ctx, `document.getElementById("render-status").dataset.state == "done"`)
	wantCommandLine(t, s, "the rendering")

	// A frame of the source has nothing to draw on, and a shape or an arrow alone says nothing.
	do(t, ctx, set("goto", "8"), chromedp.KeyEvent("b"))
	until(t, ctx, `document.getElementById("notice-text").textContent == "frame 8 shows a source frame; go to a frame between two"`)
	do(t, ctx, set("goto", "9"), chromedp.KeyEvent("\u001b"), chromedp.KeyEvent("5"))
	until(t, ctx, `document.getElementById("notice-text").textContent.startsWith("Draw a shape")`)
	do(t, ctx, set("box-x", "8"), set("box-y", "8"), set("box-w", "40"), set("box-h", "40"), chromedp.KeyEvent("5"))
	until(t, ctx, `document.getElementById("notice-text").textContent.startsWith("Draw an arrow")`)
	if text := js[string](t, ctx, `document.getElementById("regions").textContent`); strings.Count(text, "motion") != 1 {
		t.Errorf("the regions are %s", text)
	}
}
