package timebase

import (
	"math"
	"math/big"
	"testing"

	"github.com/asticode/go-astiav"

	"retime/pipeline/media/av"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		t               *big.Rat
		num, den        int
		nearest, before int64
	}{
		{big.NewRat(1, 2), 1, 3, 2, 1},
		{big.NewRat(1, 3), 1, 1000, 333, 333},
		{big.NewRat(2, 3), 1, 1000, 667, 666},
		{big.NewRat(-1, 3), 1, 1000, -333, -334},
		{big.NewRat(1001, 24000), 1001, 24000, 1, 1},
		{big.NewRat(3600, 1), 1, 1e9, 3600e9, 3600e9},
	} {
		tb := astiav.NewRational(c.num, c.den)
		if got := Ticks(c.t, tb); got != c.nearest {
			t.Errorf("%s in %d/%d: %d, want %d", c.t, c.num, c.den, got, c.nearest)
		}
		if got := TicksBefore(c.t, tb); got != c.before {
			t.Errorf("%s in %d/%d, down: %d, want %d", c.t, c.num, c.den, got, c.before)
		}
	}
	if got := Ticks(nil, astiav.NewRational(1, 25)); got != 0 {
		t.Errorf("no time is %d", got)
	}
	if got := Seconds(3, astiav.NewRational(1001, 24000)); got.Cmp(big.NewRat(1001, 8000)) != 0 {
		t.Errorf("3 at 24000/1001 are %s s", got)
	}
}

func TestMicroseconds(t *testing.T) {
	for _, c := range []struct {
		t        int64
		num, den int
		want     int64
	}{
		{1, 1, 3, 333333}, {2, 1, 3, 666667}, {-1, 1, 3, -333333}, {5, 1, 0, 0},
		{math.MaxInt64, 1, 1, math.MaxInt64}, {math.MinInt64, 1, 1, math.MinInt64}, {90_000, 1, 90_000, 1e6},
	} {
		if got := Microseconds(c.t, astiav.NewRational(c.num, c.den)); got != c.want {
			t.Errorf("%d in %d/%d: %d, want %d", c.t, c.num, c.den, got, c.want)
		}
	}
}

func TestUnknown(t *testing.T) {
	for _, r := range [][2]int{{0, 1}, {1, 0}, {-1, 5}} {
		if got := Rat(astiav.NewRational(r[0], r[1])); got != nil {
			t.Errorf("%d/%d is %s", r[0], r[1], got)
		}
	}
	p := astiav.AllocPacket()
	defer p.Free()
	p.SetPts(7)
	p.SetDts(av.NoTimestamp)
	if Shift(p, -9); p.Pts() != -2 || p.Dts() != av.NoTimestamp {
		t.Errorf("moved to %d, %d", p.Pts(), p.Dts())
	}
}

// Rates that FFmpeg has reduced are NTSC's again, and no others change.
func TestRate(t *testing.T) {
	for _, c := range [][2]astiav.Rational{
		{astiav.NewRational(19001, 317), astiav.NewRational(60000, 1001)},
		{astiav.NewRational(60000, 1001), astiav.NewRational(60000, 1001)},
		{astiav.NewRational(24000, 1001), astiav.NewRational(24000, 1001)},
		{astiav.NewRational(2997, 50), astiav.NewRational(2997, 50)},
		{astiav.NewRational(2997, 125), astiav.NewRational(2997, 125)},
		{astiav.NewRational(60, 1), astiav.NewRational(60, 1)},
		{astiav.NewRational(1, 10), astiav.NewRational(1, 10)},
		{astiav.NewRational(90000, 1), astiav.NewRational(90000, 1)},
	} {
		if got := Rate(c[0]); got.Cmp(Rat(c[1])) != 0 {
			t.Errorf("%v: %s, want %v", c[0], got.RatString(), c[1])
		}
	}
	if Rate(astiav.NewRational(0, 1)) != nil {
		t.Error("an unknown rate is known")
	}
}
