package gpu

import (
	"fmt"
	"math/rand/v2"

	"retime/cuda"
	"retime/frame"
)

// convert times the conversion of 4K planes, in sets larger than any cache.
func convert(b *Bench) error {
	t := b.NewTable("conversion of planes of 3840x2160", 16)
	if err := convertPlanes[uint8](b, t, 8); err != nil {
		return err
	}
	return convertPlanes[uint16](b, t, 16)
}

func convertPlanes[T frame.Sample](b *Bench, t *Table, depth int) error {
	const width, height, sets = 3840, 2160, 8
	c, err := cuda.NewConverter(b.Device.Device)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	host := frame.NewImage[T](width, height)
	for i := range host.Pix {
		host.Pix[i] = T(rng.Uint32())
	}
	var samples [sets]cuda.Image[T]
	var floats [sets]cuda.Image[float32]
	for i := range sets {
		defer samples[i].Free()
		defer floats[i].Free()
		if err := samples[i].Resize(b.Device.Device, width, height); err != nil {
			return err
		}
		if err := floats[i].Resize(b.Device.Device, width, height); err != nil {
			return err
		}
		if err := samples[i].Upload(b.Stream, host); err != nil {
			return err
		}
	}
	n := 0
	next := func() int { n++; return n % sets }
	bytes := int64(width * height * (4 + depth/8))
	seconds, err := b.Time(func() error { i := next(); return cuda.ToFloat(b.Stream, c, floats[i], samples[i]) })
	if err != nil {
		return err
	}
	t.Row(fmt.Sprintf("%d bits to float", depth), seconds, bytes)
	seconds, err = b.Time(func() error { i := next(); return cuda.ToSamples(b.Stream, c, samples[i], floats[i], 1<<depth-1) })
	if err != nil {
		return err
	}
	t.Row(fmt.Sprintf("float to %d bits", depth), seconds, bytes)
	return nil
}
