package warp

import (
	"testing"

	"retime/flow"
	"retime/frame"
)

// A speck of three by two wrong vectors does not arrive.
func TestArriveWithoutSpecks(t *testing.T) {
	s, err := NewSynthesizer(Params{Mode: Project})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m, err := s.take()
	if err != nil {
		t.Fatal(err)
	}
	f, dst := flow.NewField(17, 13), [2]flow.Field{flow.NewField(17, 13), flow.NewField(17, 13)}
	weight := frame.NewImage[uint16](17, 13)
	for i := range weight.Pix {
		weight.Pix[i] = trustTable[0]
	}
	for y := 5; y < 7; y++ {
		for x := 8; x < 11; x++ {
			f.Row(y)[x] = flow.Vec{X: 900, Y: -700}
		}
	}
	// So early, everything of the first flow arrives where it was.
	m.arrive(dst, [2]flow.Field{f, flow.NewField(17, 13)}, 1, [2]frame.Image[uint16]{weight, weight})
	for i, v := range dst[0].Pix {
		if v != (flow.Vec{}) {
			t.Errorf("pixel %d, %d: %v arrived", i%17, i/17, v)
		}
	}
}
