package aov

import (
	"image"
	"slices"

	"retime/frame"
	"retime/pipeline/media/exr"
)

// alike reports whether two pictures have the same channels in the same parts, and a part of a frame between
// them, which has what both windows have, is no larger than a picture may be.
func alike(a, b []exr.Part) bool {
	return slices.EqualFunc(a, b, func(p, q exr.Part) bool {
		return p.Deep == q.Deep && p.Display == q.Display && exr.Fits(p.Window.Union(q.Window)) && slices.EqualFunc(p.Planes, q.Planes, func(c, d exr.Plane) bool {
			return c.Name == d.Name && c.Type == d.Type
		})
	})
}

// mixture is what a part of a made frame is made from.
type mixture struct {
	number   int      // of the part
	layers   []string // of Cryptomatte
	a, b     *exr.Part
	colour   *exr.Part // the engine's picture; nil for none
	replaced *exr.Part // what stays where mask is 0; nil for none
	mask     frame.Image[uint8]
	display  image.Rectangle // where the colour and the mask are
}

// part returns the part of a made frame between m.a and m.b. Within the display window it has the colour of a
// picture of that size, if there is one.
func (c *Carrier) part(m *mixture) exr.Part {
	a, b := m.a, m.b
	out := exr.Part{Name: a.Name, Window: a.Window.Union(b.Window), Display: a.Display, Deep: a.Deep}
	if m.replaced != nil {
		out.Window = m.replaced.Window
	}
	if a.Deep {
		return out
	}
	out.Planes = make([]exr.Plane, len(a.Planes))
	for i := range a.Planes {
		from := &a.Planes[i]
		p := &out.Planes[i]
		*p = exr.Plane{Name: from.Name, Type: from.Type, Sampled: from.Sampled, Bits: make([]uint32, out.Window.Dx()*out.Window.Dy())}
		blends := c.o.Rules.mixed(fullName(m.number, a, from.Name), from.Type, m.layers)
		s := sampler{motion: &c.motion, at: m.display.Min, blends: blends, a: newView(a, from, blends), b: newView(b, &b.Planes[i], blends)}
		f := filler{sampler: &s, to: p, window: out.Window, display: m.display, mask: m.mask}
		if m.replaced != nil {
			f.stays = newView(m.replaced, &m.replaced.Planes[i], blends)
		}
		if blends && m.colour != nil && m.display.Size() == m.colour.Window.Size() {
			f.made(m.colour, c.o.Peak)
		}
		c.o.Workers.Rows(out.Window.Dy(), f.rows)
	}
	return out
}

// filler fills a channel of a made frame.
type filler struct {
	*sampler
	to      *exr.Plane
	window  image.Rectangle // of the channel
	display image.Rectangle
	// colour has the engine's samples in the display window; nil if it has none.
	colour *exr.Plane
	peak   float32 // the engine's
	sure   bool    // nothing is beyond what the engine holds
	// stays is what stays where mask, in the display window, is 0; nil for none. The engine has composed its
	// samples.
	stays *view
	mask  frame.Image[uint8]
}

// made gives the engine's samples to f, if there are any.
func (f *filler) made(colour *exr.Part, peak float32) {
	k := slices.IndexFunc(colour.Planes, func(p exr.Plane) bool { return p.Name == f.to.Name })
	if k < 0 {
		return
	}
	if f.to.Name == "A" {
		peak = 1
	}
	f.colour, f.peak = &colour.Planes[k], peak
	f.sure = f.a.within(peak) && f.b.within(peak) && (f.stays == nil || f.stays.within(peak))
}

// rows fills rows y0 to y1-1.
func (f *filler) rows(y0, y1 int) {
	for y := y0; y < y1; y++ {
		at := f.window.Min.Y + y
		row := exr.Plane{Type: f.to.Type, Bits: f.to.Bits[y*f.window.Dx():][:f.window.Dx()]}
		first, end := f.window.Dx(), f.window.Dx() // where the engine's samples are
		if within := image.Rect(f.window.Min.X, at, f.window.Max.X, at+1).Intersect(f.display); f.colour != nil && !within.Empty() {
			first, end = within.Min.X-f.window.Min.X, within.Max.X-f.window.Min.X
		}
		f.row(row.Bits[:first], f.window.Min.X, at)
		f.row(row.Bits[end:], f.window.Min.X+end, at)
		if !f.sure {
			f.row(row.Bits[first:end], f.window.Min.X+first, at)
		}
		if f.stays != nil {
			f.stay(&row, at)
		}
		f.colours(&row, at, first, end)
	}
}

// colours replaces the samples from first to before end of the row at y by the engine's, but where what is warped
// is beyond what the engine holds.
func (f *filler) colours(row *exr.Plane, y, first, end int) {
	made := (y-f.display.Min.Y)*f.display.Dx() + f.window.Min.X - f.display.Min.X
	for x := first; x < end; x++ {
		if f.stays != nil && f.weight(f.window.Min.X+x, y) == 0 {
			continue
		}
		if v := row.Value(x); f.sure || v >= 0 && v <= f.peak {
			row.Set(x, min(f.colour.Value(made+x), f.peak))
		}
	}
}

// stay mixes what stays into the row at y.
func (f *filler) stay(row *exr.Plane, y int) {
	for x := range row.Bits {
		i := f.stays.index(f.window.Min.X+x, y)
		switch w := f.weight(f.window.Min.X+x, y); {
		case w == 0, !f.blends && w < 128:
			row.Bits[x] = f.stays.plane.Bits[i]
		case w < 255 && f.blends:
			share := float32(w) / 255
			row.Set(x, float32(f.stays.values[i]*(1-share))+float32(row.Value(x)*share))
		}
	}
}

// weight returns how much of what is made counts at a pixel, of 255.
func (f *filler) weight(x, y int) uint8 {
	x, y = x-f.display.Min.X, y-f.display.Min.Y
	if x < 0 || y < 0 || x >= f.mask.Width || y >= f.mask.Height {
		return 0
	}
	return f.mask.Row(y)[x]
}
