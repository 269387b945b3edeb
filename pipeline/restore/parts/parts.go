// Package parts finds damage to parts of pictures: what stands in one picture alone, and in neither of its
// neighbours along the motion. It compares luma, of frames or of fields.
//
// A first pass asks of every pixel whether it lies outside the range of the pixels at the same place before
// and after. Where several do, motion is searched for between the picture before and the one after, which
// the damage does not touch; a pixel is marked if it lies outside the range of the nine on either side to which
// the motion leads (as in SROD: M. K. Nadenau, S. K. Mitra, "Blotch and scratch detection in image
// sequences based on rank ordered differences", 1997). Marks make lines and specks. A block is made of squares on a grid of 8 pixels that
// are off in the mean, and the picture breaks along its sides (blockiness, as in H. R. Wu, M. Yuen, "A generalized block-edge
// impairment metric for video coding", 1997), which tells it from what moves too far to follow.
//
// Fields of the same lines are two fields apart, and content may move far in that time. So what both of the fields of the other lines,
// right before and after, have as well, half as far along the motion, is not marked in a field, and a candidate counts less where they look
// like neither the field itself nor those on either side.
//
// Content of which motion is not found makes marks as well, but in the pictures around, too. So each candidate is
// compared with the marks near it there, with how many candidates there are, and with what is elsewhere in the
// neighbours; all measures together give its score.
package parts

import (
	"image"

	"retime/frame"
	"retime/pipeline/restore/swar"
)

// Kind is what an area of damage looks like.
type Kind string

// The kinds.
const (
	Jitter  Kind = "jitter"  // rows shifted sideways
	Dropout Kind = "dropout" // short pieces of lines
	Streak  Kind = "streak"  // lines across much of the picture
	Block   Kind = "block"   // wrong blocks of a codec
	Dirt    Kind = "dirt"    // specks, and scratches
)

// Area is damage to a part of a picture.
type Area struct {
	Number int // of the picture, from 0
	Kind   Kind
	Score  float64 // from 0 to 1
	Box    image.Rectangle
	Pieces []image.Rectangle // of the area, which lie apart; all of them are in Box
}

// Detector finds damage to parts of pictures that come in order.
type Detector struct {
	least   float64 // score of a finding
	workers frame.Workers
	window  []*picture // the last ones, at most three
	count   int
	vectors []vector // of the cells, between the last two pictures judged
	marks   frame.Image[int8]
	marked  []int // by row of cells, how many pixels are marked
	stack   []image.Point
	seen    []sight  // of the last pictures, the newest last
	now     []uint16 // what stirs in the picture that is judged
	found   []Area
}

// picture is one of the window.
type picture struct {
	frame.Image[uint8]
	rough []int32            // by row, how much every second pixel differs from the next row, in all
	other frame.Image[uint8] // shown since the one before; empty if there was none
}

// sight is what was seen in a picture.
type sight struct {
	number int
	areas  []candidate
	spots  bool     // whether light has changed in some of it
	stir   []uint16 // by cell, the sum of the steps by which pixels lie outside
}

// candidate is an area that may be damage.
type candidate struct {
	kind     Kind
	sort     sort
	box      image.Rectangle
	extent   image.Rectangle   // how far it goes on where it is faint
	pieces   []image.Rectangle // more than one, or nil for all of the box
	weight   int               // the sum of the steps by which its pixels lie outside
	measures []float64         // of its own
	score    float64
	hopeless bool // whether it cannot score enough
}

// New returns a detector of damage whose score is least or more.
func New(least float64, workers frame.Workers) *Detector {
	return &Detector{least: least, workers: workers}
}

// Add takes the luma of the next picture and of the other one that was shown since the picture before: for fields, the field of
// the other lines. For frames, and before the first field, other is empty. They must not change after that. All have one size, but
// other may have a line more or less.
func (d *Detector) Add(luma, other frame.Image[uint8]) {
	p := &picture{luma, make([]int32, luma.Height), other}
	d.workers.Rows(max(luma.Height-1, 0), func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			p.rough[y] = int32(swar.SumEverySecond(luma.Row(y), luma.Row(y+1)))
		}
	})
	d.window = append(d.window, p)
	d.count++
	if len(d.window) < 3 {
		return
	}
	if luma.Width >= 4*cellWidth && luma.Height >= 4*cellHeight {
		d.see(d.judge(d.window[0], d.window[1], d.window[2]))
	}
	d.window = append(d.window[:0], d.window[1:]...)
}
