package evaluate

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"retime/internal/chromium"
	"retime/pipeline"
)

// browser opens a page in headless Chromium. It fails the test on every console error and on every
// request that leaves the machine.
func browser(t *testing.T, page string) context.Context {
	t.Helper()
	ctx := chromium.Start(t, 1200, 1000, 6*time.Minute)
	chromium.Watch(t, ctx, "file:")
	chromium.Do(t, ctx, chromedp.Navigate("file://"+page))
	return ctx
}

func TestPageInBrowser(t *testing.T) {
	dir := t.TempDir()
	o := Options{Input: pipeline.Input{File: writeCut(t, 96, 64, 32, 9)}, Dir: dir, Worst: 2, Regions: 3, Peers: []Peer{{Name: "blend", Method: Blend}, {Name: "nearest", Method: Nearest}}}
	report := mustRun(t, o)
	ctx := browser(t, filepath.Join(dir, pageName))

	t.Run("plots", func(t *testing.T) {
		type curve struct {
			Measure, Path string
			Width, Height float64
		}
		curves := chromium.JS[[]curve](t, ctx, `[...document.querySelectorAll("#plots svg path.curve")].map((p) => ({measure: p.closest("svg").dataset.measure,
			path: p.getAttribute("d"), width: p.getBoundingClientRect().width, height: p.closest("svg").getBoundingClientRect().height}))`)
		if len(curves) != 6*3+1 {
			t.Fatalf("%d curves, want 6 measures of 3 methods and a confidence", len(curves))
		}
		for _, c := range curves {
			// Two shots make two runs of the line, with as many points as frames.
			if m, l := strings.Count(c.Path, "M"), strings.Count(c.Path, "L"); m != 2 || m+l != len(report.Frames) || strings.Contains(c.Path, "NaN") {
				t.Errorf("%s: %d runs of %d points: %q", c.Measure, m, m+l, c.Path)
			}
			if c.Width < 500 || c.Height < 100 {
				t.Errorf("%s: a curve %.0f pixels wide in a plot %.0f high", c.Measure, c.Width, c.Height)
			}
		}
		if n := chromium.JS[int](t, ctx, `document.querySelectorAll("#plots a.flag").length`); n != 2 {
			t.Errorf("%d worst frames are flagged, want 2", n)
		}
		chromium.Do(t, ctx, chromedp.Click(`#legend label:nth-of-type(2) input`))
		if n := chromium.JS[int](t, ctx, `document.querySelectorAll("#plots path.curve").length`); n != 6*2+1 {
			t.Errorf("%d curves with one method hidden, want 13", n)
		}
		chromium.Do(t, ctx, chromedp.Click(`#legend label:nth-of-type(2) input`))
	})

	t.Run("readout", func(t *testing.T) {
		chromium.Do(t, ctx, chromedp.Focus(`#plots`), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
		got := chromium.JS[string](t, ctx, `document.getElementById("readout").textContent`)
		want := fmt.Sprintf("Frame %d, %.3f s", report.Frames[1].Index, report.Frames[1].Time)
		value := fmt.Sprintf("%.2f dB balanced", report.Methods[0].Frames.PSNRY[1])
		if !strings.HasPrefix(got, want) || !strings.Contains(got, value) {
			t.Errorf("read out %q, want %q and %q", got, want, value)
		}
		chromium.Do(t, ctx, chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.ArrowRight))
		if got, want := chromium.JS[string](t, ctx, `document.getElementById("readout").textContent`), fmt.Sprintf("Frame %d,", report.Frames[len(report.Frames)-1].Index); !strings.HasPrefix(got, want) {
			t.Errorf("at the end, read out %q, want %q", got, want)
		}
	})

	t.Run("slider", func(t *testing.T) {
		const slider = `#worst-1 input[type="range"]`
		state := func() (s struct {
			Value string
			Clip  string
			Text  string
		}) {
			chromium.Do(t, ctx, chromedp.Evaluate(fmt.Sprintf(`(() => { const s = document.querySelector('%s');
				return {value: s.value, clip: getComputedStyle(s.parentElement.querySelector(".truth")).clipPath, text: s.getAttribute("aria-valuetext")}; })()`, slider), &s))
			return s
		}
		before := state()
		chromium.Do(t, ctx, chromedp.Focus(slider), chromedp.KeyEvent(strings.Repeat(kb.ArrowRight, 20)))
		right := state()
		if before.Value != "50" || right.Value != "60" || right.Clip == before.Clip || right.Text != "60 % truth" {
			t.Errorf("20 times right: from %+v to %+v", before, right)
		}
		chromium.Do(t, ctx, chromedp.ScrollIntoView(slider))
		box := chromium.JS[[4]float64](t, ctx, fmt.Sprintf(`(() => { const r = document.querySelector('%s').getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()`, slider))
		chromium.Do(t, ctx, chromedp.MouseClickXY(box[0]+box[2]/4, box[1]+box[3]/2))
		clicked := state()
		if clicked.Value != "25" || clicked.Clip == right.Clip {
			t.Errorf("a click at a quarter: from %+v to %+v", right, clicked)
		}
	})

	t.Run("pictures", func(t *testing.T) {
		chromium.Do(t, ctx, chromedp.Poll(`[...document.querySelectorAll(".exhibit img")].filter((i) => i.src).every((i) => i.complete)`, nil))
		type picture struct {
			Alt           string
			Width, Height int
		}
		for _, p := range chromium.JS[[]picture](t, ctx, `[...document.querySelectorAll(".exhibit figure:not([hidden]) img, .stage img")].map((i) => ({alt: i.alt, width: i.naturalWidth, height: i.naturalHeight}))`) {
			flow := strings.HasPrefix(p.Alt, "Optical flow")
			if p.Alt == "" || !flow && (p.Width != 96 || p.Height != 64) || flow && p.Width == 0 {
				t.Errorf("picture %q is %dx%d", p.Alt, p.Width, p.Height)
			}
		}
		made := chromium.JS[string](t, ctx, `document.querySelector("#worst-1 .stage .made").src`)
		chromium.Do(t, ctx, chromedp.Click(`#worst-1 .picker tbody tr:nth-child(2) input`))
		if chromium.JS[string](t, ctx, `document.querySelector("#worst-1 .stage .made").src`) == made {
			t.Error("another method shows the same picture")
		}
		if name := chromium.JS[string](t, ctx, `document.querySelector("#worst-1 .corner.right").textContent`); name != "blend" {
			t.Errorf("the picture is labelled %q, want blend", name)
		}
		if !chromium.JS[bool](t, ctx, `document.querySelector('#worst-1 [data-picture="flow"]').closest("figure").hidden`) {
			t.Error("a blend shows optical flow")
		}
		chromium.Do(t, ctx, chromedp.Click(`#worst-1 [data-picture="error"]`))
		if !chromium.JS[bool](t, ctx, `document.getElementById("enlarged").open`) {
			t.Error("a picture does not open")
		}
		chromium.Do(t, ctx, chromedp.KeyEvent(kb.Escape))
		if chromium.JS[bool](t, ctx, `document.getElementById("enlarged").open`) {
			t.Error("Escape does not close a picture")
		}
	})

	t.Run("regions", func(t *testing.T) {
		chromium.Do(t, ctx, chromedp.Poll(`[...document.querySelectorAll(".region img")].every((i) => i.complete && i.naturalWidth)`, nil))
		type tile struct {
			Alt, Caption         string
			Width, Height        int
			Left, Top, Shown, Of float64
		}
		if n := chromium.JS[int](t, ctx, `document.querySelectorAll(".region").length`); n != len(report.Regions) || n == 0 {
			t.Fatalf("%d regions are shown, want %d", n, len(report.Regions))
		}
		tiles := chromium.JS[[]tile](t, ctx, `[...document.querySelectorAll("#region-1 figure")].map((f) => { const i = f.querySelector("img"), r = i.getBoundingClientRect();
			return {alt: i.alt, caption: f.querySelector("figcaption").innerText, width: i.naturalWidth, height: i.naturalHeight, left: r.left, top: r.top, shown: r.width, of: r.height}; })`)
		region := report.Regions[0]
		where := fmt.Sprintf("Frame %d, region 1, ", report.Frames[region.Frame].Index)
		want := []string{"source frame before", "truth", "source frame after"}
		captions := []string{"Source before", "Truth", "Source after"}
		for i, m := range report.Methods {
			want = append(want, "made by "+m.Name)
			captions = append(captions, fmt.Sprintf("%s\n%.2f dB", m.Name, region.PSNRY[i]))
		}
		if len(tiles) != len(want) {
			t.Fatalf("%d tiles, want %d", len(tiles), len(want))
		}
		for i, p := range tiles {
			if p.Alt != where+want[i]+", enlarge" || strings.TrimSpace(p.Caption) != captions[i] {
				t.Errorf("tile %d is %q, %q; want %q, %q", i, p.Alt, p.Caption, where+want[i], captions[i])
			}
			if p.Width != region.Width || p.Height != region.Height || math.Abs(p.Shown/p.Of-float64(p.Width)/float64(p.Height)) > 0.02 {
				t.Errorf("tile %d of %dx%d is shown %.0f by %.0f", i, p.Width, p.Height, p.Shown, p.Of)
			}
			if p.Top != tiles[0].Top || i > 0 && p.Left <= tiles[i-1].Left {
				t.Errorf("tile %d lies at %.0f, %.0f: not beside the one before", i, p.Left, p.Top)
			}
		}
		chromium.Do(t, ctx, chromedp.Click(`#region-1 [data-picture="0"]`))
		source := `document.querySelector("#enlarged img").src`
		if !chromium.JS[bool](t, ctx, `document.getElementById("enlarged").open && `+source+` === document.querySelector('#region-1 [data-picture="0"] img').src`) {
			t.Error("a click does not show the region large")
		}
		chromium.Do(t, ctx, chromedp.KeyEvent(kb.Escape))
	})

	t.Run("access", func(t *testing.T) {
		if bad := chromium.JS[[]string](t, ctx, `[...document.querySelectorAll("input, button")].filter((e) => {
			const name = e.getAttribute("aria-label") || (e.labels && e.labels.length && e.labels[0].textContent) || (e.querySelector("img") && e.querySelector("img").alt);
			return !name && !e.closest("[hidden]");
		}).map((e) => e.outerHTML)`); len(bad) > 0 {
			t.Errorf("controls without a name: %q", bad)
		}
		chromium.Do(t, ctx, emulation.SetDeviceMetricsOverride(360, 800, 1, true))
		if w := chromium.JS[int](t, ctx, `document.documentElement.scrollWidth`); w > 360 {
			t.Errorf("on a screen 360 pixels wide the page is %d wide", w)
		}
		ground := `getComputedStyle(document.body).backgroundColor`
		var colours []string
		for _, scheme := range []string{"light", "dark"} {
			chromium.Do(t, ctx, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
			colours = append(colours, chromium.JS[string](t, ctx, ground))
		}
		if colours[0] == colours[1] {
			t.Errorf("light and dark are both %s", colours[0])
		}
	})
}

// brokenWords lists the words of the page that are broken across lines.
const brokenWords = `(() => {
	const words = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const text = texts.currentNode;
		if (text.parentElement.closest("script, style, noscript, svg, [hidden]")) continue;
		for (const m of text.data.matchAll(/[\p{L}\p{N}]+/gu)) {
			const range = document.createRange();
			range.setStart(text, m.index);
			range.setEnd(text, m.index + m[0].length);
			if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) words.push(m[0]);
		}
	}
	return words;
})()`

// On a phone and on a desktop, the page is as wide as the screen, tables scroll in boxes of their
// own, and no word is broken.
func TestPageOnScreens(t *testing.T) {
	dir := t.TempDir()
	o := Options{
		Input: pipeline.Input{File: writeCut(t, 96, 64, 32, 9)}, Dir: dir, Worst: 1, Regions: 1,
		Settings: []Setting{{Name: "interpolated-forward"}, {Name: "Donaudampfschifffahrt"}},
		Peers:    []Peer{{Name: "crossfaded", Method: Blend}, {Name: "nearestneighbour", Method: Nearest}},
	}
	mustRun(t, o)
	ctx := browser(t, filepath.Join(dir, pageName))
	for _, width := range []int64{320, 390, 768, 1280} {
		chromium.Do(t, ctx, emulation.SetDeviceMetricsOverride(width, 844, 1, width < 700))
		if w := chromium.JS[int64](t, ctx, `document.documentElement.scrollWidth`); w > width {
			t.Errorf("on a screen %d pixels wide the page is %d wide", width, w)
		}
		if words := chromium.JS[[]string](t, ctx, brokenWords); len(words) > 0 {
			t.Errorf("on a screen %d pixels wide these words are broken: %q", width, words)
		}
		type table struct {
			Name       string
			Box, Table int64
			Scrolls    bool
			Caption    int64
		}
		for _, b := range chromium.JS[[]table](t, ctx, `[...document.querySelectorAll("table")].map((e) => {
			const box = e.closest(".scroll");
			const caption = e.querySelector("caption span");
			return {name: e.className, box: box ? Math.ceil(box.getBoundingClientRect().right) : 1e6, table: e.scrollWidth, caption: caption ? Math.ceil(caption.getBoundingClientRect().right) : 0,
				scrolls: box && getComputedStyle(box).overflowX === "auto" && box.scrollWidth > box.clientWidth};
		})`) {
			if b.Box > width || b.Caption > width {
				t.Errorf("on a screen %d pixels wide, the box of table %q ends at %d, its caption at %d", width, b.Name, b.Box, b.Caption)
			}
			if width <= 390 && b.Name == "figures" && !b.Scrolls {
				t.Errorf("on a screen %d pixels wide, table %q, %d wide, does not scroll", width, b.Name, b.Table)
			}
		}
	}
}

// The page works without pictures, peers or VIF, and with names that contain markup.
func TestPageOfLittle(t *testing.T) {
	dir := t.TempDir()
	const name = `</script><b>&"'`
	o := Options{Input: pipeline.Input{File: writeScene(t, 32, 24, 3, 24)}, Dir: dir, NoVIF: true, Settings: []Setting{{Name: name, Values: map[string]string{"mode": name}}}}
	mustRun(t, o)
	ctx := browser(t, filepath.Join(dir, pageName))
	if n := chromium.JS[int](t, ctx, `document.querySelectorAll("#plots svg").length`); n != 6 {
		t.Errorf("%d plots, want those of PSNR, PSNR_DIV, SSIM, detail, false speckle and confidence", n)
	}
	if got := chromium.JS[string](t, ctx, `document.querySelector("tbody th").textContent`); got != name {
		t.Errorf("the name %q shows as %q", name, got)
	}
	if n := chromium.JS[int](t, ctx, `document.querySelectorAll(".exhibit, .region, noscript b, b b").length`); n != 0 {
		t.Errorf("%d elements that should not be there", n)
	}
}

func TestPageNeedsNothingElse(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, Options{Input: pipeline.Input{File: writeScene(t, 32, 24, 5, 24)}, Dir: dir, Worst: 1})
	page, err := os.ReadFile(filepath.Join(dir, pageName))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"http://", "https://", "src=\"", "@import", "url("} {
		if strings.Contains(strings.ReplaceAll(string(page), "http://www.w3.org/2000/svg", ""), s) {
			t.Errorf("the page has %q", s)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, dataName))
	if err != nil {
		t.Fatal(err)
	}
	var inPage, inFile any
	_, rest, _ := strings.Cut(string(page), `id="data">`)
	embedded, _, _ := strings.Cut(rest, "</script>")
	if err := json.Unmarshal([]byte(embedded), &inPage); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &inFile); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(inPage) != fmt.Sprint(inFile) {
		t.Error("the page's numbers are not those of report.json")
	}
}
