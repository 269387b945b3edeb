package restore

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"retime/frame"
	"retime/pipeline/restore/fields"
)

// What is in one field alone is damage, and so is what is in both of a frame. What is also in the next field of the frame beside passes.
func TestFieldsBeside(t *testing.T) {
	const width, height, count, at = 192, 216, 40, 20
	spot := func(f *frame.Frame) { // in an eighth of the picture
		m := frame.Samples[uint8](f.Planes[0])
		for y := m.Height / 4; y < m.Height/2; y++ {
			for x := width / 4; x < width*3/4; x++ {
				m.Row(y)[x] = uint8(240 - x/2*37%90)
			}
		}
	}
	type place struct {
		n   int
		set fields.Set
	}
	for name, c := range map[string]struct {
		in          []place
		bottomFirst bool
		want        []string
	}{
		"one field":                      {[]place{{at, fields.Top}}, false, []string{"garbled 20.t"}},
		"both fields of a frame":         {[]place{{at, fields.Both}}, false, []string{"garbled 20"}},
		"passing":                        {[]place{{at, fields.Bottom}, {at + 1, fields.Top}}, false, nil},
		"passing, bottom first":          {[]place{{at, fields.Top}, {at + 1, fields.Bottom}}, true, nil},
		"two frames":                     {[]place{{at, fields.Both}, {at + 1, fields.Both}}, false, []string{"garbled 20-21"}},
		"two fields that are not beside": {[]place{{at, fields.Top}, {at + 1, fields.Bottom}}, false, []string{"garbled 20.t", "garbled 21.b"}},
	} {
		order := TopField
		if c.bottomFirst {
			order = BottomField
		}
		of := &interlaced{order: order}
		d, err := newFieldDetector(&Options{MaxRun: 6}, of)
		if err != nil {
			t.Fatal(err)
		}
		stamps := make([]int64, count)
		for n := range count {
			f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, width, height)
			for y := range height {
				for x := range width {
					frame.Samples[uint8](f.Planes[0]).Row(y)[x] = uint8(60 + (x/5*31+y/12*17)%100)
				}
			}
			for _, p := range c.in {
				for _, field := range []fields.Set{fields.Top, fields.Bottom} {
					if p.n == n && p.set&field != 0 {
						spot(fields.View(f, field))
					}
				}
			}
			if err := errors.Join(of.add(f), d.add(f)); err != nil {
				t.Fatal(err)
			}
			stamps[n] = int64(n)
		}
		var got []string
		for _, f := range d.finish(stamps) {
			text := fmt.Sprintf("%s %v", f.Kind, f.First)
			if f.Last != f.First {
				text += fmt.Sprintf("-%v", f.Last)
			}
			got = append(got, text)
		}
		if d.close(); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}
