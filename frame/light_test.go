package frame

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"testing"
)

// The curves are integers, the same on every machine, and Signal undoes Light.
func TestCurves(t *testing.T) {
	for transfer, want := range map[Transfer]string{PQ: "a66f68464d9abba7", HLG: "8b1ec44e0ab1a2e0"} {
		c, sum := CurveOf(transfer), sha256.New()
		for i := range c.light {
			sum.Write(binary.LittleEndian.AppendUint64(nil, c.light[i]))
			if i > 0 && c.light[i] < c.light[i-1] {
				t.Fatalf("%v falls at %d", transfer, i)
			}
		}
		if got := fmt.Sprintf("%x", sum.Sum(nil))[:16]; got != want {
			t.Errorf("%v: %s, want %s", transfer, got, want)
		}
		if c.light[0] != 0 || math.Abs(float64(c.light[One])/Bright-1) > 1e-6 {
			t.Errorf("%v goes from %d to %d", transfer, c.light[0], c.light[One])
		}
		for s := int64(0); s <= One; s += 7 {
			if got := c.Signal(c.Light(s), 0, One); c.Light(got) != c.Light(s) || s > 6000 && got != s {
				t.Errorf("%v: signal %d becomes %d", transfer, s, got)
			}
		}
		if c.Light(-5) != 0 || c.Light(One+5) != c.light[One] || c.Signal(0, 0, One) != 0 || c.Signal(1<<60, 3, 9) != 9 {
			t.Errorf("%v does not end at its ends", transfer)
		}
	}
	if CurveOf(SDR) != nil {
		t.Error("SDR has a curve")
	}
}
