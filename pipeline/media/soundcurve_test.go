package media_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"retime/pipeline"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
	"retime/warp"
)

// Along a ramp each frame shows its moment, and each click is heard at its own.
func TestCurve(t *testing.T) {
	clip, clicks := clockClip(t, "clip.nut", 8, 16000, "-c:v", "ffv1", "-c:a", "pcm_s16le")
	for _, text := range []string{
		"source speed\n0 100%\n2 10%\n2.3 10%\n4 200%\n6 100%",
		"source speed\n0 100% smooth\n2 10% smooth\n2.3 10% smooth\n4 200% smooth\n6 100%",
		"source output\n1 0 smooth\n2 1 smooth\n2.5 6 smooth\n5 8",
		"source output\n1 0\n2 1 hold\n3 2\n5 4",
		"source output\n1 0\n4 3\n1.5 5 smooth\n4 8",
		"source speed\n0 100%\n3 0%\n0.5 -200%",
		"source speed\n5 -50%\n1 -150%",
	} {
		o := lossless(t, clip)
		o.Synthesis.Mode, o.Timing.Rate, o.Timing.Curve = warp.Blend, pipeline.Rate{Value: big.NewRat(30, 1)}, mustParse(t, text)
		c, err := curve.New(o.Timing.Curve)
		if err != nil {
			t.Fatal(err)
		}
		mustRun(t, o)
		frames, times, _ := readAll(t, o.Output.File)
		want := timeline.Ceil(new(big.Rat).Mul(c.Duration(), big.NewRat(30, 1)))
		if int64(len(frames)) != want {
			t.Errorf("%q: %d frames, want %d", text, len(frames), want)
		}
		for k, f := range frames {
			if times[k].Cmp(big.NewRat(int64(k), 30)) != 0 {
				t.Fatalf("%q: frame %d is at %s", text, k, times[k])
			}
			moment, _ := c.Source(times[k]).Float64()
			moment *= 24000. / 1001
			if math.Mod(moment, clockTurn) > clockTurn-1 {
				continue // the clock turns over
			}
			if got := float64(binary.LittleEndian.Uint16(f)) / clockStep; math.Abs(got-math.Mod(moment, clockTurn)) > 0.002 {
				t.Fatalf("%q: frame %d shows frame %.4f, want %.4f", text, k, got, moment)
			}
		}
		x := heard(t, o.Output.File, 16000)
		if want, _ := new(big.Rat).Mul(c.Duration(), big.NewRat(16000, 1)).Float64(); math.Abs(float64(len(x))-want) > 1 {
			t.Errorf("%q: %d samples, want %.1f", text, len(x), want)
		}
		for _, run := range c.Runs() {
			for _, at := range clicks {
				moment := big.NewRat(int64(at), 16000)
				out := run.Output(moment)
				edge, _ := new(big.Rat).Sub(out, run.Begin).Float64()
				if rest, _ := new(big.Rat).Sub(run.End, out).Float64(); min(edge, rest) < 0.1 || run.Source(out).Cmp(moment) < 0 != run.Backward && new(big.Rat).Sub(run.Source(out), moment).Cmp(big.NewRat(1, 1000)) > 0 {
					continue // not in the run, or where its sound fades
				}
				seconds, _ := out.Float64()
				want := int(math.Round(seconds * 16000))
				if got := clickNear(x, want, 16000); got < want-16 || got > want+16 {
					t.Errorf("%q: the click at %.3f s is heard at %.4f, want %.4f", text, float64(at)/16000, float64(got)/16000, seconds)
				}
			}
		}
	}
}
