// Package measure compares made frames with the true ones: by PSNR, structural similarity, visual
// information fidelity, LPIPS, false speckle, fine detail, the worst blocks, where the motion
// diverges, and how well the change from frame to frame matches.
package measure

import (
	"math"
	"sync/atomic"

	"retime/frame"
	"retime/pipeline/media"
)

// Score compares a made frame with the truth. Its first plane is luma, or green if the
// clip is RGB.
type Score struct {
	// MSEY and MSE are the mean squared errors of the first plane and of the samples of all planes,
	// in squared sample values. MSEWorst covers the worst tenth of the first plane's blocks.
	MSEY, MSE, MSEWorst float64
	// SSIMY and SSIM are the structural similarities, at most 1, of the first plane and
	// of all planes weighted by their sizes.
	SSIMY, SSIM float64
	// VIF is the visual information fidelity of the first plane; NaN if it was not
	// measured.
	VIF float64
	// LPIPS is how different the frames look, 0 if they are equal; NaN if it was not measured.
	LPIPS float64
	// Speckle is the share of pixels that are false speckle, from 0 to 1; NaN if a side has less
	// than 3 pixels.
	Speckle float64
}

// Meter scores frames of one format and size. Only one goroutine may use it.
type Meter struct {
	workers frame.Workers
	blocks  frame.Image[uint64]
	sorted  []uint64
	ssim    ssim
	speckle *speckle
	vif     *vif   // nil for scores without VIF
	lpips   *lpips // nil for scores without LPIPS

	divergence divergence
}

// NewMeter returns a Meter for frames like v's, without VIF and LPIPS. Call Close after use.
func NewMeter(v media.Video, workers frame.Workers) (*Meter, error) {
	s, err := newSpeckle(v, workers.N)
	return &Meter{workers: workers, speckle: s}, err
}

// MeasureVIF adds VIF to the scores. It fails if v's frames are too small for it.
func (m *Meter) MeasureVIF(v media.Video) (err error) {
	m.vif, err = newVIF(v, m.workers.N)
	return err
}

// MeasureLPIPS adds LPIPS to the scores, with weights from a file in NumPy's .npz format. It fails
// if they do not fit AlexNet, or if v's frames are too small.
func (m *Meter) MeasureLPIPS(v media.Video, weights string) (err error) {
	m.lpips, err = newLPIPS(v, weights, m.workers.N)
	return err
}

// Close frees FFmpeg's filters.
func (m *Meter) Close() {
	m.speckle.close()
	if m.vif != nil {
		m.vif.close()
	}
	if m.lpips != nil {
		m.lpips.close()
	}
}

// Score compares made with truth.
func (m *Meter) Score(truth, made *frame.Frame) (Score, error) {
	s := Score{VIF: math.NaN(), LPIPS: math.NaN()}
	var sum, samples float64
	for i, p := range truth.Planes {
		var errors uint64
		var similarity float64
		if truth.Format.Bytes() == 1 {
			errors, similarity = compare[uint8](m, i, truth, made)
		} else {
			errors, similarity = compare[uint16](m, i, truth, made)
		}
		n := float64(p.Width * p.Height)
		if i == 0 {
			s.MSEY, s.SSIMY = float64(errors)/n, similarity
			s.MSEWorst, m.sorted = worstTenth(m.blocks, m.sorted, p.Width, p.Height)
		}
		sum += float64(errors)
		s.SSIM += similarity * n
		samples += n
	}
	s.MSE, s.SSIM = sum/samples, s.SSIM/samples
	var err error
	if s.Speckle, err = m.speckle.measure(m.workers, truth, made); err != nil {
		return s, err
	}
	if m.vif != nil {
		if s.VIF, err = m.vif.measure(truth, made); err != nil {
			return s, err
		}
	}
	if m.lpips != nil {
		s.LPIPS, err = m.lpips.measure(m.workers, truth, made)
	}
	return s, err
}

// compare returns the squared error and the similarity of plane i.
func compare[T frame.Sample](m *Meter, i int, truth, made *frame.Frame) (errors uint64, similarity float64) {
	a, b := frame.Samples[T](truth.Planes[i]), frame.Samples[T](made.Planes[i])
	if i == 0 {
		blockErrors(&m.blocks, m.workers, a, b)
		for _, e := range m.blocks.Pix {
			errors += e
		}
	} else {
		errors = squaredError(m.workers, a, b)
	}
	return errors, similar(&m.ssim, m.workers, a, b, truth.Format.Max())
}

// Blocks returns the sums of squared errors of the last scored frame's first plane, in
// blocks of BlockSide by BlockSide samples. They are valid until the next score.
func (m *Meter) Blocks() frame.Image[uint64] { return m.blocks }

// squaredError returns the exact sum of squared differences.
func squaredError[T frame.Sample](w frame.Workers, a, b frame.Image[T]) uint64 {
	var total atomic.Uint64
	w.Rows(a.Height, func(y0, y1 int) {
		var sum uint64
		for y := y0; y < y1; y++ {
			sum += rowError(a.Row(y), b.Row(y))
		}
		total.Add(sum)
	})
	return total.Load()
}

func rowError[T frame.Sample](p, q []T) (sum uint64) {
	q = q[:len(p)]
	for x, v := range p {
		d := int64(v) - int64(q[x])
		sum += uint64(d * d)
	}
	return sum
}

// PSNR returns the peak signal-to-noise ratio in dB; infinite if mse is 0.
func PSNR(mse float64, peak int) float64 {
	return 10 * math.Log10(float64(peak)*float64(peak)/mse)
}
