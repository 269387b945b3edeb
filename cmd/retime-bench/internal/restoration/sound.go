package restoration

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"

	"retime/frame"
	"retime/pipeline/restore/fields"
)

// condition is what a sound clip may look like: nothing in it is damage.
type condition struct {
	name   string
	filter string // FFmpeg's
	change func(p *scenery, n int, f *frame.Frame)
}

var conditions = []condition{
	{name: "as shot"},
	{name: "flicker", change: (*scenery).flicker},
	{name: "hand-held", filter: "scale=iw*1.125:-2,crop=iw/1.125:ih/1.125:x='(iw-ow)*(.5+.3*sin(n/3)+.2*(random(1)-.5))':y='(ih-oh)*(.5+.3*sin(n/2.3)+.2*(random(2)-.5))'"},
	{name: "concert light", change: (*scenery).concert},
	{name: "snow", change: (*scenery).snow},
	{name: "grain", change: (*scenery).noise},
}

// scenery holds what goes on in a sound clip.
type scenery struct {
	*rand.Rand
	flakes []flake
	spots  []spot
}

type flake struct{ x, y, vx, vy, r float64 }

// spot is a light that shines on part of the picture for a time.
type spot struct {
	x, gain float64
	left    int
}

// sound counts what is found in a sound clip under a condition.
func (s *study) sound(ctx context.Context, t *tally, clip, name string, i int, woven bool, c *condition) error {
	if c.filter != "" {
		var err error
		if name, err = s.base(ctx, clip, i, woven, c.filter); err != nil {
			return err
		}
	}
	p := &scenery{Rand: rand.New(rand.NewPCG(s.Seed, uint64(i)))}
	spoilt := filepath.Join(s.work, "sound.mkv")
	moment := 0
	length, err := s.rewrite(ctx, name, spoilt, func(n, _ int, f, _ *frame.Frame) {
		if c.change == nil {
			return
		}
		if !woven {
			c.change(p, n, f)
			return
		}
		for k := range 2 {
			field := fields.Top
			if (k == 0) != (i%2 == 0) { // as systems are
				field = fields.Bottom
			}
			c.change(p, moment, fields.View(f, field))
			moment++
		}
	})
	if err != nil {
		return err
	}
	found, err := s.detect(ctx, t, spoilt, length)
	if err != nil {
		return err
	}
	a := t.clean[c.name]
	if a == nil {
		a = &alarms{}
		t.clean[c.name] = a
	}
	a.found, a.seconds = a.found+len(found), a.seconds+length
	for _, f := range found {
		if len(f.Regions) == 0 {
			a.whole++
		}
		s.note("%s, %s: found by mistake: %v", filepath.Base(name), c.name, f)
	}
	return nil
}

// change lets level map each sample of luma, in grey levels of 8 bits.
func change(f *frame.Frame, level func(x, y int, v float64) float64) {
	unit := float64(int(1) << (f.Format.Depth - 8))
	if f.Format.Bytes() == 2 {
		changeSamples(frame.Samples[uint16](f.Planes[0]), unit, level)
	} else {
		changeSamples(frame.Samples[uint8](f.Planes[0]), unit, level)
	}
}

func changeSamples[T frame.Sample](m frame.Image[T], unit float64, level func(x, y int, v float64) float64) {
	for y := range m.Height {
		row := m.Row(y)
		for x, v := range row {
			row[x] = T(min(max(level(x, y, float64(v)/unit), 0), 255)*unit + 0.5)
		}
	}
}

// flicker is a lamp's, or an old projector's.
func (p *scenery) flicker(_ int, f *frame.Frame) {
	gain := 1 + 0.05*p.NormFloat64()
	change(f, func(_, _ int, v float64) float64 { return v * gain })
}

// noise adds grain, as of film or of a sensor at night.
func (p *scenery) noise(_ int, f *frame.Frame) {
	change(f, func(_, _ int, v float64) float64 { return v + 5*p.NormFloat64() })
}

// concert lets spots go on and off, some for few frames.
func (p *scenery) concert(_ int, f *frame.Frame) {
	for k := 0; k < len(p.spots); k++ {
		if p.spots[k].left--; p.spots[k].left <= 0 {
			p.spots = append(p.spots[:k], p.spots[k+1:]...)
			k--
		}
	}
	if p.IntN(4) == 0 {
		p.spots = append(p.spots, spot{p.Float64(), 0.3 + p.Float64(), 1 + p.IntN(15)})
	}
	w := float64(f.Width)
	gains := make([]float64, f.Width)
	for x := range gains {
		gains[x] = 0.7
		for _, s := range p.spots {
			d := (float64(x)/w - s.x) / 0.25
			gains[x] += s.gain * math.Exp(-d*d)
		}
	}
	change(f, func(x, _ int, v float64) float64 { return v * gains[x] })
}

// snow falls, nearer flakes faster.
func (p *scenery) snow(_ int, f *frame.Frame) {
	w, h := float64(f.Width), float64(f.Height)
	for len(p.flakes) < 120 {
		near := p.Float64()
		p.flakes = append(p.flakes, flake{p.Float64(), p.Float64(), (p.Float64() - 0.5) * 0.008, 0.006 + 0.02*near, 0.001 + 0.003*near})
	}
	luma := frame.NewImage[uint8](f.Width, f.Height)
	for k := range p.flakes {
		q := &p.flakes[k]
		q.x, q.y = math.Mod(q.x+q.vx+1, 1), math.Mod(q.y+q.vy, 1)
		r := max(q.r*w, 1)
		for y := int(q.y*h - r*h/w*1.8); y <= int(q.y*h+r*h/w*1.8); y++ {
			for x := int(q.x*w - r); x <= int(q.x*w+r); x++ {
				if x >= 0 && y >= 0 && x < f.Width && y < f.Height && math.Hypot(float64(x)-q.x*w, (float64(y)-q.y*h)*w/h/1.8) <= r {
					luma.Row(y)[x] = 1
				}
			}
		}
	}
	change(f, func(x, y int, v float64) float64 {
		if luma.Row(y)[x] > 0 {
			return v*0.3 + 225*0.7
		}
		return v
	})
}
