package still

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// decodePFM reads a portable float map: Pf (gray) or PF (RGB), the width, the height
// and a scale in text, then float32 samples from the bottom row up, little-endian if
// the scale is negative. It keeps the scale's magnitude, the unit of the samples, and
// does not apply it.
func decodePFM(data []byte) (*Picture, error) {
	channels := 1
	if data[1] == 'F' {
		channels = 3
	}
	s := scanner{data, 2}
	width, err := s.number()
	if err != nil {
		return nil, fmt.Errorf("width: %w", err)
	}
	height, err := s.number()
	if err != nil {
		return nil, fmt.Errorf("height: %w", err)
	}
	scale, err := s.floatToken()
	if err != nil {
		return nil, fmt.Errorf("scale: %w", err)
	}
	if err := checkSize(width, height, channels); err != nil {
		return nil, err
	}
	if scale == 0 || math.IsNaN(scale) || math.IsInf(scale, 0) {
		return nil, fmt.Errorf("scale %v: want a finite number other than 0", scale)
	}
	if err := s.endHeader(); err != nil {
		return nil, err
	}
	raster := data[s.pos:]
	if have := len(raster) / 4; have < width*height*channels {
		return nil, truncated(have, width*height*channels)
	}
	order := binary.ByteOrder(binary.BigEndian)
	if scale < 0 {
		order = binary.LittleEndian
	}
	p := newPicture(width, height, channels)
	p.FloatBits, p.scale = 32, math.Abs(scale)
	for y := height - 1; y >= 0; y-- {
		for x := range width {
			for c := range p.Channels {
				p.Channels[c].Pix[y*width+x] = float64(math.Float32frombits(order.Uint32(raster)))
				raster = raster[4:]
			}
		}
	}
	return p, nil
}

// floatToken reads a floating-point number in text.
func (s *scanner) floatToken() (float64, error) {
	for s.pos < len(s.data) && isSpace(s.data[s.pos]) {
		s.pos++
	}
	start := s.pos
	const longest = 64
	for s.pos < len(s.data) && s.pos-start < longest && !isSpace(s.data[s.pos]) {
		s.pos++
	}
	if s.pos == start {
		return 0, io.ErrUnexpectedEOF
	}
	text := string(s.data[start:s.pos])
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%q at byte %d: %w", text, start, errors.Unwrap(err))
	}
	return v, nil
}

// encodePFM writes a little-endian portable float map.
func encodePFM(w io.Writer, p *Picture) error {
	if err := p.checkFinite(32); err != nil {
		return err
	}
	magic := "Pf"
	if len(p.Channels) == 3 {
		magic = "PF"
	}
	scale := "-1.0"
	if p.scale != 0 {
		if scale = strconv.FormatFloat(-p.scale, 'f', -1, 64); !strings.Contains(scale, ".") {
			scale += ".0"
		}
	}
	width, height := p.Size()
	bw := bufio.NewWriter(w)
	fmt.Fprintf(bw, "%s\n%d %d\n%s\n", magic, width, height, scale)
	var b [4]byte
	for y := height - 1; y >= 0; y-- {
		for x := range width {
			for _, m := range p.Channels {
				binary.LittleEndian.PutUint32(b[:], math.Float32bits(float32(m.Row(y)[x])))
				_, _ = bw.Write(b[:]) // Flush returns the error
			}
		}
	}
	return bw.Flush()
}
