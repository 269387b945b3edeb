package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"retime/cmd/internal/values"
	"retime/cmd/retime-bench/internal/splines"
	"retime/frame"
	"retime/pipeline/fault"
	"retime/warp/bspline"
)

// BsplineOptions holds the flags of bspline.
type BsplineOptions struct {
	accuracy, scaling, peers bool
	size, python             string
	threads, repeat          int
}

// AddFlags declares the flags of bspline.
func (o *BsplineOptions) AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.BoolVar(&o.accuracy, "accuracy", false, "errors of float32, float64 and mixtures against the target precision,\nfor orders 3 and 11")
	f.BoolVar(&o.scaling, "scaling", false, "time of order 3 against threads and against image area")
	f.BoolVar(&o.peers, "peers", false, "ten rotations by 36 degrees, compared with the original, by retime,\n"+
		"and by SciPy and OpenCV where Python has them")
	f.StringVar(&o.size, "size", fmt.Sprintf("%dx%d", splines.Width, splines.Height), "size of the picture, `WxH`")
	f.StringVar(&o.python, "python", "", "Python `PROGRAM` for --peers (default python3, else /usr/bin/python3)")
	f.IntVar(&o.threads, "threads", 0, "worker threads, `N` (default all processors)")
	f.IntVar(&o.repeat, "repeat", 3, "measure `N` times and take the best")
}

func newBsplineCommand() *cobra.Command {
	return newStudy("bspline", "Measure B-spline interpolation: speed, accuracy, scaling, peers", `bspline shifts a generated picture with flat, textured and sharp parts by
half a sample and prints the time for orders 0 to 11 in float32 and float64, or
one of the studies below. Tables are named after those of Briand and Davy,
"Optimization of Image B-spline Interpolation for GPU Architectures", IPOL 9
(2019).`, runBspline)
}

// maxSamples bounds the size of the picture.
const maxSamples = 1 << 28

type size struct{ width, height int }

// bsplineBench holds the state that the studies share.
type bsplineBench struct {
	ctx     context.Context
	out     io.Writer
	size    size
	workers frame.Workers
	repeat  int
	python  string
}

func runBspline(ctx context.Context, o BsplineOptions, stdout io.Writer) error {
	var s size
	var err error
	s.width, s.height, err = values.Size(o.size)
	if err != nil {
		return err
	}
	if float64(s.width)*float64(s.height) > maxSamples {
		return fault.New(fault.Usage, "--size %s is beyond the limit of %d samples", o.size, maxSamples)
	}
	if o.threads < 0 || o.repeat < 1 {
		return fault.New(fault.Usage, "--threads %d, --repeat %d: want 0 or more, and 1 or more", o.threads, o.repeat)
	}
	if o.python != "" {
		if _, err := exec.LookPath(o.python); err != nil {
			return fault.New(fault.Usage, "--python: %w", err)
		}
	}
	b := &bsplineBench{ctx, stdout, s, frame.Workers{N: o.threads}, o.repeat, o.python}
	chosen := false
	for _, part := range []struct {
		chosen bool
		run    func() error
	}{{o.accuracy, b.accuracy}, {o.scaling, b.scaling}, {o.peers, b.peers}} {
		if !part.chosen {
			continue
		}
		if chosen {
			b.printf("\n")
		}
		chosen = true
		if err := part.run(); err != nil {
			return err
		}
	}
	if chosen {
		return nil
	}
	return b.orders()
}

func (b *bsplineBench) printf(format string, args ...any) { fmt.Fprintf(b.out, format, args...) }

func (b *bsplineBench) picture() frame.Image[float64] {
	return splines.Picture(b.size.width, b.size.height)
}

// publishedCPU is the CPU column of table 8, from a four-core CPU: milliseconds for orders 0 to 11
// on a picture of splines.Width by splines.Height.
var publishedCPU = map[string][12]float64{
	"float32": {603.34, 397.33, 1344.35, 1332.13, 2071.00, 2186.50, 3050.61, 3281.27, 4365.03, 5032.56, 6414.90, 6875.39},
	"float64": {637.68, 463.04, 1743.42, 1824.25, 2917.09, 3068.17, 4323.99, 4532.20, 5863.52, 6681.37, 8313.24, 8618.64},
}

// orders prints table 8, row by row.
func (b *bsplineBench) orders() error {
	b.printf("Table 8: shift by (0.5, 0.5), half-symmetric, precision 1e-6, %dx%d, %d threads; ms, best of %d.\n",
		b.size.width, b.size.height, b.workers.Count(), b.repeat)
	b.printf("Evaluation is of a shift; scattered evaluates the same positions one by one.\n")
	comparable := b.size == size{splines.Width, splines.Height}
	b.printf("%5s %-8s %10s %11s %9s %10s", "order", "type", "prefilter", "evaluation", "total", "scattered")
	if comparable {
		b.printf(" %16s %7s", "paper's 4 cores", "faster")
	}
	b.printf("\n")
	img := b.picture()
	for order := bspline.Order(0); order <= 11; order++ {
		for _, measure := range []func(frame.Workers, frame.Image[float64], bspline.Order, int) (splines.Timing, error){splines.Time[float32], splines.Time[float64]} {
			t, err := await(b.ctx, func() (splines.Timing, error) { return measure(b.workers, img, order, b.repeat) })
			if err != nil {
				return err
			}
			b.printf("%5v %-8s %10.1f %11.1f %9.1f %10.1f", t.Order, t.Type,
				ms(t.Prefilter), ms(t.Evaluation), ms(t.Total()), ms(t.Scattered))
			if comparable {
				published := publishedCPU[t.Type][order]
				b.printf(" %16.1f %6.1fx", published, published/ms(t.Total()))
			}
			b.printf("\n")
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// accuracy prints tables 4 and 5.
func (b *bsplineBench) accuracy() error {
	img := b.picture()
	precisions := splines.Precisions()
	for i, order := range []bspline.Order{3, 11} {
		rows, err := await(b.ctx, func() ([]splines.AccuracyRow, error) {
			return splines.Accuracy(b.workers, img, order, precisions)
		})
		if err != nil {
			return err
		}
		if i > 0 {
			b.printf("\n")
		}
		b.printf("Table %d: largest error of a shift by (0.5, 0.5) relative to the largest sample, order %v,\nhalf-symmetric, %dx%d.\n",
			4+i, order, b.size.width, b.size.height)
		b.printf("%-28s", "target precision")
		for _, p := range precisions {
			b.printf(" %8.0e", p)
		}
		b.printf("\n")
		for _, r := range rows {
			b.printf("%-28s", r.Configuration)
			for _, e := range r.Errors {
				b.printf(" %8.1e", e)
			}
			b.printf("\n")
		}
	}
	return nil
}

// scaling prints the times of order 3 for several numbers of threads and areas.
func (b *bsplineBench) scaling() error {
	img := b.picture()
	threads, err := await(b.ctx, func() ([]splines.Timing, error) {
		return splines.Threads(b.workers.Count(), img, bspline.Cubic, b.repeat)
	})
	if err != nil {
		return err
	}
	const areas = 5
	sizes, err := await(b.ctx, func() ([]splines.Timing, error) {
		return splines.Areas(b.workers, b.size.width, b.size.height, areas, bspline.Cubic, b.repeat)
	})
	if err != nil {
		return err
	}
	b.printf("Scaling of order 3 in float32, shift by (0.5, 0.5); ms, best of %d.\n", b.repeat)
	b.printf("%7s %10s %10s %11s %9s %9s %8s\n", "threads", "size", "prefilter", "evaluation", "total", "Mpixel/s", "speedup")
	for i, t := range append(threads, sizes...) {
		pixels := float64(t.Width) * float64(t.Height)
		b.printf("%7d %10s %10.1f %11.1f %9.1f %9.1f", t.Workers, fmt.Sprintf("%dx%d", t.Width, t.Height),
			ms(t.Prefilter), ms(t.Evaluation), ms(t.Total()), pixels/1e3/ms(t.Total()))
		if i < len(threads) {
			b.printf(" %7.2fx", ms(threads[0].Total())/ms(t.Total()))
		}
		b.printf("\n")
	}
	return nil
}

// peers prints the quality and the time of a rotation by retime and by other libraries.
func (b *bsplineBench) peers() error {
	b.printf("Ten rotations by 36 degrees, %dx%d, float32, %d threads: time, and PSNR against the original inside\nthe circle that stays in the picture.\n",
		b.size.width, b.size.height, b.workers.Count())
	img := b.picture()
	show := func(r splines.Rotation) { b.printf("%-44s %8.2f s %8.2f dB\n", r.Method, r.Time.Seconds(), r.PSNR) }
	type turn struct {
		order   bspline.Order
		workers frame.Workers
	}
	turns := []turn{{bspline.Cubic, frame.Workers{N: 1}}}
	for _, o := range []bspline.Order{1, bspline.CatmullRom, 2, 3, 4, 5, 7, 9, 11} {
		turns = append(turns, turn{o, b.workers})
	}
	for _, t := range turns {
		r, err := await(b.ctx, func() (splines.Rotation, error) { return splines.Rotate(t.workers, img, t.order) })
		if err != nil {
			return err
		}
		r.Method = fmt.Sprintf("%s, %d threads", r.Method, t.workers.Count())
		show(r)
	}
	others, err := b.others(img)
	if err != nil {
		return err
	}
	for _, r := range others {
		show(r)
	}
	return nil
}

// others runs the peers in the first Python that has one of them, and prints a line if no Python
// does.
func (b *bsplineBench) others(img frame.Image[float64]) ([]splines.Rotation, error) {
	pythons := []string{"python3", "/usr/bin/python3"}
	if b.python != "" {
		pythons = []string{b.python}
	}
	var reasons []string
	for _, python := range pythons {
		if _, err := exec.LookPath(python); err != nil {
			reasons = append(reasons, err.Error())
			continue
		}
		rows, err := splines.Peers(b.ctx, python, img)
		switch {
		case b.ctx.Err() != nil:
			return nil, b.ctx.Err()
		case err != nil:
			reasons = append(reasons, err.Error())
		case len(rows) == 0:
			reasons = append(reasons, python+" has neither")
		default:
			return rows, nil
		}
	}
	err := errors.New(strings.Join(reasons, "; "))
	if b.python != "" {
		return nil, fault.New(fault.Usage, "--python: %w", err)
	}
	b.printf("SciPy and OpenCV are skipped (%v): install python3-scipy and python3-opencv\n", err)
	return nil, nil
}
