package review

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"retime/frame"
	"retime/internal/chromium"
	"retime/pipeline"
	"retime/pipeline/segment"
	"retime/pipeline/timeline"
)

// readPNG reads a grey mask.
func readPNG(name string) (frame.Image[uint8], error) {
	f, err := os.Open(name)
	if err != nil {
		return frame.Image[uint8]{}, err
	}
	defer f.Close()
	p, err := png.Decode(f)
	if err != nil {
		return frame.Image[uint8]{}, err
	}
	m := frame.NewImage[uint8](p.Bounds().Dx(), p.Bounds().Dy())
	for y := range m.Height {
		for x := range m.Width {
			r, _, _, _ := p.At(x, y).RGBA()
			m.Row(y)[x] = uint8(r >> 8)
		}
	}
	return m, nil
}

// wantCommandLine compares what was rendered with what the command line makes. At the clips' preset,
// x264 makes the same bytes of the same frames.
func wantCommandLine(t *testing.T, s *Server, what string) {
	t.Helper()
	got, err := os.ReadFile(s.options.Clips[0].Conversion.Output.File)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := os.ReadFile(commandLine(t, s)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the command line makes: %v", what, err)
	}
}

// commandLine renders a clip as its command does, in segments with the files of edits, and
// returns the name of the output and the frames' digests.
func commandLine(t *testing.T, s *Server) string {
	t.Helper()
	c, err := s.session(0)
	if err != nil {
		t.Fatal(err)
	}
	now, _ := c.store.State()
	o := c.clip.Conversion
	if err := now.Apply(&o); err != nil {
		t.Fatal(err)
	}
	o.Output.File = filepath.Join(t.TempDir(), filepath.Base(o.Output.File))
	if _, err := segment.Convert(context.Background(), o, segment.Options{Length: s.options.Segment, Program: "test"}); err != nil {
		t.Fatal(err)
	}
	return o.Output.File
}

// A person watches a clip, steps, compares, finds the frame that was made across a cut, mends
// it, and renders what changed; the file is that of the command line.
func TestPageMendsAFault(t *testing.T) {
	clip := doubled(cutClip(t, 160, 96, 96))
	s := serve(t, Options{Clips: []Clip{clip}})
	ctx := browser(t, s)
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()))
	shown(t, ctx, 0)

	var digests []string
	whole := clip.Conversion
	whole.Output = pipeline.Output{File: filepath.Join(t.TempDir(), "whole.mkv"), VideoCodec: "ffv1"}
	whole.Hooks.Digest = func(_ int64, d pipeline.Digest) { digests = append(digests, hex.EncodeToString(d[:])) }
	if _, err := pipeline.Run(context.Background(), whole); err != nil {
		t.Fatal(err)
	}
	same := func(k int) { // as the conversion makes it, bit for bit
		t.Helper()
		until(t, ctx, fmt.Sprintf(`document.getElementById("made").dataset.frame == "%d" && document.getElementById("made").dataset.digest == "%s"`, k, digests[k]))
	}
	same(0)
	chromium.Do(t, ctx, chromedp.KeyEvent(kb.ArrowRight))
	same(1)
	chromium.Do(t, ctx, chromedp.KeyEvent("."), chromedp.KeyEvent("."))
	same(3)
	chromium.Do(t, ctx, chromedp.KeyEvent(","))
	same(2)
	chromium.Do(t, ctx, chromedp.KeyEvent(kb.End))
	same(len(digests) - 1)

	chromium.Do(t, ctx, chromedp.KeyEvent("w"))
	until(t, ctx, fmt.Sprintf(`document.getElementById("other").dataset.view == "source" && document.getElementById("other").dataset.frame == "%d"`, len(digests)-1))
	if clipped := chromium.JS[string](t, ctx, `document.getElementById("other").style.clipPath`); clipped != "inset(0px 50% 0px 0px)" {
		t.Errorf("the wipe cuts by %q", clipped)
	}
	chromium.Do(t, ctx, chromedp.SetValue("#wipe", "25"), chromedp.Evaluate(`document.getElementById("wipe").dispatchEvent(new Event("input"))`, nil))
	if clipped := chromium.JS[string](t, ctx, `document.getElementById("other").style.clipPath`); clipped != "inset(0px 75% 0px 0px)" {
		t.Errorf("the wipe cuts by %q after a move", clipped)
	}
	chromium.Do(t, ctx, chromedp.KeyEvent("v"), chromedp.KeyEvent(kb.Home))
	same(0)

	until(t, ctx, `document.getElementById("rated").textContent == "all rated"`)
	chromium.Do(t, ctx, chromedp.KeyEvent("n"))
	planted := len(digests)/2 - 1
	shown(t, ctx, planted)
	shoot(t, ctx, "find")
	chromium.Do(t, ctx, chromedp.Click("#tab-why"))
	until(t, ctx, `document.getElementById("sentence").textContent.length > 0 && document.querySelectorAll("#drawings img").length > 8`)
	why := chromium.JS[string](t, ctx, `document.getElementById("sentence").textContent`)
	t.Log(why)
	shoot(t, ctx, "why")

	chromium.Do(t, ctx, chromedp.Click("#tab-render"), chromedp.Click("#render"))
	until(t, ctx, `document.getElementById("render-status").dataset.state == "done"`)
	wantCommandLine(t, s, "the first rendering")
	chromium.Do(t, ctx, chromedp.Click("#tab-decide"), chromedp.KeyEvent("c"))
	until(t, ctx, `document.getElementById("saved").textContent == "Saved" && document.querySelector('[data-cut="true"]').getAttribute("aria-pressed") == "true"`)
	shown(t, ctx, planted)
	until(t, ctx, fmt.Sprintf(`document.getElementById("made").dataset.digest != "%s"`, digests[planted]))
	shoot(t, ctx, "decide")
	chromium.Do(t, ctx, chromedp.Click("#tab-render"), chromedp.Click("#render"))
	until(t, ctx, `document.getElementById("render-status").dataset.state == "done" && !document.getElementById("render-status").textContent.includes("Edits since")`)
	shoot(t, ctx, "render")
	wantCommandLine(t, s, "the second rendering")
	c, _ := s.session(0)
	if r := c.state().Render; r.Kept == 0 || r.Kept >= r.Parts {
		t.Errorf("%d of %d segments were kept", r.Kept, r.Parts)
	}
	chromium.Do(t, ctx, chromedp.Click("#undo"))
	until(t, ctx, `document.getElementById("undo").disabled`)
	same(planted)
	if _, err := os.Stat(clip.Files.Decisions); !os.IsNotExist(err) {
		t.Errorf("after the undo, the decisions file is there: %v", err)
	}
}

// A keyframe that is dragged changes the speed of what is shown at once, and stands in the file
// that the command line reads.
func TestPageDragsACurve(t *testing.T) {
	clip := doubled(cutClip(t, 320, 180, 24))
	s := serve(t, Options{Clips: []Clip{clip}})
	ctx := browser(t, s)
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()))
	shown(t, ctx, 0)
	before := chromium.JS[int](t, ctx, `Number(document.getElementById("goto").max)`)
	chromium.Do(t, ctx, chromedp.Click("#tab-decide"), chromedp.SetValue("#goto", "24"), chromedp.Evaluate(`document.getElementById("goto").dispatchEvent(new Event("change"))`, nil))
	shown(t, ctx, 24)
	chromium.Do(t, ctx, chromedp.Click("#key-add"))
	until(t, ctx, `document.querySelectorAll("#keys tbody tr").length == 3`)
	slowed := chromium.JS[int](t, ctx, `Number(document.getElementById("goto").max)`)
	if slowed <= before {
		t.Errorf("%d frames at half the speed in the middle, %d before", slowed+1, before+1)
	}
	chromium.Do(t, ctx, chromedp.Evaluate(`document.getElementById("panel-decide").scrollTop = 0`, nil))
	shoot(t, ctx, "curve")
	// The middle keyframe lies at half of the width; drag it down to a lower speed.
	drag := `(() => { const c = document.getElementById("curve"), r = c.getBoundingClientRect(), h = r.height - 16;
		const y = (v) => r.top + 8 + h * (1 - Math.log(v / 5) / Math.log(400 / 5));
		const at = (type, x, yy) => c.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: x, clientY: yy, bubbles: true }));
		c.setPointerCapture = () => {};
		const x = [...Array(Math.round(r.width)).keys()].map((i) => r.left + i).find((i) => { at("pointermove", i, y(50)); return c.style.cursor === "grab" && i > r.left + r.width / 4; });
		at("pointerdown", x, y(50)); at("pointermove", x, y(25)); at("pointerup", x, y(25)); return x; })()`
	if x := chromium.JS[float64](t, ctx, drag); x == 0 {
		t.Fatal("there is no keyframe to drag")
	}
	until(t, ctx, fmt.Sprintf(`Number(document.getElementById("goto").max) > %d`, slowed))
	text, err := os.ReadFile(clip.Files.Curve)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := timeline.ParseKeyframes(bytes.NewReader(text))
	if err != nil || len(keys) != 3 {
		t.Fatalf("%v in the file:\n%s", err, text)
	}
	if v, _ := keys[1].Speed.Float64(); v < 0.2 || v > 0.35 {
		t.Errorf("the keyframe was dragged to %v, want about a quarter", v)
	}
	chromium.Do(t, ctx, chromedp.Click("#key-none"))
	until(t, ctx, fmt.Sprintf(`Number(document.getElementById("goto").max) == %d`, before))
}

// A rectangle that is drawn becomes the static mask; a region is made in its own way; each has a
// way by keyboard.
func TestPageDraws(t *testing.T) {
	clip := doubled(cutClip(t, 96, 64, 24))
	s := serve(t, Options{Clips: []Clip{clip}})
	ctx := browser(t, s)
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()))
	shown(t, ctx, 0)
	chromium.Do(t, ctx, chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent("r"))
	shown(t, ctx, 1)
	type place struct{ X, Y, Width, Height float64 }
	at := chromium.JS[place](t, ctx, `(() => { const r = document.getElementById("marks").getBoundingClientRect(); return { x: r.left, y: r.top, width: r.width, height: r.height }; })()`)
	pointer := func(kind input.MouseType, x, y float64) chromedp.Action {
		return input.DispatchMouseEvent(kind, at.X+x*at.Width, at.Y+y*at.Height).WithButton(input.Left).WithButtons(1).WithClickCount(1)
	}
	chromium.Do(t, ctx, pointer(input.MousePressed, 0.25, 0.25), pointer(input.MouseMoved, 0.5, 0.4), pointer(input.MouseMoved, 0.75, 0.5), pointer(input.MouseReleased, 0.75, 0.5))
	until(t, ctx, `document.getElementById("about").textContent.startsWith("the drawn region")`)
	shoot(t, ctx, "draw")
	chromium.Do(t, ctx, chromedp.Click("#still"))
	until(t, ctx, `document.getElementById("overlay").value == "mask" && document.getElementById("saved").textContent == "Saved"`)
	mask, err := readPNG(clip.Files.Mask)
	if err != nil {
		t.Fatal(err)
	}
	if mask.Width != 96 || mask.Height != 64 || mask.Row(24)[48] != 255 || mask.Row(4)[4] != 0 || mask.Row(60)[48] != 0 {
		t.Errorf("the mask is %dx%d, %d in the rectangle", mask.Width, mask.Height, mask.Row(24)[48])
	}
	// By keyboard alone: the numbers of a rectangle, and a way to make it.
	set := func(id, v string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`{ const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("change")); }`, id, v), nil)
	}
	chromium.Do(t, ctx, set("box-x", "8"), set("box-y", "8"), set("box-w", "40"), set("box-h", "40"), chromedp.Click(`[data-method="nearest"]`))
	until(t, ctx, `document.querySelectorAll("#files li").length == 2`)
	c, _ := s.session(0)
	now, _ := c.store.State()
	if d := now.Decisions(); len(d) != 1 || d[0].Frame != 1 || len(d[0].Regions) != 1 || d[0].Regions[0].Method != pipeline.Nearest || d[0].Regions[0].Outline[2] != [2]float64{48, 48} {
		t.Errorf("decisions %+v", d)
	}
}

// Each layout fits into the page, at any width: nothing is cut off, and the pictures that are compared lie
// beside or on each other. On a narrow screen the picture stays in view above the tools.
func TestPageLayouts(t *testing.T) {
	clip := doubled(cutClip(t, 160, 90, 24))
	s := serve(t, Options{Clips: []Clip{clip}})
	ctx := browser(t, s)
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()))
	shown(t, ctx, 0)
	chromium.Do(t, ctx, chromedp.KeyEvent(kb.ArrowRight))
	shown(t, ctx, 1)
	type rect struct{ Left, Top, Right, Bottom float64 }
	type places struct {
		Stage, Made, Other rect
		Page, Screen       float64
	}
	for _, width := range []int64{1920, 1440, 390} {
		chromium.Do(t, ctx, emulation.SetDeviceMetricsOverride(width, 900, 1, width < 600))
		for _, key := range []string{"v", "w", "s", "d"} {
			chromium.Do(t, ctx, chromedp.KeyEvent(key))
			until(t, ctx, `document.getElementById("other").hidden || document.getElementById("other").dataset.frame == "1"`)
			chromium.Do(t, ctx, chromedp.Evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))`, nil,
				func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
			at := chromium.JS[places](t, ctx, `(() => { const r = (id) => { const b = document.getElementById(id).getBoundingClientRect(); return { left: b.left, top: b.top, right: b.right, bottom: b.bottom }; };
				return { stage: r("stage"), made: r("made"), other: r("other"), page: document.documentElement.scrollWidth, screen: innerWidth }; })()`)
			within := func(name string, a rect) {
				if a.Right-a.Left < 64 || a.Left < at.Stage.Left-1 || a.Right > at.Stage.Right+1 || a.Top < at.Stage.Top-1 || a.Bottom > at.Stage.Bottom+1 {
					t.Errorf("%d wide, %s: %s at %+v, the stage at %+v", width, key, name, a, at.Stage)
				}
			}
			within("the retimed frame", at.Made)
			if at.Page > at.Screen {
				t.Errorf("%d wide, %s: the page is %g wide", width, key, at.Page)
			}
			switch key {
			case "w":
				if at.Other != at.Made {
					t.Errorf("%d wide, %s: %+v over %+v", width, key, at.Other, at.Made)
				}
			case "s":
				within("the other frame", at.Other)
				if at.Other.Top != at.Made.Top || at.Other.Right > at.Made.Left {
					t.Errorf("%d wide, %s: %+v beside %+v", width, key, at.Other, at.Made)
				}
			}
			shoot(t, ctx, "layout-"+key)
		}
	}
	chromium.Do(t, ctx, emulation.SetDeviceMetricsOverride(390, 844, 1, true), chromedp.KeyEvent("v"), chromedp.Click("#tab-decide"), chromedp.Evaluate(`scrollTo(0, document.body.scrollHeight)`, nil))
	if top := chromium.JS[[2]float64](t, ctx, `[document.getElementById("stage").getBoundingClientRect().top, scrollY]`); top[0] < 0 || top[1] < 200 {
		t.Errorf("after scrolling by %g, the picture lies at %g", top[1], top[0])
	}
}

// A decided region is listed, is selected again by a click, changes its way, and goes.
func TestPageListsRegions(t *testing.T) {
	clip := doubled(cutClip(t, 96, 64, 24))
	s := serve(t, Options{Clips: []Clip{clip}})
	ctx := browser(t, s)
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()))
	shown(t, ctx, 0)
	set := func(id, v string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`{ const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("change")); }`, id, v), nil)
	}
	c, _ := s.session(0)
	regions := func(want ...pipeline.Method) {
		t.Helper()
		now, _ := c.store.State()
		var got []pipeline.Method
		for _, d := range now.Decisions() {
			for _, r := range d.Regions {
				got = append(got, r.Method)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("regions %q, want %q", got, want)
		}
	}
	lit := func(method string) {
		t.Helper()
		until(t, ctx, fmt.Sprintf(`[...document.querySelectorAll('[data-method][aria-pressed="true"]')].map((b) => b.dataset.method).join() == %q`, method))
	}
	chromium.Do(t, ctx, chromedp.Click("#tab-decide"), set("goto", "3"))
	shown(t, ctx, 3)
	chromium.Do(t, ctx, chromedp.KeyEvent("i"), set("goto", "5"), chromedp.KeyEvent("o"), set("box-x", "8"), set("box-y", "8"), set("box-w", "40"), set("box-h", "40"), chromedp.Click(`[data-method="nearest"]`))
	until(t, ctx, `document.querySelectorAll("#regions .region").length == 1 && document.querySelector("#regions .region").textContent == "nearest, frames 3 to 5, 40x40 at 8,8"`)
	lit("nearest")
	chromium.Do(t, ctx, chromedp.KeyEvent(kb.Escape), chromedp.KeyEvent("\\"), set("goto", "9"))
	shown(t, ctx, 9)
	lit("")
	chromium.Do(t, ctx, chromedp.Click("#regions .region"))
	shown(t, ctx, 3)
	lit("nearest")
	chromium.Do(t, ctx, chromedp.Click(`[data-method="blend"]`))
	until(t, ctx, `document.querySelector("#regions .region").textContent.startsWith("blend, frames 3 to 5") && document.querySelector("#regions .region").getAttribute("aria-pressed") == "true"`)
	regions(pipeline.Blended, pipeline.Blended, pipeline.Blended)
	shoot(t, ctx, "regions")
	chromium.Do(t, ctx, chromedp.Click(`#regions [aria-label^="Remove"]`))
	until(t, ctx, `document.querySelectorAll("#regions .region").length == 0 && !document.getElementById("regions-none").hidden`)
	regions()
}

// Two tabs show the same; a tab that is loaded again in the middle of a rendering shows how far
// it is; a file that was changed elsewhere is not overwritten.
func TestPageTabs(t *testing.T) {
	clip := doubled(cutClip(t, 96, 64, 36))
	s := serve(t, Options{Clips: []Clip{clip}})
	one := browser(t, s)
	chromium.Do(t, one, chromedp.Navigate(s.URL()))
	shown(t, one, 0)
	two, cancel := chromedp.NewContext(one)
	defer cancel()
	watch(t, two, s)
	chromium.Do(t, two, chromedp.Navigate(s.URL()))
	shown(t, two, 0)
	chromium.Do(t, one, chromedp.KeyEvent(kb.ArrowRight))
	shown(t, one, 1)
	chromium.Do(t, one, chromedp.KeyEvent("3"))
	until(t, two, `!document.getElementById("undo").disabled`)
	chromium.Do(t, two, chromedp.Click("#undo"))
	until(t, one, `document.getElementById("undo").disabled && !document.getElementById("redo").disabled`)

	chromium.Do(t, one, chromedp.Click("#tab-render"), chromedp.Click("#render"))
	until(t, one, `document.getElementById("render-status").dataset.state != "idle"`)
	chromium.Do(t, one, chromedp.Reload())
	until(t, one, `document.body.dataset.ready == "true" && document.getElementById("render-status").dataset.state != "idle"`)
	until(t, one, `document.getElementById("render-status").dataset.state == "done"`)
	until(t, two, `document.getElementById("render-status").dataset.state == "done"`)
	wantCommandLine(t, s, "the rendering")

	theirs := []byte(`{"frame":5,"method":"source","note":"mine"}` + "\n")
	if err := os.WriteFile(clip.Files.Decisions, theirs, 0o666); err != nil {
		t.Fatal(err)
	}
	chromium.Do(t, two, chromedp.KeyEvent("4"))
	until(t, two, `!document.getElementById("notice").hidden && document.getElementById("notice-text").textContent.includes("changed elsewhere")`)
	if b, _ := os.ReadFile(clip.Files.Decisions); !bytes.Equal(b, theirs) {
		t.Errorf("the file that was changed elsewhere holds %s", b)
	}
	shoot(t, two, "elsewhere")
	chromium.Do(t, two, chromedp.Click("#notice-reload"))
	until(t, two, `document.getElementById("notice").hidden`)
	chromium.Do(t, two, chromedp.KeyEvent("4"))
	until(t, two, `document.querySelector('[data-method="source"]').getAttribute("aria-pressed") == "true"`)
	b, err := os.ReadFile(clip.Files.Decisions)
	if err != nil || !bytes.Contains(b, []byte(`"note":"mine"`)) || !bytes.Contains(b, []byte(`"frame":0`)) {
		t.Errorf("%v; after the edit, the file holds %s", err, b)
	}
}

// A batch shows its clips, those with the worst places first, and leads to each.
func TestPageOfABatch(t *testing.T) {
	good, bad := doubled(cutClip(t, 96, 64, 24)), doubled(cutClip(t, 96, 64, 24))
	good.Conversion.Synthesis.SceneThreshold = nil
	good.State, bad.State = "pending", "done"
	failed := doubled(filepath.Join(t.TempDir(), "gone.mkv"))
	failed.State, failed.Problem = "failed", "the input is damaged"
	s := serve(t, Options{Clips: []Clip{good, failed, bad}, Batch: "clips"})
	ctx := browser(t, s)
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()))
	until(t, ctx, `document.querySelectorAll("#clips li").length == 3 && document.querySelectorAll("#clips .places img").length > 0`)
	until(t, ctx, `[...document.querySelectorAll("#clips li")].filter((l) => l.textContent.includes("100 % rated")).length == 2`)
	until(t, ctx, `document.querySelector("#clips li a").getAttribute("href") == "clip/2/"`) // the clip with the fault
	until(t, ctx, `[...document.querySelectorAll("#clips .places img")].every((i) => i.complete && i.naturalWidth > 0)`)
	shoot(t, ctx, "batch")
	// All are rendered but the one that cannot be opened; a second time, what is there stays.
	chromium.Do(t, ctx, chromedp.Evaluate(`document.getElementById("render-all").click()`, nil))
	until(t, ctx, `document.querySelectorAll("#clips .pill.done").length == 2 && document.querySelectorAll("#clips .pill.failed").length == 1 && !document.getElementById("render-all").disabled`)
	for _, c := range []Clip{good, bad} {
		if _, err := os.Stat(c.Conversion.Output.File); err != nil {
			t.Error(err)
		}
	}
	// A link keeps the focus while lines change places.
	chromium.Do(t, ctx, chromedp.Evaluate(`window.link = document.querySelector("#clips .places a"); link.focus();
		new MutationObserver(() => { window.moved = true; }).observe(document.getElementById("clips"), { childList: true })`, nil))
	moved := s.list()
	slices.Reverse(moved)
	s.hub.send(listTab, "clips", moved)
	until(t, ctx, `window.moved`)
	if !chromium.JS[bool](t, ctx, `document.activeElement == link`) {
		t.Error("the link has lost the focus")
	}
	// The page itself clicks: between two messages of the browser's, the line may change places.
	if _, err := chromedp.RunResponse(ctx, chromedp.Evaluate(`link.click()`, nil)); err != nil {
		t.Fatal(err)
	}
	until(t, ctx, `document.body.dataset.ready == "true" && document.getElementById("made").dataset.frame > 0`)
}
