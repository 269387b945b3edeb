package media

import (
	"encoding/binary"
	"log/slog"
	"strings"

	"retime/frame"
)

// FieldProbe examines pictures, one after the other, that are not marked as interlaced for two fields of
// different times. It compares, where pictures move, how strongly the lines of one field
// differ from the lines between them: in the picture itself, and with the other field
// taken from the picture before or after. A progressive picture agrees best with itself,
// and equally badly with both neighbours. In an interlaced one, each field is as far from
// the other field as from that of one neighbour, and farther from that of the other, in
// the same order in all pictures.
type FieldProbe struct {
	window [3]thinned // the last pictures
	looked int
	moved  int
	scans  strings.Builder // how each picture but the first and the last looks, as a scan's byte
}

// How many pictures a Reader has examined: so many that move, but not more than
// probedAtMost in all.
const (
	probedMoving = 60
	probedAtMost = 600
)

// NewFieldProbe returns a probe for pictures like v's, nil if they are too small to tell.
func NewFieldProbe(v Video) *FieldProbe {
	if v.Height < 32 || v.Width < 32 {
		return nil
	}
	return &FieldProbe{}
}

// Look examines the next picture. It tells of the one before whether it moves against its neighbours and,
// if so, whether its fields seem to be of different times.
func (p *FieldProbe) Look(f *frame.Frame) (moves, combed bool) {
	p.window[0], p.window[1], p.window[2] = p.window[1], p.window[2], p.window[0]
	p.window[2].take(f)
	if p.looked++; p.looked < len(p.window) {
		return false, false
	}
	c := measureCombs(&p.window[0], &p.window[1], &p.window[2])
	s := c.scan()
	if s != still {
		p.moved++
	}
	p.scans.WriteByte(byte(s))
	return s != still, c.combed()
}

// Enough reports whether the pictures so far suffice for Warn.
func (p *FieldProbe) Enough() bool { return p.moved >= probedMoving || p.looked >= probedAtMost }

// Warn warns if the pictures look telecined, or interlaced; either comes with what helps.
func (p *FieldProbe) Warn(log *slog.Logger, input, telecined, interlaced string) {
	const though = ", though the input does not say so; "
	switch fields, film := p.verdict(); {
	case film:
		log.Warn("the pictures look telecined"+though+telecined, "input", input)
	case fields:
		log.Warn("the pictures look interlaced"+though+interlaced, "input", input)
	}
}

// verdict returns the probe's guess. Fields come in one order, and pictures of fields
// come in a row.
func (p *FieldProbe) verdict() (interlaced, telecined bool) {
	const enough = 12
	seen := p.scans.String()
	order, other := byte(topFirst), byte(bottomFirst)
	if count(seen, other) > count(seen, order) {
		order, other = other, order
	}
	combed, neighbours := count(seen, order), 0
	for i := range max(len(seen)-1, 0) {
		if seen[i] == order && seen[i+1] == order {
			neighbours++
		}
	}
	switch {
	case combed < enough || 10*count(seen, other) > combed || 4*neighbours < combed:
		return false, false
	case isPulldown(seen, order):
		return false, true
	}
	return 2*combed > p.moved, false
}

func count(s string, b byte) int { return strings.Count(s, string(rune(b))) }

// isPulldown reports whether most pictures stand in the cadence of 3:2 pulldown: two of
// five in a row mix the fields of two frames of the film.
func isPulldown(seen string, order byte) bool {
	const cadence = 5
	var windows, matching int
	for i := range max(len(seen)-cadence+1, 0) {
		w := seen[i : i+cadence]
		if count(w, byte(still)) > 0 {
			continue
		}
		windows++
		if pair := string([]byte{order, order}); count(w, order) == 2 && strings.Contains(w+w[:1], pair) {
			matching++
		}
	}
	return 2*matching > windows
}

// scan is how a picture looks among its neighbours.
type scan byte

const (
	still       scan = '_' // too little moves to tell
	progressive scan = 'p'
	topFirst    scan = 't' // interlaced, with the upper field, which holds line 0, first
	bottomFirst scan = 'b'
)

// combs sums up differences of grey levels over the samples that move.
type combs struct {
	samples, moving int
	// own is how much lines differ from the lines around them, which are the other field.
	// The others are the same with the lines around from the picture before or after:
	// from the one that is half a period away if the upper field comes first, or the
	// lower one.
	own, top, bottom int
	// field is how much lines differ from the lines around them in their own field.
	field int
	// pairs are the differences of lines 0 and 1, 2 and 3 and so on; between are those of
	// 1 and 2, 3 and 4 and so on.
	pairs, between int
}

// scan judges a picture. Doubled lines, and drawn patterns of two lines, resemble fields
// if they move up or down. Their lines come in pairs, and differ by no more than every
// other line does.
func (c *combs) scan() scan {
	switch {
	case !c.moves():
		return still
	case c.combed() && 13*c.top < 10*c.bottom:
		return topFirst
	case c.combed() && 13*c.bottom < 10*c.top:
		return bottomFirst
	}
	return progressive
}

// moves reports whether enough moves to tell.
func (c *combs) moves() bool { return c.moving >= 32 && c.moving*500 >= c.samples }

// combed reports whether the lines of the two fields seem to be of different times, in whichever order.
func (c *combs) combed() bool {
	nearest, paired := min(c.top, c.bottom), max(c.pairs, c.between) >= 2*min(c.pairs, c.between)
	return 10*c.own > 11*c.field && 5*nearest < 9*c.own || !paired && 5*nearest < 6*c.own
}

// moves is the difference of grey levels from one picture to the next above which a
// sample counts as moving.
const moves = 8

// measureCombs compares a picture with the ones before and after. A sample moves if one of
// the three above one another changes.
func measureCombs(before, picture, after *thinned) combs {
	var c combs
	width := picture.width
	lines := make([]uint8, 4*width)
	at, changed := lines[:width], lines[width:] // at y, and of the lines above, at and below y, in turn
	mark := func(y int) {
		markChanges(changed[y%3*width:][:width], before.line(y), picture.line(y), after.line(y))
	}
	mark(1)
	mark(2)
	for y := 2; y < picture.height-2; y++ {
		mark(y + 1)
		orLines(at, changed[:width], changed[width:2*width], changed[2*width:])
		c.samples += width
		c.add(y, before, picture, after, at)
	}
	return c
}

// add adds the samples of line y that move, which moving marks.
func (c *combs) add(y int, before, picture, after *thinned, moving []uint8) {
	here, up, down := picture.line(y), picture.line(y-2), picture.line(y+2)
	var p, o, n [2][]uint8 // the lines above and below y
	for i := range o {
		p[i], o[i], n[i] = before.line(y+2*i-1), picture.line(y+2*i-1), after.line(y+2*i-1)
	}
	var own, earlier, later, above, below int
	for x := 0; x < len(moving); x++ {
		if moving[x] == 0 {
			x += frame.LeadingZeros(moving[x:]) - 1
			continue
		}
		v := int(here[x])
		c.moving++
		c.field += absolute(2*v - int(up[x]) - int(down[x]))
		own += absolute(2*v - int(o[0][x]) - int(o[1][x]))
		earlier += absolute(2*v - int(p[0][x]) - int(p[1][x]))
		later += absolute(2*v - int(n[0][x]) - int(n[1][x]))
		above += absolute(v - int(o[0][x]))
		below += absolute(v - int(o[1][x]))
	}
	c.own += own
	if y%2 == 0 {
		c.top, c.bottom = c.top+earlier, c.bottom+later
		c.pairs, c.between = c.pairs+below, c.between+above
	} else {
		c.top, c.bottom = c.top+later, c.bottom+earlier
		c.pairs, c.between = c.pairs+above, c.between+below
	}
}

// markChanges sets marks to 1 at the samples of a line that change from the picture before
// or to the one after, and to 0 at the others.
func markChanges(marks, before, line, after []uint8) {
	before, line, after = before[:len(marks)], line[:len(marks)], after[:len(marks)]
	x := 0
	for ; x+8 <= len(marks); x += 8 {
		a, v, b := binary.NativeEndian.Uint64(before[x:]), binary.NativeEndian.Uint64(line[x:]), binary.NativeEndian.Uint64(after[x:])
		binary.NativeEndian.PutUint64(marks[x:], differing(a, v)|differing(v, b))
	}
	for ; x < len(marks); x++ {
		v := int(line[x])
		marks[x] = 0
		if absolute(v-int(before[x])) > moves || absolute(v-int(after[x])) > moves {
			marks[x] = 1
		}
	}
}

// differing returns 1 for each of eight samples that differ by more than moves, and 0 for the others.
func differing(a, b uint64) uint64 {
	const each = 0x0001000100010001 // of four samples in 16 bits
	half := func(a, b uint64) uint64 {
		d := a&(0xff*each) + (256+moves)*each - b&(0xff*each) // unchanged from 256 to 256 + 2 moves
		return (^(d + (0x8000-256)*each) | ^((0x8000+256+2*moves)*each - d)) >> 15 & each
	}
	return half(a, b) | half(a>>8, b>>8)<<8
}

// orLines sets dst to the bits of three lines of its length.
func orLines(dst, a, b, c []uint8) {
	x := 0
	for ; x+8 <= len(dst); x += 8 {
		v := binary.NativeEndian.Uint64(a[x:]) | binary.NativeEndian.Uint64(b[x:]) | binary.NativeEndian.Uint64(c[x:])
		binary.NativeEndian.PutUint64(dst[x:], v)
	}
	for ; x < len(dst); x++ {
		dst[x] = a[x] | b[x] | c[x]
	}
}

func absolute(v int) int { return max(v, -v) }

// thinned is a picture's first plane in 8 bits, all lines of it but at most thinnedWidth
// columns.
type thinned struct {
	width, height int
	samples       []uint8
}

const thinnedWidth = 320

func (t *thinned) line(y int) []uint8 { return t.samples[y*t.width:][:t.width] }

// take copies a frame.
func (t *thinned) take(f *frame.Frame) {
	if f.Format.Bytes() == 1 {
		thin(t, frame.Samples[uint8](f.Planes[0]), 0)
	} else {
		thin(t, frame.Samples[uint16](f.Planes[0]), f.Format.Depth-8)
	}
}

func thin[T frame.Sample](t *thinned, plane frame.Image[T], shift int) {
	step := (plane.Width + thinnedWidth - 1) / thinnedWidth
	t.width, t.height = (plane.Width+step-1)/step, plane.Height
	t.samples = frame.Resize(t.samples, t.width*t.height)
	for y := range plane.Height {
		row, line := plane.Row(y), t.line(y)
		for x := range line {
			line[x] = uint8(row[x*step] >> shift)
		}
	}
}
