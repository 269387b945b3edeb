package stages

import (
	"context"
	"errors"
	"testing"

	"retime/frame"
	"retime/pipeline/synth"
	"retime/pipeline/timeline"
	"retime/warp"
)

// bright are levels whose curve is known.
type bright struct{ levels }

func (s *bright) Video() timeline.Video {
	v := s.levels.Video()
	v.Light = frame.Light{Gamma: frame.Linear, FullRange: true}
	return v
}

// idle is a synthesizer that makes nothing.
type idle struct{ synth.Synthesizer }

var errIdle = errors.New("idle")

func (idle) Prepare(context.Context, synth.Assignment, synth.Interval, int) (synth.Job, error) {
	return nil, errIdle
}

// Cross-fades of light are made once, and not of samples before.
func TestLightFadesAreMadeOnce(t *testing.T) {
	cpu, err := synth.NewCPU(warp.Params{Mode: warp.Blend, Workers: frame.Workers{N: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	for light, want := range map[Light]error{LinearLight: nil, CodedLight: errIdle} {
		s := &bright{levels{end: 60}}
		plan := timeline.NewPlanAt(s.Video(), []int64{0, 5, 10, 15})
		p := crossFades()
		p.Light = light
		if err := NewLine(p, plan, s, idle{cpu}).Run(t.Context(), s, &plan.Passes[0], Whole()); !errors.Is(err, want) {
			t.Errorf("light %d: %v, want %v", light, err, want)
		}
		if want == nil && (len(s.made) != 4 || s.made[1] != 5) {
			t.Errorf("frames of %d", s.made)
		}
	}
}
