package subtitle

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf8"
)

// These are the face flags of 3GPP TS 26.245, section 5.17.1.1, which has none for
// struck-out text.
const (
	faceBold = 1 << iota
	faceItalic
	faceUnderline
)

// white, fully opaque, is the colour of text whose style sets none.
const white = 0xffffffff

// TimedTextHeader returns the sample description of 3GPP timed text (3GPP TS 26.245,
// section 5.16, from displayFlags on) for a picture height pixels high: white text
// without a background, centred at the lower edge, in a font of a twentieth of the
// height.
func TimedTextHeader(height int) []byte {
	const font = "Serif"
	var b []byte
	b = binary.BigEndian.AppendUint32(b, 0) // displayFlags
	b = append(b, 1, 0xff)                  // justification: centre, bottom
	b = binary.BigEndian.AppendUint32(b, 0) // background: transparent
	b = append(b, make([]byte, 8)...)       // box: the whole track
	b = appendStyle(b, 0, 0, fontSize(height), Style{Colour: Unset})
	b = binary.BigEndian.AppendUint32(b, uint32(8+2+3+len(font)))
	b = append(b, "ftab"...)
	b = binary.BigEndian.AppendUint16(b, 1)
	b = binary.BigEndian.AppendUint16(b, 1)
	b = append(b, byte(len(font)))
	return append(b, font...)
}

func fontSize(height int) byte { return byte(min(max(height/20, 8), 255)) }

// appendStyle adds a StyleRecord for the characters from one offset up to another.
func appendStyle(b []byte, from, to uint16, size byte, s Style) []byte {
	b = binary.BigEndian.AppendUint16(b, from)
	b = binary.BigEndian.AppendUint16(b, to)
	b = binary.BigEndian.AppendUint16(b, 1) // font-ID
	var face byte
	for _, f := range []struct {
		set  bool
		flag byte
	}{{s.Bold, faceBold}, {s.Italic, faceItalic}, {s.Underline, faceUnderline}} {
		if f.set {
			face |= f.flag
		}
	}
	colour := uint32(white)
	if s.Colour != Unset {
		colour = uint32(s.Colour)<<8 | 0xff
	}
	return binary.BigEndian.AppendUint32(append(b, face, size), colour)
}

// NoTimedText is a sample of timed text that shows nothing.
var NoTimedText = []byte{0, 0}

// TimedText returns cues that are shown together as one sample of 3GPP timed text (3GPP
// TS 26.245, section 5.17) under TimedTextHeader of the same height, and the properties
// that are lost. It puts later cues below earlier ones and drops repeated ones. Without
// text, the sample shows nothing.
func TimedText(cues []Cue, height int) (sample []byte, lost Loss) {
	var text strings.Builder
	var styles []byte
	var at, records uint16
	seen := map[string]bool{}
	for _, c := range cues {
		key := c.SubRip()
		if key == "" || seen[key] {
			continue
		}
		seen[key] = true
		if c.Place != 0 && c.Place != 2 {
			lost |= Places
		}
		if at > 0 && text.Len() < math.MaxUint16 {
			text.WriteByte('\n')
			at++
		}
		for _, s := range c.Spans {
			t := fit(s.Text, math.MaxUint16-text.Len())
			text.WriteString(t)
			end := at + uint16(utf8.RuneCountInString(t))
			if s.Strike {
				lost |= Strikes
			}
			s.Strike = false
			if s.Style != (Style{Colour: Unset}) && end > at {
				styles = appendStyle(styles, at, end, fontSize(height), s.Style)
				records++
			}
			at = end
		}
	}
	sample = binary.BigEndian.AppendUint16(nil, uint16(text.Len()))
	sample = append(sample, text.String()...)
	if records > 0 {
		sample = binary.BigEndian.AppendUint32(sample, uint32(8+2+len(styles)))
		sample = append(sample, "styl"...)
		sample = binary.BigEndian.AppendUint16(sample, records)
		sample = append(sample, styles...)
	}
	return sample, lost
}

// fit cuts text to at most n bytes, between characters.
func fit(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:max(n, 0)]
}
