package review

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"retime/internal/chromium"
)

// accessible returns what checks a view of a page with axe-core, dark and light, wide and narrow.
func accessible(t *testing.T, ctx context.Context) func(view string) {
	t.Helper()
	axe, err := os.ReadFile(filepath.Join("..", "..", "..", "build", "axe-core-4.10.2", "axe.min.js"))
	if err != nil {
		t.Skip("needs axe-core; make test-page fetches it and runs this test")
	}
	return func(view string) {
		t.Helper()
		for _, scheme := range []string{"dark", "light"} {
			for _, width := range []int64{1360, 390} {
				chromium.Do(t, ctx, emulation.SetDeviceMetricsOverride(width, 860, 1, false), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
				type violation struct {
					ID, Impact, Help string
					Nodes            []struct{ HTML string }
				}
				var found struct {
					Violations []violation
					Passed     int
				}
				chromium.Do(t, ctx, chromedp.Evaluate(string(axe)+";0", nil), chromedp.Evaluate(`axe.run(document, { resultTypes: ["violations"] }).then((r) => ({ violations: r.violations, passed: r.passes.length }))`, &found,
					func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
				if found.Passed < 10 {
					t.Errorf("%s: axe checked %d rules only", view, found.Passed)
				}
				for _, v := range found.Violations {
					if v.Impact == "serious" || v.Impact == "critical" || v.Impact == "moderate" {
						t.Errorf("%s, %s, %d wide: %s: %s (%s): %v", view, scheme, width, v.Impact, v.Help, v.ID, v.Nodes)
					}
				}
			}
		}
	}
}

// axe-core finds no serious fault in any view.
func TestPageIsAccessible(t *testing.T) {
	clip := doubled(cutClip(t, 96, 64, 24))
	s := serve(t, Options{Clips: []Clip{clip, clip}, Batch: "clips"})
	ctx := browser(t, s)
	check := accessible(t, ctx)
	// The policy of the page lets no script in but its own; axe comes from the debugger.
	chromium.Do(t, ctx, page.SetBypassCSP(true), chromedp.Navigate(s.URL()))
	until(t, ctx, `document.querySelectorAll("#clips .pill").length == 2`)
	check("the list of clips")
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()+"clip/0/"))
	shown(t, ctx, 0)
	until(t, ctx, `document.getElementById("rated").textContent == "all rated"`)
	chromium.Do(t, ctx, chromedp.KeyEvent("n"), chromedp.KeyEvent("w"))
	until(t, ctx, `document.getElementById("made").dataset.frame > 0`)
	check("find")
	chromium.Do(t, ctx, chromedp.Click("#tab-why"))
	until(t, ctx, `document.querySelectorAll("#drawings img").length > 8`)
	check("why")
	chromium.Do(t, ctx, chromedp.Click("#tab-decide"), chromedp.Click("#key-add"))
	until(t, ctx, `document.querySelectorAll("#keys tbody tr").length == 3`)
	check("decide")
	chromium.Do(t, ctx, chromedp.Click("#tab-render"))
	check("render")
	chromium.Do(t, ctx, chromedp.Click("#help"))
	check("keys")
}

// The whole tool works by keyboard: every control can be reached with Tab and is named.
func TestPageByKeyboard(t *testing.T) {
	clip := doubled(cutClip(t, 96, 64, 24))
	s := serve(t, Options{Clips: []Clip{clip}})
	ctx := browser(t, s)
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()))
	shown(t, ctx, 0)
	reached := map[string]bool{}
	for range 60 {
		chromium.Do(t, ctx, chromedp.KeyEvent(kb.Tab))
		name := chromium.JS[string](t, ctx, `(() => { const e = document.activeElement; return e.id || e.dataset.do || e.name || e.tagName; })()`)
		reached[name] = true
	}
	for _, want := range []string{"help", "layout", "against", "overlay", "zoom", "stage", "play", "worse", "pace", "in", "loop", "goto", "timeline", "rate", "tab-find", "panel-find"} {
		if !reached[want] {
			t.Errorf("Tab does not reach %s; it reaches %v", want, reached)
		}
	}
	chromium.Do(t, ctx, chromedp.Focus("#tab-find"), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
	if open := chromium.JS[bool](t, ctx, `!document.getElementById("panel-decide").hidden && document.activeElement.id == "tab-decide"`); !open {
		t.Error("the arrow keys do not move between the tabs")
	}
	chromium.Do(t, ctx, chromedp.Focus("#timeline"), chromedp.KeyEvent(kb.ArrowRight))
	shown(t, ctx, 1)
	if text := chromium.JS[string](t, ctx, `document.getElementById("timeline").getAttribute("aria-valuetext")`); text != "frame 1, 0.02 seconds" {
		t.Errorf("the timeline says %q", text)
	}
	chromium.Do(t, ctx, chromedp.KeyEvent("3"))
	until(t, ctx, `document.querySelector('[data-method="nearest"]').getAttribute("aria-pressed") == "true"`)
	chromium.Do(t, ctx, chromedp.Focus("#goto"), chromedp.KeyEvent("4"))
	if n := chromium.JS[string](t, ctx, `document.querySelector('[data-method="nearest"]').getAttribute("aria-pressed")`); n != "true" {
		t.Error("a digit in a field decides about the frame")
	}
}

// Every key that docs/review.md lists does something.
func TestPageHasEveryKey(t *testing.T) {
	s := serve(t, Options{Clips: []Clip{doubled(cutClip(t, 96, 64, 12))}})
	ctx := browser(t, s)
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()))
	shown(t, ctx, 0)
	for _, key := range []string{
		"ArrowLeft", "ArrowRight", ",", ".", "j", "k", "l", " ", "Home", "End", "n", "p", "i", "o", "\\", "v", "w", "s", "d", "z", "1", "2", "3", "4", "5", "0", "c", "x", "r", "g", "m", "b", "Escape",
		"ctrl z", "ctrl Z",
	} {
		control := strings.HasPrefix(key, "ctrl ")
		key = strings.TrimPrefix(key, "ctrl ")
		press := fmt.Sprintf(`document.body.dispatchEvent(new KeyboardEvent("keydown", { key: %q, ctrlKey: %t, shiftKey: %t, bubbles: true, cancelable: true }))`, key, control, key == "Z")
		if chromium.JS[bool](t, ctx, press) { // nobody has prevented what the browser does by itself
			t.Errorf("key %q does nothing", key)
		}
	}
	undoIsTheFields(t, ctx)
}
