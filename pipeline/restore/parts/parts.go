// Package parts finds damage to parts of pictures: what stands in one picture alone, and in neither of its
// neighbours along the motion. It compares luma, of frames or of fields.
//
// A first pass asks of every pixel whether it lies outside the range of the pixels at the same place before
// and after. Where several do, motion is searched for between the picture before and the one after, which
// the damage does not touch; a pixel counts if it lies outside the range of the nine on either side to which
// the motion leads (as in SROD: M. K. Nadenau, S. K. Mitra, "Blotch and scratch detection in image
// sequences based on rank ordered differences", 1997). What is left is content if it is found
// elsewhere nearby before or after, or if the like comes again and again.
package parts

import (
	"image"

	"retime/frame"
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

// Limits say how much must be wrong for a finding.
type Limits struct {
	// Step is by how many grey levels of 8 bits a pixel must lie outside its neighbours' range.
	Step int
	// Weight is the sum of such steps of an area.
	Weight int
	// Sure is whether only that counts of which all measures speak plainly.
	Sure bool
	// Often is the share of the pictures around in which the like may be seen.
	Often float64
}

// Detector finds damage to parts of pictures that come in order.
type Detector struct {
	limits  Limits
	workers frame.Workers
	window  []*picture // the last ones, at most three
	count   int
	vectors []vector // of the cells, between the last two pictures judged
	marks   frame.Image[uint8]
	stack   []image.Point
	seen    []sight // by the number of the picture
}

// picture is one of the window.
type picture struct {
	frame.Image[uint8]
	rough []int32 // by row, how much it differs from the next
}

// sight is what was seen in a picture.
type sight struct {
	areas []candidate
	many  bool // too much to be looked at
}

// candidate is an area that may be damage.
type candidate struct {
	kind   Kind
	box    image.Rectangle
	pieces []image.Rectangle // more than one, or nil for all of the box
	weight int
}

// New returns a detector.
func New(l Limits, workers frame.Workers) *Detector { return &Detector{limits: l, workers: workers} }

// Add takes the luma of the next picture, which must not change after that. All have one size.
func (d *Detector) Add(luma frame.Image[uint8]) {
	p := &picture{Image: luma, rough: make([]int32, luma.Height)}
	d.workers.Rows(max(luma.Height-1, 0), func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			p.rough[y] = roughness(luma.Row(y), luma.Row(y+1))
		}
	})
	d.window = append(d.window, p)
	d.count++
	d.seen = append(d.seen, sight{})
	if len(d.window) < 3 {
		return
	}
	if luma.Width >= 4*cellWidth && luma.Height >= 4*cellHeight {
		d.seen[d.count-2] = d.judge(d.window[0], d.window[1], d.window[2])
	}
	d.window = append(d.window[:0], d.window[1:]...)
}

// roughness returns the sum of the differences of every second pixel.
func roughness(a, b []uint8) int32 {
	var sum int32
	for x := 0; x < len(a) && x < len(b); x += 2 {
		v := int32(a[x]) - int32(b[x])
		if v < 0 {
			v = -v
		}
		sum += v
	}
	return sum
}

// Around is how many pictures on either side of one are asked whether they show the like, and near how far away,
// in pixels, it may lie there.
const (
	around = 12
	near   = 24
)

// Find returns all damage, in the order of pictures.
func (d *Detector) Find() (found []Area) {
	for n, s := range d.seen {
		if s.many {
			continue
		}
		for _, c := range s.areas {
			if d.usual(n, c) {
				continue
			}
			found = append(found, Area{n, c.kind, 1 - 1/(1+float64(c.weight)/float64(d.limits.Weight)), c.box, c.all()})
		}
	}
	return found
}

// usual reports whether areas like c are seen in the pictures around n: at the same place, or so many anywhere
// that they belong to what is shown.
func (d *Detector) usual(n int, c candidate) bool {
	here, anywhere, asked := 0, 0, 0
	for k := max(n-around, 0); k <= min(n+around, len(d.seen)-1); k++ {
		if k == n {
			continue
		}
		asked++
		at, some := false, d.seen[k].many
		for _, o := range d.seen[k].areas {
			if 2*o.weight < c.weight {
				continue
			}
			some = true
			at = at || o.box.Overlaps(c.box.Inset(-near))
		}
		if at {
			here++
		}
		if some {
			anywhere++
		}
	}
	return float64(anywhere) > d.limits.Often*float64(asked) || here >= 2
}
