// Package gpu measures splines on a device: B-splines of every order, and box splines, with kernels of its own. It compares every
// figure with the bandwidth of a copy on the same device in the same run.
package gpu

import (
	"context"
	"fmt"
	"io"
	"slices"

	"retime/cuda"
)

// Study prints one or more tables about a subject.
type Study struct {
	Name  string // name of the flag
	About string // description in a few words
	Run   func(*Bench) error
}

// Studies lists all studies in the order in which they print.
var Studies = []Study{
	{"spline", "B-splines of every order: prefilter and evaluation", splineTables},
	{"boxspline", "box splines on every lattice: with branches, without, by textures", boxSplines},
}

// Bench is one run on one device.
type Bench struct {
	Context context.Context
	Device  *Device
	Stream  *cuda.Stream
	Out     io.Writer
	// Repeat is the minimum number of measurements for each figure.
	Repeat int

	// Copy is the bandwidth of a copy in bytes per second, read and written. Launch is
	// the time in seconds between the starts of kernels that do nothing.
	Copy, Launch float64

	from, to *cuda.Event
}

// Run measures the device, then runs the studies. It prints results as they arrive.
func Run(ctx context.Context, d *Device, out io.Writer, repeat int, studies []Study) error {
	return d.Do(func() (err error) {
		b := &Bench{Context: ctx, Device: d, Out: out, Repeat: repeat}
		if b.Stream, err = d.NewStream(); err != nil {
			return err
		}
		defer b.Stream.Close()
		if b.from, err = d.NewTimedEvent(); err != nil {
			return err
		}
		defer b.from.Close()
		if b.to, err = d.NewTimedEvent(); err != nil {
			return err
		}
		defer b.to.Close()
		if err := b.measureDevice(); err != nil {
			return err
		}
		for _, s := range studies {
			b.Printf("\n")
			if err := s.Run(b); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
		}
		return nil
	})
}

// Printf prints to b.Out.
func (b *Bench) Printf(format string, args ...any) { fmt.Fprintf(b.Out, format, args...) }

const (
	warmUps = 3
	// sampleTime is the minimum length of a timed sample in seconds, far above the events'
	// resolution of half a microsecond.
	sampleTime = 200e-6
	maxBatch   = 256
)

// Time returns the median time in seconds that the device takes for the work that queue puts on
// b.Stream. It queues short work several times between two events, and divides.
func (b *Bench) Time(queue func() error) (float64, error) {
	for range warmUps {
		if _, err := b.sample(1, queue); err != nil {
			return 0, err
		}
	}
	once, err := b.sample(1, queue)
	if err != nil {
		return 0, err
	}
	batch := min(max(1, int(sampleTime/max(once, 1e-7))), maxBatch)
	times := make([]float64, 0, b.Repeat)
	for range b.Repeat {
		if err := b.Context.Err(); err != nil {
			return 0, err
		}
		t, err := b.sample(batch, queue)
		if err != nil {
			return 0, err
		}
		times = append(times, t)
	}
	return median(times), nil
}

// sample returns the mean time of n repetitions of the work.
func (b *Bench) sample(n int, queue func() error) (float64, error) {
	if err := b.Stream.Record(b.from); err != nil {
		return 0, err
	}
	for range n {
		if err := queue(); err != nil {
			return 0, err
		}
	}
	if err := b.Stream.Record(b.to); err != nil {
		return 0, err
	}
	if err := b.to.Synchronize(); err != nil {
		return 0, err
	}
	t, err := b.to.Since(b.from)
	return t / float64(n), err
}

func median(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// copyBytes is the size of the copied buffer, far more than any cache holds.
const copyBytes = 1 << 30

// measureDevice prints the properties of the device and the results of basic
// measurements.
func (b *Bench) measureDevice() error {
	in := b.Device.Info()
	b.Printf("%s: compute capability %d.%d, %v, %d multiprocessors, %v of L2\n",
		in.Name, in.Major, in.Minor, cuda.Bytes(in.Memory), in.Multiprocessors, cuda.Bytes(in.L2))
	bytes := min(copyBytes, in.Memory/8) &^ 4095
	t, err := b.timeCopy(bytes)
	if err != nil {
		return err
	}
	b.Copy = 2 * float64(bytes) / t
	nothing, err := b.Device.Kernel("copy", "nothing")
	if err != nil {
		return err
	}
	b.Launch, err = b.Time(func() error {
		return b.Stream.Launch(nothing, cuda.Dim{X: 1, Y: 1, Z: 1}, cuda.Dim{X: 32, Y: 1, Z: 1}, 0)
	})
	if err != nil {
		return err
	}
	b.Printf("copy of %v: %.1f GB/s read and written; launch: %.2f us; medians of %d\n",
		cuda.Bytes(bytes), b.Copy/1e9, 1e6*b.Launch, b.Repeat)
	return nil
}

// timeCopy returns the time to copy bytes, a multiple of 16.
func (b *Bench) timeCopy(bytes int64) (float64, error) {
	k, err := b.Device.Kernel("copy", "copy_vectors")
	if err != nil {
		return 0, err
	}
	var src, dst cuda.Buffer[[16]byte]
	defer src.Free()
	defer dst.Free()
	n := int(bytes / 16)
	if err := src.Resize(b.Device.Device, n); err != nil {
		return 0, err
	}
	if err := dst.Resize(b.Device.Device, n); err != nil {
		return 0, err
	}
	if err := src.Fill(b.Stream, 0x5a); err != nil {
		return 0, err
	}
	block := cuda.Dim{X: 256, Y: 1, Z: 1}
	return b.Time(func() error {
		return b.Stream.Launch(k, cuda.Cover((n+3)/4, 1, block), block, 0, src.Arg(), dst.Arg(), cuda.Long(int64(n)))
	})
}

// Table prints rows of times. Each row also shows the throughput, computed from the bytes that the
// work must at least read and write, and the ratio of the throughput to the bandwidth of a copy.
type Table struct {
	b     *Bench
	label int
	extra []string
}

// NewTable prints the title and the head of a table. Each row begins with a label of at
// most label characters and ends with the extra columns.
func (b *Bench) NewTable(title string, label int, extra ...string) *Table {
	b.Printf("%s\n%-*s %10s %9s %7s", title, label, "", "ms", "GB/s", "of copy")
	for _, e := range extra {
		b.Printf(" %12s", e)
	}
	b.Printf("\n")
	return &Table{b, label, extra}
}

// Row prints the time in seconds of work that moves bytes; 0 bytes means that the work has no such
// measure. Extra cells are printed unchanged.
func (t *Table) Row(label string, seconds float64, bytes int64, extra ...string) {
	rate, ratio := "-", "-"
	if bytes > 0 {
		per := float64(bytes) / seconds
		rate, ratio = fmt.Sprintf("%.1f", per/1e9), fmt.Sprintf("%.2f", per/t.b.Copy)
	}
	t.b.Printf("%-*s %10.4f %9s %7s", t.label, label, 1e3*seconds, rate, ratio)
	for _, e := range extra {
		t.b.Printf(" %12s", e)
	}
	t.b.Printf("\n")
}
