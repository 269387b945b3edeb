package review

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"retime/internal/chromium"
	"retime/internal/cliptest"
)

// Sound begins once frames have kept step with time for a while, ends if one is late, plays at the speed of the frames, and is
// off backward, too slow, and where somebody turns it off. The frames' times are given here, so that no machine is too slow.
func TestPagePlaysSound(t *testing.T) {
	name := filepath.Join(t.TempDir(), "tone.mp4")
	cliptest.FFmpeg(t, "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=24:duration=2", "-f", "lavfi", "-i", "sine=d=2", "-c:v", "libx264", "-c:a", "aac", name)
	s := serve(t, Options{Clips: []Clip{doubled(name)}})
	ctx := browser(t, s)
	chromium.Do(t, ctx, chromedp.Navigate(s.URL()))
	shown(t, ctx, 0)
	const ask = `(async () => {
		const { Sound } = await import(document.querySelector("script[type=module]").src.replace("app.js", "sound.js"));
		const told = [], rates = [], start = AudioBufferSourceNode.prototype.start;
		AudioBufferSourceNode.prototype.start = function (...a) { rates.push(this.playbackRate.value); start.apply(this, a); };
		const sound = new Sound((what) => told.push(what));
		const frames = async (speed, from, count, time = from) => {
			for (let k = 0; k < count; k++) await sound.follow(time + k * speed / 24, speed, 1000, from + k / 24);
			return told.splice(0).join();
		};
		const list = [await frames(1, 0, 6), await frames(1, 0.25, 6), await frames(1, 0.9, 1, 0.5), await frames(1, 10, 12, 0), await frames(-1, 10.5, 2), await frames(1 / 32, 20, 12), await frames(0.5, 30, 12, 0)];
		sound.on = false;
		list.push(told.splice(0).join(), await frames(1, 40, 12, 0));
		const none = new Sound(() => told.push("none"), async () => null);
		for (let k = 0; k < 12; k++) await none.follow(k / 24, 1, 1000, k / 24);
		list.push(told.join(), String(none.silent), rates.join());
		AudioBufferSourceNode.prototype.start = start;
		return list.join("; ");
	})()`
	var got string
	chromium.Do(t, ctx, chromedp.Evaluate(ask, &got, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if want := "; playing; off; playing; off; ; playing; off; ; ; true; 1,1,0.5"; got != want {
		t.Errorf("sound is\n%s, want\n%s", got, want)
	}
	// While the page plays, it asks for the sound.
	chromium.Do(t, ctx, chromedp.KeyEvent(" "))
	until(t, ctx, `performance.getEntriesByType("resource").filter((e) => e.name.endsWith("/clip/0/sound?from=0")).length > 1`)
}
