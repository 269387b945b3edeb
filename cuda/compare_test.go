//go:build unix

package cuda_test

import (
	"bytes"
	"fmt"
	"testing"

	"retime/cuda"
	"retime/frame"
	"retime/warp"
)

// maker is a backend.
type maker interface {
	Begin(in warp.Interval) error
	Make(dst *frame.Frame, phase warp.Phase) (warp.Made, error)
	Close()
}

// onCPU is the processor as a backend.
type onCPU struct {
	*warp.Synthesizer
	interval *warp.Prepared // the last one begun; nil before the first
}

func (c *onCPU) Begin(in warp.Interval) (err error) {
	c.end()
	c.interval, err = c.Prepare(in)
	return err
}

func (c *onCPU) Make(dst *frame.Frame, phase warp.Phase) (warp.Made, error) {
	return c.interval.Make(dst, phase)
}

func (c *onCPU) Close() {
	c.end()
	c.Synthesizer.Close()
}

func (c *onCPU) end() {
	if c.interval != nil {
		c.interval.Close()
		c.interval = nil
	}
}

var phases = []warp.Phase{1, 20000, warp.PhaseOne / 2, warp.PhaseOne - 1}

// compare makes frames of an interval with both backends and compares them. Exact.
func compare(t *testing.T, want, got maker, in warp.Interval, phases []warp.Phase) {
	t.Helper()
	compareAs(t, want, got, in, in, phases)
}

// compareAs does the work of compare, with in for backend want and given for backend got.
func compareAs(t *testing.T, want, got maker, in, given warp.Interval, phases []warp.Phase) {
	t.Helper()
	must(t, want.Begin(in))
	must(t, got.Begin(given))
	for _, phase := range phases {
		// The bytes between the rows must not change.
		a, b := frame.New(in.A.Format, in.A.Width, in.A.Height), frame.New(in.A.Format, in.A.Width, in.A.Height)
		for i := range a.Planes {
			for j := range a.Planes[i].Pix {
				a.Planes[i].Pix[j], b.Planes[i].Pix[j] = 0xa5, 0xa5
			}
		}
		madeA, err := want.Make(a, phase)
		must(t, err)
		madeB, err := got.Make(b, phase)
		must(t, err)
		for i, p := range a.Planes {
			q := b.Planes[i]
			if bytes.Equal(p.Pix, q.Pix) {
				continue
			}
			differ := 0
			first := ""
			for y := range p.Height {
				for x := range p.Width * in.A.Format.Bytes() {
					if g, w := q.Pix[y*q.Stride+x], p.Pix[y*p.Stride+x]; g != w {
						if differ++; first == "" {
							first = fmt.Sprintf("byte (%d, %d) is %d, want %d", x, y, g, w)
						}
					}
				}
			}
			t.Errorf("phase %d, plane %d: %d bytes differ: %s", phase, i, differ, first)
		}
		if madeA != madeB {
			t.Errorf("phase %d: made %+v, want %+v", phase, madeB, madeA)
		}
	}
}

// backends returns synthesizers of both backends for p.
func backends(t *testing.T, d *cuda.Device, p warp.Params) (cpu, gpu maker) {
	t.Helper()
	s, err := warp.NewSynthesizer(p)
	must(t, err)
	c := &onCPU{Synthesizer: s}
	t.Cleanup(c.Close)
	g, err := cuda.NewSynthesizer(d, p)
	must(t, err)
	return c, g
}
