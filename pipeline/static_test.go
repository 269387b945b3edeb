package pipeline_test

import (
	"math"
	"strings"
	"testing"

	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/fault"
)

// A mask whose samples are not there is refused before anything reads them.
func TestHostileStaticMasks(t *testing.T) {
	three := make([]uint8, 3)
	for _, c := range []struct {
		mask frame.Image[uint8]
		good bool
	}{
		{frame.Image[uint8]{}, true},
		{frame.Image[uint8]{Width: 3}, true},
		{frame.Image[uint8]{Width: 1, Height: 3, Stride: 1, Pix: three}, true},
		{frame.Image[uint8]{Width: 1, Height: 2, Stride: 2, Pix: three}, true},
		{frame.Image[uint8]{Width: 3, Height: 1, Stride: 9, Pix: three}, true},
		{frame.Image[uint8]{Width: 3, Height: 1, Stride: 3}, false},
		{frame.Image[uint8]{Width: 3, Height: 1, Stride: 0, Pix: three}, false},
		{frame.Image[uint8]{Width: 1, Height: 4, Stride: 1, Pix: three}, false},
		{frame.Image[uint8]{Width: 2, Height: 2, Stride: 2, Pix: three}, false},
		{frame.Image[uint8]{Width: 2, Height: 2, Stride: 1, Pix: three}, false},
		{frame.Image[uint8]{Width: 1, Height: 2, Stride: math.MaxInt, Pix: three}, false},
		{frame.Image[uint8]{Width: -1, Height: 1, Stride: 1, Pix: three}, false},
		{frame.Image[uint8]{Width: 1, Height: -1, Stride: 1, Pix: three}, false},
		{frame.Image[uint8]{Width: math.MaxInt, Height: 0, Stride: 1, Pix: three}, false},
	} {
		o := pipeline.Options{Input: pipeline.Input{File: "in"}, Output: pipeline.Output{File: "out.nut"}, Synthesis: pipeline.Synthesis{StaticMask: c.mask}}
		err := o.Check()
		if c.good && err != nil || !c.good && (fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "Synthesis.StaticMask")) {
			t.Errorf("%+v: %v", c.mask, err)
		}
	}
}
