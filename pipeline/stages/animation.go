package stages

import (
	"retime/frame"
	"retime/warp"
)

// findJumps finds what changes at once in an interval.
func (r *run) findJumps(m *material) (frame.Image[uint8], error) {
	in, err := m.Host()
	if err != nil {
		return frame.Image[uint8]{}, err
	}
	return warp.Jumps(r.params.Workers, &in), nil
}

// showJumps shows the nearer picture in f where something changes at once.
func (r *run) showJumps(v *Interval, t *Target, f *frame.Frame) error {
	cells, err := v.jumps()
	if err == nil && cells.Height > 0 {
		r.fillNearest(f, v, t.Phase, cells)
	}
	return err
}

// showDoubted shows the nearer picture in f where there is little confidence.
func (r *run) showDoubted(v *Interval, t *Target, f *frame.Frame) {
	r.fillNearest(f, v, t.Phase, warp.Doubted(r.params.Workers, t.confidence, r.scale.Level))
}
