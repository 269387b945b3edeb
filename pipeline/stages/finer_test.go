//go:build unix

package stages_test

import (
	"slices"
	"testing"

	"retime/cuda/kernels"
	"retime/flow"
	"retime/frame"
	"retime/pipeline"
	"retime/pipeline/motion"
	"retime/pipeline/stages"
	"retime/testdata/scene"
)

// A device estimates flow on finer pictures than the guides as the processor does, brings it
// home, and leaves it to the processor once it has failed.
func TestFinerFlowOnDevice(t *testing.T) {
	const width, height, count = 71, 50, 4
	o := settled(t, pipeline.Options{Input: pipeline.Input{File: "a"}, Output: pipeline.Output{File: "b"}, Timing: pipeline.Timing{Rate: pipeline.Rate{Value: ratio("2"), Multiple: true}}, Compute: pipeline.Compute{Threads: 2}})
	var guides [count]motion.Guide
	for i := range guides {
		f := frame.New(frame.Format{Name: "gray", Depth: 8, Planes: 1}, width, height)
		defer f.Release()
		copy(frame.Samples[uint8](f.Planes[0]).Pix, scene.Draw(width, height, float64(i)/24).Y)
		guides[i] = motion.NewGuide(f, motion.Scale{Level: 1, Finer: true})
	}
	cpu, err := o.Estimator(t.Context())
	must(t, err)
	defer cpu.Close()
	driver := kernels.NewLate(7)
	s := emulated(t, o, driver)
	defer s.Close()
	gpu, err := o.LineParams().Flow.DeviceEstimator(t.Context(), s.Flow()[0])
	must(t, err)
	defer gpu.Close()
	for i := 1; i < count; i++ {
		want, err := cpu.Estimate(guides[i-1], guides[i])
		must(t, err)
		got, err := gpu.Estimate(guides[i-1], guides[i])
		must(t, err)
		there, err := got.On(stages.FlowDevice(s.Flow()[0].New()))
		must(t, err)
		if there := len(there.Forward.Pix) == 0; there != (i < count-1) {
			t.Errorf("pair %d: on the device: %v", i, there)
		}
		if got.Change() != want.Change() {
			t.Errorf("pair %d: change %v, want %v", i, got.Change(), want.Change())
		}
		if i == count-2 { // before its flow is home
			driver.Fail = func(string) error { return errBroken }
		}
		p, err := got.Fields()
		must(t, err)
		w, err := want.Fields()
		must(t, err)
		for j, f := range [][2]flow.Field{{p.Forward, w.Forward}, {p.Backward, w.Backward}} {
			if f[0].Width != (width+1)/2 || f[0].Height != height/2 || !slices.Equal(f[0].Pix, f[1].Pix) {
				t.Errorf("pair %d, direction %d: the flow differs", i, j)
			}
		}
		got.Release()
		want.Release()
	}
	if s.Summary().Remade != 0 {
		t.Errorf("%d frames were remade", s.Summary().Remade)
	}
}
