package review

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"retime/internal/chromium"
)

// BenchmarkFilm measures what a person waits for in a film of two hours, in a browser: the figures
// of docs/review.md. RETIME_FILM names the film, RETIME_PROGRAM the program that serves it.
func BenchmarkFilm(b *testing.B) {
	film, program := os.Getenv("RETIME_FILM"), os.Getenv("RETIME_PROGRAM")
	if film == "" || program == "" {
		b.Skip("needs RETIME_FILM and RETIME_PROGRAM")
	}
	v := viewer{b, chromium.Start(b, 1360, 860, 30*time.Minute)}
	chromium.Do(v.b, v.ctx, chromedp.Navigate("about:blank"))
	for b.Loop() {
		begun := time.Now()
		server, address := startServer(b, program, film)
		chromium.Do(v.b, v.ctx, chromedp.Navigate(address))
		v.seconds("", 0, "true")
		v.report("from the command to the first frame", time.Since(begun).Seconds())
		const hour = 3600 * 48 // frames
		v.report("a jump by an hour", v.seconds(fmt.Sprintf("go(%d)", hour), hour, "true"))
		v.steps("a step ahead", ".", hour, 1, 24)
		v.steps("a step back to what is made", ",", hour+24, -1, 10)
		v.edits(hour + 1001)
		b.ReportMetric(peak(b, server), "peak-memory-GiB")
		chromium.Do(v.b, v.ctx, chromedp.Navigate("about:blank"))
		if err := server.Process.Signal(syscall.SIGINT); err != nil {
			b.Fatal(err)
		}
		_ = server.Wait() // says that it was interrupted
	}
}

// startServer starts the program's server in a process of its own.
func startServer(b *testing.B, program, film string) (cmd *exec.Cmd, address string) {
	b.Helper()
	cmd = exec.Command(program, "review", film, filepath.Join(b.TempDir(), "out.mp4"), "--no-open", "--fps", "2x", "--preset", "fast", "--threads", "2")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	for lines := bufio.NewScanner(out); address == "" && lines.Scan(); {
		address = regexp.MustCompile(`http://\S+`).FindString(lines.Text())
	}
	return cmd, address
}

// peak returns the most memory that a process has taken so far, in GiB.
func peak(b *testing.B, cmd *exec.Cmd) (gib float64) {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := fmt.Sscanf(string(regexp.MustCompile(`VmHWM:\s+\d+`).Find(status)), "VmHWM: %f", &gib); err != nil {
		b.Fatal(err)
	}
	return gib / (1 << 20)
}

// viewer does what a person does, with a watch.
type viewer struct {
	b   *testing.B
	ctx context.Context
}

func (v viewer) report(what string, seconds float64) {
	v.b.ReportMetric(seconds, strings.ReplaceAll(what, " ", "-")+"-s")
}

// seconds acts, and returns how long it takes until the page shows a frame at the chosen preset,
// and something else is so, too.
func (v viewer) seconds(act string, frame int, also string) (s float64) {
	v.b.Helper()
	chromium.Do(v.b, v.ctx, chromedp.Evaluate(fmt.Sprintf(`(async () => {
		const begun = performance.now(), $ = (id) => document.getElementById(id), made = $("made"), before = made.dataset.digest;
		const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
		const go = (to) => { $("goto").value = to; $("goto").dispatchEvent(new Event("change")); };
		const choose = (id, value) => { $(id).value = value; $(id).dispatchEvent(new Event("change")); };
		%s;
		while (!(made.dataset.frame == "%d" && made.dataset.view == "final" && (%s))) await new Promise((r) => setTimeout(r, 1));
		return (performance.now() - begun) / 1000; })()`, act, frame, also), &s, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return s
}

// steps presses a key count times, each time once the frame before is shown.
func (v viewer) steps(what, key string, from, by, count int) {
	v.b.Helper()
	all := make([]float64, count)
	for k := range all {
		all[k] = v.seconds(fmt.Sprintf("press(%q)", key), from+by*(k+1), "true")
	}
	slices.Sort(all)
	v.report(what+", median", all[count/2])
	v.report(what+", longest", all[count-1])
}

// edits decides about a frame, and looks at the second around it.
func (v viewer) edits(at int) {
	v.b.Helper()
	const other = "made.dataset.digest != before"
	here := fmt.Sprintf("go(%d)", at)
	around := func(what string) {
		v.b.Helper()
		sum := 0.0
		for k := at - 24; k < at+24; k++ {
			sum += v.seconds(fmt.Sprintf("go(%d)", k), k, "true")
		}
		v.report("the second around "+what, sum)
		v.seconds(here, at, "true")
	}
	v.report("a jump nearby", v.seconds(here, at, "true"))
	chromium.Do(v.b, v.ctx, chromedp.Click("#tab-decide"))
	v.report("a method", v.seconds(`document.querySelector('[data-method="nearest"]').click()`, at, other))
	around("a method")
	v.report("undo", v.seconds(`$("undo").click()`, at, other))
	v.report("a cut", v.seconds(`document.querySelector('[data-cut="true"]').click()`, at, other))
	around("a cut")
	v.seconds(`$("undo").click()`, at, other)
	v.report("a preset", v.seconds(`choose("own-preset", "balanced")`, at, `$("readout-how").textContent.includes("balanced")`))
	const shape = `$("box-x").value = 800; $("box-y").value = 400; $("box-w").value = 300; choose("box-h", 300)`
	v.seconds(shape, at, "true")
	v.report("a drawn motion", v.seconds(`$("arrow-x").value = 950; $("arrow-y").value = 550; $("arrow-u").value = 1050; $("arrow-v").value = 500; $("arrow-add").click()`, at, other))
	v.seconds(`press("Escape"); $("undo").click()`, at, other)
	v.seconds(`$("box-x").value = 100; $("box-y").value = 100; $("box-w").value = 200; choose("box-h", 80)`, at, "true")
	v.report("an overlay", v.seconds(`$("still").click()`, at, `$("saved").textContent == "Saved" && made.dataset.digest != before`))
	chromium.Do(v.b, v.ctx, chromedp.Click("#tab-why"))
	v.report("why", v.seconds("", at, `$("sentence").textContent.length > 0 && document.querySelectorAll("#drawings img").length > 8`))
}
