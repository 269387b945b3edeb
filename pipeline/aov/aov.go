// Package aov keeps sequences of OpenEXR pictures whole: shot frames are the files that they were, and made
// frames have, beside the colour that the engine made, every further channel and part, carried along the
// motion, and the header of the nearer shot frame.
package aov

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"os"
	"slices"

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
	Rules   Rules
	Lenient bool // a rule that does not suit the first picture is a warning
	Workers frame.Workers
	Log     *slog.Logger
}

// Carrier turns the pictures that an encoder has made of frames' colour into whole ones. Vectors and Next come
// from one goroutine, and Complete from one that may be another.
type Carrier struct {
	o Options

	told []stages.Vectors // of the next frame

	waiting stages.Waiting[shown]

	sources []*source // that were read last
	motion  motion
	warned  map[string]bool // what was
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

// engine are the channels that the engine makes, of the first part.
var engine = []string{"R", "G", "B", "A", "Y"}

// kept is how many pictures of the input are kept: the two that a frame lies between.
const kept = 2

// Contents tell what the input's first picture has beside colour and alpha.
type Contents struct {
	Further bool // channels or parts that are carried
	Deep    bool // parts that only shot frames keep
}

// New returns a Carrier. If the input's first picture has what cannot be carried, or the program was built
// without OpenEXR, the error wraps exr.ErrUnsupported. If it does not suit a rule, and o is not lenient, the error is a *RuleError.
func New(o Options) (c *Carrier, has Contents, err error) {
	c = &Carrier{o: o, motion: motion{workers: o.Workers}, warned: map[string]bool{}}
	s, err := c.source(0)
	if err != nil {
		return nil, has, err
	}
	parts, err := exr.Parts(s.file)
	if err == nil {
		err = exr.Supported(parts)
	}
	if err != nil {
		return nil, has, fmt.Errorf("openexr: %w", err)
	}
	switch err := o.Rules.check(parts); {
	case err != nil && !o.Lenient:
		return nil, has, err
	case err != nil:
		o.Log.Warn("a rule for channels does nothing", "because", err)
	}
	for i, p := range parts {
		has.Deep = has.Deep || p.Deep
		has.Further = has.Further || !p.Deep && (i > 0 || slices.ContainsFunc(p.Planes, func(c exr.Plane) bool { return !slices.Contains(engine, c.Name) }))
	}
	return c, has, nil
}

// Vectors takes the flow of a pair of pictures for the next frame.
func (c *Carrier) Vectors(v stages.Vectors) { c.told = append(c.told, v) }

// Next says what the next frame is, before the encoder gets it.
func (c *Carrier) Next(o stages.Origin) {
	if o.Pictures[1] < o.Pictures[0] {
		o.Pictures[0], o.Pictures[1] = o.Pictures[1], o.Pictures[0]
		o.Phase = warp.PhaseOne - o.Phase
	}
	next := shown{Origin: o}
	for _, v := range c.told {
		if v.Number == o.Pictures[0] && v.Next == o.Pictures[1] {
			next.vectors = v
		}
	}
	c.told = nil
	c.waiting.Put(next)
}

// Complete returns the whole picture of the frame that Next told of first among those that Complete has not
// returned. encoded is the encoder's.
func (c *Carrier) Complete(ctx context.Context, encoded []byte) ([]byte, error) {
	f := c.waiting.Take()
	whole, err := c.whole(ctx, &f, encoded)
	if err != nil {
		return nil, fmt.Errorf("the channels beside colour: %w", err)
	}
	exr.SetRate(whole, c.o.Rate)
	return whole, nil
}

func (c *Carrier) whole(ctx context.Context, f *shown, encoded []byte) ([]byte, error) {
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
	sides, err := c.sides(ctx, f)
	if err != nil {
		return nil, err
	}
	model := sides.nearer
	if sides.replaced != nil {
		model = sides.replaced
	}
	display := model.parts[0].Display
	if err := c.motion.find(f.vectors, display.Dx(), display.Dy(), f.Origin); err != nil {
		return nil, err
	}
	if sides.only != 0 {
		c.motion.only = sides.only
	}
	parts := make([]exr.Part, len(model.parts))
	var layers []string
	for i := range model.parts {
		layers = append(layers, model.parts[i].Cryptomatte...)
	}
	for i := range parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m := mixture{number: i, layers: layers, a: &sides.pictures[0].parts[i], b: &sides.pictures[1].parts[i], display: display, mask: sides.mask}
		if i == 0 {
			m.colour = &colour[0]
		}
		if sides.mask.Width > 0 {
			m.replaced = &model.parts[i]
		}
		parts[i] = c.part(&m)
	}
	return exr.Encode(model.file, parts, c.threads())
}

// sides are the pictures that a frame lies between.
type sides struct {
	pictures [2]*source
	nearer   *source
	only     uint8 // the one that stands for both; 0 for none
	// replaced is the picture in whose place the frame stands; nil for none, or if its header does not suit.
	replaced *source
	mask     frame.Image[uint8] // 0 where that picture stays; empty if nothing does
}

// sides returns the pictures that a frame lies between. The other one stands for a damaged one, and the
// nearer one for both if they have other channels.
func (c *Carrier) sides(ctx context.Context, f *shown) (s sides, err error) {
	var errs [2]error
	for i, n := range f.Pictures {
		if s.pictures[i], errs[i] = c.decoded(n); errors.As(errs[i], new(*fs.PathError)) {
			return s, errs[i] // it is not damaged, it is not there
		}
		if err := ctx.Err(); err != nil {
			return s, err
		}
	}
	nearer := 0
	if f.NearerSecond() {
		nearer = 1
	}
	switch {
	case errs[0] != nil && errs[1] != nil:
		return s, errs[0]
	case errs[0] != nil:
		s.only, nearer = second, 1
	case errs[1] != nil:
		s.only, nearer = first, 0
	case !alike(s.pictures[0].parts, s.pictures[1].parts):
		s.only = first << nearer
	}
	s.nearer = s.pictures[nearer]
	if s.only != 0 {
		s.pictures = [2]*source{s.nearer, s.nearer}
	}
	if err := errors.Join(errs[:]...); err != nil {
		c.warn("a neighbour's further channels stand for those of a damaged picture", err)
	}
	if f.Replaced != nil {
		c.replace(&s, f)
	}
	return s, ctx.Err()
}

// replace has the frame of s keep the header of the picture in whose place it stands, and what stays of it.
// Where neither neighbour has its channels, it is its own neighbour, and only colour is made.
func (c *Carrier) replace(s *sides, f *shown) {
	old, part := f.Replaced, f.Replaced.Mask.Width > 0
	r, err := c.read(old.Number)
	if err == nil {
		err = r.decode(c.threads())
	}
	switch {
	case err != nil && part:
		c.warn("no part of the further channels stays of a damaged picture", err)
		return
	case err != nil || !part && !alike(r.parts, s.nearer.parts):
		return
	}
	if s.replaced = r; !part {
		return
	}
	s.mask = old.Mask
	a, b := alike(r.parts, s.pictures[0].parts), alike(r.parts, s.pictures[1].parts)
	switch {
	case a && b:
		return
	case a:
		s.only, s.nearer = first, s.pictures[0]
	case b:
		s.only, s.nearer = second, s.pictures[1]
	default:
		s.only, s.nearer, f.vectors = first, r, stages.Vectors{}
	}
	s.pictures = [2]*source{s.nearer, s.nearer}
}

// warn warns once of each kind of damage.
func (c *Carrier) warn(what string, err error) {
	if !c.warned[what] {
		c.warned[what] = true
		c.o.Log.Warn(what, "because", err)
	}
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
	s, err := c.read(n)
	if err != nil {
		return nil, err
	}
	c.sources = slices.Insert(c.sources, 0, s)
	c.sources = c.sources[:min(len(c.sources), kept)]
	return s, nil
}

// read reads a picture of the input.
func (c *Carrier) read(n int64) (*source, error) {
	name, ok := c.o.File(n)
	if !ok {
		return nil, fmt.Errorf("the input has no picture %d", n)
	}
	file, err := os.ReadFile(name)
	return &source{number: n, file: file}, err
}

// decoded returns a picture of the input with its parts.
func (c *Carrier) decoded(n int64) (*source, error) {
	s, err := c.source(n)
	if err == nil {
		err = s.decode(c.threads())
	}
	return s, err
}

// decode sets the parts of s.
func (s *source) decode(threads int) (err error) {
	if s.parts == nil {
		if s.parts, err = exr.Decode(s.file, threads); err != nil {
			err = fmt.Errorf("picture %d of the input: %w", s.number, err)
		}
	}
	return err
}
