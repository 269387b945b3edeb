package review

import (
	"slices"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// The list has a frame that is near a worse one in time, if its worst place is elsewhere in the picture.
func TestPageListsPlaces(t *testing.T) {
	s := serve(t, Options{Clips: []Clip{doubled(cutClip(t, 96, 64, 4))}})
	ctx := browser(t, s)
	do(t, ctx, chromedp.Navigate(s.URL()))
	shown(t, ctx, 0)
	var list []int
	const ask = `(async () => {
		const { Timeline } = await import(document.querySelector("script[type=module]").src.replace("app.js", "timeline.js"));
		const line = new Timeline(document.createElement("canvas"), () => {});
		line.begin(100);
		const rate = (frame, rating, ...box) => line.rate({ frame, rating, box: box.length ? box : undefined, method: "interpolated" });
		rate(33, 0.01, 200, 40, 20, 20); rate(35, 0.03, 230, 50, 20, 20); rate(39, 0.04, 40, 40, 20, 20);
		rate(41, 0.02, 320, 130, 20, 20); rate(43, 0.05); rate(70, 0.06, 200, 40, 20, 20); rate(80, 0.9, 9, 9, 20, 20);
		return line.worst(12);
	})()`
	do(t, ctx, chromedp.Evaluate(ask, &list, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if want := []int{33, 41, 39, 70, 80}; !slices.Equal(list, want) {
		t.Errorf("frames %d, want %d", list, want)
	}
}
