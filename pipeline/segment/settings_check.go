package segment

import (
	"fmt"
	"math/big"
	"path/filepath"

	"retime/pipeline/media"
	"retime/pipeline/timeline"
	"retime/pipeline/timeline/curve"
)

// check makes the checks that Options.Check leaves out.
func (s *settings) check() error {
	if f := s.Output.File; f != "" && (filepath.Base(f) != f || f == "." || f == ".." || f == "/") {
		return fmt.Errorf("the output's name %q is a path", f)
	}
	for _, r := range []struct {
		name  string
		value *big.Rat
	}{{"input.rate", s.Input.Rate}, {"timing.rate", s.Timing.Rate.Value}} {
		if v := r.value; v != nil && !timeline.IsRate(v) {
			return fmt.Errorf("%s %s: want 1/%d to %d", r.name, v.RatString(), timeline.MaxPeriod, timeline.MaxRate)
		}
	}
	if n := len(s.Timing.Curve); s.Timing.Curve != nil && (n < 2 || n > curve.MaxKeyframes) {
		return fmt.Errorf("timing.curve has %d keyframes; want 2 to %d", n, curve.MaxKeyframes)
	}
	if err := s.checkTimes(); err != nil {
		return err
	}
	switch s.Input.HWDec {
	case "", media.HWNone, media.HWAuto, media.HWCUDA, media.HWVAAPI:
	default:
		return fmt.Errorf("input.hwdec %.40q: there is no such device", s.Input.HWDec)
	}
	for i, k := range s.Timing.Curve {
		if (k.Output == nil) == (k.Speed == nil) || k.Shape != curve.Linear && k.Shape != curve.Smooth && k.Shape != curve.Hold {
			return fmt.Errorf("timing.curve: keyframe %d wants an output time or a speed, and the shape %s, %s or %s", i+1, curve.Linear, curve.Smooth, curve.Hold)
		}
	}
	for i, t := range s.Synthesis.Scenes {
		if t == nil {
			return fmt.Errorf("synthesis.scenes: the time of scene %d is missing", i+1)
		}
	}
	for _, d := range s.Synthesis.Decisions {
		if d.Frame < 0 {
			return fmt.Errorf("synthesis.decisions: there is no frame %d", d.Frame)
		}
		if err := d.Check(); err != nil {
			return fmt.Errorf("synthesis.decisions: frame %d: %w", d.Frame, err)
		}
	}
	if m := s.Synthesis.StaticMask; m.Width != 0 || m.Height != 0 || len(m.Pix) > 0 {
		side := func(n int) bool { return n >= 1 && n <= media.MaxSide }
		if !side(m.Width) || !side(m.Height) || m.Width*m.Height != len(m.Pix) {
			return fmt.Errorf("synthesis.static_mask: %d samples are not %d x %d", len(m.Pix), m.Width, m.Height)
		}
	}
	return nil
}

// maxTime bounds times in a plan, in seconds, so that int64 holds their microseconds.
const maxTime = 1e12

// checkTimes refuses times, speeds and slow-downs beyond all that options mean.
func (s *settings) checkTimes() error {
	t := &s.Timing
	type bounded struct {
		name  string
		value *big.Rat
		low   float64
		high  float64
	}
	list := []bounded{
		{"timing.slow", t.Slow, 1. / timeline.MaxSlow, timeline.MaxSlow}, {"timing.fit", t.Fit, 0, maxTime},
		{"timing.from", t.From, -maxTime, maxTime}, {"timing.to", t.To, -maxTime, maxTime},
	}
	for i, k := range t.Curve {
		name := fmt.Sprintf("timing.curve: keyframe %d: ", i+1)
		list = append(list, bounded{name + "source", k.Source, 0, maxTime}, bounded{name + "output", k.Output, 0, maxTime},
			bounded{name + "speed", k.Speed, -timeline.MaxSlow, timeline.MaxSlow})
	}
	for i, scene := range s.Synthesis.Scenes {
		list = append(list, bounded{fmt.Sprintf("synthesis.scenes: scene %d", i+1), scene, -maxTime, maxTime})
	}
	for _, b := range list {
		if b.value == nil {
			continue
		}
		if v, _ := b.value.Float64(); v < b.low || v > b.high {
			return fmt.Errorf("%s %g: want %g to %g", b.name, v, b.low, b.high)
		}
	}
	return nil
}
