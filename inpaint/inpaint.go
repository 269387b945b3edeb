// Package inpaint fills the holes of a plane from the pixels around them, after section
// 5 of J. Rosner, H. Fassold, P. Schallauer and W. Bailer, "Fast GPU-based image
// warping and inpainting for frame interpolation", GravisMa workshop, 2010.
//
// Every pixel at the border of a hole propagates its sample into the hole along a fixed
// set of directions, weighted by the inverse of the distance travelled. Each hole pixel
// becomes the weighted mean of the samples that reach it. A box blur that widens with
// the distance from the border then softens the star-shaped artefacts of a fixed set of
// directions.
//
// All arithmetic is on integers, so the result has the same bits on every machine and
// for any number of workers.
package inpaint

import (
	"errors"
	"fmt"

	"retime/frame"
)

// ErrNoBorder reports that the holes leave no known pixel to fill them from.
var ErrNoBorder = errors.New("inpaint: the hole covers the whole plane and leaves nothing to fill it from")

// Inpainter fills holes, and keeps its memory from one plane to the next. The memory
// grows with the area of the largest holes seen, plus four bytes for each pixel of the
// plane. Only one goroutine at a time may use an Inpainter.
type Inpainter struct {
	// Workers divides the work on large holes.
	Workers frame.Workers

	directions []Direction
	weights    [][]uint32 // by direction, then by the steps travelled

	region   region
	distance []uint8
	samples  []uint16 // of the border pixels
	accum    []accumulator
	blurred  []uint16

	// rest fills the pixels that no line reached, which restMask marks.
	rest     *Inpainter
	restMask frame.Image[uint8]
}

// New returns an Inpainter that propagates along the given number of directions, or the
// error of Directions. The time grows in proportion to the number of directions, and
// the artefacts become weaker.
func New(directions int) (*Inpainter, error) {
	d, err := Directions(directions)
	if err != nil {
		return nil, err
	}
	return &Inpainter{directions: d}, nil
}

// SetMask tells Fill which pixels to replace: those with a nonzero mask. Planes that
// share their holes, such as both chroma planes of a frame, need one call. The caller
// may change the mask afterwards.
//
// SetMask takes one fast pass over the mask, and further time in proportion to the area
// of the holes.
func (p *Inpainter) SetMask(mask frame.Image[uint8]) {
	p.region.set(mask)
	p.weights = extendWeights(p.weights, p.directions, max(mask.Width, mask.Height))
	p.distance = p.region.chamfer(p.distance)
}

// Fill replaces the samples of img that the last mask calls holes, whatever their
// values, and leaves all others as they are. Its time is in proportion to the area of
// the holes.
//
// Each new sample is between the least and the greatest of the border pixels of its (8-connected)
// hole. Fill returns ErrNoBorder and leaves img unchanged if the mask covers all of it, and another
// error if the sizes of mask and img differ.
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
