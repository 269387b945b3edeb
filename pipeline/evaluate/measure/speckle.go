package measure

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"retime/frame"
	"retime/pipeline/media"
)

// A pixel is false speckle if it differs in the made frame from the median of its 3 by 3 pixels by
// more than speckleMade grey levels, and in the true frame by less than speckleTrue. PSNR hardly
// sees such pixels; an eye does.
const (
	speckleMade = 12
	speckleTrue = 4
)

// speckle counts false speckle in luma of 8 bits and full range, to which FFmpeg converts frames.
type speckle struct {
	filter *media.Filter
	frames int64
}

func newSpeckle(v media.Video, threads int) (*speckle, error) {
	f, err := media.NewFilter("[in0]format=gray[out]", 1, v, threads)
	return &speckle{filter: f}, err
}

func (s *speckle) close() { s.filter.Close() }

// measure returns the share of false speckle among the pixels that have all neighbours.
func (s *speckle) measure(workers frame.Workers, truth, made *frame.Frame) (float64, error) {
	if truth.Width < 3 || truth.Height < 3 {
		return math.NaN(), nil
	}
	a, err := s.brightness(truth)
	if err != nil {
		return 0, err
	}
	defer a.Release()
	b, err := s.brightness(made)
	if err != nil {
		return 0, err
	}
	defer b.Release()
	n := countSpeckle(workers, frame.Samples[uint8](a.Planes[0]), frame.Samples[uint8](b.Planes[0]))
	return float64(n) / float64((truth.Width-2)*(truth.Height-2)), nil
}

func (s *speckle) brightness(f *frame.Frame) (*frame.Frame, error) {
	if err := s.filter.Send(0, f, s.frames); err != nil {
		return nil, err
	}
	s.frames++
	g, err := s.filter.Receive()
	if err != nil {
		return nil, fmt.Errorf("measure false speckle: %w", err)
	}
	return g, nil
}

func countSpeckle(workers frame.Workers, truth, made frame.Image[uint8]) int64 {
	var total atomic.Int64
	workers.Rows(made.Height-2, func(y0, y1 int) {
		n := int64(0)
		for y := y0 + 1; y <= y1; y++ {
			top, row, bottom := made.Row(y-1), made.Row(y), made.Row(y+1)
			top, bottom = top[:len(row)], bottom[:len(row)]
			for x := 1; x < len(row)-1; x++ {
				// The median is seldom far from the pixel, so the extremes settle most cases.
				v := row[x]
				low := min(top[x-1], top[x], top[x+1], row[x-1], row[x+1], bottom[x-1], bottom[x], bottom[x+1])
				high := max(top[x-1], top[x], top[x+1], row[x-1], row[x+1], bottom[x-1], bottom[x], bottom[x+1])
				if int(v)-int(low) <= speckleMade && int(high)-int(v) <= speckleMade {
					continue
				}
				if fromMedian(made, x, y) > speckleMade && fromMedian(truth, x, y) < speckleTrue {
					n++
				}
			}
		}
		total.Add(n)
	})
	return total.Load()
}

// fromMedian returns how far the pixel at (x, y) is from the median of its 3 by 3 pixels.
func fromMedian(m frame.Image[uint8], x, y int) uint8 {
	var around [9]uint8
	for i := range 3 {
		copy(around[3*i:], m.Row(y - 1 + i)[x-1:x+2])
	}
	v := around[4]
	slices.Sort(around[:])
	return max(v, around[4]) - min(v, around[4])
}
