package measure

import (
	"image"
	"slices"

	"retime/frame"
)

// BlockSide is the side of the blocks in which errors are summed, in samples. Blocks at
// the right and lower edges may be smaller.
const BlockSide = 16

// blockErrors sets sums to the exact sums of squared differences in each block.
func blockErrors[T frame.Sample](sums *frame.Image[uint64], workers frame.Workers, a, b frame.Image[T]) {
	sums.Resize((a.Width+BlockSide-1)/BlockSide, (a.Height+BlockSide-1)/BlockSide)
	workers.Rows(sums.Height, func(y0, y1 int) {
		for by := y0; by < y1; by++ {
			row := sums.Row(by)
			clear(row)
			for y := by * BlockSide; y < min((by+1)*BlockSide, a.Height); y++ {
				p, q := a.Row(y), b.Row(y)
				for bx := range row {
					x0, x1 := bx*BlockSide, min((bx+1)*BlockSide, a.Width)
					row[bx] += rowError(p[x0:x1], q[x0:x1])
				}
			}
		}
	})
}

// worstTenth returns the mean squared error of the tenth of blocks with the largest sums, at least
// one block, in a plane of the given size. It sorts in scratch, which it returns.
func worstTenth(sums frame.Image[uint64], scratch []uint64, width, height int) (float64, []uint64) {
	scratch = append(scratch[:0], sums.Pix...)
	slices.Sort(scratch)
	worst := scratch[len(scratch)-(len(scratch)+9)/10:]
	var total uint64
	for _, e := range worst {
		total += e
	}
	// Blocks at the edges count as whole ones, so that a sliver cannot be the worst.
	area := min(BlockSide, width) * min(BlockSide, height)
	return float64(total) / float64(len(worst)*area), scratch
}

// RegionMSE returns the mean squared error of the first plane in a region, which must be inside the
// plane.
func RegionMSE(truth, made *frame.Frame, region image.Rectangle) float64 {
	if truth.Format.Bytes() == 1 {
		return regionMSE(frame.Samples[uint8](truth.Planes[0]), frame.Samples[uint8](made.Planes[0]), region)
	}
	return regionMSE(frame.Samples[uint16](truth.Planes[0]), frame.Samples[uint16](made.Planes[0]), region)
}

func regionMSE[T frame.Sample](a, b frame.Image[T], r image.Rectangle) float64 {
	var sum uint64
	for y := r.Min.Y; y < r.Max.Y; y++ {
		sum += rowError(a.Row(y)[r.Min.X:r.Max.X], b.Row(y)[r.Min.X:r.Max.X])
	}
	return float64(sum) / float64(r.Dx()*r.Dy())
}
