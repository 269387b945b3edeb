package pipeline

import (
	"errors"
	"testing"

	"retime/pipeline/media"
	"retime/pipeline/synth"
)

// The first of the devices that make the frames decodes, and pictures stay there unless the CPU
// makes the frames.
func TestDecodingDevice(t *testing.T) {
	for _, c := range []struct {
		devices []int
		want    int
	}{{nil, 0}, {[]int{2, 1}, 2}} {
		o, err := Options{Input: Input{File: "a", HWDec: media.HWCUDA}, Output: Output{File: "b"}, Compute: Compute{Backend: synth.CPU, Devices: c.devices}}.Settle()
		if err != nil {
			t.Fatal(err)
		}
		r := (&Clip{Options: *o}).readerOptions()
		if r.CUDA.Device != c.want {
			t.Errorf("of devices %v number %d decodes, want %d", c.devices, r.CUDA.Device, c.want)
		}
		if _, err := r.CUDA.Surfaces(); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("where the CPU makes the frames: error %v", err)
		}
	}
}
