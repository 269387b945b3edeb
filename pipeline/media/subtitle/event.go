// Package subtitle converts subtitles of text from one format to another. It reads the
// events of Advanced SubStation Alpha that FFmpeg's decoders make of every text format,
// and writes them with their styling as SubRip, WebVTT and 3GPP timed text (MP4's
// tx3g). FFmpeg's own encoders lose more of the styling and do not report it:
// docs/fidelity.md compares them.
package subtitle

import (
	"strconv"
	"strings"
)

// Style describes the look of text.
type Style struct {
	Bold, Italic, Underline, Strike bool
	Colour                          Colour
}

// Colour is 0xRRGGBB, or Unset for the player's own.
type Colour int32

// Unset leaves the colour to the player.
const Unset Colour = -1

// Span is text in one style. Newlines separate its lines.
type Span struct {
	Text string
	Style
}

// Cue is the text that is shown together.
type Cue struct {
	Spans []Span
	// Place is the edge or corner of the picture at which the text stands, as on a
	// numeric keypad: 2 for the middle of the lower edge; 0 if the event names none.
	Place int
}

// Loss is a set of properties that the target format cannot hold.
type Loss uint8

// These are the properties that may be lost.
const (
	Colours Loss = 1 << iota
	Strikes
	Places
	Fonts
	Effects // movement, fading, karaoke, clipping, layers
	Drawings
)

// String lists the properties in words.
func (l Loss) String() string {
	var parts []string
	for i, name := range []string{"colours", "struck-out text", "positions", "fonts", "effects", "drawings"} {
		if l&(1<<i) != 0 {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, ", ")
}

// Script is the header of a stream of events.
type Script struct {
	styles   map[string]Style
	authored bool
}

// NewScript reads the section of styles in a header, "[V4+ Styles]" or "[V4 Styles]".
// Set authored unless FFmpeg made the header up for another format: in an authored
// script, text in braces is a comment and styles choose fonts.
func NewScript(header string, authored bool) *Script {
	s := &Script{styles: map[string]Style{}, authored: authored}
	var columns []string
	for line := range strings.Lines(header) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "Format":
			if columns == nil { // the section of events has such a line, too
				columns = strings.Split(value, ",")
			}
		case "Style":
			s.addStyle(columns, strings.Split(value, ","))
		}
	}
	return s
}

func (s *Script) addStyle(columns, values []string) {
	style, name := Style{Colour: Unset}, ""
	for i, c := range columns {
		if i >= len(values) {
			break
		}
		v := strings.TrimSpace(values[i])
		set := v != "0" && v != ""
		switch strings.ToLower(strings.TrimSpace(c)) {
		case "name":
			name = v
		case "bold":
			style.Bold = set
		case "italic":
			style.Italic = set
		case "underline":
			style.Underline = set
		case "strikeout":
			style.Strike = set
		case "primarycolour":
			style.Colour = parseColour(v)
		}
	}
	s.styles[strings.TrimPrefix(name, "*")] = style
}

// parseColour reads "&HAABBGGRR" in hexadecimal or a decimal number. White, the default
// of players, becomes Unset.
func parseColour(text string) Colour {
	text = strings.TrimRight(strings.TrimLeft(text, "&Hh"), "&")
	v, err := strconv.ParseUint(text, 16, 32)
	if err != nil {
		return Unset
	}
	if c := Colour(v&0xff<<16 | v&0xff00 | v>>16&0xff); c != 0xffffff {
		return c
	}
	return Unset
}

// eventFields counts the fields of an event before its text: ReadOrder, Layer, Style,
// Name, three margins, Effect.
const eventFields = 8

// Parse reads an event as FFmpeg's decoders deliver it, and returns the properties that
// a Cue cannot hold. If event is malformed, it returns an empty cue.
func (s *Script) Parse(event string) (Cue, Loss) {
	fields := strings.SplitN(strings.TrimRight(event, "\r\n"), ",", eventFields+1)
	if len(fields) <= eventFields {
		return Cue{}, 0
	}
	p := parser{script: s, text: fields[eventFields]}
	if s.authored {
		p.lost = Fonts
	}
	if fields[7] != "" {
		p.lost |= Effects
	}
	p.base = s.style(fields[2])
	p.style = p.base
	p.parse()
	return p.cue, p.lost
}

// style returns the style called name.
func (s *Script) style(name string) Style {
	if style, ok := s.styles[strings.TrimPrefix(name, "*")]; ok {
		return style
	}
	if style, ok := s.styles["Default"]; ok {
		return style
	}
	return Style{Colour: Unset}
}

// parser reads the text of one event.
type parser struct {
	script      *Script
	text        string
	base, style Style
	drawing     bool
	run         strings.Builder // text so far in one style
	cue         Cue
	lost        Loss
}

func (p *parser) parse() {
	for t := p.text; t != ""; {
		if t[0] == '{' && (p.script.authored || strings.HasPrefix(t, `{\`)) {
			if block, rest, ok := strings.Cut(t[1:], "}"); ok {
				p.override(block)
				t = rest
				continue
			}
		}
		n := 1
		switch {
		case p.drawing:
			p.lost |= Drawings
		case strings.HasPrefix(t, `\N`), strings.HasPrefix(t, `\n`):
			p.run.WriteByte('\n')
			n = 2
		case strings.HasPrefix(t, `\h`):
			p.run.WriteString("\u00a0")
			n = 2
		case t[0] != '\r':
			p.run.WriteByte(t[0])
		}
		t = t[n:]
	}
	p.flush()
}

// flush ends the current run of text.
func (p *parser) flush() {
	if p.run.Len() == 0 {
		return
	}
	p.cue.add(Span{strings.ToValidUTF8(p.run.String(), "\ufffd"), p.style})
	p.run.Reset()
}

func (c *Cue) add(s Span) {
	if n := len(c.Spans); n > 0 && c.Spans[n-1].Style == s.Style {
		c.Spans[n-1].Text += s.Text
		return
	}
	c.Spans = append(c.Spans, s)
}

// override applies a block of tags, each after a backslash.
func (p *parser) override(block string) {
	tags := strings.Split(block, `\`)
	for i := 1; i < len(tags); i++ { // text before the first tag is a comment
		tag := tags[i]
		// The arguments of a tag may hold others: \t(0,500,\i1).
		if strings.Contains(tag, "(") {
			for !strings.Contains(tag, ")") && i+1 < len(tags) {
				i++
				tag += `\` + tags[i]
			}
		}
		style := p.style
		p.obey(strings.TrimSpace(tag), &style)
		if style != p.style {
			p.flush()
			p.style = style
		}
	}
}

// obey applies a tag to style.
func (p *parser) obey(tag string, style *Style) {
	name := strings.TrimRight(tag, "-0123456789.")
	if c, _, ok := strings.Cut(tag, "&"); ok {
		name = c
	}
	value := tag[len(name):]
	on := func(base bool) bool { return value == "" && base || value != "" && value != "0" }
	switch name {
	case "b":
		style.Bold = on(p.base.Bold)
	case "i":
		style.Italic = on(p.base.Italic)
	case "u":
		style.Underline = on(p.base.Underline)
	case "s":
		style.Strike = on(p.base.Strike)
	case "c", "1c":
		style.Colour = p.base.Colour
		if value != "" {
			style.Colour = parseColour(value)
		}
	case "an", "a":
		if p.cue.Place == 0 { // the first one counts
			p.cue.Place = place(name, value)
		}
	case "p":
		p.drawing = on(false)
	case "q", "pbo":
	default:
		p.other(tag, style)
	}
}

// other applies the tags whose names are followed by more than a number, and records
// those that a Cue cannot hold.
func (p *parser) other(tag string, style *Style) {
	switch {
	case strings.HasPrefix(tag, "pos("), strings.HasPrefix(tag, "org("), strings.HasPrefix(tag, "move("):
		p.lost |= Places
	case strings.HasPrefix(tag, "fn"), strings.HasPrefix(tag, "fs"), strings.HasPrefix(tag, "fe"):
		p.lost |= Fonts
	case strings.HasPrefix(tag, "r"):
		*style = p.base
		if s, ok := p.script.styles[tag[1:]]; ok {
			*style = s
		}
	case len(tag) > 1 && tag[1] == 'c' && '2' <= tag[0] && tag[0] <= '4': // colours of outlines and shadows
		p.lost |= Colours
	default:
		p.lost |= Effects
	}
}

// place reads the numbers of \an, which are a keypad's, and of \a, which count 1 to 3
// from the left, with 4 added at the top and 8 in the middle.
func place(name, value string) int {
	n, err := strconv.Atoi(value)
	switch {
	case err != nil || n < 1:
		return 0
	case name == "an":
		return min(n, 10) % 10
	case n <= 3:
		return n
	case n >= 5 && n <= 7:
		return n + 2
	case n >= 9 && n <= 11:
		return n - 5
	}
	return 0
}
