package evaluate

import (
	"math"
	"sync/atomic"

	"retime/frame"
)

// Score compares a made frame with the truth. Its first plane is luma, or green if the
// clip is RGB.
type Score struct {
	// MSEY and MSE are the mean squared errors of the first plane and of the samples of
	// all planes, in squared sample values.
	MSEY, MSE float64
	// SSIMY and SSIM are the structural similarities, at most 1, of the first plane and
	// of all planes weighted by their sizes.
	SSIMY, SSIM float64
	// VIF is the visual information fidelity of the first plane; NaN if it was not
	// measured.
	VIF float64
}

// meter scores frames of one format and size.
type meter struct {
	workers frame.Workers
	ssim    ssim
	vif     *vif // nil for scores without VIF
}

func (m *meter) score(truth, made *frame.Frame) (Score, error) {
	s := Score{VIF: math.NaN()}
	var sum, samples float64
	for i, p := range truth.Planes {
		var errors uint64
		var similarity float64
		if truth.Format.Bytes() == 1 {
			a, b := frame.Samples[uint8](p), frame.Samples[uint8](made.Planes[i])
			errors, similarity = squaredError(m.workers, a, b), similar(&m.ssim, m.workers, a, b, truth.Format.Max())
		} else {
			a, b := frame.Samples[uint16](p), frame.Samples[uint16](made.Planes[i])
			errors, similarity = squaredError(m.workers, a, b), similar(&m.ssim, m.workers, a, b, truth.Format.Max())
		}
		n := float64(p.Width * p.Height)
		if i == 0 {
			s.MSEY, s.SSIMY = float64(errors)/n, similarity
		}
		sum += float64(errors)
		s.SSIM += similarity * n
		samples += n
	}
	s.MSE, s.SSIM = sum/samples, s.SSIM/samples
	if m.vif == nil {
		return s, nil
	}
	var err error
	s.VIF, err = m.vif.measure(truth, made)
	return s, err
}

func (m *meter) close() {
	if m.vif != nil {
		m.vif.close()
	}
}

// squaredError returns the exact sum of squared differences.
func squaredError[T frame.Sample](w frame.Workers, a, b frame.Image[T]) uint64 {
	var total atomic.Uint64
	w.Rows(a.Height, func(y0, y1 int) {
		var sum uint64
		for y := y0; y < y1; y++ {
			p, q := a.Row(y), b.Row(y)
			q = q[:len(p)]
			for x, v := range p {
				d := int64(v) - int64(q[x])
				sum += uint64(d * d)
			}
		}
		total.Add(sum)
	})
	return total.Load()
}

// psnr returns the peak signal-to-noise ratio in dB; infinite if mse is 0.
func psnr(mse float64, peak int) Decibel {
	return Decibel(10 * math.Log10(float64(peak)*float64(peak)/mse))
}
