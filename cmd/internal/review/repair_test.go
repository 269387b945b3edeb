package review

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"retime/cmd/internal/review/edits"
	"retime/cmd/internal/review/frames"
	"retime/frame"
	"retime/internal/chromium"
	"retime/internal/cliptest"
	"retime/pipeline"
	"retime/pipeline/media"
	"retime/pipeline/restore"
)

const damageList = `# my own words
3 black 0.980 0.125
# rejected: 7 garbled 0.400 0.29
10-11 repeated 0.700 0.4 region=4,4,40,30
14 jump 0.900 0.6  # insert=2
`

// damaged serves a list of damage in a small clip.
func damaged(t *testing.T) (*Restoration, *Server) {
	t.Helper()
	dir := t.TempDir()
	r := &Restoration{List: filepath.Join(dir, "damage.txt"), Flags: []Flag{{"preset", "fast"}}}
	r.Options.Convert = pipeline.Options{
		Input:     pipeline.Input{File: cliptest.WriteScene(t, 96, 64, 20, 24, 1)},
		Output:    pipeline.Output{File: filepath.Join(dir, "out.nut"), VideoCodec: "rawvideo"},
		Synthesis: pipeline.Synthesis{Preset: pipeline.Fast},
	}
	if err := os.WriteFile(r.List, []byte(damageList), 0o666); err != nil {
		t.Fatal(err)
	}
	return r, serve(t, Options{Restoration: r})
}

// A list keeps what is decided, and restore reads it as if it were written by hand.
func TestRepairList(t *testing.T) {
	r, server := damaged(t)
	name, s := r.List, server.repairs.store
	for _, e := range []repairEdit{
		{"reject", 0, ""}, {"accept", 1, ""}, {"kind", 1, "black"}, {"method", 2, "nearest"}, {"accept", 3, ""}, {"reject", 2, ""}, {"undo", 0, ""},
		{"regions", 0, "1,2,30,20  8,8,16,16"}, {"regions", 2, "4,4,40,30 1,2,3,4"}, {"regions", 2, ""}, {"undo", 0, ""}, {"undo", 0, ""},
	} {
		if err := s.do(&e); err != nil {
			t.Fatalf("%+v: %v", e, err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	got, err := restore.ParseList(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want, err := restore.ParseList(strings.NewReader("7 black 0.4 0.29\n10-11 repeated 0.7 0.4 region=4,4,40,30 method=nearest\n14 jump 0.9 0.6 insert=2\n"))
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("restore reads\n%v, want\n%v (%v)", got, want, err)
	}
	again := repairStore{name: name, input: s.input}
	if err := again.load(); err != nil || len(again.items) != 4 || !again.items[0].rejected || again.items[2].rejected {
		t.Errorf("%v: the list comes back as %+v", err, again.items)
	}
	if regions := again.items[0].Regions; len(regions) != 2 || regions[0].Width != 30 || regions[1].X != 8 {
		t.Errorf("the parts are %v", again.items[0].Regions)
	}
	for _, e := range []repairEdit{{"regions", 0, "1,2,3"}, {"regions", 0, "1,2,3,4#"}, {"regions", 0, "1,2,3,4\n5,6"}, {"regions", 3, "1,2,3,4"}, {"regions", 0, "500,500,10,10"}, {"regions", 0, "1,2,3,4 0,64,10,10"}, {"kind", 0, "purple"}, {"method", 0, "motion"}, {"accept", 4, ""}, {"accept", -1, ""}, {"dance", 0, ""}} {
		if err := s.do(&e); err == nil {
			t.Errorf("%+v is taken", e)
		}
	}
	if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, text) {
		t.Errorf("a wrong edit changes the file: %v", err)
	}
	const other = "5 black\n19 jump 0.900 0.8  # insert=2\n"
	for _, c := range []struct {
		list  string
		items int
	}{{"5 black 1 0.2 region=96,0,10,10\n", 4}, {"20 black\n", 4}, {other, 2}} {
		if err := os.WriteFile(name, []byte(c.list), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := s.do(&repairEdit{Do: "accept", Index: 0}); !errors.Is(err, edits.ErrElsewhere) {
			t.Errorf("a changed file: %v", err)
		}
		if err := s.do(&repairEdit{Do: "reload"}); len(s.items) != c.items || (err == nil) != (c.list == other) {
			t.Errorf("a changed file, %q, is read as %+v: %v", c.list, s.items, err)
		}
	}
	if err := s.do(&repairEdit{Do: "accept", Index: 1}); err == nil || s.items[1].restores() {
		t.Error("frames are inserted after the last one")
	}
	s.name = filepath.Join(t.TempDir(), "none.txt")
	if err := s.load(); err == nil || !strings.Contains(err.Error(), "--write-list") {
		t.Errorf("no file: %v", err)
	}
}

// The page shows the frames that a restoration by the list makes.
func TestRepairPictures(t *testing.T) {
	r, s := damaged(t)
	showsWhatIsMade(t, r, s, damageList, map[int]int{3: 0, 10: 2, 11: 2})
	for _, query := range []string{"what=made&frame=20&index=0&inserted=0", "what=made&frame=1&index=9&inserted=0", "what=other&frame=1", "what=source&frame=-1"} {
		if answer, err := http.Get(s.URL() + "picture?" + query); err != nil || answer.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %v, %v", query, answer, err)
		} else {
			answer.Body.Close()
		}
	}
}

// While a picture is made, findings are shown and edited.
func TestPicturesDoNotHoldEditsUp(t *testing.T) {
	_, s := damaged(t)
	s.repairs.making.Lock() // a picture is being made
	defer s.repairs.making.Unlock()
	for _, c := range []struct{ method, body string }{{"POST", `{"do":"reject","index":0}`}, {"GET", ""}} {
		if status, _, text := ask(t, s, c.method, "repairs", c.body, nil); status != http.StatusOK || !strings.Contains(text, `"rejected":true`) {
			t.Errorf("%s: %d %.200s", c.method, status, text)
		}
	}
}

const fieldList = "3.t black 0.98 0.12\n6 garbled 0.4 0.24\n7.b-8.b repeated 0.7 0.3 region=4,4,40,30\n"

// wovenDamage serves a list of damage in interlaced frames.
func wovenDamage(t *testing.T) (*Restoration, *Server) {
	t.Helper()
	dir := t.TempDir()
	input := filepath.Join(dir, "woven.mkv")
	cliptest.FFmpeg(t, "-i", cliptest.WriteScene(t, 96, 64, 24, 50, 1), "-vf", "format=yuv420p,tinterlace=interleave_top,setfield=tff", "-c:v", "ffv1", input)
	r := &Restoration{List: filepath.Join(dir, "damage.txt"), Flags: []Flag{{"preset", "fast"}}}
	r.Options.Convert = pipeline.Options{
		Input: pipeline.Input{File: input}, Output: pipeline.Output{File: filepath.Join(dir, "out.mkv"), VideoCodec: "ffv1"},
		Synthesis: pipeline.Synthesis{Preset: pipeline.Fast},
	}
	if err := os.WriteFile(r.List, []byte(fieldList), 0o666); err != nil {
		t.Fatal(err)
	}
	return r, serve(t, Options{Restoration: r})
}

// Of interlaced frames, it shows the woven ones, also by another method than the list's first.
func TestRepairPicturesOfFields(t *testing.T) {
	r, s := wovenDamage(t)
	showsWhatIsMade(t, r, s, fieldList, map[int]int{3: 0, 6: 1, 7: 2, 8: 2})
	if err := s.repairs.store.do(&repairEdit{"method", 0, "nearest"}); err != nil {
		t.Fatal(err)
	}
	r.Options.Convert.Output.Overwrite = true
	showsWhatIsMade(t, r, s, strings.Replace(fieldList, "0.12", "0.12 method=nearest", 1), map[int]int{3: 0, 6: 1})
	var now repairState
	answer, err := http.Get(s.URL() + "repairs")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&now); err != nil || !now.Woven || now.Items[0].Field != restore.TopField || now.Items[2].Field != restore.BottomField {
		t.Errorf("%v: the page gets %+v", err, now)
	}
}

// showsWhatIsMade checks that frames are shown as a restoration by a list makes them; each has the index of its finding.
func showsWhatIsMade(t *testing.T, r *Restoration, s *Server, list string, findings map[int]int) {
	t.Helper()
	o := r.Options
	var err error
	if o.Damage, err = restore.ParseList(strings.NewReader(list)); err != nil {
		t.Fatal(err)
	}
	if _, err := restore.Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	var painter frames.Painter
	defer painter.Close()
	var want [][]byte
	video := cliptest.Each(t, o.Convert.Output.File, func(f *frame.Frame, v media.Video) {
		m, err := painter.Paint(f, v, 0)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, slices.Clone(m.Pix))
	})
	for n, index := range findings {
		answer, err := http.Get(fmt.Sprintf("%spicture?what=made&frame=%d&index=%d&inserted=0", s.URL(), n, index))
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("frame %d: %v, %v", n, answer, err)
		}
		picture, err := png.Decode(answer.Body)
		answer.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for i := range video.Width * video.Height {
			x, y := i%video.Width, i/video.Width
			if red, green, blue, _ := picture.At(x, y).RGBA(); byte(red>>8) != want[n][4*i] || byte(green>>8) != want[n][4*i+1] || byte(blue>>8) != want[n][4*i+2] {
				t.Fatalf("frame %d differs from the output's at %d,%d", n, x, y)
			}
		}
	}
}

// A person goes through the findings by keyboard alone, and decides.
func TestPageOfARestoration(t *testing.T) {
	r, s := damaged(t)
	ctx := browser(t, s)
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()))
	loaded := func() {
		t.Helper()
		until(t, ctx, `document.body.dataset.ready == "true" && [...document.querySelectorAll(".pictures figure:not([hidden]) img")].every((i) => i.complete && i.naturalWidth == 96)`)
	}
	says := func(text string) {
		t.Helper()
		until(t, ctx, fmt.Sprintf(`document.getElementById("about").textContent.includes(%q)`, text))
	}
	loaded()
	says("frame 3, black, accepted")
	shoot(t, ctx, "repair")
	chromium.Do(t, ctx, chromedp.KeyEvent("r"))
	says("frame 3, black, rejected")
	chromium.Do(t, ctx, chromedp.KeyEvent("n"), chromedp.KeyEvent("a"))
	says("frame 7, garbled, accepted")
	draw := func(x0, y0, x1, y1 float64, during chromedp.Action, mods ...input.Modifier) {
		t.Helper()
		const at = `(() => { document.getElementById("source").scrollIntoView({block: "center"}); const r = document.getElementById("source").getBoundingClientRect(); return [r.left, r.top, r.width / 96, r.height / 64]; })()`
		r := chromium.JS[[]float64](t, ctx, at)
		var bits input.Modifier
		for _, m := range mods {
			bits |= m
		}
		mouse := func(kind input.MouseType, x, y float64) chromedp.Action {
			return input.DispatchMouseEvent(kind, r[0]+x*r[2], r[1]+y*r[3]).WithButton(input.Left).WithButtons(1).WithClickCount(1).WithModifiers(bits)
		}
		chromium.Do(t, ctx, mouse(input.MousePressed, x0, y0), mouse(input.MouseMoved, x1, y1), during, mouse(input.MouseReleased, x1, y1))
	}
	loaded()
	until(t, ctx, `document.getElementById("saved").textContent == "Saved"`)
	draw(50, 40, 10, 8, chromedp.Tasks{chromedp.Evaluate(`document.getElementById("saved").textContent = "as it was"`, nil), chromedp.KeyEvent("n")})
	if saved := chromium.JS[string](t, ctx, `document.getElementById("saved").textContent`); saved != "as it was" {
		t.Errorf("a part that was begun in the finding before is drawn in the next: %s", saved)
	}
	chromium.Do(t, ctx, chromedp.KeyEvent("."))
	says("frame 11, repeated, accepted, 40x30 at 4,4")
	loaded()
	draw(50, 40, 10, 8, chromedp.Tasks{})
	says("frame 11, repeated, accepted, 40x32 at 10,8")
	loaded()
	draw(60, 20, 70, 30, chromedp.Tasks{}, input.ModifierShift)
	says("40x32 at 10,8, 10x10 at 60,20")
	shoot(t, ctx, "repair parts")
	write := func(parts string) {
		t.Helper()
		chromium.Do(t, ctx, chromedp.Evaluate(fmt.Sprintf(`(() => { const p = document.getElementById("parts"); p.value = %q; p.dispatchEvent(new Event("change")); })()`, parts), nil))
	}
	write("500,500,10,10")
	until(t, ctx, `document.getElementById("notice-text").textContent.includes("outside the picture of 96x64") && document.getElementById("saved").textContent == "Not saved"`)
	says("40x32 at 10,8, 10x10 at 60,20")
	write("4,4,40,30")
	says("frame 11, repeated, accepted, 40x30 at 4,4")
	undoIsTheFields(t, ctx)
	chromium.Do(t, ctx, chromedp.KeyEvent("4"))
	until(t, ctx, `document.getElementById("method").value == "source" && document.getElementById("saved").textContent == "Saved"`)
	chromium.Do(t, ctx, chromedp.SetValue("#kind", "flash"), chromedp.Evaluate(`document.getElementById("kind").dispatchEvent(new Event("change"))`, nil))
	says("frame 11, flash")
	chromium.Do(t, ctx, chromedp.KeyEvent("n"))
	says("1 of 2 frames after frame 14, jump, open")
	loaded()
	chromium.Do(t, ctx, chromedp.Evaluate(`document.activeElement.blur()`, nil), chromedp.KeyEvent("a"))
	says("1 of 2 frames after frame 14, jump, accepted")
	loaded()
	text, err := os.ReadFile(r.List)
	if err != nil {
		t.Fatal(err)
	}
	got, err := restore.ParseList(bytes.NewReader(text))
	want, _ := restore.ParseList(strings.NewReader("7 garbled 0.4 0.29\n10-11 flash 0.7 0.4 region=4,4,40,30 method=source\n14 jump 0.9 0.6 insert=2\n"))
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the list is\n%s", text)
	}
	if command := chromium.JS[string](t, ctx, `document.getElementById("command").textContent`); !strings.Contains(command, "retime restore") || !strings.Contains(command, "--list "+r.List) {
		t.Errorf("the command is %q", command)
	}
	until(t, ctx, `document.getElementById("saved").textContent == "Saved"`)
	chromium.Do(t, ctx, chromedp.Evaluate(`document.getElementById("before").src = "picture?what=other&frame=1"`, nil))
	until(t, ctx, `document.getElementById("notice-text").textContent.includes("there is no picture")`)
	if saved := chromium.JS[string](t, ctx, `document.getElementById("saved").textContent`); saved != "Saved" {
		t.Errorf("a picture that cannot be made counts as %q", saved)
	}
	chromium.Do(t, ctx, chromedp.KeyEvent("p"))
	says("frame 10, flash, accepted, 40x30 at 4,4")
	loaded()
	if err := os.WriteFile(r.List, []byte(restore.ListHeader), 0o666); err != nil {
		t.Fatal(err)
	}
	chromium.Do(t, ctx, chromedp.KeyEvent("a"), chromedp.WaitVisible("#notice-reload"), chromedp.Click("#notice-reload"))
	says("no finding")
	if left := chromium.JS[bool](t, ctx, `document.getElementById("parts").value != "" || document.getElementById("boxes").childElementCount > 0 || document.querySelector(".pictures img[src]") != null`); left {
		t.Error("a list that was emptied leaves parts or pictures on the page")
	}
}

// undoIsTheFields checks that Ctrl+Z and Ctrl+Shift+Z in what one writes in are the browser's.
func undoIsTheFields(t *testing.T, ctx context.Context) {
	t.Helper()
	const taken = `[...document.querySelectorAll("input:not([type=range], [type=radio], [type=checkbox]), textarea")].filter((e) => ["z", "Z"].some((key) =>
		!e.dispatchEvent(new KeyboardEvent("keydown", { key, ctrlKey: true, shiftKey: key == "Z", bubbles: true, cancelable: true })))).map((e) => e.id).join(" ")`
	if fields := chromium.JS[string](t, ctx, taken); fields != "" {
		t.Errorf("the page undoes edits in place of text in %s", fields)
	}
}

// The page names fields, and says that it shows them woven.
func TestPageOfFields(t *testing.T) {
	_, s := wovenDamage(t)
	ctx := browser(t, s)
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()))
	until(t, ctx, `document.body.dataset.ready == "true" && document.getElementById("made").naturalWidth == 96`)
	until(t, ctx, `document.getElementById("about").textContent.includes("frame 3, top field, black, accepted")`)
	chromium.Do(t, ctx, chromedp.KeyEvent("n"))
	until(t, ctx, `document.getElementById("about").textContent.includes("frame 6, garbled, accepted") && document.getElementById("how").textContent == "Made, woven fields"`)
}

// axe-core finds no serious fault, and every control can be reached with Tab.
func TestPageOfARestorationIsAccessible(t *testing.T) {
	_, s := damaged(t)
	ctx := browser(t, s)
	check := accessible(t, ctx)
	chromium.Do(t, ctx, page.SetBypassCSP(true), chromedp.Navigate(s.URL()))
	until(t, ctx, `document.body.dataset.ready == "true" && document.getElementById("made").naturalWidth == 96`)
	check("a restoration")
	reached := map[string]bool{}
	for range 28 {
		chromium.Do(t, ctx, chromedp.KeyEvent(kb.Tab))
		reached[chromium.JS[string](t, ctx, `(() => { const e = document.activeElement; return e.id || e.className || e.parentElement?.parentElement?.id || ""; })()`)] = true
	}
	for _, want := range []string{"pictures", "accept", "reject", "kind", "method", "parts", "single-keys"} {
		if !reached[want] {
			t.Errorf("Tab does not reach %s; it reaches %v", want, reached)
		}
	}
}
