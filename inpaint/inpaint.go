// Package inpaint fills the holes of a plane from the pixels around them, after
// section 5 of J. Rosner, H. Fassold, P. Schallauer and W. Bailer, "Fast
// GPU-based image warping and inpainting for frame interpolation", GravisMa
// workshop, 2010.
//
// The sample of every pixel at the border of a hole is propagated into the hole
// along a fixed set of directions, weighted by the inverse of the distance
// travelled; each hole pixel becomes the weighted mean of what reached it. A
// box blur that widens with the distance from the border then softens the
// star-shaped artefacts that a fixed set of directions leaves behind.
//
// All arithmetic is on integers, so that the result is the same bits on every
// machine and for any number of workers.
package inpaint

import (
	"errors"
	"fmt"

	"retime/frame"
)

// ErrNoBorder is returned where the holes leave no known pixel to fill from.
var ErrNoBorder = errors.New("inpaint: the hole covers the whole plane and leaves nothing to fill it from")

// Inpainter fills holes and keeps the memory it needs for that from one plane
// to the next. That memory grows with the area of the largest hole mask seen,
// plus four bytes for each pixel of the plane. It is not safe for concurrent
// use.
type Inpainter struct {
	// Workers shares out the work on large holes.
	Workers frame.Workers

	directions []Direction
	weights    [][]uint32 // by direction, then by the steps travelled

	region   region
	distance []uint8
	samples  []uint16 // of the border pixels
	accum    []accumulator
	blurred  []uint16

	// rest fills what no line reached, restMask says where that is.
	rest     *Inpainter
	restMask frame.Image[uint8]
}

// New returns an Inpainter that propagates along the given number of
// directions, or an error where Directions has none for it. More directions
// take proportionally longer and leave weaker artefacts.
func New(directions int) (*Inpainter, error) {
	d, err := Directions(directions)
	if err != nil {
		return nil, err
	}
	return &Inpainter{directions: d}, nil
}

// SetMask says which pixels Fill will replace: those where mask is not zero.
// Planes that share their holes, such as both chroma planes of a frame, need
// it once. The mask may be changed afterwards.
//
// Its cost is one fast pass over the mask, and the rest in proportion to the
// holes' area.
func (p *Inpainter) SetMask(mask frame.Image[uint8]) {
	p.region.set(mask)
	p.weights = extendWeights(p.weights, p.directions, max(mask.Width, mask.Height))
	p.distance = p.region.chamfer(p.distance)
}

// Fill replaces the samples of img that the mask last set calls holes, whatever
// they are; all others stay. Its cost is in proportion to the holes' area.
//
// Each new sample lies between the least and the greatest of the border pixels
// of its (8-connected) hole. It returns ErrNoBorder, with img unchanged, where
// the mask covers all of it, and another error where their sizes differ.
func Fill[T frame.Sample](p *Inpainter, img frame.Image[T]) error {
	r := &p.region
	switch {
	case img.Width != r.width || img.Height != r.height:
		return fmt.Errorf("inpaint: the plane is %dx%d but the mask last set is %dx%d",
			img.Width, img.Height, r.width, r.height)
	case r.pixels == 0:
		return nil
	case len(r.border) == 0:
		return ErrNoBorder
	}
	propagate(p, img)
	blur(p, img)
	return nil
}
