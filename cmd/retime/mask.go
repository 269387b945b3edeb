package main

import (
	"math"

	"retime/cmd/internal/still"
	"retime/frame"
	"retime/pipeline/fault"
)

// readMask reads the picture of a flag as a mask: the mean of a pixel's colours, from 0
// for black to 255 for white.
func readMask(flag, name string) (frame.Image[uint8], error) {
	p, err := still.Read(name)
	if err != nil {
		return frame.Image[uint8]{}, fault.New(fault.KindOf(err), "%s: %w", flag, err)
	}
	white := float64(p.Max)
	if p.Max == 0 {
		white = 1
	}
	colours := p.Channels
	if len(colours) == 4 {
		colours = colours[:3]
	}
	mask := frame.NewImage[uint8](p.Size())
	for y := range mask.Height {
		for x := range mask.Width {
			sum := 0.0
			for _, c := range colours {
				sum += c.Row(y)[x]
			}
			v := math.Round(255 * sum / (white * float64(len(colours))))
			if v > 0 {
				mask.Row(y)[x] = uint8(min(v, 255))
			}
		}
	}
	return mask, nil
}
