package subtitle

import (
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf8"
)

// header is like those that FFmpeg makes up, with two more styles.
const header = `[Script Info]
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,Arial,16,&Hffffff,&Hffffff,&H0,&H0,0,0,0,0,100,100,0,0,1,1,0,2,10,10,10,0
Style: Sign,Arial,16,&H0000ffff,&Hffffff,&H0,&H0,0,-1,0,0,100,100,0,0,1,1,0,2,10,10,10,0
Style: Loud2,Arial,16,&Hffffff,&Hffffff,&H0,&H0,-1,0,0,0,100,100,0,0,1,1,0,2,10,10,10,0

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
`

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		style, text                    string
		subRip, webVTT, settings, lost string
	}{
		{"Default", "plain", "plain", "plain", "", ""},
		{"Default", `two\Nlines\hand more`, "two\nlines\u00a0and more", "two\nlines&nbsp;and more", "", ""},
		{"Default", `{\i1}a{\i0} {\b1}b{\b} {\u1}u`, "<i>a</i> <b>b</b> <u>u</u>", "<i>a</i> <b>b</b> <u>u</u>", "", ""},
		{"Default", `{\b700\i1}a{\r}b{\rLoud2}c`, "<b><i>a</i></b>b<b>c</b>", "<b><i>a</i></b>b<b>c</b>", "", ""},
		{"Default", `{\c&H0000FF&}red{\c} not`, `<font color="#ff0000">red</font> not`, "red not", "", "colours"},
		{"Default", `{\s1}gone`, "<s>gone</s>", "gone", "", "struck-out text"},
		{"Default", `a < b & c > d --> e`, "a < b & c > d --> e", "a &lt; b &amp; c &gt; d --&gt; e", "", ""},
		{"Default", `{\an8}top`, `{\an8}top`, "top", "line:0", ""},
		{"Default", `{\an4}left`, `{\an4}left`, "left", "line:50% align:start", ""},
		{"Default", `{\a7}{\an1}corner`, `{\an9}corner`, "corner", "line:0 align:end", ""},
		{"Default", `{\pos(1,2)\fnArial\fs20\k50}x`, "x", "x", "", "positions, fonts, effects"},
		{"Default", `{\t(0,500,\i1)}x`, "x", "x", "", "effects"},
		{"Default", `{\3c&HFF&}x`, "x", "x", "", "colours"},
		{"Default", `x{\p1}m 0 0 l 1 1{\p0}y`, "xy", "xy", "", "drawings"},
		{"Default", `{curly} \ back`, `{curly} \ back`, `{curly} \ back`, "", ""},
		{"Default", `{\i1 no end`, `{\i1 no end`, `{\i1 no end`, "", ""},
		{"Sign", `s{\i0}n`, `<font color="#ffff00"><i>s</i></font><font color="#ffff00">n</font>`, "<i>s</i>n", "", "colours"},
		{"Missing", "x", "x", "x", "", ""},
		{"Default", `a\N\Nb`, "a\nb", "a\nb", "", ""},
		{"Default", ` \N`, "", "", "", ""},
		{"Default", ``, "", "", "", ""},
		{"Default", "bad \xff byte", "bad \ufffd byte", "bad \ufffd byte", "", ""},
	} {
		cue, lost := NewScript(header, false).Parse("7,0," + c.style + ",,0,0,0,," + c.text + "\r\n")
		if got := cue.SubRip(); got != c.subRip {
			t.Errorf("%s as SubRip is %q, want %q", c.text, got, c.subRip)
		}
		text, settings, more := cue.WebVTT()
		if text != c.webVTT || settings != c.settings || (lost|more).String() != c.lost {
			t.Errorf("%s as WebVTT is %q with %q, lost %q; want %q, %q, %q", c.text, text, settings, lost|more, c.webVTT, c.settings, c.lost)
		}
	}
}

// In an authored script, braces without a backslash hold comments.
func TestAuthored(t *testing.T) {
	cue, lost := NewScript(header, true).Parse("0,0,Default,,0,0,0,Banner;5,{note}x")
	if got := cue.SubRip(); got != "x" || lost != Fonts|Effects {
		t.Errorf("%q, lost %q", got, lost)
	}
}

func TestNoEvent(t *testing.T) {
	for _, event := range []string{"", "text", "1,2,3,4,5,6,7,8"} {
		if cue, lost := NewScript("", false).Parse(event); cue.SubRip() != "" || lost != 0 {
			t.Errorf("%q: %+v, %v", event, cue, lost)
		}
	}
}

func parse(t *testing.T, text string) Cue {
	t.Helper()
	cue, _ := NewScript(header, false).Parse("0,0,Default,,0,0,0,," + text)
	return cue
}

func TestTimedText(t *testing.T) {
	for _, c := range []struct {
		cues []string
		want string // in hexadecimal
		lost Loss
	}{
		{nil, "0000", 0},
		{[]string{"hi"}, "0002" + "6869", 0},
		// The second of two characters is in italics; offsets count characters.
		{[]string{`é{\i1}b`}, "0003" + "c3a962" + "00000016" + "7374796c" + "0001" + "0001" + "0002" + "0001" + "02" + "10" + "ffffffff", 0},
		{[]string{`{\c&H0000FF&\b1\u1}r`}, "0001" + "72" + "00000016" + "7374796c" + "0001" + "0000" + "0001" + "0001" + "05" + "10" + "ff0000ff", 0},
		{[]string{"a", "b", "a", `\N`}, "0003" + "610a62", 0},
		{[]string{`{\an8\s1}a`}, "0001" + "61", Places | Strikes},
	} {
		var cues []Cue
		for _, text := range c.cues {
			cues = append(cues, parse(t, text))
		}
		sample, lost := TimedText(cues, 320)
		if got := hex.EncodeToString(sample); got != c.want || lost != c.lost {
			t.Errorf("%q: %s, lost %q; want %s, %q", c.cues, got, lost, c.want, c.lost)
		}
	}
}

// A sample holds at most 65535 bytes of text, and no part of a character.
func TestLongTimedText(t *testing.T) {
	for _, text := range []string{strings.Repeat("a", 70_000), strings.Repeat("é", 40_000)} {
		sample, _ := TimedText([]Cue{parse(t, text), parse(t, `{\i1}more`)}, 320)
		n := int(sample[0])<<8 | int(sample[1])
		if n < 65_534 || n+2 > len(sample) || !utf8.Valid(sample[2:2+n]) {
			t.Errorf("%d bytes of text in %d", n, len(sample))
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(header, "0,0,Sign,,0,0,0,,{\\i1\\an8}a{\\r}b\\Nc", true)
	f.Add("Format: Name\nStyle: *x", "0,0,x,,0,0,0,,{\\t(\\", false)
	f.Fuzz(func(t *testing.T, header, event string, authored bool) {
		cue, _ := NewScript(header, authored).Parse(event)
		text, _, _ := cue.WebVTT()
		for _, s := range []string{text, cue.SubRip()} {
			if !utf8.ValidString(s) || strings.Contains(s, "\n\n") {
				t.Errorf("%q", s)
			}
		}
		if strings.Contains(text, "-->") {
			t.Errorf("%q ends a cue", text)
		}
		TimedText([]Cue{cue, cue}, 1)
	})
}
