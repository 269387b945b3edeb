package review

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"retime/internal/chromium"
	"retime/pipeline"
)

// A preset and a shutter for a range show in its frames, which are those of a whole conversion
// with them, and go with undo, redo, the rendering and the command line; a way that contradicts
// them is refused where it is chosen.
func TestPageChoosesPresetAndShutter(t *testing.T) {
	clip := doubled(cutClip(t, 96, 64, 24))
	s := serve(t, Options{Clips: []Clip{clip}})
	ctx := browser(t, s)
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()))
	shown(t, ctx, 0)
	digests := func(change func(o *pipeline.Options)) (list []string) {
		t.Helper()
		whole := clip.Conversion
		whole.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "whole.mkv"), VideoCodec: "ffv1"}
		whole.Hooks.Digest = func(_ int64, d pipeline.Digest) { list = append(list, hex.EncodeToString(d[:])) }
		change(&whole)
		if _, err := pipeline.Run(context.Background(), whole); err != nil {
			t.Fatal(err)
		}
		return list
	}
	plain := digests(func(*pipeline.Options) {})
	fast := digests(func(o *pipeline.Options) { o.Synthesis.Preset = pipeline.Fast })
	blurred := digests(func(o *pipeline.Options) { o.Synthesis.Preset, o.Timing.Shutter = pipeline.Fast, big.NewRat(1, 2) })
	if plain[5] == fast[5] || fast[5] == blurred[5] {
		t.Fatal("the presets and the shutter make the same frame 5")
	}
	shows := func(k int, digest string) {
		t.Helper()
		until(t, ctx, fmt.Sprintf(`document.getElementById("made").dataset.frame == "%d" && document.getElementById("made").dataset.view == "final" && document.getElementById("made").dataset.digest == "%s"`, k, digest))
	}
	choose := func(id, value string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`{ const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("change")); }`, id, value), nil)
	}
	chromium.Do(t, ctx, choose("goto", "4"), chromedp.KeyEvent("i"), choose("goto", "6"), chromedp.KeyEvent("o"), choose("goto", "5"))
	shows(5, plain[5])
	chromium.Do(t, ctx, chromedp.Click("#tab-decide"))
	until(t, ctx, `document.getElementById("about").textContent == "frames 4 to 6" && document.getElementById("own-preset").value == ""`)
	chromium.Do(t, ctx, choose("own-preset", "fast"))
	shows(5, fast[5])
	chromium.Do(t, ctx, choose("own-shutter", "180"))
	shows(5, blurred[5])
	until(t, ctx, `document.getElementById("saved").textContent == "Saved" && document.getElementById("readout-how").textContent.endsWith("at preset fast, shutter 180°")`)
	shoot(t, ctx, "ways")
	chromium.Do(t, ctx, chromedp.Click("#undo"))
	shows(5, fast[5])
	until(t, ctx, `document.getElementById("own-shutter").value == "" && document.getElementById("own-preset").value == "fast"`)
	chromium.Do(t, ctx, chromedp.Click("#redo"))
	shows(5, blurred[5])
	chromium.Do(t, ctx, chromedp.Click(`[data-method="nearest"]`))
	until(t, ctx, `!document.getElementById("notice").hidden && document.getElementById("notice-text").textContent.includes("frame 4 has a method or regions, which are about a single moment")`)
	shoot(t, ctx, "ways-refused")
	chromium.Do(t, ctx, choose("goto", "7"))
	shows(7, plain[7])
	until(t, ctx, `document.getElementById("own-preset").value == "" && document.getElementById("own-shutter").value == ""`)

	// A frame that was asked for before an edit and comes after it is not shown.
	chromium.Do(t, ctx, chromedp.KeyEvent("\\"), chromedp.Evaluate(`{ const ask = window.fetch, gate = new Promise((open) => { window.letIn = open; }); window.waits = false;
		window.fetch = async (what, how) => { const answer = await ask(what, how); if (what === "frame?view=final&frame=9") { window.waits = true; await gate; } return answer; }; }`, nil), choose("goto", "9"))
	until(t, ctx, `window.waits`)
	chromium.Do(t, ctx, choose("own-preset", "fast"))
	until(t, ctx, `document.getElementById("saved").textContent == "Saved"`)
	chromium.Do(t, ctx, chromedp.Evaluate(`window.letIn()`, nil))
	shows(9, fast[9])

	if command := chromium.JS[string](t, ctx, `document.getElementById("command").textContent`); !strings.Contains(command, " --decisions "+clip.Files.Decisions) {
		t.Errorf("the command is %s", command)
	}
	chromium.Do(t, ctx, chromedp.Click("#tab-render"), chromedp.Click("#render"))
	until(t, ctx, `document.getElementById("render-status").dataset.state == "done"`)
	wantCommandLine(t, s, "the rendering")
}
