package subtitle

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// encoded lists the events whose conversions docs/fidelity.md compares.
var encoded = []struct{ style, text string }{
	{"Default", "plain"},
	{"Default", `two\Nlines`},
	{"Default", `hard\hspace`},
	{"Default", `{\i1}a{\i0} {\b1}b{\b} {\u1}u`},
	{"Default", `{\b700}a{\r}b{\rLoud2}c`},
	{"Default", `{\c&H0000FF&}red{\c} not`},
	{"Default", `{\s1}gone`},
	{"Sign", `s{\i0}n`},
	{"Missing", "x"},
	{"Default", "a < b"},
	{"Default", "b & c"},
	{"Default", "d --> e"},
	{"Default", `{\an8}top`},
	{"Default", `{\an4}left`},
	{"Default", `{\a7}{\an1}corner`},
	{"Default", `{\pos(1,2)}x`},
	{"Default", `{\fnArial\fs20}x`},
	{"Default", `{\k50}x`},
	{"Default", `{\t(0,500,\i1)}x`},
	{"Default", `{\3c&HFF&}x`},
	{"Default", `x{\p1}m 0 0 l 1 1{\p0}y`},
	{"Default", `{note}x`},
	{"Default", `{\i1 no end`},
	{"Default", `a\N\Nb`},
	{"Default", ` \N`},
	{"Default", "bad \xff byte"},
}

// section is the heading of the part of docs/fidelity.md that TestEncoders writes.
const section = "\n## Subtitles: why retime writes them itself\n"

// TestEncoders compares the subtitles that FFmpeg's encoders write with those that this
// package writes. If RETIME_WRITE_DOCS is set, it writes the table in docs/fidelity.md.
func TestEncoders(t *testing.T) {
	if os.Getenv("RETIME_WRITE_DOCS") == "" {
		t.Skip("RETIME_WRITE_DOCS=1 writes the part on subtitles of docs/fidelity.md")
	}
	var script strings.Builder
	script.WriteString(header)
	for i, e := range encoded {
		fmt.Fprintf(&script, "Dialogue: 0,0:00:%02d.00,0:00:%02d.00,%s,,0,0,0,,%s\n", i+1, i+2, e.style, e.text)
	}
	subRip, webVTT, timed := encodeText(t, script.String(), "subrip", "srt"), encodeText(t, script.String(), "webvtt", "webvtt"), encodeTimed(t, script.String())
	styles := NewScript(header, true)
	var rows strings.Builder
	var differ [3]int
	both, silent := 0, 0
	for i, e := range encoded {
		cue, lost := styles.Parse("0,0," + e.style + ",,0,0,0,," + e.text)
		text, settings, more := cue.WebVTT()
		sample, most := TimedText([]Cue{cue}, 320)
		if (lost&^Fonts|more|most) != 0 || strings.Contains(e.text, `\fn`) {
			silent++
		}
		if settings != "" {
			text = "[" + settings + "] " + text
		}
		cells, same := "", true
		for n, c := range []struct{ got, want string }{{subRip[i+1], cue.SubRip()}, {webVTT[i+1], text}, {timed[i+1], describe(sample)}} {
			if c.got == "" && n < 2 {
				c.got = emptyCue
			}
			if c.got == c.want {
				cells += " as retime |"
				continue
			}
			same = false
			differ[n]++
			cells += fmt.Sprintf(" %s, not %s |", code(c.got), code(c.want))
		}
		if same {
			both++
			continue
		}
		fmt.Fprintf(&rows, "| %s |%s\n", code(e.text), cells)
	}
	overlap := encodeTimed(t, header+"Dialogue: 0,0:00:01.00,0:00:03.00,Default,,0,0,0,,first\nDialogue: 0,0:00:02.00,0:00:04.00,Default,,0,0,0,,second\n")
	part := fmt.Sprintf(section+`
The container decides which format text subtitles have. FFmpeg's decoders turn subtitles into
events, and package `+"`pipeline/media/subtitle`"+` writes the events in the new format. The encoders of
FFmpeg 5.1 could write them, too, but they lose more. Of %d events, FFmpeg's encoders write %d differently
from retime as SubRip, %d as WebVTT and %d as timed text; %d come out alike in all three.

| event | FFmpeg's SubRip | FFmpeg's WebVTT | FFmpeg's timed text |
|---|---|---|---|
%s
Two differences are harmless: SubRip's encoder names fonts and sizes, which retime leaves out,
and nests tags in another way. The others are not:

- The encoders drop text after a tag that animates, and after a brace without an end. They close
  the tag that stays open in a later cue.
- They write drawings and comments as text, and also `+"`\\h`"+`.
- WebVTT's encoder drops positions and escapes nothing, so a player ends the cue at `+"`-->`"+`.
- A blank line ends a cue of SubRip and WebVTT before the cue's text does.
- The encoders lose bold that a weight chooses, and in timed text they lose colours, too.
- They write bytes that are not UTF-8 into formats that must be UTF-8.

Timed text shows one sample at a time. For a text from 1 s to 3 s and another from 2 s to 4 s,
FFmpeg writes %s, so the first one ends a second
early. retime writes the first, then both from 2 s to 3 s, then the second.

FFmpeg's encoders do not report what they lose. %d of these events lose something in one of
the formats, and retime names what.

This command writes this part:

    RETIME_WRITE_DOCS=1 go test -run Encoders ./pipeline/media/subtitle
`, len(encoded), differ[0], differ[1], differ[2], both, rows.String(), list(overlap), silent)
	const name = "../../../docs/fidelity.md"
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(old), section)
	if err := os.WriteFile(name, []byte(before+part), 0o644); err != nil {
		t.Fatal(err)
	}
}

// list describes the samples by the second at which each begins.
func list(samples map[int]string) string {
	var parts []string
	for at := range 10 {
		if s, ok := samples[at]; ok && s != "" {
			parts = append(parts, fmt.Sprintf("%s at %d s", code(s), at))
		}
	}
	return strings.Join(parts, " and ")
}

// emptyCue stands in the table for a cue without text.
const emptyCue = "an empty cue"

// code formats text for a cell of a table.
func code(text string) string {
	switch text {
	case "":
		return "nothing"
	case emptyCue:
		return text
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\n", "⏎") {
		switch r {
		case '\u00a0':
			b.WriteString("(U+00A0)")
		case '|':
			b.WriteString(`\|`)
		default:
			b.WriteRune(r)
		}
	}
	return "`" + b.String() + "`"
}

func ffmpeg(t *testing.T, input string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("ffmpeg", append([]string{"-v", "error", "-y", "-sub_charenc_mode", "ignore", "-f", "ass", "-i", "-"}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ffmpeg %q: %v", args, err)
	}
	return out
}

// cueTimes matches the line of times before a cue, and SubRip's number before that
// line.
var cueTimes = regexp.MustCompile(`(?m)^(?:\d+\n)?(?:00:)?00:(\d\d)[.,]000 --> \S+([^\n]*)\n`)

// encodeText returns the cues that FFmpeg writes for a script, by the second at which
// each begins.
func encodeText(t *testing.T, script, codec, format string) map[int]string {
	out := string(ffmpeg(t, script, "-c:s", codec, "-f", format, "-"))
	out = strings.ReplaceAll(out, "\r\n", "\n") // as good
	texts := map[int]string{}
	found := cueTimes.FindAllStringSubmatchIndex(out, -1)
	for i, m := range found {
		end := len(out)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		at, _ := strconv.Atoi(out[m[2]:m[3]])
		texts[at] = strings.TrimPrefix(fmt.Sprintf("[%s] ", strings.TrimSpace(out[m[4]:m[5]])), "[] ") + strings.TrimSuffix(strings.TrimRight(out[m[1]:end], "\n"), "\n")
		texts[at] = strings.ReplaceAll(texts[at], "\xff", "(FF)")
	}
	return texts
}

// encodeTimed returns the samples that FFmpeg writes for a script, by the second at
// which each begins.
func encodeTimed(t *testing.T, script string) map[int]string {
	name := filepath.Join(t.TempDir(), "out.mp4")
	ffmpeg(t, script, "-c:s", "mov_text", name)
	out, err := exec.Command("ffprobe", "-v", "error", "-show_packets", "-show_data", "-of", "json", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	var probe struct {
		Packets []struct {
			Time string `json:"pts_time"`
			Data string `json:"data"`
		} `json:"packets"`
	}
	if err := json.Unmarshal(out, &probe); err != nil {
		t.Fatal(err)
	}
	shown := map[int]string{}
	for _, p := range probe.Packets {
		var digits strings.Builder
		for line := range strings.Lines(p.Data) {
			if _, dump, ok := strings.Cut(line, ": "); ok {
				digits.WriteString(strings.ReplaceAll(dump[:min(len(dump), 40)], " ", ""))
			}
		}
		sample, err := hex.DecodeString(strings.TrimSpace(digits.String()))
		if err != nil {
			t.Fatalf("%q: %v", p.Data, err)
		}
		at, err := strconv.ParseFloat(p.Time, 64)
		if err != nil {
			t.Fatal(err)
		}
		shown[int(at)] = describe(sample)
	}
	return shown
}

// describe returns the text of a sample of timed text with its styles: b, i, u and a
// colour other than white, with the first and last character. It leaves out the size of
// the font.
func describe(sample []byte) string {
	n := int(binary.BigEndian.Uint16(sample))
	text, rest := strings.ReplaceAll(string(sample[2:2+n]), "\xff", "(FF)"), sample[2+n:]
	if len(rest) < 10 || string(rest[4:8]) != "styl" {
		return text
	}
	records := rest[10:]
	for range binary.BigEndian.Uint16(rest[8:]) {
		style := ""
		for i, name := range []string{"b", "i", "u"} {
			if records[6]&(1<<i) != 0 {
				style += name
			}
		}
		if c := binary.BigEndian.Uint32(records[8:]); c != white {
			style += fmt.Sprintf("#%06x", c>>8)
		}
		if style == "" {
			style = "none"
		}
		text += fmt.Sprintf(" [%d-%d %s]", binary.BigEndian.Uint16(records), binary.BigEndian.Uint16(records[2:]), style)
		records = records[12:]
	}
	return text
}
