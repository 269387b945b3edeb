//go:build unix

package interpolate_test

import (
	"bytes"
	"math/big"
	"testing"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/interpolate"
	"retime/pipeline/fault"
	"retime/pipeline/motion"
	"retime/pipeline/synth"
	"retime/warp"
)

// A stream's frames, and the flow along which they are made, are a device's, here an emulated one, with
// the CPU's samples. Exact.
func TestStreamOnDevice(t *testing.T) {
	c := &trial{formats[1], interpolate.Options{
		Format: formats[1], Width: width, Height: height, Rate: big.NewRat(24, 1), Threads: 2, Backend: synth.CUDA,
		Timing: interpolate.Timing{Rate: big.NewRat(48, 1)}, Synthesis: interpolate.Synthesis{Preset: motion.Fast, Mode: warp.Project},
	}}
	const enough = 4
	want, _ := c.converted(t)
	var device synth.Synthesizer
	c.options.OpenWith(func(p synth.Params) (synth.Synthesizer, error) {
		d, err := synth.OpenDevice(p.Warp, cuda.NewDevice(kernels.NewEmulator()), "")
		if err != nil {
			return nil, err
		}
		device = synth.NewDevices(p, d)
		return device, nil
	})
	s, err := interpolate.NewStream(c.options)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for k := range int64(enough) {
		f := s.NewPicture()
		fill(f, k)
		if err := s.Push(f); err != nil {
			t.Fatal(err)
		}
	}
	s.Finish()
	for k := range 2*enough - 1 {
		f, err := s.Pull()
		if err != nil {
			t.Fatal(err)
		}
		// What is known of the pictures beyond the last one shows how the motion changes there.
		if k < 2*enough-3 && !bytes.Equal(samples(f.Frame), want[k]) {
			t.Errorf("frame %d differs", k)
		}
		f.Release()
	}
	if s := device.Summary(); s.Backend != synth.CUDA || s.Remade != 0 {
		t.Errorf("made by %s; %d frames again on the CPU", s.Backend, s.Remade)
	}
}

// A device that does not answer is an error where it was asked for, and a clip has none.
func TestNoDevice(t *testing.T) {
	o := interpolate.Options{Format: formats[0], Width: width, Height: height, Rate: big.NewRat(24, 1), Backend: synth.CUDA}
	if devices, err := cuda.Devices(); err != nil || len(devices) == 0 {
		if s, err := interpolate.NewStream(o); err == nil {
			s.Close()
			t.Error("a stream on a device that is not there")
		}
		o.Backend = synth.Auto
		s, err := interpolate.NewStream(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		o.Backend = synth.CUDA
	}
	if _, err := interpolate.NewClip(o, pictures); fault.KindOf(err) != fault.Usage {
		t.Errorf("a clip on a device: %v", err)
	}
	o.Backend = "gpu"
	if _, err := interpolate.NewStream(o); fault.KindOf(err) != fault.Usage {
		t.Errorf("no such backend: %v", err)
	}
}
