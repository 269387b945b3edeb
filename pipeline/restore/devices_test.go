//go:build unix

package restore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/big"
	"testing"

	"retime/cuda"
	"retime/cuda/kernels"
	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/media"
	"retime/pipeline/stages"
	"retime/pipeline/synth"
)

// samplesSink keeps the samples of all frames.
type samplesSink struct{ frames [][]byte }

func (s *samplesSink) NewFrame(like *frame.Frame) (*frame.Frame, error) {
	return frame.New(like.Format, like.Width, like.Height), nil
}

func (s *samplesSink) WriteFrame(f *frame.Frame, _, _ *big.Rat) error {
	var all []byte
	for _, p := range f.Planes {
		for y := range p.Height {
			all = append(all, p.Pix[y*p.Stride:][:p.Width*f.Format.Bytes()]...)
		}
	}
	s.frames = append(s.frames, all)
	return nil
}

// repaired makes the repaired frames of a clip.
func repaired(t *testing.T, o pipeline.Options, r *repairs, open func(*pipeline.Settled) (synth.Synthesizer, error)) *samplesSink {
	t.Helper()
	clip, err := pipeline.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer clip.Close()
	s, err := open(&clip.Options)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sink := new(samplesSink)
	restoration := restoration{clip, r}
	clip.Plan.Gap = nil
	if err := clip.Line(sink, s).RunSchedule(t.Context(), clip.Source, &clip.Plan.Passes[0], restoration.schedule(clip.Plan.Clock, 0), stages.Whole()); err != nil {
		t.Fatal(err)
	}
	return sink
}

// Devices make the same repairs as the CPU: whole frames, parts of frames, and frames beyond the
// clip's ends.
func TestDevicesMakeTheRepairsOfTheCPU(t *testing.T) {
	const width, height = 72, 50
	mask := frame.NewImage[uint8](width, height)
	for i := range mask.Pix {
		mask.Pix[i] = uint8(i)
	}
	r := &repairs{pictures: []picture{
		{stamp: 0, lost: true}, {stamp: 3, lost: true}, {stamp: 4, lost: true, mask: &mask}, {stamp: 5, insert: 2},
		{stamp: 7, lost: true, mask: &mask}, {stamp: 8, insert: 1}, {stamp: 11, lost: true},
	}}
	o := pipeline.Options{
		Input:   pipeline.Input{File: writeScene(t, width, height, 12)},
		Timing:  pipeline.Timing{KeepTimestamps: true},
		Compute: pipeline.Compute{Threads: 2},
	}
	want := repaired(t, o, r, func(o *pipeline.Settled) (synth.Synthesizer, error) { return synth.NewCPU(o.WarpParams()) })
	for devices := 1; devices <= 3; devices++ {
		got := repaired(t, o, r, func(o *pipeline.Settled) (synth.Synthesizer, error) {
			var list []synth.Device
			for i := range devices {
				d, err := synth.OpenDevice(o.WarpParams(), cuda.NewDevice(kernels.NewLate(uint64(i))), "")
				if err != nil {
					return nil, err
				}
				list = append(list, d)
			}
			return synth.NewDevices(o.SynthParams(), list...), nil
		})
		if len(got.frames) != 15 || len(want.frames) != 15 {
			t.Fatalf("%d devices: %d frames, %d on the CPU, want 15", devices, len(got.frames), len(want.frames))
		}
		for k := range want.frames {
			if !bytes.Equal(got.frames[k], want.frames[k]) {
				t.Errorf("%d devices: frame %d differs", devices, k)
			}
		}
	}
}

// brokenSource fails at once.
type brokenSource struct{ video media.Video }

func (s brokenSource) Video() media.Video        { return s.video }
func (brokenSource) Read() (*frame.Frame, error) { return nil, io.ErrNoProgress }

// The error of a source is reported even if the schedule fails after it.
func TestTheCauseIsTold(t *testing.T) {
	c, err := pipeline.Open(t.Context(), pipeline.Options{
		Input: pipeline.Input{File: writeScene(t, 16, 16, 2)}, Timing: pipeline.Timing{KeepTimestamps: true}, Compute: pipeline.Compute{Threads: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := restoration{c, &repairs{}}
	s, err := synth.NewCPU(c.Options.WarpParams())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 1000 {
		line := c.Line(new(samplesSink), s)
		err := line.RunSchedule(context.Background(), brokenSource{c.Source.Video()}, &c.Plan.Passes[0], r.schedule(r.clip.Plan.Clock, 0), stages.Whole())
		if !errors.Is(err, io.ErrNoProgress) {
			t.Fatalf("%v, want %v", err, io.ErrNoProgress)
		}
	}
}
