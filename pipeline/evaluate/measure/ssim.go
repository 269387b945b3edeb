package measure

import "retime/frame"

// ssim measures structural similarity (Wang, Bovik, Sheikh and Simoncelli, "Image Quality
// Assessment: From Error Visibility to Structural Similarity", IEEE TIP 2004, equation 13) as
// FFmpeg's ssim filter does. It averages unweighted windows of 8 by 8 samples, one at every fourth
// column and row; up to 3 samples at the right and lower edges are in no window. It keeps scratch
// memory between calls.
type ssim struct {
	sums frame.Image[moments]
	rows []float64
}

// moments holds sums over a block: of each picture's samples, of the squares of both, and of the
// products.
type moments struct{ a, b, squares, products int64 }

func (m moments) plus(o moments) moments {
	return moments{m.a + o.a, m.b + o.b, m.squares + o.squares, m.products + o.products}
}

const ssimBlock = 4 // half a window

// similar returns the mean similarity; 1 if a and b are equal. A picture smaller than a window
// counts as one window.
func similar[T frame.Sample](s *ssim, workers frame.Workers, a, b frame.Image[T], peak int) float64 {
	bw, bh := a.Width/ssimBlock, a.Height/ssimBlock
	if bw < 2 || bh < 2 {
		return similarity(sum(a, b, 0, 0, a.Width, a.Height), a.Width*a.Height, peak)
	}
	s.sums.Resize(bw, bh)
	workers.Rows(bh, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			for x := range s.sums.Row(y) {
				s.sums.Row(y)[x] = sum(a, b, x*ssimBlock, y*ssimBlock, ssimBlock, ssimBlock)
			}
		}
	})
	// One goroutine adds the rows in order, so that the result does not depend on the
	// number of workers.
	s.rows = append(s.rows[:0], make([]float64, bh-1)...)
	workers.Rows(bh-1, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			top, bottom := s.sums.Row(y), s.sums.Row(y+1)
			left := top[0].plus(bottom[0])
			for x := 1; x < bw; x++ {
				right := top[x].plus(bottom[x])
				s.rows[y] += similarity(left.plus(right), 4*ssimBlock*ssimBlock, peak)
				left = right
			}
		}
	})
	var total float64
	for _, r := range s.rows {
		total += r
	}
	return total / float64((bw-1)*(bh-1))
}

func sum[T frame.Sample](a, b frame.Image[T], x0, y0, width, height int) (m moments) {
	for y := y0; y < y0+height; y++ {
		p, q := a.Row(y)[x0:x0+width], b.Row(y)[x0:x0+width]
		q = q[:len(p)]
		for x, v := range p {
			u, w := int64(v), int64(q[x])
			m.a += u
			m.b += w
			m.squares += u*u + w*w
			m.products += u * w
		}
	}
	return m
}

// similarity returns the similarity of a window of n samples. FFmpeg's c1 is n times
// smaller than the paper's, multiplied by n squared as the sums are; c2 is the paper's
// for the unbiased variance.
func similarity(m moments, n, peak int) float64 {
	l, count := float64(peak), float64(n)
	c1 := 0.01 * 0.01 * l * l * count
	c2 := 0.03 * 0.03 * l * l * count * max(count-1, 1)
	a, b := float64(m.a), float64(m.b)
	variances := float64(m.squares)*count - a*a - b*b
	covariance := float64(m.products)*count - a*b
	return (2*a*b + c1) * (2*covariance + c2) / ((a*a + b*b + c1) * (variances + c2))
}
