package subtitle

import (
	"fmt"
	"strings"
)

// blank reports whether c shows nothing.
func (c *Cue) blank() bool {
	for _, s := range c.Spans {
		if strings.TrimSpace(s.Text) != "" {
			return false
		}
	}
	return true
}

// SubRip returns c as the text of a SubRip entry, with the tags that players know: b,
// i, u, s, font and {\an8}. The text is empty if c has none.
func (c *Cue) SubRip() string {
	if c.blank() {
		return ""
	}
	var b strings.Builder
	if c.Place != 0 && c.Place != 2 {
		fmt.Fprintf(&b, `{\an%d}`, c.Place)
	}
	tagged(&b, c.Spans, func(s Style) (tags []tag) {
		if s.Colour != Unset {
			tags = append(tags, tag{fmt.Sprintf(`<font color="#%06x">`, s.Colour), "</font>"})
		}
		return append(tags, plain(s)...)
	}, func(text string) string { return text })
	return b.String()
}

// WebVTT returns c as the payload and the settings of a WebVTT cue (W3C, WebVTT: The
// Web Video Text Tracks Format, sections 3.3 and 3.4), and the properties that are
// lost. Payload and settings are empty if c has no text.
func (c *Cue) WebVTT() (text, settings string, lost Loss) {
	if c.blank() {
		return "", "", 0
	}
	var b strings.Builder
	tagged(&b, c.Spans, func(s Style) []tag {
		if s.Colour != Unset {
			lost |= Colours
		}
		if s.Strike {
			lost |= Strikes
		}
		s.Strike = false
		return plain(s)
	}, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\u00a0", "&nbsp;").Replace)
	return b.String(), webVTTSettings(c.Place), lost
}

// webVTTSettings returns the settings that put a cue at place.
func webVTTSettings(place int) string {
	var parts []string
	switch {
	case place >= 7:
		parts = append(parts, "line:0")
	case place >= 4:
		parts = append(parts, "line:50%")
	}
	if place != 0 {
		switch place % 3 {
		case 0:
			parts = append(parts, "align:end")
		case 1:
			parts = append(parts, "align:start")
		}
	}
	return strings.Join(parts, " ")
}

// tag holds the markup before and after text of a style.
type tag struct{ open, close string }

func plain(s Style) (tags []tag) {
	for _, t := range []struct {
		set  bool
		name string
	}{{s.Bold, "b"}, {s.Italic, "i"}, {s.Underline, "u"}, {s.Strike, "s"}} {
		if t.set {
			tags = append(tags, tag{"<" + t.name + ">", "</" + t.name + ">"})
		}
	}
	return tags
}

// tagged writes spans, each within the tags of its style. It leaves out blank lines,
// which would end an entry of a file.
func tagged(b *strings.Builder, spans []Span, tags func(Style) []tag, escape func(string) string) {
	newline := true // at the start of a line
	for _, s := range spans {
		list := tags(s.Style)
		for _, t := range list {
			b.WriteString(t.open)
		}
		for i, line := range strings.Split(s.Text, "\n") {
			if i > 0 && !newline {
				b.WriteByte('\n')
				newline = true
			}
			if line != "" {
				b.WriteString(escape(line))
				newline = newline && strings.TrimSpace(line) == ""
			}
		}
		for i := len(list) - 1; i >= 0; i-- {
			b.WriteString(list[i].close)
		}
	}
}
