package curve

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func rat(s string) *big.Rat {
	v, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return v
}

// timed makes keyframes from "source output shape", moving from "source speed shape".
func timed(keys ...string) []Keyframe { return parse(keys, true) }

func moving(keys ...string) []Keyframe { return parse(keys, false) }

func parse(keys []string, timed bool) (out []Keyframe) {
	for _, s := range keys {
		f := strings.Fields(s + " linear")
		k := Keyframe{Source: rat(f[0]), Shape: Shape(f[2])}
		if timed {
			k.Output = rat(f[1])
		} else {
			k.Speed = rat(f[1])
		}
		out = append(out, k)
	}
	return out
}

func mustNew(t *testing.T, keys []Keyframe) *Curve {
	t.Helper()
	c, err := New(keys)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConstant(t *testing.T) {
	c := Constant(rat("5/3"), rat("5/2"))
	for _, o := range []string{"0", "1", "1001/24000", "7200"} {
		want := new(big.Rat).Quo(rat(o), rat("5/2"))
		want.Add(want, rat("5/3"))
		if got := c.Source(rat(o)); got.Cmp(want) != 0 {
			t.Errorf("output %s shows %s, want %s", o, got, want)
		}
		if got := c.Runs()[0].Output(want); got.Cmp(rat(o)) != 0 {
			t.Errorf("source %s is shown at %s, want %s", want, got, o)
		}
	}
	if c.Duration() != nil || c.Line().Cmp(rat("5/2")) != 0 {
		t.Errorf("duration %v, slow-down %v; want none and 5/2", c.Duration(), c.Line())
	}
}

// The values are computed by hand: a cubic through output times, a speed that falls
// evenly, and one that falls gently (3u^2 - 2u^3 integrates to u^3 - u^4/2).
func TestKnownValues(t *testing.T) {
	for _, c := range []struct {
		keys         []Keyframe
		output, want string
	}{
		{timed("0 0", "2 1", "3 5"), "1/2", "1"},
		{timed("0 0", "2 1", "3 5"), "3", "5/2"},
		{timed("0 0 hold", "2 1", "3 5"), "1/2", "0"},
		{timed("0 0 hold", "2 1", "3 5"), "1", "2"},
		// Secants 1 and 3, tangents 1, 2, 3: y(1/2) = 1/2 - 1/8.
		{timed("0 0 smooth", "1 1 smooth", "4 2"), "1/2", "3/8"},
		// A stop: the tangent between a rise and a rest is 0.
		{timed("0 0 smooth", "1 1", "1 2"), "1/2", "5/8"},
		// Beside a straight part the cubic begins at its speed, 1.
		{timed("0 0", "1 1 smooth", "4 2"), "3/2", "9/4"},
		{moving("0 1", "3 1/2"), "4", "3"},
		{moving("0 1", "3 1/2"), "2", "7/4"},
		{moving("0 1 smooth", "3 1/2"), "4", "3"},
		{moving("0 1 smooth", "3 1/2"), "2", "29/16"},
		{moving("0 1/2 hold", "1 2", "2 2"), "2", "1"},
		{moving("0 1/2 hold", "1 2", "2 2"), "5/2", "2"},
		{moving("2 -1", "0 -1"), "1/2", "3/2"},
		{moving("0 1", "1 0", "0 -1"), "4", "0"},
		{moving("0 1", "1 0", "0 -1"), "3", "3/4"},
	} {
		curve := mustNew(t, c.keys)
		if got := curve.Source(rat(c.output)); got.Cmp(rat(c.want)) != 0 {
			t.Errorf("%s: output %s shows %s, want %s", describe(c.keys), c.output, got, c.want)
		}
		twice := curve.Stretch(rat("2"))
		if got := twice.Source(new(big.Rat).Mul(rat("2"), rat(c.output))); got.Cmp(rat(c.want)) != 0 {
			t.Errorf("%s: stretched twice it shows %s, want %s", describe(c.keys), got, c.want)
		}
	}
}

func describe(keys []Keyframe) string {
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "%s at %v speed %v %s, ", k.Source.RatString(), k.Output, k.Speed, k.Shape)
	}
	return b.String()
}

// A ramp from 100 % to 10 % and back has no jump in speed.
func TestRampIsContinuous(t *testing.T) {
	for _, shape := range []string{"linear", "smooth"} {
		c := mustNew(t, moving("0 1 "+shape, "1 1 "+shape, "2 1/10 "+shape, "5/2 1/10 "+shape, "3 1 "+shape, "4 1"))
		for i := range c.pieces[1:] {
			a, b := &c.pieces[i], &c.pieces[i+1]
			if a.last().Cmp(b.c[0]) != 0 || a.speed(a.end).Cmp(b.speed(b.begin)) != 0 {
				t.Errorf("%s: piece %d ends at %s at speed %s, the next begins at %s at %s", shape, i,
					a.last(), a.speed(a.end), b.c[0], b.speed(b.begin))
			}
		}
		// 1 + 20/11 + 5 + 10/11 + 1
		if want := rat("107/11"); c.Duration().Cmp(want) != 0 {
			t.Errorf("%s: %s long, want %s", shape, c.Duration(), want)
		}
	}
}

// speed returns the derivative of p.
func (p *piece) speed(output *big.Rat) *big.Rat {
	x := new(big.Rat).Sub(output, p.begin)
	v := new(big.Rat)
	for i := len(p.c) - 1; i > 0; i-- {
		v.Mul(v, x)
		v.Add(v, new(big.Rat).Mul(big.NewRat(int64(i), 1), p.c[i]))
	}
	return v
}

// Smooth curves through random keyframes pass through all of them, never overshoot, and
// meet in speed; their runs turn at the keyframes that turn, and can be inverted.
func TestSmoothIsMonotone(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		var keys []Keyframe
		o := new(big.Rat)
		for range 2 + rng.IntN(6) {
			keys = append(keys, Keyframe{Source: big.NewRat(rng.Int64N(50), 1+rng.Int64N(7)), Output: o, Shape: Smooth})
			o = new(big.Rat).Add(o, big.NewRat(1+rng.Int64N(40), 1+rng.Int64N(9)))
		}
		c := mustNew(t, keys)
		for i, k := range keys {
			if got := c.Source(k.Output); got.Cmp(k.Source) != 0 {
				t.Fatalf("seed 1 2, curve %d: keyframe %d shows %s, want %s", n, i, got, k.Source)
			}
		}
		for i := range c.pieces {
			p := &c.pieces[i]
			if i > 0 {
				if q := &c.pieces[i-1]; q.speed(q.end).Cmp(p.speed(p.begin)) != 0 {
					t.Errorf("seed 1 2, curve %d: speed jumps at keyframe %d", n, i)
				}
			}
			step := new(big.Rat).Sub(p.end, p.begin)
			step.Quo(step, big.NewRat(32, 1))
			last, at := p.c[0], p.begin
			for range 32 {
				at = new(big.Rat).Add(at, step)
				v := p.source(at)
				if d := v.Cmp(last); d*p.direction() < 0 {
					t.Fatalf("seed 1 2, curve %d: %s goes back behind keyframe %d", n, describe(keys), i)
				}
				last = v
			}
		}
		checkRuns(t, c)
	}
}

func checkRuns(t *testing.T, c *Curve) {
	t.Helper()
	end := new(big.Rat)
	for _, r := range c.Runs() {
		if r.Begin.Cmp(end) != 0 || c.Source(r.Begin).Cmp(r.From) != 0 || r.To.Cmp(r.From)*map[bool]int{true: -1, false: 1}[r.Backward] < 0 {
			t.Fatalf("run from %s at %s to %s at %s, behind one that ended at %s", r.From, r.Begin, r.To, r.End, end)
		}
		end = r.End
		length := new(big.Rat).Sub(r.To, r.From)
		for i := range int64(9) {
			moment := new(big.Rat).Mul(length, big.NewRat(i, 8))
			moment.Add(moment, r.From)
			at := r.Output(moment)
			late := new(big.Rat).Add(at, Tolerance)
			before, after := c.Source(at), c.Source(late)
			if r.Backward {
				before, after = after, before
			}
			if at.Cmp(r.Begin) < 0 || at.Cmp(r.End) > 0 || late.Cmp(r.End) < 0 && (before.Cmp(moment) > 0 || after.Cmp(moment) < 0) {
				t.Errorf("%s is shown at %s: there is %s, a little later %s", moment, at, before, after)
			}
		}
	}
	if end.Cmp(c.Duration()) != 0 {
		t.Errorf("the last run ends at %s, the curve at %s", end, c.Duration())
	}
}

// Stretches are cut at jumps, and at nothing else.
func TestStretches(t *testing.T) {
	for _, c := range []struct {
		keys []Keyframe
		want string
	}{
		{timed("0 0", "1 1", "1 2", "2 3"), "0-3 from 0 to 2"},
		{timed("0 0", "1 1 hold", "2 2", "3 3"), "0-2 from 0 to 1, 2-3 from 2 to 3"},
		{timed("0 0 hold", "1 1", "2 2 hold", "4 3"), "0-1 from 0 to 0, 1-3 from 1 to 2"},
		{timed("4 0", "3 1 hold", "2 2", "1 3"), "0-2 from 4 to 3, 2-3 from 2 to 1"},
	} {
		run := mustNew(t, c.keys).Runs()[0]
		var got []string
		for _, s := range run.Stretches() {
			got = append(got, fmt.Sprintf("%s-%s from %s to %s", s.Begin.RatString(), s.End.RatString(), s.From.RatString(), s.To.RatString()))
			if s.Backward != run.Backward {
				t.Errorf("%s: a stretch has another direction than its run", describe(c.keys))
			}
			if v := s.Output(s.From); v.Cmp(s.Begin) != 0 {
				t.Errorf("%s: the stretch from %s shows its beginning at %s", describe(c.keys), s.From, v)
			}
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: %s, want %s", describe(c.keys), got, c.want)
		}
	}
	endless := Constant(rat("1"), rat("2")).Runs()[0]
	if s := endless.Stretches(); len(s) != 1 || s[0].End != nil || s[0].To != nil || s[0].From.Cmp(rat("1")) != 0 {
		t.Errorf("a curve without an end has the stretches %v", s)
	}
}

func TestRuns(t *testing.T) {
	for _, c := range []struct {
		keys []Keyframe
		want string
	}{
		{timed("0 0", "1 1", "1 2", "2 3"), "0+3"},
		{timed("0 0", "1 1", "0 2"), "0+1 1-2"},
		{timed("1 0", "1 1", "0 2"), "0-2"},
		{timed("0 0 hold", "1 1", "2 2"), "0+2"},
		{timed("3 0 hold", "1 1", "2 2"), "0+1 1+2"},
		{timed("0 0", "1 1 hold", "0 2", "1 3"), "0+2 2+3"},
		{moving("0 1", "1 0", "0 -1"), "0+2 2-4"},
	} {
		curve := mustNew(t, c.keys)
		var got []string
		for _, r := range curve.Runs() {
			sign := map[bool]string{true: "-", false: "+"}[r.Backward]
			got = append(got, r.Begin.RatString()+sign+r.End.RatString())
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: runs %s, want %s", describe(c.keys), s, c.want)
		}
	}
	// The source times within a jump are shown at the jump.
	r := mustNew(t, timed("0 0 hold", "1 1", "2 2")).Runs()[0]
	if got := r.Output(rat("1/2")); got.Cmp(rat("1")) != 0 {
		t.Errorf("a moment that is jumped over is passed at %s, want 1", got)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		keys []Keyframe
		want string
	}{
		{nil, "at least two"},
		{timed("0 0"), "at least two"},
		{make([]Keyframe, MaxKeyframes+1), "at most"},
		{timed("0 1", "1 2"), "begin at 0"},
		{timed("0 0", "1 0"), "must rise"},
		{timed("0 0 magic", "1 1"), "shape"},
		{timed("-1 0", "1 1"), "begin at 0"},
		{append(timed("0 0"), moving("1 1")...), "as in all others"},
		{moving("0 1", "0 1"), "stand still"},
		{moving("0 0", "1 0"), "never reached"},
		{moving("0 0 hold", "1 1"), "never reached"},
		{moving("0 1", "1 -1/2"), "leads away"},
		{moving("1 1", "0 1"), "leads away"},
	} {
		if _, err := New(c.keys); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", describe(c.keys), err, c.want)
		}
	}
}

// Whatever the keyframes, New makes a curve of them that can be asked for any time, or names the
// one that is wrong.
func FuzzNew(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 2, 1, 1, 1, 6, 2, 1, 1, 6, 2, 0}, true) // the last two at one time, the second smooth
	f.Add([]byte{0, 0, 4, 0, 9, 0, 0, 1, 2, 0, 3, 2}, false)
	f.Fuzz(func(t *testing.T, text []byte, timed bool) {
		var keys []Keyframe
		for ; len(text) >= 4 && len(keys) <= MaxKeyframes; text = text[4:] {
			k := Keyframe{Source: big.NewRat(int64(text[0]), 2), Shape: []Shape{Linear, Smooth, Hold, "bent"}[text[3]%4]}
			if v := big.NewRat(int64(int8(text[1])), int64(text[2])+1); timed {
				k.Output = v
			} else {
				k.Speed = v
			}
			keys = append(keys, k)
		}
		c, err := New(keys)
		if err != nil {
			return
		}
		if c.Duration().Sign() <= 0 {
			t.Fatalf("a curve of %s s", c.Duration())
		}
		c.Source(c.Duration())
		for _, r := range c.Runs() {
			r.Output(r.To)
			r.Mirror()
			r.Stretches()
		}
	})
}

// An output time that does not rise is refused before a tangent looks at it.
func TestOutputTimesRise(t *testing.T) {
	for n := 2; n < 6; n++ {
		for still := 1; still < n; still++ {
			var keys []Keyframe
			for i := range n {
				at := big.NewRat(int64(i), 1)
				if i >= still {
					at = big.NewRat(int64(i)-1, 1)
				}
				keys = append(keys, Keyframe{Source: big.NewRat(int64(i*i), 1), Output: at, Shape: Smooth})
			}
			if _, err := New(keys); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("keyframe %d: output times must rise", still+1)) {
				t.Errorf("%d keyframes, the one after %d at the same time: %v", n, still, err)
			}
		}
	}
}
