// Package aov keeps sequences of OpenEXR pictures whole: shot frames are the files that they were, and made
// frames have, beside the colour that the engine made, every further channel and part, carried along the
// motion, and the header of the nearer shot frame.
package aov

import (
	"fmt"
	"image"
	"math/big"
	"os"
	"slices"
	"sync"

	"retime/frame"
	"retime/pipeline/media/exr"
	"retime/pipeline/stages"
	"retime/warp"
)

// Options describe a sequence.
type Options struct {
	// File returns the name of the input's picture of a number, from 0 at the start of the input.
	File func(n int64) (name string, ok bool)
	Rate *big.Rat // of the output, in frames per second
	// Peak is the most light that made colour holds, with 1 for white. What is above, or below 0, is warped
	// beside the engine.
	Peak    float32
	Workers frame.Workers
}

// Carrier turns the pictures that an encoder has made of frames' colour into whole ones. Vectors may be
// called from several goroutines; Next and Complete come from one each.
type Carrier struct {
	o Options

	mu      sync.Mutex
	pairs   map[int64]stages.Vectors // that are told and may be used yet, by the number of their first picture
	waiting []shown                  // frames whose pictures the encoder has yet
	last    int64                    // pair of the last frame that was told

	sources []*source // that were read last
	motion  motion
}

// shown is a frame on its way through the encoder.
type shown struct {
	stages.Origin
	vectors stages.Vectors // empty if none tell how the frame's pictures move
}

// source is a picture of the input.
type source struct {
	number int64
	file   []byte
	parts  []exr.Part // nil if nobody has asked for them
}

// kept is how many pictures of the input are kept: the two that a frame lies between.
const kept = 2

// New returns a Carrier. If the input's first picture has what cannot be carried, or the program was built
// without OpenEXR, the error wraps exr.ErrUnsupported. Deep reports whether there are deep parts, which
// only shot frames keep.
func New(o Options) (c *Carrier, deep bool, err error) {
	c = &Carrier{o: o, pairs: map[int64]stages.Vectors{}, last: -1, motion: motion{workers: o.Workers}}
	s, err := c.source(0)
	if err != nil {
		return nil, false, err
	}
	parts, err := exr.Parts(s.file)
	if err == nil {
		err = exr.Supported(parts)
	}
	if err != nil {
		return nil, false, fmt.Errorf("openexr: %w", err)
	}
	return c, slices.ContainsFunc(parts, func(p exr.Part) bool { return p.Deep }), nil
}

// Vectors takes the flow of a pair of pictures, before the frames between them come.
func (c *Carrier) Vectors(v stages.Vectors) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pairs[v.Number] = v
	return nil
}

// Next says what the next frame is, before the encoder gets it.
func (c *Carrier) Next(o stages.Origin) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.Pictures[1] < o.Pictures[0] {
		o.Pictures[0], o.Pictures[1] = o.Pictures[1], o.Pictures[0]
		o.Phase = warp.PhaseOne - o.Phase
	}
	pair := o.Pictures[0]
	if pair != c.last {
		delete(c.pairs, c.last)
		c.last = pair
	}
	next := shown{Origin: o}
	if o.Pictures[1] == pair+1 {
		next.vectors = c.pairs[pair]
	}
	c.waiting = append(c.waiting, next)
}

// Complete returns the whole picture of the frame that Next told of first among those that Complete has not
// returned. encoded is the encoder's.
func (c *Carrier) Complete(encoded []byte) ([]byte, error) {
	c.mu.Lock()
	f := c.waiting[0]
	c.waiting = c.waiting[1:]
	c.mu.Unlock()
	whole, err := c.whole(&f, encoded)
	if err != nil {
		return nil, fmt.Errorf("the channels beside colour: %w", err)
	}
	exr.SetRate(whole, c.o.Rate)
	return whole, nil
}

func (c *Carrier) whole(f *shown, encoded []byte) ([]byte, error) {
	if f.Shown >= 0 {
		s, err := c.source(f.Shown)
		if err != nil {
			return nil, err
		}
		return slices.Clone(s.file), nil
	}
	colour, err := exr.Decode(encoded, c.threads())
	if err != nil {
		return nil, err
	}
	sides, model, err := c.sides(f)
	if err != nil {
		return nil, err
	}
	if !alike(sides[0].parts, sides[1].parts) {
		sides = [2]*source{model, model}
	}
	display := model.parts[0].Display
	if err := c.motion.find(f.vectors, display.Dx(), display.Dy(), f.Phase); err != nil {
		return nil, err
	}
	parts := make([]exr.Part, len(model.parts))
	for i := range parts {
		var of *exr.Part
		if i == 0 {
			of = &colour[0]
		}
		parts[i] = c.part(&sides[0].parts[i], &sides[1].parts[i], of, display)
	}
	return exr.Encode(model.file, parts, c.threads())
}

// sides returns the pictures that a frame lies between, and the nearer one. Of a damaged one, the other takes the
// place.
func (c *Carrier) sides(f *shown) (sides [2]*source, model *source, err error) {
	var errs [2]error
	for i, n := range f.Pictures {
		sides[i], errs[i] = c.decoded(n)
	}
	switch {
	case errs[0] != nil && errs[1] != nil:
		return sides, nil, errs[0]
	case errs[0] != nil:
		sides[0] = sides[1]
	case errs[1] != nil:
		sides[1] = sides[0]
	}
	if f.Phase >= warp.PhaseOne/2 {
		return sides, sides[1], nil
	}
	return sides, sides[0], nil
}

// threads are those that OpenEXR has beside the caller's.
func (c *Carrier) threads() int { return c.o.Workers.Count() - 1 }

// source returns a picture of the input.
func (c *Carrier) source(n int64) (*source, error) {
	for i, s := range c.sources {
		if s.number == n {
			copy(c.sources[1:], c.sources[:i])
			c.sources[0] = s
			return s, nil
		}
	}
	name, ok := c.o.File(n)
	if !ok {
		return nil, fmt.Errorf("the input has no picture %d", n)
	}
	file, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	s := &source{number: n, file: file}
	c.sources = slices.Insert(c.sources, 0, s)
	c.sources = c.sources[:min(len(c.sources), kept)]
	return s, nil
}

// decoded returns a picture of the input with its parts.
func (c *Carrier) decoded(n int64) (*source, error) {
	s, err := c.source(n)
	if err == nil && s.parts == nil {
		if s.parts, err = exr.Decode(s.file, c.threads()); err != nil {
			err = fmt.Errorf("picture %d of the input: %w", n, err)
		}
	}
	return s, err
}

// alike reports whether two pictures have the same channels in the same parts.
func alike(a, b []exr.Part) bool {
	return slices.EqualFunc(a, b, func(p, q exr.Part) bool {
		return p.Deep == q.Deep && p.Display == q.Display && slices.EqualFunc(p.Planes, q.Planes, func(c, d exr.Plane) bool {
			return c.Name == d.Name && c.Type == d.Type
		})
	})
}

// part returns the part of a made frame between a and b. Within the display window it has the colour of a
// picture of that size, if there is one.
func (c *Carrier) part(a, b, colour *exr.Part, display image.Rectangle) exr.Part {
	out := exr.Part{Name: a.Name, Window: a.Window.Union(b.Window), Display: a.Display, Deep: a.Deep}
	if a.Deep {
		return out
	}
	out.Planes = make([]exr.Plane, len(a.Planes))
	for i := range a.Planes {
		from := &a.Planes[i]
		p := &out.Planes[i]
		*p = exr.Plane{Name: from.Name, Type: from.Type, Sampled: from.Sampled, Bits: make([]uint32, out.Window.Dx()*out.Window.Dy())}
		blends := Blends(from.Name, from.Type)
		s := sampler{motion: &c.motion, at: display.Min, blends: blends, a: newView(a, from, blends), b: newView(b, &b.Planes[i], blends)}
		f := filler{sampler: &s, to: p, window: out.Window}
		if blends && colour != nil && display.Size() == colour.Window.Size() {
			f.made(colour, display, c.o.Peak)
		}
		c.o.Workers.Rows(out.Window.Dy(), f.rows)
	}
	return out
}

// filler fills a channel of a made frame.
type filler struct {
	*sampler
	to     *exr.Plane
	window image.Rectangle // of the channel
	// colour has the engine's samples in the display window; nil if it has none.
	colour  *exr.Plane
	display image.Rectangle
	peak    float32 // the engine's
	sure    bool    // nothing is beyond what the engine holds
}

// made gives the engine's samples to f, if there are any.
func (f *filler) made(colour *exr.Part, display image.Rectangle, peak float32) {
	k := slices.IndexFunc(colour.Planes, func(p exr.Plane) bool { return p.Name == f.to.Name })
	if k < 0 {
		return
	}
	if f.to.Name == "A" {
		peak = 1
	}
	f.colour, f.display, f.peak = &colour.Planes[k], display, peak
	f.sure = f.a.within(peak) && f.b.within(peak)
}

// rows fills rows y0 to y1-1. The engine's samples count but where what is warped is beyond what the engine
// holds.
func (f *filler) rows(y0, y1 int) {
	width := f.window.Dx()
	for y := y0; y < y1; y++ {
		row, at := f.to.Bits[y*width:][:width], f.window.Min.Y+y
		within := image.Rect(f.window.Min.X, at, f.window.Max.X, at+1).Intersect(f.display)
		if f.colour == nil || within.Empty() {
			f.row(row, f.window.Min.X, at)
			continue
		}
		first, end := within.Min.X-f.window.Min.X, within.Max.X-f.window.Min.X
		f.row(row[:first], f.window.Min.X, at)
		f.row(row[end:], within.Max.X, at)
		if !f.sure {
			f.row(row[first:end], within.Min.X, at)
		}
		made := (at-f.display.Min.Y)*f.display.Dx() + within.Min.X - f.display.Min.X
		for x := first; x < end; x++ {
			if v := f.to.Value(y*width + x); f.sure || v >= 0 && v <= f.peak {
				f.to.Set(y*width+x, f.colour.Value(made+x-first))
			}
		}
	}
}
