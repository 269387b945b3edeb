package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"retime/frame"
)

// A made frame that equals the source frames keeps all detail, and a flat one keeps none.
func TestDetail(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	m := &Meter{workers: frame.Workers{N: 2}}
	for _, format := range []frame.Format{{Name: "gray", Depth: 8, Planes: 1}, {Name: "gray10le", Depth: 10, Planes: 1}} {
		noise, flat := frame.New(format, 9, 7), frame.New(format, 9, 7)
		p := noise.Planes[0]
		for y := range p.Height {
			for x := range p.Width {
				if format.Bytes() == 1 {
					frame.Samples[uint8](p).Row(y)[x] = uint8(r.IntN(256))
				} else {
					frame.Samples[uint16](p).Row(y)[x] = uint16(r.IntN(1024))
				}
			}
		}
		for _, c := range []struct {
			before, after, made *frame.Frame
			want                float64
		}{{noise, noise, noise, 1}, {noise, noise, flat, 0}, {noise, flat, noise, 2}, {flat, flat, flat, math.NaN()}} {
			if got := m.Detail(c.before, c.after, c.made); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("%v: %v, want %v", format, got, c.want)
			}
		}
	}
}
