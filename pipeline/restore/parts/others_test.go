package parts

import (
	"image"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"retime/frame"
	"retime/testdata/scene"
)

// woven is the scene in fields: the moments of a picture, and before each that of the lines between.
var woven = sync.OnceValue(func() (fields []frame.Image[uint8]) {
	for n := range 2 * pictures {
		whole := frame.Image[uint8]{Width: width, Height: 2 * height, Stride: width, Pix: scene.Draw(width, 2*height, float64(n)/48).Y}
		fields = append(fields, lines(whole, 1-n%2))
	}
	return fields
})

// lines returns every second line of a picture, from the first or the second on.
func lines(m frame.Image[uint8], first int) frame.Image[uint8] {
	f := frame.NewImage[uint8](m.Width, m.Height/2)
	for y := range f.Height {
		copy(f.Row(y), m.Row(2*y+first))
	}
	return f
}

// findInFields returns what scores atLeast in every second field of the scene, all of which change alters, with the fields between or without.
func findInFields(atLeast float64, between bool, change func(moment int, m frame.Image[uint8])) []Area {
	d := New(atLeast, frame.Workers{N: 2})
	var last, none frame.Image[uint8]
	for n, m := range woven() {
		m.Pix = slices.Clone(m.Pix)
		change(n, m)
		if n%2 == 0 {
			last = m
		} else if between {
			d.Add(m, last)
		} else {
			d.Add(m, none)
		}
	}
	return d.Find()
}

// What the fields of the other lines show right before and after is no damage, even if of the same lines one field alone shows it. A fault
// of one field is, and a fault of a film's frame, which is in two.
func TestBetween(t *testing.T) {
	const at = 2*spoilt + 1
	box := image.Rect(208, 32, 240, 64)
	for _, c := range []struct {
		name              string
		before, it, after uint8 // the steps of the moment before, of the one that is compared, and of the one after
		without, with     bool
	}{
		{"nothing", 0, 0, 0, false, false},
		{"a lamp", 90, 90, 90, true, false},
		{"a lamp that comes on and goes out slowly", 70, 100, 70, true, false},
		{"a fault of a field", 0, 90, 0, true, true},
		{"a fault of a film's frame", 0, 90, 90, true, true},
		{"a fault of the frame before", 90, 90, 0, true, true},
	} {
		for between, want := range map[bool]bool{false: c.without, true: c.with} {
			found := findInFields(least, between, func(moment int, m frame.Image[uint8]) {
				step := map[int]uint8{at - 1: c.before, at: c.it, at + 1: c.after}[moment]
				paint(m, box, func(_, _ int, was uint8) uint8 {
					if was > 127 {
						return was - step
					}
					return was + step
				})
			})
			if len(found) > 0 != want || want && (len(found) != 1 || found[0].Number != spoilt || found[0].Kind != Block || !found[0].Box.Overlaps(box)) {
				t.Errorf("%s, fields between %v: found %v", c.name, between, found)
			}
		}
	}
}

// Rows that jitter in one field are found, and in both fields of a film's frame, each by its own. Where the fields right before and after
// show the same, it counts for less.
func TestJitterBetween(t *testing.T) {
	const at = 2*spoilt + 1
	jitter := func(alike bool, moments ...int) float64 {
		found := findInFields(least, true, func(moment int, m frame.Image[uint8]) {
			if !slices.Contains(moments, moment) {
				return
			}
			if alike {
				moment = at
			}
			random := rand.New(rand.NewPCG(1, uint64(moment)))
			for y := 40; y < 110; y++ {
				shiftRow(m.Row(y), float64(random.IntN(3)-1))
			}
		})
		if len(found) != 1 || found[0].Number != spoilt || found[0].Kind != Jitter {
			t.Errorf("in moments %v: found %v", moments, found)
			return 0
		}
		return found[0].Score
	}
	field, film, moves := jitter(false, at), jitter(false, at, at+1), jitter(true, at-1, at, at+1)
	if min(field, film) < 0.9 || moves > min(field, film)-0.05 {
		t.Errorf("scores %.3f of a field, %.3f of a film's frame, %.3f of what moves", field, film, moves)
	}
}

// Rows that jitter are found as surely where the fields of the other lines lie further to the side, as in a hand that shakes. Rows that are
// nearly all shifted alike count for less if those fields show them there, too.
func TestJitterOfAShakingHand(t *testing.T) {
	const at = 2*spoilt + 1
	score := func(shake int, by func() int, shiftOthers bool) float64 {
		found := findInFields(1e-9, true, func(moment int, m frame.Image[uint8]) {
			for y := range m.Height {
				band, shift := y >= 40 && y < 110, 0
				switch {
				case moment%2 == 0 && band && shiftOthers && (moment == at-1 || moment == at+1):
					shift = by()
				case moment%2 == 0:
					shift = shake
				case moment == at && band:
					shift = by()
				}
				shiftRow(m.Row(y), float64(shift))
			}
		})
		for _, a := range found {
			if a.Number == spoilt && a.Kind == Jitter {
				return a.Score
			}
		}
		return 0
	}
	random := rand.New(rand.NewPCG(1, 5))
	apart := func() int { return random.IntN(7) - 3 }
	if still, shaken := score(0, apart, false), score(2, apart, false); still < 0.9 || shaken < still-0.05 {
		t.Errorf("scores %.3f where the camera stands, %.3f where it shakes", still, shaken)
	}
	rows := 0
	together := func() int {
		if rows++; rows%7 == 0 {
			return -3
		}
		return 3
	}
	if field, moves := score(0, together, false), score(0, together, true); field == 0 || moves > field/2 {
		t.Errorf("scores %g of a field shifted alike, %g of what moves", field, moves)
	}
}

// The fields of the other lines have one line less in frames of odd height.
func TestOddHeight(t *testing.T) {
	for _, more := range [2]int{0, 1} {
		d := New(least, frame.Workers{N: 2})
		for n := range pictures {
			m, other := frame.NewImage[uint8](80, 80+more), frame.NewImage[uint8](80, 81-more)
			for i := range m.Pix {
				m.Pix[i] = uint8(60 + i%7)
			}
			copy(other.Pix, m.Pix)
			if n == spoilt {
				paint(m, image.Rect(40, m.Height-4, 42, m.Height), inverted)
			}
			d.Add(m, other)
		}
		if found := d.Find(); len(found) != 1 {
			t.Errorf("%d more: found %v", more, found)
		}
	}
}
