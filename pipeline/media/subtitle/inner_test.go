package subtitle

import (
	"math/big"
	"testing"
)

// clock returns the clock of a cue of 2 s that plays slow times slower, and of which the output cuts
// off cut milliseconds of the source.
func clock(slow, cut int64) Clock {
	return Clock{
		At: func(t *big.Rat) *big.Rat {
			v := new(big.Rat).Sub(t, big.NewRat(cut, 1000))
			return v.Mul(v, big.NewRat(slow, 1))
		},
		Length: big.NewRat(2, 1), Cut: cut != 0,
	}
}

func TestTimesWithinASS(t *testing.T) {
	for _, c := range []struct{ text, slow, cut string }{
		{`{\k50}ka{\kf30\b1}ra{\ko20}o{\K10}ke`, `{\k100}ka{\kf60\b1}ra{\ko40}o{\K20}ke`, `{\k0}ka{\kf20\b1}ra{\ko20}o{\K10}ke`},
		{`{\k}a{\kt150\k10}b`, `{\k200}a{\kt300\k20}b`, `{\k40}a{\kt90\k10}b`},
		{`{\fad(200,300)}x`, `{\fad(400,600)}x`, `{\fade(255,0,255,-600,-400,1100,1400)}x`},
		{`{\fade(255,32,224,0,200,800,1000)}x`, `{\fade(255,32,224,0,400,1600,2000)}x`, `{\fade(255,32,224,-600,-400,200,400)}x`},
		{`{\move(10,10,300,100,0,1000)}x`, `{\move(10,10,300,100,0,2000)}x`, `{\move(10,10,300,100,-600,400)}x`},
		{`{\move(10,10,300,100)}x`, `{\move(10,10,300,100)}x`, `{\move(10,10,300,100,-600,1400)}x`},
		{`{\move(1,2,3,4,0,500)}x`, `{\move(1,2,3,4,0,1000)}x`, `{\move(3,4,3,4)}x`},
		{`{\t(100,900,\fscx200\clip(0,0,1,1))\i1}x`, `{\t(200,1800,\fscx200\clip(0,0,1,1))\i1}x`, `{\t(-500,300,\fscx200\clip(0,0,1,1))\i1}x`},
		{`{\t(0,600,0.5,\fs20)}x`, `{\t(0,1200,0.5,\fs20)}x`, `{\t(-600,-1,0.5,\fs20)}x`},
		{`{\t(0,0,\fs20)}x`, `{\t(0,0,\fs20)}x`, `{\t(-600,1400,\fs20)}x`},
		{`{\t(\fs20)}x{\t(2,\fs9)}`, `{\t(\fs20)}x{\t(2,\fs9)}`, `{\t(-600,1400,\fs20)}x{\t(-600,1400,2,\fs9)}`},
		{`{\pos(1,2)\fn k50}k50 \k50 (200,300) {\fad(1)`, `{\pos(1,2)\fn k50}k50 \k50 (200,300) {\fad(1)`, `{\pos(1,2)\fn k50}k50 \k50 (200,300) {\fad(1)`},
	} {
		const head = "3,0,Default,,0,0,0,,"
		for slow, want := range map[int64]string{1: c.text, 2: c.slow} {
			if got := clock(slow, 0).ASS(head + c.text); got != head+want {
				t.Errorf("%s, %d times slower: %s, want %s", c.text, slow, got, want)
			}
		}
		if got := clock(1, 600).ASS(head + c.text); got != head+c.cut {
			t.Errorf("%s, cut: %s, want %s", c.text, got, c.cut)
		}
	}
	for effect, want := range map[string]string{
		"Banner;50": "Banner;100", "Banner;50;1;20": "Banner;100;1;20", "Scroll up;0;100;30": "Scroll up;0;100;60", "Scroll down;1;2;3;4": "Scroll down;1;2;6;4",
		"Banner;0": "Banner;0", "Karaoke": "Karaoke", "scroll up;1;2": "scroll up;1;2",
	} {
		if got := clock(2, 0).ASS("0,0,Default,,0,0,0," + effect + ",x, y"); got != "0,0,Default,,0,0,0,"+want+",x, y" {
			t.Errorf("%s becomes %s", effect, got)
		}
	}
}

// Lengths of karaoke are differences of rounded times, so that no error adds up.
func TestKaraokeDoesNotDrift(t *testing.T) {
	c := Clock{At: func(t *big.Rat) *big.Rat { return new(big.Rat).Mul(t, big.NewRat(4, 3)) }, Length: big.NewRat(2, 1)}
	if got, want := c.ASS(`0,0,,,0,0,0,,{\k1}{\k1}{\k1}{\k1}{\k1}{\k1}`), `0,0,,,0,0,0,,{\k1}{\k2}{\k1}{\k1}{\k2}{\k1}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTimesWithinWebVTT(t *testing.T) {
	for _, c := range []struct {
		text  string
		begin int64 // in the source, in seconds; the cue is shown twice as late
		want  string
	}{
		{`<00:00:10.500>ka<c.red>ra</c><00:11.000>o<i>`, 10, `<00:00:21.000>ka<c.red>ra</c><00:22.000>o<i>`},
		{`<00:00:00.500>ka`, 10, `<00:00:01.000>ka`}, // from the cue's beginning, as in Matroska
		{`<59:59.500>a<00:05.000>b<1:2>`, 3599, `<01:59:59.000>a<00:05.000>b<1:2>`},
	} {
		if got := clock(2, 0).WebVTT(c.text, big.NewRat(c.begin, 1), big.NewRat(2*c.begin, 1)); got != c.want {
			t.Errorf("%s becomes %s, want %s", c.text, got, c.want)
		}
	}
}

func FuzzInnerTimes(f *testing.F) {
	f.Add(`0,0,Default,,0,0,0,Banner;50,{\k50}ka{\fad(200,300)}{\move(1,2,3,4,5,6)\t(1,2,\fs1)}`)
	f.Add(`<00:00:01.000>x{\t(`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range []Clock{clock(1, 0), clock(2, 0), clock(1, 600)} {
			once := c.ASS(text)
			if len(once) > 4*len(text)+64*(1+len(text)) {
				t.Errorf("%q becomes %d bytes", text, len(once))
			}
			c.WebVTT(text, big.NewRat(1, 2), big.NewRat(1, 1))
		}
		if c := clock(1, 0); c.ASS(c.ASS(text)) != c.ASS(text) {
			t.Errorf("%q does not stay", text)
		}
	})
}
