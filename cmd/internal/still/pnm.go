package still

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// maxPNM is the largest maximum in PGM and PPM.
const maxPNM = 1<<16 - 1

// PGM and PPM are read and written here because neither Go's libraries nor FFmpeg's
// keep their maximum. Of 48 files (P2, P3, P5 and P6, each with 12 maxima from 1 to
// 65535), FFmpeg 5.1 returned the samples of 8, those with a maximum of 255 or 65535.
// It scaled the others, and turned white into black in raw ones with 254 or 65534.

// decodePNM reads the portable gray and pixel maps of Netpbm, plain (P2, P3) or raw
// (P5, P6). A comment runs from # to the end of its line. As in Netpbm's own reader, a
// comment may stand in place of white space, even among the numbers of a plain picture,
// and directly behind the maximum of a raw one.
func decodePNM(data []byte) (*Picture, error) {
	channels := 1
	if data[1] == '3' || data[1] == '6' {
		channels = 3
	}
	text := data[1] < '4'
	s := scanner{data, 2}
	if s.pos < len(data) && !isSpace(data[s.pos]) && data[s.pos] != '#' {
		return nil, fmt.Errorf("%q follows %q: want white space", data[s.pos], data[:2])
	}
	var width, height, limit int
	for _, field := range []struct {
		name string
		to   *int
	}{{"width", &width}, {"height", &height}, {"maximum", &limit}} {
		var err error
		if *field.to, err = s.number(); err != nil {
			return nil, fmt.Errorf("%s: %w", field.name, err)
		}
	}
	if err := checkSize(width, height, channels); err != nil {
		return nil, err
	}
	if limit < 1 || limit > maxPNM {
		return nil, fmt.Errorf("maximum %d: want 1 to %d", limit, maxPNM)
	}
	var next func() (int, error)
	samples := width * height * channels
	if text {
		// Every sample takes a digit and a separator.
		if have := (len(data) - s.pos) / 2; have < samples {
			return nil, truncated(have, samples)
		}
		next = s.number
	} else {
		if err := s.endHeader(); err != nil {
			return nil, err
		}
		size := 1
		if limit > 255 {
			size = 2
		}
		raster := data[s.pos:]
		if have := len(raster) / size; have < samples {
			return nil, truncated(have, samples)
		}
		next = func() (int, error) {
			v := int(raster[0])
			if size == 2 {
				v = v<<8 | int(raster[1])
			}
			raster = raster[size:]
			return v, nil
		}
	}
	p := newPicture(width, height, channels)
	p.Max, p.Text = limit, text
	for y := range height {
		for x := range width {
			for c := range p.Channels {
				v, err := next()
				if err != nil {
					return nil, fmt.Errorf("sample (%d, %d): %w", x, y, err)
				}
				if v > limit {
					return nil, fmt.Errorf("sample (%d, %d) is %d, above the maximum of %d", x, y, v, limit)
				}
				p.Channels[c].Pix[y*width+x] = float64(v)
			}
		}
	}
	return p, nil
}

// truncated returns the error for a file with too few samples.
func truncated(have, want int) error {
	return fmt.Errorf("cut short: %d of %d samples: %w", have, want, io.ErrUnexpectedEOF)
}

// scanner reads the numbers of a text header.
type scanner struct {
	data []byte
	pos  int
}

// number skips white space and comments and reads a decimal number below 2^30.
func (s *scanner) number() (int, error) {
	s.skip()
	start, n := s.pos, 0
	for ; s.pos < len(s.data) && s.data[s.pos] >= '0' && s.data[s.pos] <= '9'; s.pos++ {
		if n = 10*n + int(s.data[s.pos]-'0'); n >= 1<<30 {
			return 0, fmt.Errorf("the number at byte %d is 2^30 or more", start)
		}
	}
	switch {
	case s.pos > start:
		return n, nil
	case s.pos == len(s.data):
		return 0, io.ErrUnexpectedEOF
	}
	return 0, fmt.Errorf("%q at byte %d: want a number", s.data[start], start)
}

func (s *scanner) skip() {
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; {
		case c == '#':
			s.skipLine()
		case !isSpace(c):
			return
		}
	}
}

// skipLine moves to the last byte of the line, or of the data.
func (s *scanner) skipLine() {
	for s.pos < len(s.data)-1 && s.data[s.pos] != '\n' && s.data[s.pos] != '\r' {
		s.pos++
	}
}

// endHeader skips the single white space between a header and a raw raster.
func (s *scanner) endHeader() error {
	if s.pos == len(s.data) {
		return io.ErrUnexpectedEOF
	}
	if s.data[s.pos] == '#' {
		s.skipLine()
	} else if !isSpace(s.data[s.pos]) {
		return fmt.Errorf("%q at byte %d: want white space and the samples", s.data[s.pos], s.pos)
	}
	s.pos++
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// encodePNM writes P5 or P6, or P2 or P3 if p.Text is set.
func encodePNM(w io.Writer, p *Picture) error {
	kind := 5
	if len(p.Channels) == 3 {
		kind++
	}
	if p.Text {
		kind -= 3
	}
	bw := bufio.NewWriter(w)
	width, height := p.Size()
	fmt.Fprintf(bw, "P%d\n%d %d\n%d\n", kind, width, height, p.Max)
	put := func(v int) { _ = bw.WriteByte(byte(v)) } // Flush returns the error
	switch {
	case p.Text:
		put = textSamples(bw)
	case p.Max > 255:
		put = func(v int) { _, _ = bw.Write([]byte{byte(v >> 8), byte(v)}) }
	}
	rows := make([][]float64, len(p.Channels))
	for y := range height {
		for c := range rows {
			rows[c] = p.Channels[c].Row(y)
		}
		for x := range width {
			for _, row := range rows {
				put(quantize(row[x], 1, p.Max))
			}
		}
	}
	if p.Text {
		_ = bw.WriteByte('\n')
	}
	return bw.Flush()
}

// textSamples returns a function that writes numbers in lines of up to 70 characters,
// the longest that the formats allow.
func textSamples(bw *bufio.Writer) func(v int) {
	const limit = 70
	length := 0
	var digits []byte
	return func(v int) {
		digits = strconv.AppendInt(digits[:0], int64(v), 10)
		switch {
		case length == 0:
		case length+1+len(digits) > limit:
			_ = bw.WriteByte('\n')
			length = 0
		default:
			_ = bw.WriteByte(' ')
			length++
		}
		n, _ := bw.Write(digits)
		length += n
	}
}
