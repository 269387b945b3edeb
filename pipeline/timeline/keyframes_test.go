package timeline_test

import (
	"math/big"
	"strings"
	"testing"

	"retime/internal/cliptest"
	"retime/pipeline/fault"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
)

func TestParseKeyframes(t *testing.T) {
	keys := cliptest.ParseCurve(t, "# a ramp\nsource speed\n\n0 100%\n0:02.5 -1.5x smooth # here\nend 0% hold\n")
	if len(keys) != 3 || keys[1].Source.Cmp(big.NewRat(5, 2)) != 0 || keys[1].Speed.Cmp(big.NewRat(-3, 2)) != 0 ||
		keys[1].Shape != curve.Smooth || keys[0].Shape != curve.Linear || keys[2].Source != nil || keys[2].Speed.Sign() != 0 {
		t.Errorf("read %+v", keys)
	}
	for text, want := range map[string]string{
		"":                            "at least two",
		"source speed\n0 1x\n":        "at least two",
		"time speed\n0 1x\n1 1x":      "line 1: \"time speed\"",
		"source speed\n0 1x\n1":       "line 3: \"1\"",
		"source speed\n0 1\n1 1x":     "line 2: speed \"1\"",
		"source speed\n0 1x\n1 2000x": "line 3: speed",
		"source output\n0 0\n1 100%":  "line 3: time",
		"source output\n0 0\n-1 1":    "line 3: time",
		"source output\n0 0 a b\n1 1": "line 2: ",
		"source output\n0 0\nfirst 1": "line 3: time",
		"source speed\n" + strings.Repeat("0 1x\n", curve.MaxKeyframes+1): "more than",
	} {
		if _, err := timeline.ParseKeyframes(strings.NewReader(text)); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseKeyframes(f *testing.F) {
	for _, s := range []string{"source speed\n0 100%\n2 10% smooth\nend 1x", "source output\n0 0\n1 2 hold\n0:03 4", "source speed\n0 1x\n3 0%\n0 -1x",
		"source output\n0 0\n0.5 1 smooth\n0.9 3\n0.9 3", "source output\n0 0 smooth\n1 2 hold\n1 2\n3 2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		keys, err := timeline.ParseKeyframes(strings.NewReader(s))
		if err != nil {
			return
		}
		for i := range keys {
			if keys[i].Source == nil {
				keys[i].Source = big.NewRat(10, 1)
			}
		}
		c, err := curve.New(keys)
		if err != nil {
			return
		}
		if c.Duration().Sign() <= 0 {
			t.Fatalf("a curve of %s s", c.Duration())
		}
		for _, r := range c.Runs() {
			r.Output(r.To)
		}
	})
}
